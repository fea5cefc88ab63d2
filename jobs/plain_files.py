"""Plain files and folders of this user: recognised by their status, and read without following a link.

A cloned or shared workspace may contain links, pipes, devices and files of others in place of our own. What is written
is in ``files``.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from .errors import JobError

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_WINDOWS = sys.platform == "win32"

# Errors of open for an entry that can never be read as a plain file. Other errors may be temporary (too many open
# files, a device error, an unreachable server) and must not get a good file rejected.
_NEVER_PLAIN = frozenset({errno.ELOOP, errno.ENXIO, errno.ENODEV, errno.EISDIR, errno.ENOTSUP, errno.EOPNOTSUPP})


def read_own(path: Path, limit: int) -> bytes:
    """The bytes of a plain file in one of our folders. Hard links are allowed: backups make them.

    Raises JobError: FILE_UNSAFE for a link or anything but a plain file, FILE_TOO_LARGE above ``limit`` bytes. OSError
    passes: a file that cannot be read now need not be damaged.
    """
    descriptor = open_plain(path)
    try:
        return _read(descriptor, path, limit)
    finally:
        os.close(descriptor)


def read_plain(path: Path, limit: int) -> tuple[bytes, os.stat_result]:
    """The bytes of a plain file that only this user can have written, and its status.

    Raises JobError: FILE_UNSAFE for anything else (a file with several hard links has their number in
    ``details["names"]``), FILE_TOO_LARGE above ``limit`` bytes. OSError passes, including FileNotFoundError.
    """
    try:
        descriptor = open_plain(path)
    except PermissionError as error:
        if _WINDOWS:
            raise  # its writer still has it open
        raise JobError("FILE_UNSAFE", f"{path.name} cannot be opened: {error.strerror}.") from error
    try:
        status = os.fstat(descriptor)
        if not belongs_to_user(status):
            raise JobError("FILE_UNSAFE", f"{path.name} belongs to another user.")
        # A link count of 0 is fine: the file was replaced after we opened it, and we read the old one.
        if not _WINDOWS and status.st_nlink > 1:
            details = {"names": status.st_nlink}
            raise JobError("FILE_UNSAFE", f"{path.name} has a second name, a hard link.", details=details)
        return _read(descriptor, path, limit), status
    finally:
        os.close(descriptor)


def open_plain(path: Path, folder: int | None = None) -> int:
    """A descriptor for reading the plain file at ``path`` (relative to the open descriptor ``folder``, if given).

    Does not follow links. Does not open pipes and devices, since opening one can block or trigger an action. Raises
    JobError: FILE_UNSAFE for them. OSError passes.
    """
    before = os.stat(path, dir_fd=folder, follow_symlinks=False)
    name = path.name
    if not stat.S_ISREG(before.st_mode) or _is_junction(before):
        raise JobError("FILE_UNSAFE", f"{name} is {kind_of(before)}, not a plain file.")
    try:
        descriptor = os.open(path, _READ, dir_fd=folder)
    except OSError as error:
        if error.errno in _NEVER_PLAIN:
            raise JobError("FILE_UNSAFE", f"{name} is no plain file: {error.strerror}.") from error
        raise
    after = os.fstat(descriptor)
    if not stat.S_ISREG(after.st_mode):  # the entry was exchanged between stat and open
        os.close(descriptor)
        raise JobError("FILE_UNSAFE", f"{name} is {kind_of(after)}, not a plain file.")
    if not _NOFOLLOW and (before.st_dev, before.st_ino) != (after.st_dev, after.st_ino):
        os.close(descriptor)
        raise FileNotFoundError(errno.ENOENT, "was replaced while it was being opened", str(path))
    return descriptor


def _read(descriptor: int, path: Path, limit: int) -> bytes:
    size = os.fstat(descriptor).st_size
    if size > limit:
        raise JobError("FILE_TOO_LARGE", f"{path.name} has {size:,} bytes; the limit is {limit:,}.")
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        data = file.read(size + 1)  # not limit + 1: read allocates that many bytes, which costs more than reading
        if len(data) > size:
            data += file.read(limit + 1 - len(data))
    if len(data) > limit:
        raise JobError("FILE_TOO_LARGE", f"{path.name} grew beyond the limit of {limit:,} bytes.")
    return data


_KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISREG, "a file"),
)


def kind_of(status: os.stat_result) -> str:
    """What an entry with this status is, in words: "a link", "a folder" and so on."""
    if _is_junction(status):
        return "a link"
    return next((name for test, name in _KINDS if test(status.st_mode)), "something else")


def _is_junction(status: os.stat_result) -> bool:
    """Whether it is a junction: a link between folders on Windows that lstat shows as a folder."""
    return getattr(status, "st_reparse_tag", 0) == getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", 0xA0000003)


def entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """The entries of a folder, in no order; nothing if it does not exist. Raises OSError."""
    try:
        with os.scandir(folder) as found:
            yield from found
    except FileNotFoundError:
        return


def stamp(path: Path) -> tuple[int, int] | None:
    """When the file was last written, in nanoseconds, and its size; None if it cannot be looked at."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def belongs_to_user(status: os.stat_result) -> bool:
    """Whether the file or folder with this status belongs to this user; always True on Windows."""
    return _WINDOWS or status.st_uid == os.getuid()


def is_real_folder(status: os.stat_result) -> bool:
    """Whether this lstat result is of a folder, not of a link or junction."""
    return stat.S_ISDIR(status.st_mode) and not _is_junction(status)


def is_own_file(path: Path) -> bool:
    """Whether ``path`` is a plain file of this user with a single hard link. Raises OSError if it does not exist."""
    status = path.lstat()
    return stat.S_ISREG(status.st_mode) and belongs_to_user(status) and (_WINDOWS or status.st_nlink == 1)
