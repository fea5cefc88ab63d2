"""Durable, private file operations, and how the platforms differ in them.

A reader sees the old file or the new one, never a part; what ``replace`` returned from survives a
power cut. Every file is created 0600 and every folder 0700, whatever the umask.
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
_NOT_THERE = frozenset(
    {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOTTY, errno.ENOSYS, errno.EBADF, errno.EISDIR}
)
# What open answers for something that can never be read as a plain file. Anything else may pass (too many open
# files, a device error, a server that is away), and must not cost a good file its chance.
_NEVER_PLAIN = frozenset({errno.ELOOP, errno.ENXIO, errno.ENODEV, errno.EISDIR, errno.ENOTSUP, errno.EOPNOTSUPP})
_READER_PAUSES_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)


def sync(descriptor: int) -> None:
    """Force a file's content to the medium (macOS needs F_FULLFSYNC for that, which not every mount knows)."""
    if sys.platform == "darwin":
        import fcntl

        try:
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
        except OSError as error:
            if error.errno not in _NOT_THERE:
                raise
    os.fsync(descriptor)


def sync_file(path: Path) -> None:
    """Force the content of a file that was written before to the medium."""
    descriptor = os.open(path, os.O_RDWR | _NOFOLLOW | _BINARY)  # Windows syncs what it may write alone
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def begin_sync(path: Path) -> None:
    """Ask for a file's content to be written soon, without waiting for it; a sync is needed all the same."""
    if hasattr(os, "posix_fadvise"):
        descriptor = os.open(path, os.O_RDONLY | _NOFOLLOW)
        try:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Force a folder's entries to the medium; Windows does that with the rename itself."""
    if _WINDOWS:
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        sync(descriptor)
    except OSError as error:
        if error.errno not in _NOT_THERE:  # some network and user-space file systems sync no folders
            raise
    finally:
        os.close(descriptor)


_A_FOLDER = "Move it away, or put a plain folder of this user in its place."


def make_folder(folder: Path, *, links: bool = False) -> None:
    """Create a private folder, or make an existing one of ours private. A new one survives a power cut.

    Raises FILE_UNSAFE for a link or another user's folder: what lies in a workspace may have come with a clone, and
    a link would lead our writes anywhere. With ``links`` it does not: a cache of the user's may well be elsewhere.
    """
    missing = _missing(folder)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError as error:
        if links:
            raise
        said = f"{folder.name} is {_kind(folder.lstat())}, not a folder."
        raise JobError("FILE_UNSAFE", said, remediation=_A_FOLDER) from error
    for made in missing:
        sync_folder(made.parent)
    status = folder.stat() if links else folder.lstat()
    if not links and not is_real_folder(status):
        raise JobError("FILE_UNSAFE", f"{folder.name} is {_kind(status)}, not a folder.", remediation=_A_FOLDER)
    if not links and not is_users(status):
        said = f"The folder {folder.name} belongs to another user."
        raise JobError("FILE_UNSAFE", said, remediation=_A_FOLDER)
    if not _WINDOWS and stat.S_IMODE(status.st_mode) & 0o777 != 0o700:
        with _whatever_modes_there_are():
            _close_to_others(folder, links)


def _missing(folder: Path) -> list[Path]:
    """The folder and those above it that are not there yet, the outermost first."""
    found: list[Path] = []
    while not folder.exists():
        found.insert(0, folder)
        folder = folder.parent
    return found


def _close_to_others(folder: Path, links: bool) -> None:
    try:
        descriptor = os.open(folder, _FOLDER & ~_NOFOLLOW if links else _FOLDER)
    except PermissionError:  # ours, and so closed that we cannot look either
        folder.chmod(0o700)
        return
    try:
        os.fchmod(descriptor, 0o700)
    finally:
        os.close(descriptor)


def make_private(descriptor: int, status: os.stat_result) -> None:
    """Give an open file of ours the mode 0600, whatever the umask made of it."""
    if not _WINDOWS and stat.S_IMODE(status.st_mode) != 0o600:
        with _whatever_modes_there_are():
            os.fchmod(descriptor, 0o600)


@contextlib.contextmanager
def _whatever_modes_there_are() -> Iterator[None]:
    """FAT and its like keep no modes and refuse to set one, even to the owner."""
    try:
        yield
    except OSError as error:
        if not isinstance(error, PermissionError) and error.errno not in _NOT_THERE:
            raise


