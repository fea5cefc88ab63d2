"""Cooperative preemption of long work: it runs in slices, between which other jobs may use the same stores.

Which jobs run in between is decided by the receiver of the progress calls, not here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

# Receives ``done``, ``total`` and ``message`` at points where the work may pause: other jobs may run over the same
# stores before the call returns. Never call it inside a transaction.
Progress = Callable[[dict[str, Any]], None]

SLICE_SECONDS = 0.5  # the target length of a slice


def ignore_progress(progress: dict[str, Any]) -> None:
    """A ``Progress`` that does nothing."""


class Slices:
    """Counts finished items and calls ``progress`` once per slice. So call ``advance`` at safe points only, as that."""

    def __init__(self, progress: Progress, message: str, total: int) -> None:
        self._progress = progress
        self._message = message
        self._total = total
        self._done = 0
        self._slice_start = time.monotonic()

    def advance(self, more: int = 0) -> None:
        """Report ``more`` finished items. If the slice is over, other jobs may run before this returns.

        Raises what ``progress`` raises.
        """
        self._done += more
        if time.monotonic() - self._slice_start >= SLICE_SECONDS:
            total = max(self._total, self._done)
            self._progress({"done": self._done, "total": total, "message": self._message})
            self._slice_start = time.monotonic()


class AdaptiveBatch:
    """A batch size that adapts so that one batch takes about a slice.

    Process each batch inside the context: on leaving it, ``size``, in items, is set for the next batch.
    """

    def __init__(self, first: int, most: int, least: int = 1) -> None:
        """``first`` is the size of the first batch; later ones have ``least`` to ``most`` items."""
        self.size = first
        self._most = most
        self._least = least
        self._start = 0.0

    def __enter__(self) -> AdaptiveBatch:
        self._start = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self.size = next_batch_size(self.size, time.monotonic() - self._start, self._most, self._least)


def next_batch_size(size: int, seconds: float, most: int, least: int = 1) -> int:
    """The size of the next batch, after one of ``size`` items took ``seconds``, for it to take about a slice.

    The size at most doubles, since the first batch includes one-time costs. It stays within ``least`` and ``most``;
    ``least`` is for batches with a fixed cost, which would dominate small ones.
    """
    fitting = int(size * SLICE_SECONDS / max(seconds, 1e-3))
    return max(least, min(fitting, 2 * size, most))
