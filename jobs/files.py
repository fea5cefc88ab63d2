"""Durable, private file operations, and how the platforms differ in them.

A reader sees the old file or the new one, never a part; what ``replace`` returned from survives a
power cut. Every file is created 0600 and every folder 0700, whatever the umask.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from .errors import JobError

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_WINDOWS = sys.platform == "win32"


def sync(descriptor: int) -> None:
    """Force a file's content to the medium (macOS needs F_FULLFSYNC for that)."""
    if sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Force a folder's entries to the medium; Windows does that with the rename itself."""
    if _WINDOWS:
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Create a private folder, or make an existing one of ours private."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _WINDOWS:
        mode = stat.S_IMODE(folder.stat().st_mode)
        if mode & 0o777 != 0o700:
            folder.chmod(0o700)


def ignore_in_git(folder: Path) -> None:
    """Keep a folder of ours out of the workspace's version control."""
    path = folder / ".gitignore"
    if not path.exists():
        replace(path, b"*\n")


def write_new(path: Path, data: bytes, *, synced: bool = True) -> None:
    """Write and sync a file that must not exist yet."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _BINARY, 0o600)
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(data)
        if not _WINDOWS:
            os.fchmod(descriptor, 0o600)
        if synced:
            sync(descriptor)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


def replace(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Put ``data`` at ``path`` in one step. With ``durable=False`` the caller syncs the folder."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    write_new(part, data)
    try:
        rename(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def replace_loosely(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path`` in one step for readers, without surviving a power cut."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    write_new(part, data, synced=False)
    rename(part, path)


def replace_many(items: Iterable[tuple[Path, bytes]]) -> None:
    """Put several files in place with one folder sync for all of them."""
    folders = set()
    for path, data in items:
        replace(path, data, durable=False)
        folders.add(path.parent)
    for folder in folders:
        sync_folder(folder)


def rename(source: Path, target: Path) -> None:
    """Rename over the target. On Windows a reader that holds the target makes it fail for a moment."""
    for pause in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4):
        try:
            source.replace(target)
            return
        except PermissionError:
            if not _WINDOWS:
                raise
            time.sleep(pause)
    source.replace(target)


def remove(path: Path) -> None:
    """Unlink a file if it is there; its absence after a power cut is not promised."""
    path.unlink(missing_ok=True)


def read_own(path: Path, limit: int) -> bytes:
    """The bytes of a plain file in a folder of ours, at most ``limit``; a second name (a backup's) does no harm.

    Raises FILE_UNSAFE for a link or what is no file, FILE_TOO_LARGE, and OSError as it is: what cannot be read
    now need not be damaged.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | _NOFOLLOW | _NONBLOCK | _BINARY)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise JobError("FILE_UNSAFE", f"{path.name} is a link.") from error
        raise
    try:
        return _read(descriptor, path, limit)[0]
    finally:
        os.close(descriptor)


def read_plain(path: Path, limit: int) -> tuple[bytes, os.stat_result]:
    """The bytes of a plain file that this user alone can have written, at most ``limit``, and its status.

    Links are not followed and pipes do not block. Raises FileNotFoundError, FILE_UNSAFE for what is
    no plain file of ours, FILE_TOO_LARGE.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | _NOFOLLOW | _NONBLOCK | _BINARY)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise JobError("FILE_UNSAFE", f"{path.name} cannot be opened as a plain file: {error.strerror}.") from error
    try:
        data, status = _read(descriptor, path, limit)
        # No name at all is well: the file was replaced after we had opened it, and we read the old one.
        if not _WINDOWS and (status.st_uid != os.getuid() or status.st_nlink > 1):
            raise JobError("FILE_UNSAFE", f"{path.name} belongs to another user or has a second name.")
        return data, status
    finally:
        os.close(descriptor)


def _read(descriptor: int, path: Path, limit: int) -> tuple[bytes, os.stat_result]:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise JobError("FILE_UNSAFE", f"{path.name} is not a plain file.")
    if status.st_size > limit:
        raise JobError("FILE_TOO_LARGE", f"{path.name} has {status.st_size:,} bytes; the limit is {limit:,}.")
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise JobError("FILE_TOO_LARGE", f"{path.name} grew beyond the limit of {limit:,} bytes.")
    return data, status


def owned_by_user(path: Path) -> bool:
    """Whether the entry itself (a link is not followed) belongs to this user."""
    return _WINDOWS or path.lstat().st_uid == os.getuid()
