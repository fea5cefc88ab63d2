"""Files and folders as the checks read them: everything below a folder, modification times, short lists of names."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from ..wording import first_ones

_SHOWN = 3


def walk(folder: Path, closed: list[Path] | None = None) -> Iterator[tuple[Path, os.stat_result]]:
    """The folder and everything below it, in the order of names; links are not followed.

    Unreadable folders are added to ``closed``.
    """
    with contextlib.suppress(OSError):
        yield folder, folder.lstat()
    try:
        with os.scandir(folder) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
        for entry in ordered:
            with contextlib.suppress(FileNotFoundError):  # it was removed meanwhile
                if entry.is_dir(follow_symlinks=False):
                    yield from walk(Path(entry.path), closed)
                else:
                    yield Path(entry.path), entry.stat(follow_symlinks=False)
    except OSError:
        if closed is not None:
            closed.append(folder)


def modified_at(path: Path) -> datetime | None:
    """When an entry was modified; None if it is absent or its time is out of range. Links are not followed."""
    try:
        return datetime.fromtimestamp(path.lstat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return None


def shortened_list(names: Iterable[str]) -> str:
    """The first names in their order, and the number of the others: ``a, b, c and 2 more``."""
    return first_ones(sorted(names), _SHOWN)
