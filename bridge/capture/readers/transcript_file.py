"""The file of a transcript: found below a tool's folder, and opened safely.

Only regular files of this user are opened, and only below the folder that the caller names: a link that leads out of
it is refused, like a pipe, a device and a file of another user.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from jobs import clock, plain_files
from jobs.errors import JobError

from ..session import Transcript

_BUFFER = 2**20


@contextmanager
def opened(path: Path, root: Path) -> Iterator[BinaryIO]:
    """A context with the file, open to read. Raises OSError if it is gone, refused or cannot be read."""
    real = path.resolve(strict=True)
    if not real.is_relative_to(root.resolve()):
        raise _refused(path, f"is outside of {root}")
    try:
        descriptor = plain_files.open_plain(real)
    except JobError as error:
        raise _refused(path, error.message) from error
    with os.fdopen(descriptor, "rb", buffering=_BUFFER) as file:
        if not plain_files.belongs_to_user(os.fstat(descriptor)):
            raise _refused(path, "belongs to another user")
        yield file


def read_start(path: Path, root: Path, size: int) -> bytes:
    """The first bytes of the file. Raises OSError as ``opened``."""
    with opened(path, root) as file:
        return file.read(size)


def peek(path: Path, root: Path, size: int, *, at_end: bool = False) -> bytes:
    """The first bytes of the file, or the last ones; none if it is gone, refused or cannot be read."""
    try:
        with opened(path, root) as file:
            if at_end:
                file.seek(max(0, os.fstat(file.fileno()).st_size - size))
            return file.read(size)
    except OSError:
        return b""


def folders(folder: Path) -> Iterator[Path]:
    """The folders in a folder that are no links; none if it does not exist or cannot be read."""
    return (Path(entry.path) for entry in _entries(folder) if _is_folder(entry))


def files(folder: Path, ends: str) -> Iterator[Path]:
    """The files in a folder whose names end so; none if it does not exist or cannot be read. Links are among them."""
    return (Path(entry.path) for entry in _entries(folder) if entry.name.endswith(ends) and not _is_folder(entry))


def files_below(folder: Path, ends: str) -> Iterator[Path]:
    """The same for the folder and all folders below it."""
    yield from files(folder, ends)
    for inner in folders(folder):
        yield from files_below(inner, ends)


def places_of(workspace: Path) -> list[Path]:
    """The paths under which a tool may know a folder."""
    return list(dict.fromkeys([workspace, workspace.resolve()]))


def is_inside(folder: str, places: Iterable[Path]) -> bool:
    """Whether a folder is one of the places or below one."""
    path = Path(os.path.normcase(folder))
    return any(path.is_relative_to(os.path.normcase(place)) for place in places)


def described(
    tool: str, session_id: str, paths: Iterable[Path], title: str | None = None, folder: str | None = None
) -> Iterator[Transcript]:
    """The transcript that consists of these files, the main one first; nothing if that does not exist.

    Its version changes when a file grows, is replaced, appears or goes.
    """
    main, *others = paths
    try:
        statuses = [main.stat()]
    except OSError:
        return
    for path in others:
        try:
            statuses.append(path.stat())
        except OSError:
            continue  # gone since its folder was listed
    size = sum(status.st_size for status in statuses)
    newest = max(status.st_mtime_ns for status in statuses)
    modified = clock.iso(datetime.fromtimestamp(newest / 1e9, UTC))
    name = session_id.encode("utf-8", "backslashreplace").decode()  # that of a file need not be UTF-8
    yield Transcript(tool, name, main, f"{len(statuses)}-{size}-{newest}", modified, title, folder)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return plain_files.is_real_folder(entry.stat(follow_symlinks=False))
    except OSError:
        return False


def _refused(path: Path, why: str) -> OSError:
    return PermissionError(errno.EPERM, f"not read: {why}", str(path))
