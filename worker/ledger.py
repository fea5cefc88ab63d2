"""The live records, in memory and on disk: the only writer of records while the worker runs.

Each change is stepped through the lifecycle's table and written durably before anybody sees it. Changes
made together share one sync.
"""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from jobs import clock, lifecycle, spool
from jobs.errors import JobError
from jobs.layout import Spool
from jobs.lifecycle import Event
from jobs.model import Job, Record


class Ledger:
    """Thread-safe. ``changed`` is called after each change, without the lock."""

    def __init__(
        self,
        place: Spool,
        live: Iterable[Record],
        now: Callable[[], datetime] = clock.now,
        jitter: Callable[[], float] = random.random,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._place = place
        self._live = {record.job_id: record for record in live}
        self._now = now
        self._jitter = jitter
        self._changed = changed
        self._lock = threading.RLock()
        self._ended: Counter[str] = Counter()

    # --- looking ---

    def get(self, job_id: str) -> Record | None:
        """The record of a job that has not ended."""
        with self._lock:
            return self._live.get(job_id)

    def find(self, job_id: str) -> Record | None:
        """The record of any job. Raises ValueError for a damaged one."""
        return self.get(job_id) or spool.read_record(self._place, job_id)

    def live(self) -> list[Record]:
        with self._lock:
            return list(self._live.values())

    def count(self) -> int:
        with self._lock:
            return len(self._live)

    def counts(self) -> dict[str, int]:
        """Jobs by state: the live ones now, the ended ones since this worker's start."""
        with self._lock:
            found: Counter[str] = Counter(record.state for record in self._live.values())
            return {**dict.fromkeys(("queued", "running", "retrying"), 0), **found, **self._ended}

    def due(self, kind: str, limit: int) -> list[Record]:
        """Waiting jobs of a kind that may start now, in the order in which they would."""
        now = self._now()
        with self._lock:
            found = [r for r in self._live.values() if r.kind == kind and lifecycle.is_due(r, now)]
        found.sort(key=lambda r: (-r.priority, r.accepted_at or "", r.job_id))
        return found[:limit]

    def next_due(self) -> datetime | None:
        """When the next delayed job is due."""
        with self._lock:
            times = [r.next_attempt_at for r in self._live.values() if r.next_attempt_at is not None]
        return min((clock.parse(text) for text in times), default=None)

    # --- changing ---

    def accept(self, accepted: Sequence[tuple[Job, Record]], read: Mapping[str, os.stat_result] | None = None) -> None:
        """Make jobs ours. When the disk refuses half-way, those whose records were written are live all the same."""
        with self._lock:
            try:
                spool.accept(self._place, accepted, read)
            except OSError:
                accepted = [pair for pair in accepted if self._is_written(pair[1])]
                raise
            finally:
                self._live.update((record.job_id, record) for _, record in accepted)
        self._changed()

    def _is_written(self, record: Record) -> bool:
        try:
            return spool.read_record(self._place, record.job_id) == record
        except (OSError, ValueError, JobError):
            return False

    def apply(self, events: dict[str, Event]) -> list[Record]:
        """Step records of live jobs; a job that the event does not fit is left out of the answer."""
        with self._lock:
            stepped = self._step(events)
        self._changed()
        return stepped

    def cancel(self, job_id: str) -> bool:
        """End a waiting job as cancelled. False when it is too late: it runs, has ended, or its effect stands."""
        with self._lock:
            record = self._live.get(job_id)
            if record is None or record.state == "running":
                return False
            done = self._step({job_id: lifecycle.Cancelled()})
        self._changed()
        return bool(done)

    def _step(self, events: dict[str, Event]) -> list[Record]:
        now = self._now()
        stepped = []
        for job_id, event in events.items():
            record = self._live.get(job_id)
            if record is None:
                continue
            try:
                stepped.append(lifecycle.step(record, event, now, self._jitter()))
            except lifecycle.IllegalTransition:
                continue
        spool.write_records(self._place, stepped)
        for record in stepped:
            if record.ended:
                del self._live[record.job_id]
                self._ended[record.state] += 1
                spool.end(self._place, record.job_id)
            else:
                self._live[record.job_id] = record
        return stepped

    def replay(self, job_id: str) -> Record:
        """Begin a new generation of an ended job. Raises JOB_NOT_FOUND, ARGUMENT_INVALID."""
        with self._lock:
            record = self.find(job_id)
            if record is None:
                raise JobError("JOB_NOT_FOUND", f"There is no record of job {job_id!r}.")
            try:
                again = lifecycle.step(record, lifecycle.Replayed(), self._now())
                spool.reopen(self._place, job_id)
            except lifecycle.IllegalTransition:
                raise JobError(
                    "ARGUMENT_INVALID",
                    f"Job {job_id} is {record.state}; only failed, cancelled and expired jobs run again.",
                ) from None
            except FileNotFoundError:
                raise JobError("JOB_NOT_FOUND", f"The copy of job {job_id} was removed; submit it anew.") from None
            spool.write_records(self._place, [again])
            self._live[job_id] = again
        self._changed()
        return again
