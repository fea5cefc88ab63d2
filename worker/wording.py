"""How numbers, times, sizes and remedies read in a sentence, wherever it is printed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from jobs import clock


def counted(count: int, noun: str) -> str:
    """``1 memory``, ``2 memories``, ``12,000 jobs``."""
    if count != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"
    return f"{count:,} {noun}"


def age(text: str | None, now: datetime) -> str:
    """How long ago a time was, in the largest unit that gives at least one."""
    return "-" if text is None else span(max(0.0, (now - clock.parse(text)).total_seconds()))


def span(seconds: float) -> str:
    """A length of time in the largest unit that gives at least one."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def local(text: str, now: datetime) -> str:
    """A time as the clock on the wall has it, and how long ago that was."""
    moment = clock.parse(text)
    ahead = (moment - now).total_seconds()
    when = f"in {span(ahead)}" if ahead > 0 else f"{span(-ahead)} ago"
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S} ({when})"


def size(count: float) -> str:
    """A number of bytes in the largest unit that gives at least one."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def shortened(value: Any, length: int) -> str:
    """A value in a line, cut where it is too long."""
    text = " ".join(str(value).split())
    return text if len(text) <= length else f"{text[: length - 1]}…"


def of_all(remedy: str, cause: Mapping[str, Any]) -> str:
    """A remedy that speaks of one job, for all of a cause."""
    return remedy.replace("jobs retry <job_id>", f"jobs retry --error {cause['code']}").replace(
        "<job_id>", str(cause["newest_job_id"])
    )
