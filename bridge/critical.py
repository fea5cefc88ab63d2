"""Sections that a kill must wait for: a graph that is cut off inside its checkpoint does not open again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_section = threading.Lock()


@contextmanager
def section() -> Iterator[None]:
    """Declare that the process must not be ended until this is left."""
    with _section:
        yield


def wait(seconds: float) -> bool:
    """Wait until no section is entered and keep further ones out; False when the time ran out."""
    return _section.acquire(timeout=seconds)
