"""Sections that a kill must wait for: a graph that is cut off inside its checkpoint does not open again, and who asks
whether a job was in time must not find its commit half done.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_section = threading.RLock()  # the closing of the graph commits that it was closed
_depth = 0


def _nothing() -> None:
    """Without anybody to tell."""


_entered: Callable[[], None] = _nothing
_left: Callable[[], None] = _nothing


def on_change(entered: Callable[[], None], left: Callable[[], None]) -> None:
    """Have these called right after the outermost section is entered and right before it is left."""
    global _entered, _left
    _entered, _left = entered, left


@contextmanager
def critical_section() -> Iterator[None]:
    """Declare that the process must not be ended until this is left."""
    global _depth
    with _section:
        _depth += 1
        if _depth == 1:
            _entered()
        try:
            yield
        finally:
            if _depth == 1:
                _left()
            _depth -= 1


def wait(seconds: float) -> bool:
    """Wait, in another thread, until no section is entered and keep further ones out; False when the time ran out."""
    return _section.acquire(timeout=seconds)
