"""A cached overview of all jobs: one row per record, read again only when its file changes.

The functions that make pages, counts, causes of failure and activity from the rows are pure. Records themselves are
read and written by ``spool``.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast, get_args

from . import clock, plain_files
from .errors import JobError, advice
from .layout import SpoolPaths
from .spool import RECORD_LIMIT
from .states import LIVE, State
from .subjects import memory_numbers

if TYPE_CHECKING:
    from .schema import Bucket, Cause, JobError as ErrorOfRecord, JobRow, Scheduled, Spread

ROW_FIELDS = (
    "job_id", "kind", "state", "success", "generation", "attempt", "max_attempts", "priority", "submitted_at",
    "accepted_at", "started_at", "finished_at", "next_attempt_at", "elapsed_ms", "correlation_id", "error",
)  # fmt: skip

_TIMES = ("submitted_at", "accepted_at", "started_at", "finished_at", "next_attempt_at")
_TIME = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]+)?Z")
_STATES = frozenset(get_args(State))

# A folder's modification time has the resolution of the system's clock: a change right after a scan may not alter it.
_MTIME_RESOLUTION_SECONDS = 0.05
# Some network mounts do not update a folder's modification time; so rows are at most this old.
_MAX_AGE_SECONDS = 5.0

MAX_MESSAGES = 5  # per cause
MAX_SCHEDULED = 24  # hours

_Stamp = tuple[int, int, int]  # modification time in ns, size in bytes, inode


class RecordCache:
    """The rows of one spool. Threads may share it. Refreshing 10,000 unchanged jobs costs one ``stat``."""

    def __init__(self, spool_paths: SpoolPaths) -> None:
        self._paths = spool_paths
        self._lock = Lock()
        self._stamped_rows: dict[str, tuple[_Stamp, JobRow]] = {}
        self._folder_changed: int | None = None
        self._refreshed_at = 0.0
        self._version = 0

    def refresh(self) -> int:
        """Read the records that changed. Returns a version number that rises with each change.

        Raises OSError.
        """
        with self._lock:
            if self._may_have_changed():
                self._read()
            return self._version

    def rows(self) -> list[JobRow]:
        """The rows as of the last ``refresh``, in no order. Do not modify them."""
        with self._lock:
            return [row for _, row in self._stamped_rows.values()]

    def _may_have_changed(self) -> bool:
        try:
            changed = self._paths.results.stat().st_mtime_ns
        except FileNotFoundError:
            changed = -1
        now = time.time()
        settled = changed / 1e9 < self._refreshed_at - _MTIME_RESOLUTION_SECONDS
        if changed == self._folder_changed and settled and now - self._refreshed_at < _MAX_AGE_SECONDS:
            return False
        self._folder_changed, self._refreshed_at = changed, now
        return True

    def _read(self) -> None:
        stamped_rows: dict[str, tuple[_Stamp, JobRow]] = {}
        changed = False
        for name, path, stamp in _entries(self._paths):
            known = self._stamped_rows.get(name)
            if known is not None and known[0] == stamp:
                stamped_rows[name] = known
                continue
            row = _row_of(path, name)
            if row is not None:
                stamped_rows[name] = stamp, row
                changed = True
        if changed or stamped_rows.keys() != self._stamped_rows.keys():
            self._version += 1
        self._stamped_rows = stamped_rows


def _entries(paths: SpoolPaths) -> Iterator[tuple[str, str, _Stamp]]:
    for entry in plain_files.entries(paths.results):
        if entry.name.endswith(".json") and not entry.name.startswith("."):
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            yield entry.name[:-5], entry.path, (status.st_mtime_ns, status.st_size, status.st_ino)


def _row_of(path: str, name: str) -> JobRow | None:
    """The row of the record at ``path``; None if the file is not a valid record, which recovery reports."""
    try:
        record = json.loads(plain_files.read_own(Path(path), RECORD_LIMIT))
        row = {field: record[field] for field in ROW_FIELDS}
        row["memory_numbers"] = memory_numbers(record["kind"], record["result"])
        return cast("JobRow", row) if record["job_id"] == name and _is_valid(record) else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError, JobError):
        return None


def _is_valid(record: dict[str, Any]) -> bool:
    """Whether the record can be listed; a damaged one is left out and does not break the list.

    Raises KeyError or TypeError when a field is missing or has the wrong type.
    """
    error, elapsed = record["error"], record["elapsed_ms"]
    times = (record[name] for name in _TIMES)
    return (
        record["state"] in _STATES
        and all(isinstance(record[name], str | None) for name in ("kind", "correlation_id"))
        and all(at is None or _TIME.fullmatch(at) for at in times)
        and (elapsed is None or type(elapsed) is int)
        and (error is None or all(isinstance(error[name], str) for name in ("code", "message", "remediation")))
    )


# --- views of the rows ---


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list: its rows, the number of rows in all, and the ``after`` of the next page, if there is one."""

    jobs: list[JobRow]
    total: int
    next: str | None


def sort_key(row: JobRow) -> str:
    """The sort key of a row: the time of acceptance (of rejection, for rejected files), then the job id.

    The comma sorts before the decimal point, so whole seconds precede their fractions.
    """
    return f"{(row['accepted_at'] or row['finished_at'] or '').rstrip('Z')},{row['job_id']}"


def matching(
    rows: Iterable[JobRow],
    *,
    states: Sequence[str] = (),
    kind: str | None = None,
    error: str | None = None,
    contains: str | None = None,
) -> list[JobRow]:
    """The rows that match all given filters: one of the states, the kind, the error code, and a text that the job id
    or the correlation id contains."""
    return [
        row
        for row in rows
        if (not states or row["state"] in states)
        and kind in (None, row["kind"])
        and (error is None or (row["error"] is not None and row["error"]["code"] == error))
        and (contains is None or contains in row["job_id"] or contains in (row["correlation_id"] or ""))
    ]


