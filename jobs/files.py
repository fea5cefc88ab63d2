"""Atomic, durable and private file operations, and the differences between platforms.

Readers see the old file or the new one, never a part. When ``replace`` has returned, its change survives a power cut.
Every file is created 0600 and every folder 0700, whatever the umask. Reading is in ``plain_files``, several files at
once are in ``batch``, and which files exist is in ``layout``. All functions let OSError pass unless their docstring
says otherwise.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from .errors import JobError
from .plain_files import belongs_to_user, is_real_folder, kind_of

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_DIRECTORY", 0)
_WINDOWS = sys.platform == "win32"

# What a file system answers that has no such thing: to F_FULLFSYNC, to the sync of a folder, to a mode.
_UNSUPPORTED = frozenset(
    {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOTTY, errno.ENOSYS, errno.EBADF, errno.EISDIR}
)
# The numbers of the errors for a full disk, and for a used-up quota of the user. Windows has no quotas by that name.
NO_SPACE = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)})
_READER_PAUSES_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)


def is_no_space(error: BaseException) -> bool:
    """Whether the error means that the disk or the user's quota is full, also as SQLite says it."""
    is_full = getattr(error, "sqlite_errorcode", 0) in (13, 4874)  # SQLITE_FULL; IOERR_SHMSIZE: its index has no room
    return is_full or (isinstance(error, OSError) and error.errno in NO_SPACE)


def sync(descriptor: int) -> None:
    """Force a file's content to the medium. macOS needs F_FULLFSYNC for that, which some mounts do not support."""
    if sys.platform == "darwin":
        import fcntl

        try:
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
    os.fsync(descriptor)


def sync_file(path: Path) -> None:
    """Force the content of an existing file to the medium."""
    descriptor = os.open(path, os.O_RDWR | _NOFOLLOW | _BINARY)  # Windows syncs only descriptors open for writing
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Force a folder's entries to the medium. On Windows the rename itself does that."""
    if _WINDOWS:
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        sync(descriptor)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:  # some network and user-space file systems sync no folders
            raise
    finally:
        os.close(descriptor)


_FOLDER_REMEDY = "Move it away, or put a plain folder of this user in its place."


def identity(path: Path) -> tuple[int, int] | None:
    """The device and inode of what is at a path; None if there is nothing, or it cannot be looked at.

    While a process has the file open, no other file gets the same identity.
    """
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def make_folder(folder: Path, *, links: bool = False, parents: bool = True) -> None:
    """Create a private folder, or make the user's existing one private. So are the parents that it creates. A new
    folder survives a power cut.

    Without ``parents`` it raises FileNotFoundError if the parent is missing: the workspace may have been moved or
    removed, and must not appear again. Raises JobError: FILE_UNSAFE for a link or another user's folder: a cloned
    workspace may contain either, and a link would redirect our writes. ``links`` allows both, since the user's cache
    folder may be elsewhere.
    """
    is_missing = not folder.exists()
    if is_missing and parents and not folder.parent.exists():
        make_folder(folder.parent, links=links)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError as error:
        if links:
            raise
        message = f"{folder.name} is {kind_of(folder.lstat())}, not a folder."
        raise JobError("FILE_UNSAFE", message, remediation=_FOLDER_REMEDY) from error
    if is_missing:
        sync_folder(folder.parent)
    status = folder.stat() if links else folder.lstat()
    if not links and not is_real_folder(status):
        raise JobError("FILE_UNSAFE", f"{folder.name} is {kind_of(status)}, not a folder.", remediation=_FOLDER_REMEDY)
    if not links and not belongs_to_user(status):
        message = f"The folder {folder.name} belongs to another user."
        raise JobError("FILE_UNSAFE", message, remediation=_FOLDER_REMEDY)
    if not _WINDOWS and stat.S_IMODE(status.st_mode) & 0o777 != 0o700:
        with _ignoring_missing_mode_support():
            _set_private_mode(folder, links)


def _set_private_mode(folder: Path, links: bool) -> None:
    try:
        descriptor = os.open(folder, _FOLDER & ~_NOFOLLOW if links else _FOLDER)
    except PermissionError:  # the folder is ours, but its mode denies even us to open it
        folder.chmod(0o700)
        return
    try:
        os.fchmod(descriptor, 0o700)
    finally:
        os.close(descriptor)


def make_private(descriptor: int, status: os.stat_result) -> None:
    """Set the mode of an open file to 0600. ``status`` is its fstat result."""
    if not _WINDOWS and stat.S_IMODE(status.st_mode) != 0o600:
        with _ignoring_missing_mode_support():
            os.fchmod(descriptor, 0o600)


@contextlib.contextmanager
def _ignoring_missing_mode_support() -> Iterator[None]:
    """Ignores failures to set a mode: FAT and similar file systems have none and refuse even the owner."""
    try:
        yield
    except OSError as error:
        if not isinstance(error, PermissionError) and error.errno not in _UNSUPPORTED:
            raise


def ignore_in_git(folder: Path) -> None:
    """Exclude a folder from the workspace's version control with a ``.gitignore`` inside it."""
    path = folder / ".gitignore"
    if not path.exists():
        replace(path, b"*\n")


def temporary_path(path: Path) -> Path:
    """A new temporary name in the same folder. Recovery removes the temporary files of a process that died."""
    return path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")


def write_new(path: Path, data: bytes, *, synced: bool = True) -> None:
    """Create and write a file, and sync its content unless ``synced`` is False. After an error the file is removed.

    Raises FileExistsError when it exists.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _BINARY, 0o600)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        make_private(descriptor, os.fstat(descriptor))
        if synced:
            sync(descriptor)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


def replace(path: Path, data: bytes) -> None:
    """Replace the file at ``path`` by ``data`` atomically and durably."""
    _replace(path, data, synced=True)
    sync_folder(path.parent)


def replace_without_sync(path: Path, data: bytes) -> None:
    """Replace the file at ``path`` by ``data`` atomically; the change need not survive a power cut."""
    _replace(path, data, synced=False)


def _replace(path: Path, data: bytes, *, synced: bool) -> None:
    part = temporary_path(path)
    write_new(part, data, synced=synced)
    try:
        rename(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A context with an open file to write. On exit it replaces the file at ``path`` atomically and durably; after an
    error ``path`` is unchanged."""
    part = temporary_path(path)
    write_new(part, b"", synced=False)
    try:
        with part.open("wb") as file:
            yield file
        sync_file(part)
        rename(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def rename(source: Path, target: Path) -> None:
    """Rename ``source`` to ``target``, replacing it; retries while a reader on Windows blocks it."""
    _retry_while_open(lambda: source.replace(target))


def remove(path: Path) -> None:
    """Unlink a file if it exists. After a power cut it may exist again."""
    _retry_while_open(lambda: path.unlink(missing_ok=True))


def _retry_while_open(action: Callable[[], object]) -> None:
    """Run the action, retrying on Windows, where a file that a reader has open can be neither replaced nor removed."""
    for pause in _READER_PAUSES_SECONDS:
        try:
            action()
            return
        except PermissionError:
            if not _WINDOWS:
                raise
            time.sleep(pause)
    action()
