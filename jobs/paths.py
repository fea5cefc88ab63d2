"""Opens files that a job names, only inside the workspace and only along a path without links.

It opens the path folder by folder, each relative to the descriptor of the one before, so that no other process can
exchange a folder between check and open.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path, PurePath
from typing import BinaryIO

from . import plain_files
from .errors import JobError

_WALK = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_CAN_WALK = os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd
_LONGEST = 4096
_PRIVATE = ".git"
_PRIVATE_PREFIX = ".cognee_"


def open_inside(root: Path, text: str) -> BinaryIO:
    """The file at ``text``, relative to ``root`` or absolute below it, open for reading.

    Raises JobError: ARGUMENT_INVALID for a path that does not exist, leads out of the workspace, or into our own
    folders or git's; FILE_UNSAFE for a link anywhere in the path, for anything but a plain file of this user, and for a
    file with a second hard link. Other OSErrors pass.
    """
    root = Path(os.path.realpath(root))
    parts = _parts(root, text)
    forbidden = _private_folders(root)
    try:
        descriptor = _walk(root, parts, forbidden, text) if _CAN_WALK else _open_rechecked(root, parts, forbidden, text)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise JobError(
            "ARGUMENT_INVALID",
            f"There is no file at {text[:200]!r} in the workspace.",
            remediation="Put the file there, or name another one; then run it again.",
        ) from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise JobError("ARGUMENT_INVALID", f"{text[:200]!r} is too long for a path.") from error
        if error.errno in (errno.ELOOP, errno.EACCES, errno.EPERM):
            raise JobError("FILE_UNSAFE", f"{text[:200]!r} cannot be opened: {error.strerror}.") from error
        raise
    return os.fdopen(descriptor, "rb")


def text_inside(root: Path, text: str, limit: int) -> str:
    """The text of such a file. Raises as ``read_inside``, and JobError: ARGUMENT_INVALID when it is not UTF-8 or is
    blank."""
    try:
        found = read_inside(root, text, limit).decode("utf-8-sig")
    except UnicodeDecodeError:
        found = "\0"
    if "\0" in found:
        raise JobError("ARGUMENT_INVALID", f"{text[:200]!r} is not text in UTF-8.")
    if not found.strip():
        raise JobError("ARGUMENT_INVALID", f"{text[:200]!r} holds no text.")
    return found


def read_inside(root: Path, text: str, limit: int) -> bytes:
    """The bytes of such a file. Raises as ``open_inside``, and JobError: FILE_TOO_LARGE above ``limit`` bytes."""
    with open_inside(root, text) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise JobError("FILE_TOO_LARGE", f"{text[:200]!r} has more bytes than the limit of {limit:,}.")
    return data


def _parts(root: Path, text: str) -> tuple[str, ...]:
    """The path's components below the root, from the text alone. Raises JobError: ARGUMENT_INVALID."""
    path = PurePath(text if len(text) <= _LONGEST else "")
    if "\0" in text or not path.parts:
        raise JobError("ARGUMENT_INVALID", f"{text[:200]!r} is no path of a file.")
    if path.is_absolute() and path.is_relative_to(root):
        path = path.relative_to(root)
    if path.anchor or ".." in path.parts or not path.parts:
        raise JobError("ARGUMENT_INVALID", f"{text[:200]!r} does not lie inside the workspace.")
    if sys.platform == "win32" and any(":" in part or part != part.rstrip(". ") for part in path.parts):
        raise JobError("ARGUMENT_INVALID", f"{text[:200]!r} is no plain path: Windows would read it in another way.")
    for part in path.parts:
        if _is_private(part):
            raise _private(text)
    return path.parts


def _is_private(name: str) -> bool:
    name = name.casefold()
    return name == _PRIVATE or name.startswith(_PRIVATE_PREFIX)


def _private(text: str) -> JobError:
    return JobError("ARGUMENT_INVALID", f"{text[:200]!r} is in a folder that no job may read from.")


def _private_folders(root: Path) -> set[tuple[int, int]]:
    """Device and inode of the private folders, since a folder can be named in several ways (``GIT~1``, Unicode)."""
    with os.scandir(root) as entries:
        return {_identity(entry.stat(follow_symlinks=False)) for entry in entries if _is_private(entry.name)}


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _walk(root: Path, parts: tuple[str, ...], forbidden: set[tuple[int, int]], text: str) -> int:
    folder = os.open(root, _WALK)
    try:
        for part in parts[:-1]:
            _check_folder(os.stat(part, dir_fd=folder, follow_symlinks=False), part)
            inner = os.open(part, _WALK, dir_fd=folder)  # ELOOP or ENOTDIR if a link has replaced it meanwhile
            os.close(folder)
            folder = inner
            if _identity(os.fstat(folder)) in forbidden:
                raise _private(text)
        return _checked_file(plain_files.open_plain(Path(parts[-1]), folder), parts[-1])
    finally:
        os.close(folder)


def _open_rechecked(root: Path, parts: tuple[str, ...], forbidden: set[tuple[int, int]], text: str) -> int:
    """For platforms that cannot open relative to a descriptor: compares the path's inodes before and after open."""
    path = root.joinpath(*parts)
    folders = [root.joinpath(*parts[:length]) for length in range(1, len(parts))]

    def identities() -> list[tuple[int, int]]:
        for folder in folders:
            _check_folder(folder.lstat(), folder.name)
        return [_identity(folder.lstat()) for folder in (*folders, path)]

    before = identities()
    if forbidden & set(before):
        raise _private(text)
    descriptor = plain_files.open_plain(path)
    try:
        if identities() != before or _identity(os.fstat(descriptor)) != before[-1]:
            raise JobError("FILE_UNSAFE", f"{text[:200]!r} was replaced while it was being opened.")
    except BaseException:
        os.close(descriptor)
        raise
    return _checked_file(descriptor, path.name)


def _check_folder(status: os.stat_result, name: str) -> None:
    if stat.S_ISREG(status.st_mode):
        raise NotADirectoryError
    if not plain_files.is_real_folder(status):
        raise JobError("FILE_UNSAFE", f"{name[:200]!r} is a link, not a folder of the workspace.")


def _checked_file(descriptor: int, name: str) -> int:
    status = os.fstat(descriptor)
    if not plain_files.belongs_to_user(status):
        os.close(descriptor)
        raise JobError("FILE_UNSAFE", f"{name[:200]!r} belongs to another user.")
    if sys.platform != "win32" and status.st_nlink > 1:  # the other name may be that of a file outside
        os.close(descriptor)
        raise JobError(
            "FILE_UNSAFE",
            f"{name[:200]!r} has a second name, a hard link, so that it may be a file outside of the workspace.",
            remediation="Copy the file, and name the copy.",
        )
    return descriptor
