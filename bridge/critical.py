"""Critical sections: code during which the process must not be killed.

A graph that is killed inside its checkpoint does not open again. And the check whether a job met its timeout must not
run in the middle of its commit. Who kills the process, and when, is decided elsewhere.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_section = threading.RLock()  # re-entrant: closing the graph commits, inside its section, that it was closed
_depth = 0


def _nothing() -> None:
    """The default callback."""


_entered: Callable[[], None] = _nothing
_left: Callable[[], None] = _nothing


def on_change(entered: Callable[[], None], left: Callable[[], None]) -> None:
    """Register the callbacks for entering and leaving the outermost section; they replace earlier ones."""
    global _entered, _left
    _entered, _left = entered, left


@contextmanager
def critical_section() -> Iterator[None]:
    """A context during which the process must not be killed. It may be nested."""
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
    """Wait until no thread is in a section, then block all further sections; call it from a thread of its own.

    False when that took longer than ``seconds``.
    """
    return _section.acquire(timeout=seconds)
