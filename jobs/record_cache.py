"""All jobs at a glance: a brief of each record, kept between looks and read anew where a file has changed.

What is made of briefs is pure: pages of a list, counts, causes of failure, what was done over time.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast, get_args

from . import clock, files
from .errors import JobError
from .layout import SpoolPaths
from .model import State
from .spool import RECORD_LIMIT

if TYPE_CHECKING:
    from .schema import Bucket, Cause, JobBrief as JobRow, JobError as ErrorOfRecord, Spread

NAMES = (
    "job_id", "kind", "state", "success", "generation", "attempt", "max_attempts", "priority", "submitted_at",
    "accepted_at", "started_at", "finished_at", "next_attempt_at", "elapsed_ms", "correlation_id", "error",
)  # fmt: skip

_TIMES = ("submitted_at", "accepted_at", "started_at", "finished_at", "next_attempt_at")
_TIME = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]+)?Z")
_STATES = frozenset(get_args(State))

# A folder's time of change has the grain of the system's clock: a change right after a look may not move it.
_GRAIN_SECONDS = 0.05
_TRUSTED_SECONDS = 5.0  # where a folder's time of change tells nothing (some network mounts), this is how long we err

MOST_MESSAGES = 5  # of a cause

_Stamp = tuple[int, int, int]


class RecordCache:
    """The briefs of one spool. Safe to share among threads; a look at 10,000 unchanged jobs is one ``stat``."""

    def __init__(self, spool_paths: SpoolPaths) -> None:
        self._paths = spool_paths
        self._lock = Lock()
        self._known: dict[str, tuple[_Stamp, JobRow]] = {}
        self._folder_changed: int | None = None
        self._looked_at = 0.0
        self._version = 0

    def look(self) -> int:
        """See what has changed. Returns a number that rises when anything has."""
        with self._lock:
            if self._may_have_changed():
                self._read()
            return self._version

    def all(self) -> list[JobRow]:
        """As of the last look, in no order. Do not change them."""
        with self._lock:
            return [brief for _, brief in self._known.values()]

    def _may_have_changed(self) -> bool:
        try:
            changed = self._paths.results.stat().st_mtime_ns
        except FileNotFoundError:
            changed = -1
        now = time.time()
        settled = changed / 1e9 < self._looked_at - _GRAIN_SECONDS
        if changed == self._folder_changed and settled and now - self._looked_at < _TRUSTED_SECONDS:
            return False
        self._folder_changed, self._looked_at = changed, now
        return True

    def _read(self) -> None:
        found: dict[str, tuple[_Stamp, JobRow]] = {}
        changed = False
        for name, path, stamp in _entries(self._paths):
            known = self._known.get(name)
            if known is not None and known[0] == stamp:
                found[name] = known
                continue
            brief = _row_of(path, name)
            if brief is not None:
                found[name] = stamp, brief
                changed = True
        if changed or found.keys() != self._known.keys():
            self._version += 1
        self._known = found


def _entries(paths: SpoolPaths) -> Iterator[tuple[str, str, _Stamp]]:
    try:
        with os.scandir(paths.results) as entries:
            for entry in entries:
                if entry.name.endswith(".json") and not entry.name.startswith("."):
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    yield entry.name[:-5], entry.path, (status.st_mtime_ns, status.st_size, status.st_ino)
    except FileNotFoundError:
        return


def _row_of(path: str, name: str) -> JobRow | None:
    """None for what is no record; recovery reports it."""
    try:
        record = json.loads(files.read_own(Path(path), RECORD_LIMIT))
        row = {field: record[field] for field in NAMES} if record["job_id"] == name and _is_sound(record) else None
        return cast("JobRow | None", row)
    except (OSError, ValueError, KeyError, TypeError, RecursionError, JobError):
        return None


def _is_sound(record: dict[str, Any]) -> bool:
    """Whether it can be listed: one damaged record keeps nobody from seeing the others. Raises KeyError, TypeError."""
    error, elapsed = record["error"], record["elapsed_ms"]
    times = (record[name] for name in _TIMES)
    return (
        record["state"] in _STATES
        and all(isinstance(record[name], str | None) for name in ("kind", "correlation_id"))
        and all(at is None or _TIME.fullmatch(at) for at in times)
        and (elapsed is None or type(elapsed) is int)
        and (error is None or all(isinstance(error[name], str) for name in ("code", "message", "remediation")))
    )


# --- what is made of them ---


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list: its briefs, how many there are in all, and where the next part begins."""

    jobs: list[JobRow]
    total: int
    next: str | None


def position_of(brief: JobRow) -> str:
    """Where a job stands in a list: by the time at which it came, then by its id.

    The comma sorts before the point of a fraction.
    """
    return f"{(brief['accepted_at'] or brief['finished_at'] or '').rstrip('Z')},{brief['job_id']}"


