"""Atomic, durable and private file operations, and the differences between platforms.

Readers see the old file or the new one, never a part. When ``replace`` has returned, its change survives a power cut.
Every file is created 0600 and every folder 0700, whatever the umask. Which files exist is in ``layout``; several
files at once are in ``batch``. All functions let OSError pass unless their docstring says otherwise.
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

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_READ = os.O_RDONLY | _NOFOLLOW | _BINARY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_FOLDER = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_DIRECTORY", 0)
_WINDOWS = sys.platform == "win32"

# What a file system answers that has no such thing: to F_FULLFSYNC, to the sync of a folder, to a mode.
_UNSUPPORTED = frozenset(
    {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOTTY, errno.ENOSYS, errno.EBADF, errno.EISDIR}
)
# Errors of open for an entry that can never be read as a plain file. Other errors may be temporary (too many open
# files, a device error, an unreachable server) and must not get a good file rejected.
_NEVER_PLAIN = frozenset({errno.ELOOP, errno.ENXIO, errno.ENODEV, errno.EISDIR, errno.ENOTSUP, errno.EOPNOTSUPP})
_READER_PAUSES_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)


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


def begin_sync(path: Path) -> None:
    """Start writing a file's content to the medium without waiting. A later sync is still needed."""
    if hasattr(os, "posix_fadvise"):
        descriptor = os.open(path, os.O_RDONLY | _NOFOLLOW)
        try:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
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


def make_folder(folder: Path, *, links: bool = False) -> None:
    """Create a private folder, or make the user's existing one private. So are the parents that it creates. A new
    folder survives a power cut.

    Raises JobError: FILE_UNSAFE for a link or another user's folder: a cloned workspace may contain either, and a link
    would redirect our writes. ``links`` allows both, since the user's cache folder may be elsewhere.
    """
    is_missing = not folder.exists()
    if is_missing and not folder.parent.exists():
        make_folder(folder.parent, links=links)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError as error:
        if links:
            raise
        message = f"{folder.name} is {_kind(folder.lstat())}, not a folder."
        raise JobError("FILE_UNSAFE", message, remediation=_FOLDER_REMEDY) from error
    if is_missing:
        sync_folder(folder.parent)
    status = folder.stat() if links else folder.lstat()
    if not links and not is_real_folder(status):
        raise JobError("FILE_UNSAFE", f"{folder.name} is {_kind(status)}, not a folder.", remediation=_FOLDER_REMEDY)
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
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(data)
        make_private(descriptor, os.fstat(descriptor))
        if synced:
            sync(descriptor)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


def replace(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace the file at ``path`` by ``data`` atomically and durably. With ``durable=False`` the caller must sync the
    folder."""
    _replace(path, data, synced=True)
    if durable:
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
        raise JobError("FILE_UNSAFE", f"{name} is {_kind(before)}, not a plain file.")
    try:
        descriptor = os.open(path, _READ, dir_fd=folder)
    except OSError as error:
        if error.errno in _NEVER_PLAIN:
            raise JobError("FILE_UNSAFE", f"{name} is no plain file: {error.strerror}.") from error
        raise
    after = os.fstat(descriptor)
    if not stat.S_ISREG(after.st_mode):  # the entry was exchanged between stat and open
        os.close(descriptor)
        raise JobError("FILE_UNSAFE", f"{name} is {_kind(after)}, not a plain file.")
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


def _kind(status: os.stat_result) -> str:
    if _is_junction(status):
        return "a link"
    return next((name for test, name in _KINDS if test(status.st_mode)), "something else")


def _is_junction(status: os.stat_result) -> bool:
    """Whether it is a junction: a link between folders on Windows that lstat shows as a folder."""
    return getattr(status, "st_reparse_tag", 0) == getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", 0xA0000003)


def belongs_to_user(status: os.stat_result) -> bool:
    """Whether the file or folder with this status belongs to this user; always True on Windows."""
    return _WINDOWS or status.st_uid == os.getuid()


def is_real_folder(status: os.stat_result) -> bool:
    """Whether this lstat result is of a folder, not of a link or junction."""
    return stat.S_ISDIR(status.st_mode) and not _is_junction(status)


def is_own_folder(path: Path) -> bool:
    """Whether ``path`` is a folder of this user, not a link to one. Raises OSError if it does not exist."""
    status = path.lstat()
    return is_real_folder(status) and belongs_to_user(status)


def is_own_file(path: Path) -> bool:
    """Whether ``path`` is a plain file of this user with a single hard link. Raises OSError if it does not exist."""
    status = path.lstat()
    return stat.S_ISREG(status.st_mode) and belongs_to_user(status) and (_WINDOWS or status.st_nlink == 1)
