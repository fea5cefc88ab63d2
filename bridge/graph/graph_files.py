"""The files of the knowledge graph: checks, quarantines and rewrites them. Their content is cognee's.

Our code opens the files before cognee does. If cognee met a damaged file first, an error whose text contains "wal",
even in a path, would make it delete the graph's log, and others would make it install an old version of the engine.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from jobs import files
from jobs.errors import JobError
from jobs.layout import Workspace

from .. import critical
from ..store import quarantine as aside

log = logging.getLogger(__name__)

_GRAPH_FILE = "cognee_graph_ladybug"
_VECTORS = "cognee.lancedb"
_RELATIONAL = "cognee_db"
_REWRITING = "rewriting"  # the folder in which the graph's file is rewritten
_PROBE_BUFFER_BYTES = 256 * 1024 * 1024
_NO_ROOM_BYTES = 1024 * 1024  # with less free space, a failure is attributed to the full disk
_REWRITE_BUFFER_BYTES = 1024 * 1024 * 1024
# The files that a kill inside a checkpoint leaves.
_CHECKPOINT_LEFTOVERS = (".shadow", ".wal.checkpoint")
_SYSTEM_ERRORS = files.NO_SPACE | {
    errno.EACCES, errno.EPERM, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.EBUSY,
}  # fmt: skip


class GraphDamaged(JobError):
    """The graph cannot be used as it is, and must be made again. Its code is GRAPH_UNAVAILABLE."""

    def __init__(self, why: str) -> None:
        super().__init__("GRAPH_UNAVAILABLE", f"The knowledge graph is damaged: {why}")


def first_line(error: Exception) -> str:
    """The class of an engine's error and the first line of its text; further ones may quote statements and values."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}"


def databases_of(workspace: Workspace) -> Path:
    """The folder of cognee's stores."""
    return workspace.cognee_system / "databases"


def vectors_of(workspace: Workspace) -> Path:
    """The folder of cognee's vector database."""
    return databases_of(workspace) / _VECTORS


def store_exists(workspace: Workspace) -> bool:
    """Whether cognee has a store in this workspace, whatever its content."""
    return (databases_of(workspace) / _RELATIONAL).exists()


def require_whole_or_absent(workspace: Workspace) -> bool:
    """Whether there is a graph. One without its file or its vectors counts as damaged: pending deletions could not find
    their nodes in what is left of it.

    Raises GraphDamaged; and the engine's error if the cause is not the files: permissions, a lock of another process,
    the disk.
    """
    databases = databases_of(workspace)
    _remove_folder(databases / _REWRITING)  # left by an interrupted rewrite
    if not (databases / _GRAPH_FILE).exists() or not (databases / _VECTORS).exists():
        if _graph_files(workspace) or _vectors(workspace):
            raise GraphDamaged("A part of its files is missing.")
        return False
    error = _probe(workspace)
    if error is None:
        return True
    if _is_damage(workspace, error):
        raise GraphDamaged(first_line(error)) from error
    raise error


def has_graph(workspace: Workspace) -> bool:
    """Whether the graph's own file exists, whatever its content."""
    return (databases_of(workspace) / _GRAPH_FILE).exists()


def graph_identity(workspace: Workspace) -> tuple[int, int] | None:
    """As ``files.identity`` of the graph's own file. Writes and checkpoints keep it; ``rewrite`` changes it."""
    return files.identity(databases_of(workspace) / _GRAPH_FILE)