def page(rows: Iterable[JobRow], limit: int, after: str | None = None) -> Page:
    """A page of at most ``limit`` rows, newest first. ``after`` is ``next`` of the previous page, so that new jobs do
    not shift the pages."""
    ordered = sorted(rows, key=sort_key, reverse=True)
    remaining = ordered if after is None else [row for row in ordered if sort_key(row) < after]
    shown = remaining[:limit]
    return Page(shown, len(ordered), sort_key(shown[-1]) if len(remaining) > limit else None)


def is_waiting_replay(row: JobRow) -> bool:
    """Whether a replayed job waits for its first attempt. Its record has only the time of the first acceptance, so
    its waiting time is unknown."""
    return bool(row["generation"] > 1 and not row["attempt"])


def counts(rows: Iterable[JobRow]) -> dict[str, int]:
    """The number of jobs by state."""
    return dict(Counter(row["state"] for row in rows))


def causes(rows: Iterable[JobRow]) -> list[Cause]:
    """Why jobs failed, expired, were rejected or wait for a retry: one entry per state and error, most frequent first.

    Each has ``state``, ``code``, ``count``, ``kinds`` (counts by kind), ``messages`` (counts by message, most frequent
    first, at most ``MAX_MESSAGES``), ``advice`` (as ``errors.advice``), and of the newest job ``message``,
    ``remediation``, ``newest`` (its time) and ``newest_job_id``.
    """
    groups: dict[tuple[State, str], list[tuple[JobRow, ErrorOfRecord]]] = {}
    for row in rows:
        error = row["error"]
        if error is not None and row["state"] in ("failed", "rejected", "retrying", "expired"):
            groups.setdefault((row["state"], error["code"]), []).append((row, error))
    entries: list[Cause] = []
    for (state, code), group in groups.items():
        newest, error = max(group, key=lambda failed: sort_key(failed[0]))
        entries.append(
            {
                "state": state,
                "code": code,
                "count": len(group),
                "kinds": dict(Counter(row["kind"] or "?" for row, _ in group)),
                "message": error["message"],
                "messages": _messages([error["message"] for _, error in group]),
                "remediation": error["remediation"],
                "advice": advice(state, code),
                "newest": newest["finished_at"] or newest["accepted_at"],
                "newest_job_id": newest["job_id"],
            }
        )
    return sorted(entries, key=lambda cause: (-cause["count"], cause["state"], cause["code"]))


def _messages(messages: list[str]) -> dict[str, int]:
    counted = Counter(messages)
    return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:MAX_MESSAGES])


def activity(rows: Iterable[JobRow], now: datetime, hours: float, buckets: int) -> list[Bucket]:
    """The jobs that ended in each of ``buckets`` equal spans of the last ``hours``, oldest span first.

    Each span has ``at`` (its start), ``ended`` (counts by state), ``waited_ms`` (from acceptance to the first start;
    without replayed jobs) and ``took_ms`` (from the first start to the end). The last two have ``p50`` and ``p95``, or
    are null if no job ran.
    """
    width = timedelta(hours=hours) / buckets
    start = now - timedelta(hours=hours)
    groups: list[list[JobRow]] = [[] for _ in range(buckets)]
    earliest = clock.iso(start)
    for row in rows:
        if row["finished_at"] is not None and row["finished_at"] >= earliest:
            index = int((clock.parse(row["finished_at"]) - start) / width)
            if 0 <= index < buckets:
                groups[index].append(row)
    return [
        {
            "at": clock.iso(start + number * width),
            "ended": dict(Counter(row["state"] for row in group)),
            "waited_ms": _quantiles([_waited_ms(row) for row in group]),
            "took_ms": _quantiles([row["elapsed_ms"] for row in group]),
        }
        for number, group in enumerate(groups)
    ]


def scheduled(rows: Iterable[JobRow], now: datetime) -> list[Scheduled]:
    """The waiting jobs that start later than now, by the hour of their start; the next ``MAX_SCHEDULED`` hours that
    have any."""
    hours: dict[str, Counter[str]] = {}
    for row in rows:
        starts = row["next_attempt_at"] if row["state"] in LIVE else None
        if starts is not None and (moment := clock.parse(starts)) > now:
            hour = clock.iso(moment.replace(minute=0, second=0, microsecond=0))
            hours.setdefault(hour, Counter())[row["kind"] or "?"] += 1
    return [{"at": hour, "kinds": dict(hours[hour])} for hour in sorted(hours)[:MAX_SCHEDULED]]


def _waited_ms(row: JobRow) -> int | None:
    """Milliseconds from acceptance to the first start; at least 0, since the clock may have been set back. None for a
    job that has not started, and for a replayed one."""
    accepted_at, started_at = row["accepted_at"], row["started_at"]
    if row["generation"] != 1 or accepted_at is None or started_at is None:
        return None
    waited = clock.parse(started_at) - clock.parse(accepted_at)
    return max(0, round(waited.total_seconds() * 1000))


def _quantiles(values: Iterable[int | None]) -> Spread | None:
    """Median and 95th percentile of the known values, by nearest rank."""
    ordered = sorted(value for value in values if value is not None)
    if not ordered:
        return None
    return {"p50": _quantile(ordered, 50), "p95": _quantile(ordered, 95)}


def _quantile(ordered: list[int], share: int) -> int:
    return ordered[max(0, -(-len(ordered) * share // 100) - 1)]
