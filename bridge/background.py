"""A value computed in a thread, for slow work that releases Python's global lock, such as reading a model."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """Starts ``make`` in a thread at once. Threads may share the object."""

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

    def wait(self) -> None:
        """Wait until the computation has ended."""
        self._thread.join()

    @property
    def has_ended(self) -> bool:
        """Whether the computation has ended, so that ``result`` does not wait."""
        return not self._thread.is_alive()

    @property
    def has_failed(self) -> bool:
        """Whether the computation has failed and its error was not raised yet."""
        return self._error is not None

    def result(self) -> T:
        """The value; waits for the thread.

        After a failure, the first call raises its error. Each later call computes the value again, since the cause may
        be repaired.
        """
        self._thread.join()
        error, self._error = self._error, None
        if error is not None:
            raise error
        if not self._made:
            self._value = self._make()
            self._made = True
        return self._value
