"""A lock between processes that the kernel releases when its holder dies, so a held lock proves a living process.

The lock file also carries a short note, which the holder leaves for the next one. What the note means is the
caller's affair.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from pathlib import Path

from . import files, plain_files
from .errors import JobError

NOTE_LIMIT = 4096

if sys.platform == "win32":
    import msvcrt

    # Other processes cannot read a locked byte, so it is far behind any note. Positions have 32 bits.
    _BYTE = 0x7FFF_FFFE

    def _try_lock(descriptor: int, *, shared: bool = False) -> bool:
        os.lseek(descriptor, _BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EDEADLK):
                raise
            return False
        return True

    def _unlock(descriptor: int) -> None:
        """Release explicitly: after closing alone, Windows releases the lock at an unspecified time."""
        os.lseek(descriptor, _BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int, *, shared: bool = False) -> bool:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        """Release explicitly: closing does not release the lock while a forked child has the descriptor."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)


# Without O_NONBLOCK, opening a pipe in place of the lock file would block for ever.
_FLAGS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "O_BINARY"))
_SHARES = sys.platform != "win32"

# ``is_held`` itself takes the lock for some microseconds; a process that acquires must not mistake it for a holder.
_PROBE_PAUSES_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)


class Lock:
    """An exclusive lock between processes. Uses flock: an fcntl lock vanishes when any descriptor is closed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """Take the lock if it is free; False when another process holds it. Retries for about 0.2 s.

        Raises JobError: FILE_UNSAFE when the path is anything but a plain file of this user. Raises OSError.
        """
        for pause in (*_PROBE_PAUSES_SECONDS, None):
            descriptor = _open(self._path)
            try:
                if _try_lock(descriptor) and _is_file_at(descriptor, self._path):  # else the file was removed meanwhile
                    self._descriptor, descriptor = descriptor, -1
                    return True
            finally:
                if descriptor != -1:
                    os.close(descriptor)
            if pause is not None:
                time.sleep(pause)
        return False

    def is_in_place(self) -> bool:
        """Whether the locked file is still at its path. If not, another process could lock a new file there."""
        return _is_file_at(self._held(), self._path)

    def read_note(self) -> bytes:
        """The note of this holder, or of the one before; empty without one. Call it only while the lock is held."""
        descriptor = self._held()
        os.lseek(descriptor, 0, os.SEEK_SET)
        return os.read(descriptor, NOTE_LIMIT)

    def write_note(self, data: bytes) -> None:
        """Write a note for the next holder. It survives a kill of the process, but not necessarily a power cut.

        Call it only while the lock is held. The write is not atomic: a reader may see a part of the note. Raises
        ValueError above ``NOTE_LIMIT`` bytes.
        """
        if len(data) > NOTE_LIMIT:
            raise ValueError(f"a note of {len(data)} bytes; the limit is {NOTE_LIMIT}")
        descriptor = self._held()
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        while data:
            data = data[os.write(descriptor, data) :]

    def release(self) -> None:
        """Release the lock; does nothing when it is not held."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            try:
                _unlock(descriptor)
            finally:
                os.close(descriptor)

    def _held(self) -> int:
        assert self._descriptor is not None, "the lock is not held"
        return self._descriptor

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def is_held(path: Path) -> bool:
    """Whether a process holds the lock. False without a file, and for an entry that is not a plain file, since
    ``Lock`` never locks one. Raises OSError."""
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
        # A shared lock: two probing processes do not mistake each other for a holder. On Windows, which has no
        # shared lock here, another probe has finished by the second try.
        for pause in (*(() if _SHARES else _PROBE_PAUSES_SECONDS[:3]), None):
            if _try_lock(descriptor, shared=True):
                _unlock(descriptor)
                return False
            if pause is not None:
                time.sleep(pause)
        return True
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    """A descriptor of the lock file, created private if missing. It must be the user's own, since it takes a note."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
    try:
        status = os.fstat(descriptor)
        # A link count of 0 means that the file was removed just now; the caller tries again.
        if (
            not stat.S_ISREG(status.st_mode)
            or not plain_files.belongs_to_user(status)
            or (_SHARES and status.st_nlink > 1)
        ):
            raise JobError("FILE_UNSAFE", f"{path} is no plain file of this user, or has a second name.")
        files.make_private(descriptor, status)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _is_file_at(descriptor: int, path: Path) -> bool:
    try:
        at_path = path.lstat()
    except OSError:
        return False
    opened = os.fstat(descriptor)
    return (at_path.st_dev, at_path.st_ino) == (opened.st_dev, opened.st_ino)
