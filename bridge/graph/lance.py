"""cognee's vector tables in LanceDB: reads their ids, compacts them, and syncs their files.

LanceDB makes a new version of a table at each write and removes none. ``engine`` is cognee's vector engine.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from jobs import files

_MAX_VERSIONS = 20  # a table with more is compacted
_ROWS_PER_FRAGMENT = 20_000
_UNLIMITED = 0
_NEVER_SECONDS = 10**9


async def table_names(engine: Any) -> list[str]:
    """The names of all tables."""
    found: list[str] = await (await engine.get_connection()).table_names()
    return found


async def count(engine: Any, name: str) -> int:
    """The number of rows of a table; 0 if it does not exist."""
    if name not in await table_names(engine):
        return 0
    return int(await (await engine.get_collection(name)).count_rows())


async def ids_with_vector(engine: Any, name: str) -> set[str]:
    """The ids of all rows whose vector is not zero; a lost page of a file reads as zeros.

    Reads the whole table, so a damaged one raises an error of the engine.
    """
    found: set[str] = set()
    async for batch in _batches(engine, name, ["id", "vector"]):
        identities = batch.column("id").to_pylist()
        if not identities:
            continue
        vectors = batch.column("vector")
        matrix = vectors.flatten().to_numpy(zero_copy_only=False).reshape(len(identities), -1)
        found.update(identity for identity, is_there in zip(identities, matrix.any(axis=1), strict=True) if is_there)
    return found


async def row_ids(engine: Any, name: str) -> set[str]:
    """The ids of all rows, without reading their vectors."""
    return {identity async for batch in _batches(engine, name, ["id"]) for identity in batch.column("id").to_pylist()}


async def _batches(engine: Any, name: str, columns: list[str]) -> AsyncIterator[Any]:
    """The rows of a table, these columns of them, in batches; none if it does not exist."""
    if name in await table_names(engine):
        table = await engine.get_collection(name)
        async for batch in await table.query().select(columns).to_batches():
            yield batch


async def read_all(engine: Any) -> None:
    """Read all tables completely. A damaged one raises an error of the engine."""
    for name in await table_names(engine):
        await ids_with_vector(engine, name)


def overgrown(folder: Path, most: int | None = None) -> list[str]:
    """The names of the tables in a vector database's folder that have more than ``most`` versions."""
    found = []
    for table in sorted(folder.glob("*.lance")):
        if sum(1 for _ in table.glob("_versions/*.manifest")) > (most or _MAX_VERSIONS):
            found.append(table.stem)
    return found


async def compact(engine: Any, name: str, sync: Callable[[], object]) -> None:
    """Rewrite a table's many small files into one, call ``sync``, and only then remove the old files.

    It runs cognee's own compaction twice, since by default that keeps files of the last five minutes, for concurrent
    readers, which we do not have. Raises RuntimeError when it fails.
    """
    for retention in (_NEVER_SECONDS, 0):
        engine.__wrapped__._compaction_options = lambda kept=retention: {
            "target_rows_per_fragment": _ROWS_PER_FRAGMENT,
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
    """Rewrite the files of a table that contain deleted or replaced rows, and remove all files of earlier versions.

    Idempotent; an interruption leaves a complete table.
    """
    from cognee_db_workers.lancedb_compaction import open_as_lance
    from lance.optimize import Compaction, CompactionOptions

    dataset = await open_as_lance(await engine.get_collection(name))
    options = CompactionOptions(
        target_rows_per_fragment=_ROWS_PER_FRAGMENT, materialize_deletions=True, materialize_deletions_threshold=0.0
    )
    Compaction.execute(dataset, options)
    sync()
    dataset.cleanup_old_versions(older_than=timedelta(0), delete_unverified=True)
    sync()


class LanceSync:
    """Syncs LanceDB's files. LanceDB itself never does, so its writes would not survive a power cut.

    It remembers which files this process has synced. At first it syncs all files: a killed process may have left
    unsynced ones on which later versions depend.
    """

    def __init__(self, databases: Path) -> None:
        self._databases = databases
        self._known: dict[str, tuple[int, int]] = {}

    def sync(self) -> int:
        """Sync the files and folders that are new or changed since the last call. Returns their number."""
        seen: dict[str, tuple[int, int]] = {}
        count = 0
        for path, status in self._walk():
            seen[path] = (status.st_size, status.st_mtime_ns)
            if self._known.get(path) != seen[path] and _sync(path):
                count += 1
        self._known = seen
        return count

    def _walk(self) -> Iterator[tuple[str, os.stat_result]]:
        """All files and folders, each folder after its content."""
        try:
            found = sorted(self._databases.glob("*.lancedb"))
            for path in found:
                yield from _below(str(path))
            if found:
                yield str(self._databases), self._databases.stat()
        except FileNotFoundError:
            return


def _below(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    status = os.stat(folder)  # noqa: PTH116 - before its entries are read, so that later changes are noticed next time
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    yield from _below(entry.path)
                else:
                    yield entry.path, entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # an old version that was removed just now
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
