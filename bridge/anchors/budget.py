"""The time that looking up may take: of the processor, so that a busy machine says as much as another one, and ten
times as long in all, for a slow disk."""

from __future__ import annotations

import time

_WAITING = 10.0


class OutOfTime(Exception):
    """The time is over: what was looked for may be there or not."""


class Budget:
    """So many seconds from now on, in this thread."""

    def __init__(self, seconds: float) -> None:
        self._processor = time.thread_time() + seconds
        self._clock = time.monotonic() + _WAITING * seconds

    @property
    def is_spent(self) -> bool:
        """Whether the time is over."""
        return time.thread_time() > self._processor or time.monotonic() > self._clock

    def require(self) -> None:
        """Raises OutOfTime once the time is over."""
        if self.is_spent:
            raise OutOfTime
