"""Replaces several files together: all writes start before the first sync waits, and each folder is synced once.

Starting the writes early halves the cost of 64 syncs on ext4. Single files are replaced by ``files.replace``.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from . import files

Parts = list[tuple[Path, Path]]  # (temporary file, already written and synced; its target)


def replace_many(items: Iterable[tuple[Path, bytes]]) -> None:
    """Replace files (target path, content) durably. Readers see each file change atomically; all are synced on return.

    Raises OSError. After an error, some files may be replaced and others not.
    """
    rename_parts(write_parts(items))


def write_parts(items: Iterable[tuple[Path, bytes]]) -> Parts:
    """Write and sync files (target path, content) under temporary names, in the same order.

    Raises OSError; after an error, no temporary file is left.
    """
    parts: Parts = []
    try:
        for path, data in items:
            part = files.temporary_path(path)
            parts.append((part, path))
            files.write_new(part, data, synced=False)
        for part, _ in parts if len(parts) > 1 else ():
            files.begin_sync(part)
        for part, _ in parts:
            files.sync_file(part)
    except BaseException:
        remove_parts(parts)
        raise
    return parts


def rename_parts(parts: Parts) -> None:
    """Rename temporary files to their targets and sync the folders.

    Raises OSError; after an error, the temporary files that were not renamed are removed.
    """
    try:
        for part, path in parts:
            files.rename(part, path)
    except BaseException:
        remove_parts(parts)
        raise
    for folder in {path.parent for _, path in parts}:
        files.sync_folder(folder)


def remove_parts(parts: Parts) -> None:
    """Remove the temporary files that have not been renamed."""
    for part, _ in parts:
        part.unlink(missing_ok=True)
