"""LanceDB's files on the medium: LanceDB itself never syncs, so a power cut could take what it said it stored."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from jobs import files


class LanceSync:
    """Knows what this process has synced of the vector databases below a folder; at first nothing, since a file that
    a killed process left unsynced may hold rows which later versions rest on."""

    def __init__(self, databases: Path) -> None:
        self._databases = databases
        self._known: dict[str, tuple[int, int]] = {}

    def sync(self) -> int:
        """Sync the files and folders that are new or changed since the last call. Returns how many."""
        seen: dict[str, tuple[int, int]] = {}
        count = 0
        for path, status in self._walk():
            seen[path] = (status.st_size, status.st_mtime_ns)
            if self._known.get(path) != seen[path] and _sync(path):
                count += 1
        self._known = seen
        return count

    def _walk(self) -> Iterator[tuple[str, os.stat_result]]:
        """Every file and folder, a folder after what is in it."""
        try:
            found = sorted(self._databases.glob("*.lancedb"))
            for path in found:
                yield from _below(str(path))
            if found:
                yield str(self._databases), self._databases.stat()
        except FileNotFoundError:
            return


def _below(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    status = os.stat(folder)  # noqa: PTH116 - before its entries are read: what comes in later makes it changed
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    yield from _below(entry.path)
                else:
                    yield entry.path, entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # an old version that was just cleaned up
    yield folder, status


def _sync(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        files.sync(descriptor)
    finally:
        os.close(descriptor)
    return True
