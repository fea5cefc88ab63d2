"""A lock that the kernel frees when its process dies: who holds it, lives. Its file carries a note of the holder."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from pathlib import Path
from types import TracebackType

from . import files
from .errors import JobError

NOTE_LIMIT = 4096

if sys.platform == "win32":
    import msvcrt

    # A locked byte cannot be read by others: this one lies far behind any note. The position is 32 bits wide.
    _BYTE = 0x7FFF_FFFE

    def _take(descriptor: int, *, shared: bool = False) -> bool:
        os.lseek(descriptor, _BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EDEADLK):
                raise
            return False
        return True

    def _free(descriptor: int) -> None:
        """Closing alone would free it as well, but at a time of the system's choice."""
        os.lseek(descriptor, _BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(descriptor: int, *, shared: bool = False) -> bool:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _free(descriptor: int) -> None:
        """Closing frees it: at once, unless a fork has the descriptor too, and so explicitly."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)


# Without O_NONBLOCK, opening a pipe in the lock's place would wait for ever.
_FLAGS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "O_BINARY"))
_SHARES = sys.platform != "win32"

# Who only looks (``is_held``) has the lock for some microseconds, and must not be taken for a holder.
_PROBE_PAUSES_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)


class Lock:
    """Exclusive among processes. flock, not fcntl locks: those vanish when any descriptor is closed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """Take the lock if it is free; False when another process holds it.

        Raises FILE_UNSAFE for what is no plain file of this user, and OSError.
        """
        for pause in (*_PROBE_PAUSES_SECONDS, None):
            descriptor = _open(self._path)
            try:
                if _take(descriptor) and _lies_at(descriptor, self._path):  # else it was removed since it was opened
                    self._descriptor, descriptor = descriptor, -1
                    return True
            finally:
                if descriptor != -1:
                    os.close(descriptor)
            if pause is not None:
                time.sleep(pause)
        return False

    def is_in_place(self) -> bool:
        """Whether the file that is locked still lies at its path: else a second holder could come."""
        return _lies_at(self._held(), self._path)

    def note(self) -> bytes:
        """What the former holder wrote, or this one since; empty when nobody did. Only while the lock is held."""
        descriptor = self._held()
        os.lseek(descriptor, 0, os.SEEK_SET)
        return os.read(descriptor, NOTE_LIMIT)

    def write_note(self, data: bytes) -> None:
        """Leave a note for the next holder, which a kill of the process survives, and a power cut need not.

        Only while the lock is held. Not in one step: a reader must bear a part of it.
        """
        if len(data) > NOTE_LIMIT:
            raise ValueError(f"a note of {len(data)} bytes; the limit is {NOTE_LIMIT}")
        descriptor = self._held()
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        while data:
            data = data[os.write(descriptor, data) :]

    def release(self) -> None:
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            try:
                _free(descriptor)
            finally:
                os.close(descriptor)

    def _held(self) -> int:
        assert self._descriptor is not None, "the lock is not held"
        return self._descriptor

    def __enter__(self) -> Lock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def is_held(path: Path) -> bool:
    """Whether some process holds the lock. Nobody does where no file lies, or what none of ours would lock."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _FLAGS)
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            return False
        raise
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        # Shared: two that look do not take each other for a holder. Where there is no such thing, another who
        # looks is gone at the second try.
        for pause in (*(() if _SHARES else _PROBE_PAUSES_SECONDS[:3]), None):
            if _take(descriptor, shared=True):
                _free(descriptor)
                return False
            if pause is not None:
                time.sleep(pause)
        return True
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    """The lock's file, private, made if it is missing; a note is written into it, so it must be nobody else's."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
    try:
        status = os.fstat(descriptor)
        # No name at all: it was removed just now, and the caller tries again.
        if not stat.S_ISREG(status.st_mode) or not files.is_users(status) or (_SHARES and status.st_nlink > 1):
            raise JobError("FILE_UNSAFE", f"{path} is no plain file of this user, or has a second name.")
        files.make_private(descriptor, status)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _lies_at(descriptor: int, path: Path) -> bool:
    try:
        there = path.lstat()
    except OSError:
        return False
    here = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
