"""The waiting jobs in their order of starting: higher priority first, then the earlier accepted.

Heaps per kind: adding a job and finding the next take logarithmic time. Outdated heap entries are skipped when they
reach the top.
"""

from __future__ import annotations

import heapq
from datetime import UTC, datetime

from jobs import clock, lifecycle
from jobs.model import Record

_Place = tuple[int, str, str]  # minus the priority, when it was accepted, the job's id
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Waiting:
    """The waiting jobs. Not thread-safe: the ledger's lock guards it."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}
        self._again: dict[str, str] = {}  # times of replays, since a record only has the time of the first acceptance
        self._ready: dict[str, list[_Place]] = {}
        self._is_ready: set[str] = set()
        self._delayed: list[tuple[datetime, str]] = []
        self._announced: dict[str, Record] = {}
        self._latest = _LONG_AGO

    def put(self, record: Record, now: datetime) -> None:
        """Add a waiting job, or replace its earlier record."""
        self.discard(record.job_id)
        self._latest = max(self._latest, now)
        self._records[record.job_id] = record
        if record.generation > 1 and record.attempt == 0:
            self._again[record.job_id] = clock.iso(now)
        self._sort_in(record, now)

    def discard(self, job_id: str) -> None:
        """Remove a job."""
        self._records.pop(job_id, None)
        self._again.pop(job_id, None)
        self._is_ready.discard(job_id)
        self._announced.pop(job_id, None)

    def _sort_in(self, record: Record, now: datetime) -> None:
        if lifecycle.is_due(record, now):
            self._make_ready(record)
        else:
            self._is_ready.discard(record.job_id)
            self._announced.pop(record.job_id, None)
        # Also for a job that is only due because the clock was set back: once the clock has caught up, it is not.
        if record.next_attempt_at is not None and (at := clock.parse(record.next_attempt_at)) > now:
            heapq.heappush(self._delayed, (at, record.job_id))

    def _make_ready(self, record: Record) -> None:
        if record.job_id not in self._is_ready:
            self._is_ready.add(record.job_id)
            heapq.heappush(self._ready.setdefault(str(record.kind), []), _place(record))
            self._announced[record.job_id] = record

    def _advance(self, now: datetime) -> None:
        """Move the delayed jobs that have become due to the ready ones."""
        if now < self._latest:  # the clock was set back, so every job may have become due or not due
            self._delayed.clear()
            for record in self._records.values():
                self._sort_in(record, now)
        self._latest = now
        while self._delayed and self._delayed[0][0] <= now:
            delayed = self._records.get(heapq.heappop(self._delayed)[1])
            if delayed is not None and lifecycle.is_due(delayed, now):  # otherwise the entry is outdated
                self._make_ready(delayed)
                self._announced[delayed.job_id] = delayed

    def due(self, kind: str, limit: int, now: datetime) -> list[Record]:
        """At most ``limit`` jobs of a kind that may start now, in their order of starting."""
        self._advance(now)
        ready = self._ready.get(kind, [])
        found: dict[str, Record] = {}
        places: list[_Place] = []
        while ready and len(found) < limit:
            place = heapq.heappop(ready)
            record = self._records.get(place[2])
            if record is None or record.job_id in found or record.job_id not in self._is_ready:
                continue
            if record.kind != kind:  # an earlier job had the same id
                continue
            if not lifecycle.is_due(record, now):
                self._is_ready.discard(record.job_id)
            elif _place(record) == place:
                found[record.job_id] = record
                places.append(place)
        for place in places:
            heapq.heappush(ready, place)
        return list(found.values())

    def kinds_due(self, now: datetime) -> list[str]:
        """The kinds with a job that may start now, in the order of their first jobs."""
        self._advance(now)  # first, since it may add a kind
        firsts = [(_place(found[0]), kind) for kind in list(self._ready) if (found := self.due(kind, 1, now))]
        return [kind for _, kind in sorted(firsts)]

    def take_announced(self, now: datetime) -> list[Record]:
        """The jobs that have become due since the last call, each once, for the queue."""
        self._advance(now)
        announced = []
        for record in self._announced.values():
            if lifecycle.is_due(record, now):
                announced.append(record)
            else:
                self._is_ready.discard(record.job_id)  # it will be announced when it is due
        self._announced.clear()
        return announced

    def next_due(self) -> datetime | None:
        """The time at which the next delayed job is due, or the past if an announcement is pending; None without one.

        It may be too early, for a job whose record was replaced.
        """
        if self._announced:
            return _LONG_AGO
        while self._delayed and self._delayed[0][1] not in self._records:
            heapq.heappop(self._delayed)
        return self._delayed[0][0] if self._delayed else None

    def oldest(self) -> str | None:
        """The earliest timestamp of acceptance or replay; None without a waiting job. Takes linear time."""
        times = (self._again.get(job_id, record.accepted_at) for job_id, record in self._records.items())
        return min((at for at in times if at is not None), default=None)


def _place(record: Record) -> _Place:
    return -record.priority, record.accepted_at or "", record.job_id
