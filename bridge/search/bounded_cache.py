"""A cache of a bounded size, in bytes as its user counts them. Threads may share it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Keeps values up to ``most_bytes``; drops the least recently used ones first."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._bytes = 0

    @property
    def bytes(self) -> int:
        """The size of all values that are kept."""
        return self._bytes

    def get(self, key: K) -> V | None:
        """The value; None if it is not kept."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Keep a value of ``size`` bytes. A value that is larger than the whole cache is not kept."""
        with self._lock:
            former = self._kept.pop(key, None)
            self._bytes -= former[1] if former else 0
            if size > self._most:
                return
            self._kept[key] = value, size
            self._bytes += size
            while self._bytes > self._most:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._bytes -= dropped
