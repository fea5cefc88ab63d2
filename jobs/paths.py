"""Files that a job names: opened only if they lie inside the workspace, by a way without a link.

The path is walked folder by folder, each opened inside the one before, so that nobody can change what was
checked between the look and the opening.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path, PurePath
from typing import BinaryIO

from . import files
from .errors import JobError

_WALK = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_CAN_WALK = os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd
_LONGEST = 4096
_PRIVATE = ".git"
_PRIVATE_PREFIX = ".cognee_"


def open_inside(root: Path, text: str) -> BinaryIO:
    """The file at ``text``, relative to ``root`` or absolute below it, open for reading.

    Raises ARGUMENT_INVALID for a path that leads out of the workspace, into our own folders or git's, or nowhere;
    FILE_UNSAFE for a link anywhere on the way and for what is no plain file of this user; OSError as it is.
    """
    root = Path(os.path.realpath(root))
    parts = _parts(root, text)
    forbidden = _private_folders(root)
    try:
        descriptor = _walk(root, parts, forbidden, text) if _CAN_WALK else _look_twice(root, parts, forbidden, text)
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


def read_inside(root: Path, text: str, limit: int) -> bytes:
    """The bytes of such a file, at most ``limit``. Raises FILE_TOO_LARGE besides."""
    with open_inside(root, text) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise JobError("FILE_TOO_LARGE", f"{text[:200]!r} has more bytes than the limit of {limit:,}.")
    return data


def _parts(root: Path, text: str) -> tuple[str, ...]:
    """The names on the way from the root to the file, by the text alone."""
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
    return JobError("ARGUMENT_INVALID", f"{text[:200]!r} lies in a folder that no job may read from.")


def _private_folders(root: Path) -> set[tuple[int, int]]:
    """What those folders are, since a name can be written in more than one way (``GIT~1``, other Unicode)."""
    with os.scandir(root) as entries:
        return {_identity(entry.stat(follow_symlinks=False)) for entry in entries if _is_private(entry.name)}


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _walk(root: Path, parts: tuple[str, ...], forbidden: set[tuple[int, int]], text: str) -> int:
    folder = os.open(root, _WALK)
    try:
        for part in parts[:-1]:
            _check_folder(os.stat(part, dir_fd=folder, follow_symlinks=False), part)
            deeper = os.open(part, _WALK, dir_fd=folder)  # a link that has come meanwhile: ELOOP or ENOTDIR
            os.close(folder)
            folder = deeper
            if _identity(os.fstat(folder)) in forbidden:
                raise _private(text)
        return _checked_file(files.open_plain(Path(parts[-1]), folder), parts[-1])
    finally:
        os.close(folder)


def _look_twice(root: Path, parts: tuple[str, ...], forbidden: set[tuple[int, int]], text: str) -> int:
    """Where no folder can be opened inside another: the way is looked at before and after the opening."""
    path = root.joinpath(*parts)
    way = [root.joinpath(*parts[:length]) for length in range(1, len(parts))]

    def look() -> list[tuple[int, int]]:
        for folder in way:
            _check_folder(folder.lstat(), folder.name)
        return [_identity(folder.lstat()) for folder in (*way, path)]

    before = look()
    if forbidden & set(before):
        raise _private(text)
    descriptor = files.open_plain(path)
    try:
        if look() != before or _identity(os.fstat(descriptor)) != before[-1]:
            raise JobError("FILE_UNSAFE", f"{text[:200]!r} was replaced while it was being opened.")
    except BaseException:
        os.close(descriptor)
        raise
    return _checked_file(descriptor, path.name)


def _check_folder(status: os.stat_result, name: str) -> None:
    if stat.S_ISREG(status.st_mode):
        raise NotADirectoryError
    if not files.is_real_folder(status):
        raise JobError("FILE_UNSAFE", f"{name[:200]!r} is a link, not a folder of the workspace.")


def _checked_file(descriptor: int, name: str) -> int:
    if not files.is_users(os.fstat(descriptor)):
        os.close(descriptor)
        raise JobError("FILE_UNSAFE", f"{name[:200]!r} belongs to another user.")
    return descriptor
