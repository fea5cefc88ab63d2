"""Several files put in place together: their syncs are asked for at once, and one sync of a folder serves all.

The system is told to begin writing all of them before the first sync waits: on ext4 that halves what 64 syncs cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from . import files


def replace_many(items: Iterable[tuple[Path, bytes]]) -> None:
    """Put files in place durably: each in one step for readers, all of them on the medium on return.

    When the disk refuses half-way, some are in place and others are not.
    """
    parts: list[tuple[Path, Path]] = []
    try:
        for path, data in items:
            part = files.part_of(path)
            parts.append((part, path))
            files.write_new(part, data, synced=False)
        for part, _ in parts if len(parts) > 1 else ():
            files.begin_sync(part)
        for part, _ in parts:
            files.sync_file(part)
        for part, path in parts:
            files.rename(part, path)
    except BaseException:
        for part, _ in parts:
            part.unlink(missing_ok=True)
        raise
    for folder in {path.parent for _, path in parts}:
        files.sync_folder(folder)