def ignore_in_git(folder: Path) -> None:
    """Keep a folder of ours out of the workspace's version control."""
    path = folder / ".gitignore"
    if not path.exists():
        replace(path, b"*\n")


def part_of(path: Path) -> Path:
    """A name beside the file, of a part that is not finished; recovery removes those of a process that died."""
    return path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")


def write_new(path: Path, data: bytes, *, synced: bool = True) -> None:
    """Write and sync a file that must not exist yet."""
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
    """Put ``data`` at ``path`` in one step. With ``durable=False`` the caller syncs the folder."""
    _replace(path, data, synced=True)
    if durable:
        sync_folder(path.parent)


def replace_loosely(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path`` in one step for readers, without surviving a power cut."""
    _replace(path, data, synced=False)


def _replace(path: Path, data: bytes, *, synced: bool) -> None:
    part = part_of(path)
    write_new(part, data, synced=synced)
    try:
        rename(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to be written, which stands at ``path`` when the context is left; after an error nothing has changed."""
    part = part_of(path)
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
    """Rename over the target."""
    _despite_readers(lambda: source.replace(target))


def remove(path: Path) -> None:
    """Unlink a file if it is there; its absence after a power cut is not promised."""
    _despite_readers(lambda: path.unlink(missing_ok=True))


def _despite_readers(action: Callable[[], object]) -> None:
    """On Windows whoever has a file open keeps it from being replaced or unlinked, for a moment."""
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
    """The bytes of a plain file in a folder of ours, at most ``limit``; a second name (a backup's) does no harm.

    Raises FILE_UNSAFE for a link or what is no file, FILE_TOO_LARGE, and OSError as it is: what cannot be read
    now need not be damaged.
    """
    descriptor = open_plain(path)
    try:
        return _read(descriptor, path, limit)
    finally:
        os.close(descriptor)


def read_plain(path: Path, limit: int) -> tuple[bytes, os.stat_result]:
    """The bytes of a plain file that this user alone can have written, at most ``limit``, and its status.

    Raises FILE_UNSAFE for what is no plain file of ours (``details`` has ``names`` where it is only that the file
    has more than one), FILE_TOO_LARGE, and OSError as it is, FileNotFoundError among them.
    """
    try:
        descriptor = open_plain(path)
    except PermissionError as error:
        if _WINDOWS:
            raise  # its writer has it open still
        raise JobError("FILE_UNSAFE", f"{path.name} cannot be opened: {error.strerror}.") from error
    try:
        status = os.fstat(descriptor)
        if not is_users(status):
            raise JobError("FILE_UNSAFE", f"{path.name} belongs to another user.")
        # No name at all is well: the file was replaced after we had opened it, and we read the old one.
        if not _WINDOWS and status.st_nlink > 1:
            details = {"names": status.st_nlink}
            raise JobError("FILE_UNSAFE", f"{path.name} has a second name, a hard link.", details=details)
        return _read(descriptor, path, limit), status
    finally:
        os.close(descriptor)


def open_plain(path: Path, folder: int | None = None) -> int:
    """A descriptor to read the plain file that lies at the path itself (in the open ``folder``, where one is given).

    A link is not followed, and neither a pipe nor a device is opened, since that alone has effects. Raises
    FILE_UNSAFE, and OSError as it is.
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
    if not stat.S_ISREG(after.st_mode):  # put there between the look and the opening
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
        data = file.read(size + 1)  # not the limit: room for it would be made, and costs more than the reading
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
    """Windows' other link between folders, which lstat shows as a folder."""
    return getattr(status, "st_reparse_tag", 0) == getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", 0xA0000003)


def is_users(status: os.stat_result) -> bool:
    """Whether what the status is of belongs to this user."""
    return _WINDOWS or status.st_uid == os.getuid()


def is_real_folder(status: os.stat_result) -> bool:
    """Whether the status, taken by lstat, is of a folder and of no link to one."""
    return stat.S_ISDIR(status.st_mode) and not _is_junction(status)


def is_own_folder(path: Path) -> bool:
    """Whether a real folder of this user lies there, not a link to one."""
    status = path.lstat()
    return is_real_folder(status) and is_users(status)


def is_own_file(path: Path) -> bool:
    """Whether a plain file of this user lies there that has no other name."""
    status = path.lstat()
    return stat.S_ISREG(status.st_mode) and is_users(status) and (_WINDOWS or status.st_nlink == 1)
