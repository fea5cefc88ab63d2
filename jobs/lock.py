"""A lock that the kernel frees when its process dies: who holds it, lives."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from types import TracebackType

if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int, *, shared: bool = False) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(descriptor: int, *, shared: bool = False) -> bool:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)

# Who only looks (``is_held``) has the lock for some microseconds, and must not be taken for a holder.
_PROBE_PAUSES_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)


class Lock:
    """Exclusive among processes. flock, not fcntl locks: those vanish when any descriptor is closed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """Take the lock if it is free; False when another process holds it."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
        for pause in (*_PROBE_PAUSES_SECONDS, None):
            if _take(descriptor):
                self._descriptor = descriptor
                return True
            if pause is not None:
                time.sleep(pause)
        os.close(descriptor)
        return False

    def is_in_place(self) -> bool:
        """Whether the file that is locked still lies at its path: else a second holder could come."""
        assert self._descriptor is not None
        try:
            there = self._path.stat()
        except OSError:
            return False
        here = os.fstat(self._descriptor)
        return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Lock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def is_held(path: Path) -> bool:
    """Whether some process holds the lock. A missing file means nobody does."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _FLAGS)
    except FileNotFoundError:
        return False
    try:
        return not _take(descriptor, shared=True)  # shared: two that look do not take each other for a holder
    finally:
        os.close(descriptor)
