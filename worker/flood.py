"""How much of a talkative process gets into the log: a bucket that fills at a steady rate."""

from __future__ import annotations

_BURST, _PER_SECOND = 500.0, 20.0


class RateLimiter:
    """Decides line by line; ``now`` is in seconds of a clock that only goes forward."""

    def __init__(self) -> None:
        self._left = _BURST
        self._at: float | None = None
        self._missed = 0

    def passes(self, now: float) -> tuple[bool, int]:
        """Whether the line passes, and how many before it did not since the last one that passed."""
        if self._at is not None:
            self._left = min(_BURST, self._left + (now - self._at) * _PER_SECOND)
        self._at = now
        if self._left < 1:
            self._missed += 1
            return False, 0
        self._left -= 1
        missed, self._missed = self._missed, 0
        return True, missed
