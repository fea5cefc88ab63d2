"""cognee's vector tables, through the engine that cognee gives: what they hold, whether they can be read, keeping them
small, and syncing their files. LanceDB makes a new version of a table at each write and removes none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from jobs import files

_MOST_VERSIONS = 20  # a table that has more is compacted
_ROWS_OF_A_FRAGMENT = 20_000
_UNLIMITED = 0
_NEVER_SECONDS = 10**9


async def names(engine: Any) -> list[str]:
    found: list[str] = await (await engine.get_connection()).table_names()
    return found


async def count(engine: Any, name: str) -> int:
    """Rows of a table; none where it does not exist."""
    if name not in await names(engine):
        return 0
    return int(await (await engine.get_collection(name)).count_rows())


async def ids(engine: Any, name: str) -> set[str]:
    """The ids of all rows that have a vector other than zeros, which is what a lost page reads as.

    Reads the whole table, so a damaged one raises.
    """
    if name not in await names(engine):
        return set()
    found: set[str] = set()
    table = await engine.get_collection(name)
    async for batch in await table.query().select(["id", "vector"]).to_batches():
        identities = batch.column("id").to_pylist()
        if not identities:
            continue
        vectors = batch.column("vector")
        matrix = vectors.flatten().to_numpy(zero_copy_only=False).reshape(len(identities), -1)
        found.update(identity for identity, is_there in zip(identities, matrix.any(axis=1), strict=True) if is_there)
    return found


async def keys(engine: Any, name: str) -> set[str]:
    """The ids of all rows, without a look at their vectors."""
    if name not in await names(engine):
        return set()
    found: set[str] = set()
    table = await engine.get_collection(name)
    async for batch in await table.query().select(["id"]).to_batches():
        found.update(batch.column("id").to_pylist())
    return found


async def read_all(engine: Any) -> None:
    """Read every table whole, so that a damaged one raises."""
    for name in await names(engine):
        await ids(engine, name)


def overgrown(folder: Path, most: int | None = None) -> list[str]:
    """The tables below a vector database's folder that have many versions, each with files of its own."""
    found = []
    for table in sorted(folder.glob("*.lance")):
        if sum(1 for _ in table.glob("_versions/*.manifest")) > (most or _MOST_VERSIONS):
            found.append(table.stem)
    return found


async def compact(engine: Any, name: str, sync: Callable[[], object]) -> None:
    """Rewrite a table's many small files into one, sync it, and only then remove what it replaces.

    cognee's own compaction, which removes nothing younger than five minutes, for readers that we do not have.
    """
    for retention in (_NEVER_SECONDS, 0):
        engine.__wrapped__._compaction_options = lambda kept=retention: {
            "target_rows_per_fragment": _ROWS_OF_A_FRAGMENT,
            "retention_seconds": kept,
            "max_tasks": _UNLIMITED,
            "max_versions": _UNLIMITED,
        }
        done = await engine.compact(name)
        problem = done.get("skipped") or done.get(name, {}).get("error")
        if problem:
            raise RuntimeError(f"{name} cannot be compacted: {problem}")
        sync()


async def scrub(engine: Any, name: str, sync: Callable[[], object]) -> None:
    """Write anew what of a table holds deleted or replaced rows, and leave no file of a former version.

    Cut off, it leaves a whole table; again is the same as once.
    """
    from cognee_db_workers.lancedb_compaction import open_as_lance
    from lance.optimize import Compaction, CompactionOptions

    dataset = await open_as_lance(await engine.get_collection(name))
    options = CompactionOptions(
        target_rows_per_fragment=_ROWS_OF_A_FRAGMENT, materialize_deletions=True, materialize_deletions_threshold=0.0
    )
    Compaction.execute(dataset, options)
    sync()
    dataset.cleanup_old_versions(older_than=timedelta(0), delete_unverified=True)
    sync()


class LanceSync:
    """Syncs LanceDB's files: LanceDB itself never does, so a power cut could take what it said it stored.

    Knows what this process has synced of the vector databases below a folder; at first nothing, since a file that
    a killed process left unsynced may hold rows which later versions rest on.
    """

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
