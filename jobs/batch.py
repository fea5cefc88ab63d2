"""Several files put in place together: their syncs are asked for at once, and one sync of a folder serves all.

The system is told to begin writing all of them before the first sync waits: on ext4 that halves what 64 syncs cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from . import files

Parts = list[tuple[Path, Path]]  # what is written and synced under another name, and where it belongs


def replace_many(items: Iterable[tuple[Path, bytes]]) -> None:
    """Put files in place durably: each in one step for readers, all of them on the medium on return.

    When the disk refuses half-way, some are in place and others are not.
    """
    put_in_place(write_parts(items))


def write_parts(items: Iterable[tuple[Path, bytes]]) -> Parts:
    """Write and sync files under other names. When the disk refuses one, none is left."""
    parts: Parts = []
    try:
        for path, data in items:
            part = files.part_of(path)
            parts.append((part, path))
            files.write_new(part, data, synced=False)
        for part, _ in parts if len(parts) > 1 else ():
            files.begin_sync(part)
        for part, _ in parts:
            files.sync_file(part)
    except BaseException:
        drop_parts(parts)
        raise
    return parts


def put_in_place(parts: Parts) -> None:
    """Rename parts to where they belong, durably. When the disk refuses half-way, the rest of them is removed."""
    try:
        for part, path in parts:
            files.rename(part, path)
    except BaseException:
        drop_parts(parts)
        raise
    for folder in {path.parent for _, path in parts}:
        files.sync_folder(folder)


def drop_parts(parts: Parts) -> None:
    """Remove what has not been put in place."""
    for part, _ in parts:
        part.unlink(missing_ok=True)
