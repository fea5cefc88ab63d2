"""Delayed jobs: each is put into the queue once, when it is due."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

from jobs import clock, lifecycle
from jobs.model import Record

from .ledger import Ledger

Turn = tuple[str, int, int]

_PUT_AGAIN_SECONDS = 60.0


class Timetable:
    """Not thread-safe: the intake's thread calls it."""

    def __init__(
        self, ledger: Ledger, enqueue: Callable[[str, int], None], now: Callable[[], datetime] = clock.now
    ) -> None:
        self._ledger = ledger
        self._enqueue = enqueue
        self._now = now
        self._put: dict[Turn, float] = {}

    def look(self) -> None:
        """Enqueue what has become due since the last look."""
        now = self._now()
        delayed = [record for record in self._ledger.live() if record.next_attempt_at is not None]
        turns = {_turn(record) for record in delayed}
        # A look that came too early by the clock, which may be set back, leaves its job waiting: put it again.
        recent = time.monotonic() - _PUT_AGAIN_SECONDS
        self._put = {turn: at for turn, at in self._put.items() if turn in turns and at > recent}
        for record in delayed:
            if lifecycle.is_due(record, now) and _turn(record) not in self._put:
                self._put[_turn(record)] = time.monotonic()
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
