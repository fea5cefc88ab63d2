"""Long work in slices: between them other jobs may run over the same stores."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

Progress = Callable[[dict[str, Any]], None]

SLICE_SECONDS = 0.5


def quietly(progress: dict[str, Any]) -> None:
    """For who has nobody to tell."""


class Slices:
    """Tells ``progress`` when a slice of work is over: at safe points only, never inside a transaction."""

    def __init__(self, progress: Progress, message: str, total: int) -> None:
        self._progress = progress
        self._message = message
        self._total = total
        self._done = 0
        self._since = time.monotonic()

    def done(self, more: int = 0) -> None:
        """So much more is done; here the work may be set aside for a while."""
        self._done += more
        if time.monotonic() - self._since >= SLICE_SECONDS:
            total = max(self._total, self._done)
            self._progress({"done": self._done, "total": total, "message": self._message})
            self._since = time.monotonic()


class Portion:
    """How many items to take at once so that they take about a slice, by how long the last ones took."""

    def __init__(self, first: int, most: int, least: int = 1) -> None:
        self.size = first
        self._most = most
        self._least = least
        self._began = 0.0

    def __enter__(self) -> Portion:
        self._began = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self.size = next_size(self.size, time.monotonic() - self._began, self._most, self._least)


def next_size(size: int, seconds: float, most: int, least: int = 1) -> int:
    """What takes about a slice; it at most doubles, since the first one pays for what comes up once.

    ``least`` is for work of which a portion costs something whatever its size: below, there would be little else.
    """
    fitting = int(size * SLICE_SECONDS / max(seconds, 1e-3))
    return max(least, min(fitting, 2 * size, most))
