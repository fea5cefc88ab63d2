"""Numbers, times, sizes and remedies as text for sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from jobs import clock
from jobs.errors import BROUGHT

MIB = 1024 * 1024  # bytes


def counted(count: int, noun: str) -> str:
    """``1 memory``, ``2 memories``, ``12,000 jobs``."""
    if count != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"
    return f"{count:,} {noun}"


def first_ones(names: Sequence[str], most: int) -> str:
    """At most ``most`` of the names, and how many more there are: ``a, b, c and 2 more``."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def age(text: str | None, now: datetime) -> str:
    """The time since a timestamp, as ``span``; ``-`` for None."""
    return "-" if text is None else span(max(0.0, (now - clock.parse(text)).total_seconds()))


def span(seconds: float) -> str:
    """A duration in whole units: ``3 h``; in days from two days on. The page rounds alike (``about`` in words.js)."""
    for unit, length, least in (("d", 86_400, 2), ("h", 3_600, 1), ("min", 60, 1)):
        if seconds >= least * length:
            return f"{seconds // length:.0f} {unit}"
    return f"{seconds // 1:.0f} s"


def local(text: str, now: datetime) -> str:
    """A timestamp in local time, with its distance from now: ``2026-11-20 20:00:00 (3 h ago)``."""
    moment = clock.parse(text)
    ahead = (moment - now).total_seconds()
    when = f"in {span(ahead)}" if ahead > 0 else f"{span(-ahead)} ago"
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S} ({when})"


def size(count: float) -> str:
    """A number of bytes in the largest unit of which it has at least one: ``3 MiB``."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def shortened(value: Any, length: int) -> str:
    """A value on one line, cut to ``length`` characters."""
    text = " ".join(str(value).split())
    return text if len(text) <= length else f"{text[: length - 1]}…"


def cut(shown: int, fitting: int, option: str, warnings: Sequence[str]) -> list[str]:
    """``5 of 22 shown; --max-results shows more``, if a list does not show all and no warning says why; else empty."""
    is_said = any(warning.startswith(f"{shown} of ") for warning in warnings)
    return [f"{shown} of {fitting} shown; {option} shows more"] if shown < fitting and not is_said else []


def cut_context(answer: Mapping[str, Any], option: str) -> list[str]:
    """As ``cut``, of an answer ``context``: its block leaves out what a question does not need, a list does not."""
    is_list = "order" in answer["ranking"]
    return cut(len(answer["memories"]), answer["considered"], option, answer["warnings"]) if is_list else []


def of_all(remedy: str, cause: Mapping[str, Any]) -> str:
    """The remedy for one job, rewritten for all jobs of a cause; files from elsewhere are run one by one."""
    if cause["code"] not in BROUGHT:
        remedy = remedy.replace("jobs retry <job_id>", f"jobs retry --error {cause['code']}")
    return remedy.replace("<job_id>", str(cause["newest_job_id"]))
