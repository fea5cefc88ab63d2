"""The jobs that wait, in the order in which they start: higher priority first, then first come.

Letting a job wait, and finding the next, cost the logarithm of how many wait. Entries that are out of date stay
until they come up.
"""

from __future__ import annotations

import heapq
from datetime import UTC, datetime

from jobs import clock, lifecycle
from jobs.model import Record

_Place = tuple[int, str, str]  # minus the priority, when it was accepted, the job's id
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Waiting:
    """Not thread-safe: the ledger's lock guards it."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}
        self._again: dict[str, str] = {}  # when jobs that run again came: their records say when they came at first
        self._ready: dict[str, list[_Place]] = {}
        self._is_ready: set[str] = set()
        self._delayed: list[tuple[datetime, str]] = []
        self._announced: dict[str, Record] = {}
        self._latest = _LONG_AGO

    def __len__(self) -> int:
        return len(self._records)

    def put(self, record: Record, now: datetime) -> None:
        """Let a job wait, or wait anew under a later record."""
        self.discard(record.job_id)
        self._latest = max(self._latest, now)
        self._records[record.job_id] = record
        if record.generation > 1 and record.attempt == 0:
            self._again[record.job_id] = clock.iso(now)
        self._sort_in(record, now)

    def discard(self, job_id: str) -> None:
        """The job waits no more."""
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
        # Also of one that is due because the clock was set back: when the clock has caught up it is so no more.
        if record.next_attempt_at is not None and (at := clock.parse(record.next_attempt_at)) > now:
            heapq.heappush(self._delayed, (at, record.job_id))

    def _make_ready(self, record: Record) -> None:
        if record.job_id not in self._is_ready:
            self._is_ready.add(record.job_id)
            heapq.heappush(self._ready.setdefault(str(record.kind), []), _place(record))
            self._announced[record.job_id] = record

    def _advance(self, now: datetime) -> None:
        """Move what has become due."""
        if now < self._latest:  # set back: what waits may be due, and what was ready may have to wait
            self._delayed.clear()
            for record in self._records.values():
                self._sort_in(record, now)
        self._latest = now
        while self._delayed and self._delayed[0][0] <= now:
            found = self._records.get(heapq.heappop(self._delayed)[1])
            if found is not None and lifecycle.is_due(found, now):  # else the entry is of a former record
                self._make_ready(found)
                self._announced[found.job_id] = found

    def due(self, kind: str, limit: int, now: datetime) -> list[Record]:
        """The first jobs of a kind that may start now."""
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
        """The kinds of which a job may start now, the one whose first job comes first at the front."""
        self._advance(now)  # first: it may bring a kind that was not there
        firsts = [(_place(found[0]), kind) for kind in list(self._ready) if (found := self.due(kind, 1, now))]
        return [kind for _, kind in sorted(firsts)]

    def take_announced(self, now: datetime) -> list[Record]:
        """What has become ready since the last call, each once: whoever runs jobs is to be told of it."""
        self._advance(now)
        found = []
        for record in self._announced.values():
            if lifecycle.is_due(record, now):
                found.append(record)
            else:
                self._is_ready.discard(record.job_id)  # it will be announced when it is due
        self._announced.clear()
        return found

    def next_due(self) -> datetime | None:
        """When the next delayed job is due; earlier if that one waits no more, long ago if one is to be announced."""
        if self._announced:
            return _LONG_AGO
        while self._delayed and self._delayed[0][1] not in self._records:
            heapq.heappop(self._delayed)
        return self._delayed[0][0] if self._delayed else None

    def oldest(self) -> str | None:
        """When the job came, or was run again, that has waited longest. Looks at all."""
        came = (self._again.get(job_id, record.accepted_at) for job_id, record in self._records.items())
        return min((at for at in came if at is not None), default=None)


def _place(record: Record) -> _Place:
    return -record.priority, record.accepted_at or "", record.job_id
