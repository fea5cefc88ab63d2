"""A value that is made in a thread: for what takes its time outside Python's lock, such as reading a model."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """Begins at once. Safe to share among threads."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made = False
        self._thread = Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        with suppress(Exception):  # whoever asks for the value makes it again, and gets the error
            self._value = self._make()
            self._made = True

    def result(self) -> T:
        """The value, waited for. What failed is tried again by each who asks: it may have been mended since."""
        self._thread.join()
        if not self._made:
            self._value = self._make()
            self._made = True
        return self._value