def matching(
    briefs: Iterable[JobRow],
    *,
    states: Sequence[str] = (),
    kind: str | None = None,
    error: str | None = None,
    contains: str | None = None,
) -> list[JobRow]:
    """Those in one of the states, of the kind, with the error, whose job or correlation id contains the text."""
    return [
        brief
        for brief in briefs
        if (not states or brief["state"] in states)
        and kind in (None, brief["kind"])
        and (error is None or (brief["error"] is not None and brief["error"]["code"] == error))
        and (contains is None or contains in brief["job_id"] or contains in (brief["correlation_id"] or ""))
    ]


def page(found: Iterable[JobRow], limit: int, after: str | None = None) -> Page:
    """The newest first. ``after`` is where a former page ended: what came since does not shift the rest."""
    ordered = sorted(found, key=position_of, reverse=True)
    rest = ordered if after is None else [brief for brief in ordered if position_of(brief) < after]
    shown = rest[:limit]
    return Page(shown, len(ordered), position_of(shown[-1]) if len(rest) > limit else None)


def runs_again(brief: JobRow) -> bool:
    """Whether a job waits that was asked for once more: nobody knows since when, its record says when it first came."""
    return bool(brief["generation"] > 1 and not brief["attempt"])


def counts(briefs: Iterable[JobRow]) -> dict[str, int]:
    """How many jobs there are in each state."""
    return dict(Counter(brief["state"] for brief in briefs))


def causes(briefs: Iterable[JobRow]) -> list[Cause]:
    """Why jobs failed, were rejected or wait for another attempt: by state and error, the most frequent first.

    ``message`` and ``remediation`` are those of the newest; ``kinds`` counts by kind, ``messages`` by message, the most
    frequent first, of which there are a few at most.
    """
    groups: dict[tuple[State, str], list[tuple[JobRow, ErrorOfRecord]]] = {}
    for brief in briefs:
        error = brief["error"]
        if error is not None and brief["state"] in ("failed", "rejected", "retrying", "expired"):
            groups.setdefault((brief["state"], error["code"]), []).append((brief, error))
    found: list[Cause] = []
    for (state, code), group in groups.items():
        newest, error = max(group, key=lambda failed: position_of(failed[0]))
        found.append(
            {
                "state": state,
                "code": code,
                "count": len(group),
                "kinds": dict(Counter(brief["kind"] or "?" for brief, _ in group)),
                "message": error["message"],
                "messages": _messages([error["message"] for _, error in group]),
                "remediation": error["remediation"],
                "newest": newest["finished_at"] or newest["accepted_at"],
                "newest_job_id": newest["job_id"],
            }
        )
    return sorted(found, key=lambda cause: (-cause["count"], cause["state"], cause["code"]))


def _messages(messages: list[str]) -> dict[str, int]:
    counted = Counter(messages)
    return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:MOST_MESSAGES])


def activity(briefs: Iterable[JobRow], now: datetime, hours: float, buckets: int) -> list[Bucket]:
    """What ended in each of so many equal spans of the last hours, oldest first.

    Each has ``at`` (its start), counts by state, and for the jobs that ran ``waited_ms`` (accepted to first start; not
    of those that were run again, which had ended in between) and ``took_ms`` (first start to end), each with ``p50``
    and ``p95``, or null where none ran.
    """
    width = timedelta(hours=hours) / buckets
    start = now - timedelta(hours=hours)
    groups: list[list[JobRow]] = [[] for _ in range(buckets)]
    earliest = clock.iso(start)
    for brief in briefs:
        if brief["finished_at"] is not None and brief["finished_at"] >= earliest:
            place = int((clock.parse(brief["finished_at"]) - start) / width)
            if 0 <= place < buckets:
                groups[place].append(brief)
    return [
        {
            "at": clock.iso(start + number * width),
            "ended": dict(Counter(brief["state"] for brief in group)),
            "waited_ms": _quantiles([_waited_ms(brief) for brief in group]),
            "took_ms": _quantiles([brief["elapsed_ms"] for brief in group]),
        }
        for number, group in enumerate(groups)
    ]


def _waited_ms(brief: JobRow) -> int | None:
    """Never below 0: the clock may have been set back. None for a job that has not started, or was run again."""
    accepted_at, started_at = brief["accepted_at"], brief["started_at"]
    if brief["generation"] != 1 or accepted_at is None or started_at is None:
        return None
    waited = clock.parse(started_at) - clock.parse(accepted_at)
    return max(0, round(waited.total_seconds() * 1000))


def _quantiles(values: Iterable[int | None]) -> Spread | None:
    """By nearest rank, of the values that are known."""
    ordered = sorted(value for value in values if value is not None)
    if not ordered:
        return None
    return {"p50": _quantile(ordered, 50), "p95": _quantile(ordered, 95)}


def _quantile(ordered: list[int], share: int) -> int:
    return ordered[max(0, -(-len(ordered) * share // 100) - 1)]
