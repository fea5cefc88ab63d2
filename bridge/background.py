"""A value that is made in a thread: for what takes its time outside Python's lock, such as reading a model."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """Begins at once. Safe to share among threads."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made = False
        self._error: Exception | None = None
        self._thread = Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._value = self._make()
            self._made = True
        except Exception as error:
            self._error = error

    @property
    def has_failed(self) -> bool:
        return self._error is not None

    def result(self) -> T:
        """The value, waited for.

        Who asks first gets the error of a failure, and whoever asks after that tries again: it may have been mended.
        """
        self._thread.join()
        error, self._error = self._error, None
        if error is not None:
            raise error
        if not self._made:
            self._value = self._make()
            self._made = True
        return self._value
