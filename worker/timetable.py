"""Delayed jobs: each is put into the queue once, when it is due."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from jobs import clock, lifecycle
from jobs.model import Record

from .ledger import Ledger

Turn = tuple[str, int, int]


class Timetable:
    """Not thread-safe: the intake's thread calls it."""

    def __init__(
        self, ledger: Ledger, enqueue: Callable[[str, int], None], now: Callable[[], datetime] = clock.now
    ) -> None:
        self._ledger = ledger
        self._enqueue = enqueue
        self._now = now
        self._put: set[Turn] = set()

    def look(self) -> None:
        """Enqueue what has become due since the last look."""
        now = self._now()
        delayed = [record for record in self._ledger.live() if record.next_attempt_at is not None]
        self._put &= {_turn(record) for record in delayed}
        for record in delayed:
            if lifecycle.is_due(record, now) and _turn(record) not in self._put:
                self._put.add(_turn(record))
                self._enqueue(record.job_id, record.priority)

    def seconds_to_next(self, at_most: float) -> float:
        """How long nothing becomes due."""
        now = self._now()
        waits = [
            (clock.parse(record.next_attempt_at) - now).total_seconds()
            for record in self._ledger.live()
            if record.next_attempt_at is not None and _turn(record) not in self._put
        ]
        return max(0.0, min([at_most, *waits]))


def _turn(record: Record) -> Turn:
    return (record.job_id, record.generation, record.attempt)
