"""The counters and histograms of a process since its start.

Each has a name and label values; ``metrics`` documents them. The worker writes its own to a file; the HTTP server keeps
its own in memory.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict, cast

from jobs import clock, files, state_file
from jobs.layout import SpoolPaths
from jobs.model import Record, encode

Labels = tuple[str, ...]

# Inclusive upper bounds of the buckets; values above the last one have a bucket of their own.
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0)
COUNTS = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)

_WRITE_SECONDS = 1.0


@dataclass(slots=True)
class Histogram:
    """The number of values in each bucket, and their sum. ``counts`` has one entry more than ``bounds``."""

    bounds: Sequence[float]
    counts: list[int] = field(default_factory=list)
    sum: float = 0.0

    def __post_init__(self) -> None:
        self.counts = self.counts or [0] * (len(self.bounds) + 1)

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value


class Counted(TypedDict, total=False):
    """Counters and histograms as JSON: name -> rows of label values, followed by a count or a histogram."""

    counters: dict[str, list[list[Any]]]
    histograms: dict[str, list[list[Any]]]


class Counters:
    """The counters and histograms. Thread-safe. ``version`` grows with each change."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[str, Counter[Labels]] = {}
        self._histograms: dict[str, dict[Labels, Histogram]] = {}
        self.version = 0

    def count(self, name: str, *labels: str, by: int = 1) -> None:
        """Add ``by`` to a counter."""
        with self._lock:
            self._counters.setdefault(name, Counter())[labels] += by
            self.version += 1

    def observe(self, name: str, value: float, *labels: str, bounds: Sequence[float] = SECONDS) -> None:
        """Add a value to a histogram; its first value sets the bounds."""
        with self._lock:
            known = self._histograms.setdefault(name, {})
            if labels not in known:
                known[labels] = Histogram(bounds)
            known[labels].add(value)
            self.version += 1

    def stepped(self, before: Record | None, after: Record) -> None:
        """Count the step of a job from one record to the next; ``before`` is None for a job that was not live."""
        if before is not None and before.state == "retrying":
            self.count("jobs_retrying", _code(before), by=-1)
        if after.state == "retrying":
            self.count("jobs_retrying", _code(after))
        if before is None:
            return
        kind = str(after.kind)
        if before.state == "running" and after.attempts and before.attempts:
            last, began = after.attempts[-1], before.attempts[-1].started_at
            self.count("job_attempts", kind, str(last.outcome))
            self.observe("job_attempt_seconds", _seconds(began, last.finished_at), kind)
        elif after.state == "running" and before.attempt == 0 and before.generation == 1:
            # A delayed job has only waited since the time at which it was due.
            since = max(before.accepted_at or "", before.next_attempt_at or "", key=_moment)
            self.observe("job_wait_seconds", _seconds(since, after.started_at), kind)
        if after.ended:
            self.count("jobs_ended", kind, after.state)

    def as_dict(self) -> Counted:
        """``{"counters": {name: [[label, …, count], …]}, "histograms": {name: [[label, …, histogram], …]}}``."""
        with self._lock:
            counters = {name: [[*labels, n] for labels, n in rows.items()] for name, rows in self._counters.items()}
            histograms = {
                name: [
                    [*labels, {"bounds": [*h.bounds], "counts": [*h.counts], "sum": h.sum}]
                    for labels, h in rows.items()
                ]
                for name, rows in self._histograms.items()
            }
        return {"counters": counters, "histograms": histograms}


def _code(record: Record) -> str:
    return str(record.error["code"]) if record.error else "-"


def _moment(text: str | None) -> datetime:
    return clock.parse(text) if text else datetime.min.replace(tzinfo=clock.now().tzinfo)


def _seconds(since: str | None, until: str | None) -> float:
    """The seconds between two timestamps, at least 0, since the clock may have been set back."""
    return max(0.0, (clock.parse(until) - clock.parse(since)).total_seconds()) if since and until else 0.0


class CountersFile:
    """The file of the worker's counters, rewritten after changes, at most once a second."""

    def __init__(
        self, spool_paths: SpoolPaths, counters: Counters, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._path = spool_paths.counters
        self._counters = counters
        self._monotonic = monotonic
        self._written = -1
        self._next = 0.0

    def write(self, *, at_once: bool = False) -> None:
        """Write the file if it is due, or ``at_once``. A failure, as on a full disk, is ignored."""
        version = self._counters.version
        if version == self._written or (not at_once and self._monotonic() < self._next):
            return
        try:
            files.replace_without_sync(self._path, encode({"schema_version": 1, **self._counters.as_dict()}))
        except OSError:
            return
        self._written, self._next = version, self._monotonic() + _WRITE_SECONDS


def read(paths: SpoolPaths) -> Counted | None:
    """The worker's counters from its file; empty without a file, None if it cannot be read."""
    counted = state_file.read(paths.counters, state_file.an_object, absent={}, damaged=None, limit=4 * 1024 * 1024)
    return cast("Counted | None", counted)