def has_our_memories(workspace: Workspace) -> bool:
    """Whether cognee's vector database has a table of this program's nodes, so that this program wrote the stores."""
    from .. import datapoints  # not at the top: it imports pydantic

    ours = tuple(f"{node.__name__}_" for node in datapoints.MEMORY_NODES)
    try:
        return any(entry.name.startswith(ours) for entry in vectors_of(workspace).iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return False


def all_stores_exist(workspace: Workspace) -> bool:
    """Whether all of cognee's stores exist. Opening a missing one would create it."""
    return store_exists(workspace) and has_graph(workspace) and vectors_of(workspace).is_dir()


def leftovers(workspace: Workspace) -> list[str]:
    """The names of the files that an interrupted checkpoint has left."""
    return [path.name for path in _graph_files(workspace) if path.name.endswith(_CHECKPOINT_LEFTOVERS)]


def _graph_files(workspace: Workspace) -> list[Path]:
    return sorted(databases_of(workspace).glob(f"{_GRAPH_FILE}*"))


def _vectors(workspace: Workspace) -> list[Path]:
    return sorted(databases_of(workspace).glob("*.lancedb"))


def access_error(workspace: Workspace) -> OSError | None:
    """The error that denies access to cognee's folders: permissions, or a file in a folder's place. None otherwise,
    also for missing folders."""
    databases = databases_of(workspace)
    for folder in (databases, *_vectors(workspace)):
        if folder.exists() and not folder.is_dir():
            return NotADirectoryError(errno.ENOTDIR, "is no folder", folder.name)
        if folder.exists() and not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            return PermissionError(errno.EACCES, "may not be used", folder.name)
    return None


def _probe(workspace: Workspace) -> Exception | None:
    """Open the graph's file with its own engine and close it. Returns the error, or None."""
    path = databases_of(workspace) / _GRAPH_FILE
    import ladybug  # not at the top: it takes 0.1 s, which a memory's own transaction should not wait for

    try:
        with critical.critical_section():
            database = ladybug.Database(str(path), buffer_pool_size=_PROBE_BUFFER_BYTES)
            database.init_database()
            database.close()
    except Exception as error:  # the engine raises RuntimeError for everything
        return error
    return None


def rewrite(workspace: Workspace) -> None:
    """Rewrite the graph's file from its content, so that no deleted byte is left in it.

    The file must be closed cleanly, and no process may have it open. An interruption at any point leaves the old file
    or the new one intact. Raises JobError: GRAPH_UNAVAILABLE, DISK_FULL.
    """
    try:
        _rewrite(workspace)
    except Exception as error:  # the engine raises RuntimeError for everything
        if has_no_room(workspace):
            raise JobError("DISK_FULL") from error
        raise JobError("GRAPH_UNAVAILABLE", f"The graph's file was not rewritten: {type(error).__name__}.") from error


def _rewrite(workspace: Workspace) -> None:
    databases = databases_of(workspace)
    path, folder = databases / _GRAPH_FILE, databases / _REWRITING
    if not path.exists():
        return
    if others := [other.name for other in _graph_files(workspace) if other != path]:
        raise RuntimeError(f"the graph was not closed: {', '.join(others)}")
    _remove_folder(folder)
    files.make_folder(folder)
    tables, rewritten = folder / "tables", folder / _GRAPH_FILE
    try:
        with _engine(path, read_only=True) as old, _engine(rewritten) as new:
            old.execute(f"EXPORT DATABASE {_quoted(tables)} (format = 'parquet')")
            new.execute(f"IMPORT DATABASE {_quoted(tables)}")
            if _counts(old) != _counts(new):
                raise RuntimeError("the graph was not copied whole")
        _remove_folder(tables)
        files.sync_file(rewritten)
        rewritten.replace(path)
        files.sync_folder(databases)
    finally:
        _remove_folder(folder)


@contextmanager
def _engine(path: Path, *, read_only: bool = False) -> Iterator[Any]:
    """A connection of the graph's own engine to a file. Closing it merges its log into the file."""
    import ladybug

    database = ladybug.Database(str(path), buffer_pool_size=_REWRITE_BUFFER_BYTES, read_only=read_only)
    with closing(database), closing(ladybug.Connection(database)) as connection:
        yield connection


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _counts(connection: Any) -> list[int]:
    queries = ("MATCH (n) RETURN count(n)", "MATCH ()-[e]->() RETURN count(e)")
    return [int(connection.execute(query).get_next()[0]) for query in queries]


def _remove_folder(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def vacuum(workspace: Workspace) -> None:
    """Rewrite cognee's SQLite database, without deleted content. No process may have it open. Raises sqlite3.Error."""
    path = databases_of(workspace) / _RELATIONAL
    if path.exists():
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _is_damage(workspace: Workspace, error: Exception) -> bool:
    """Whether the graph's own files are damaged; False for permissions, a lock of another process, or the disk."""
    graph_files = _graph_files(workspace)
    if not graph_files or isinstance(error, PermissionError) or "Could not set lock on file" in str(error):
        return False
    return all(path.is_file() and os.access(path, os.R_OK | os.W_OK) for path in graph_files)


def quarantine(workspace: Workspace, label: str) -> None:
    """Quarantine cognee's graph and its vectors, which can be rebuilt from memory.db; and its SQLite database if that
    is damaged, since none of our data depends on it."""
    moved = _graph_files(workspace) + _vectors(workspace)
    if has_damaged_database(workspace):
        moved += sorted(databases_of(workspace).glob(f"{_RELATIONAL}*"))
    kept = aside.move(workspace, label, moved)
    log.warning("set aside in %s: %s", kept, ", ".join(path.name for path in moved) or "nothing, for nothing was there")


def quarantine_all(workspace: Workspace, label: str) -> None:
    """Quarantine all of cognee's stores, which belong to a memory.db that was removed."""
    kept = aside.move(workspace, label, [databases_of(workspace)])
    log.warning("cognee's stores belong to no memory that is left: set aside in %s", kept)


def has_damaged_database(workspace: Workspace) -> bool:
    """Whether cognee's own SQLite database is damaged."""
    path = databases_of(workspace) / _RELATIONAL
    if not path.exists():
        return False
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            result: str = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            return result != "ok"
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_system_error(error: BaseException) -> bool:
    """Whether an engine's error is caused by the system, not by its files: permissions, space, memory."""
    if isinstance(error, OSError) and error.errno in _SYSTEM_ERRORS:
        return True
    error_numbers = {int(number) for number in re.findall(r"os error (\d+)", str(error))}
    return isinstance(error, MemoryError | ImportError) or bool(error_numbers & _SYSTEM_ERRORS)


def has_no_room(workspace: Workspace) -> bool:
    """Whether the disk has less than 1 MiB of free space."""
    return shutil.disk_usage(workspace.root).free < _NO_ROOM_BYTES


def log_bytes(workspace: Workspace) -> int:
    """The size of the graph's write-ahead log in bytes; 0 without one."""
    try:
        return (databases_of(workspace) / f"{_GRAPH_FILE}.wal").stat().st_size
    except FileNotFoundError:
        return 0
