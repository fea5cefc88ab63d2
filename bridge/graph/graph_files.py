"""The files of the knowledge graph: made to open, or moved out of the way. Their content is cognee's business.

cognee must not be the first to open them: an error whose text holds "wal", in the path even, makes it delete
the graph's log, and others make it install an old version of the engine.
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
from typing import Any, Literal

from jobs import clock, files
from jobs.errors import JobError
from jobs.layout import Workspace

from .. import critical
from ..store import quarantine as aside

log = logging.getLogger(__name__)

Found = Literal["ready", "repaired", "absent", "set aside"]

_GRAPH_FILE = "cognee_graph_ladybug"
_VECTORS = "cognee.lancedb"
_RELATIONAL = "cognee_db"
_REWRITING = "rewriting"  # the folder in which the graph's file is written anew
_PROBE_BUFFER_BYTES = 256 * 1024 * 1024
_NO_ROOM_BYTES = 1024 * 1024  # with less than this free, it is the disk that refused
_REWRITE_BUFFER_BYTES = 1024 * 1024 * 1024
# What a kill inside a checkpoint leaves beside the graph; it opens again once both are gone.
_CHECKPOINT_LEFTOVERS = (".shadow", ".wal.checkpoint")
_SURROUNDINGS = {
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EMFILE,
    errno.ENFILE, errno.ENOMEM, errno.EIO, errno.EBUSY,
}  # fmt: skip


def databases_of(workspace: Workspace) -> Path:
    """The folder that cognee keeps its stores in."""
    return workspace.cognee_system / "databases"


def vectors_of(workspace: Workspace) -> Path:
    return databases_of(workspace) / _VECTORS


def is_there(workspace: Workspace) -> bool:
    """Whether cognee has a store here, whatever is in it."""
    return (databases_of(workspace) / _RELATIONAL).exists()


def make_ready(workspace: Workspace) -> Found:
    """See to it that the graph opens: remove what a cut-off checkpoint left, set a damaged file aside.

    "absent" when its file or its vectors are not there, at the first time or because somebody removed them. One goes
    with the other: what was deleted and is still owed could not be found in it any more.
    Raises what the engine raised when neither is the matter: permissions, somebody's lock, the disk.
    """
    databases = databases_of(workspace)
    _remove_folder(databases / _REWRITING)  # of a rewriting that was cut off
    label = f"graph-{clock.iso(clock.now())}"
    if not (databases / _GRAPH_FILE).exists() or not (databases / _VECTORS).exists():
        if _graph_files(workspace) or _vectors(workspace):
            quarantine(workspace, label)
        return "absent"
    error = _probe(workspace)
    if error is None:
        return "ready"
    if _remove_leftovers(workspace):
        error = _probe(workspace)
        if error is None:
            return "repaired"
    if not _is_damage(workspace, error):
        raise error
    quarantine(workspace, label)
    return "set aside"


def has_graph(workspace: Workspace) -> bool:
    """Whether the graph's own file is there, whatever is in it."""
    return (databases_of(workspace) / _GRAPH_FILE).exists()


def is_whole(workspace: Workspace) -> bool:
    """Whether all of cognee's stores are there: opening a missing one would make it."""
    return is_there(workspace) and has_graph(workspace) and vectors_of(workspace).is_dir()


def require_openable(workspace: Workspace) -> None:
    """Open the graph's file with its own engine and close it. Raises what the engine raises; mends nothing."""
    error = _probe(workspace)
    if error is not None:
        raise error


def leftovers(workspace: Workspace) -> list[str]:
    """The names of what a cut-off checkpoint has left beside the graph."""
    return [path.name for path in _graph_files(workspace) if path.name.endswith(_CHECKPOINT_LEFTOVERS)]


def _graph_files(workspace: Workspace) -> list[Path]:
    return sorted(databases_of(workspace).glob(f"{_GRAPH_FILE}*"))


def _vectors(workspace: Workspace) -> list[Path]:
    return sorted(databases_of(workspace).glob("*.lancedb"))


def out_of_reach(workspace: Workspace) -> OSError | None:
    """What keeps us from cognee's folders: their absence apart, which is no fault, permissions or a file in the way."""
    databases = databases_of(workspace)
    for folder in (databases, *_vectors(workspace)):
        if folder.exists() and not folder.is_dir():
            return NotADirectoryError(errno.ENOTDIR, "is no folder", folder.name)
        if folder.exists() and not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            return PermissionError(errno.EACCES, "may not be used", folder.name)
    return None


def _probe(workspace: Workspace) -> Exception | None:
    """Open the graph's file with its own engine and close it; returns what went wrong."""
    path = databases_of(workspace) / _GRAPH_FILE
    import ladybug  # a tenth of a second that a memory's own transaction need not wait for

    try:
        with critical.critical_section():
            database = ladybug.Database(str(path), buffer_pool_size=_PROBE_BUFFER_BYTES)
            database.init_database()
            database.close()
    except Exception as error:  # the engine raises RuntimeError for everything
        return error
    return None


def rewrite(workspace: Workspace) -> None:
    """Write the graph's file anew from what it holds, so that no byte of what was deleted is left in it.

    Nobody may have it open, and it was closed cleanly. Cut off anywhere, it leaves the old file or the new one whole.
    Raises GRAPH_UNAVAILABLE, DISK_FULL.
    """
    try:
        _rewrite(workspace)
    except Exception as error:  # the engine raises RuntimeError for everything
        if shutil.disk_usage(workspace.root).free < _NO_ROOM_BYTES:
            raise JobError("DISK_FULL") from error
        raise JobError(
            "GRAPH_UNAVAILABLE", f"The graph's file was not written anew: {type(error).__name__}."
        ) from error


def _rewrite(workspace: Workspace) -> None:
    databases = databases_of(workspace)
    path, folder = databases / _GRAPH_FILE, databases / _REWRITING
    if not path.exists():
        return
    if others := [other.name for other in _graph_files(workspace) if other != path]:
        raise RuntimeError(f"the graph was not closed: {', '.join(others)}")
    _remove_folder(folder)
    files.make_folder(folder)
    tables, made = folder / "tables", folder / _GRAPH_FILE
    try:
        with _engine(path, read_only=True) as old, _engine(made) as new:
            old.execute(f"EXPORT DATABASE {_quoted(tables)} (format = 'parquet')")
            new.execute(f"IMPORT DATABASE {_quoted(tables)}")
            if _counts(old) != _counts(new):
                raise RuntimeError("the graph was not copied whole")
        _remove_folder(tables)
        files.sync_file(made)
        made.replace(path)
        files.sync_folder(databases)
    finally:
        _remove_folder(folder)


@contextmanager
def _engine(path: Path, *, read_only: bool = False) -> Iterator[Any]:
    """A connection of the graph's own engine to a file; closing it folds its log in."""
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
    """Write cognee's SQLite database anew; nobody may have it open. Raises sqlite3.Error."""
    path = databases_of(workspace) / _RELATIONAL
    if path.exists():
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _remove_leftovers(workspace: Workspace) -> bool:
    """Delete both leftovers of a cut-off checkpoint. Returns whether there was one."""
    found = [path for path in _graph_files(workspace) if path.name.endswith(_CHECKPOINT_LEFTOVERS)]
    for path in found:
        log.warning("a checkpoint of the graph was cut off: removing %s", path.name)
        files.remove(path)
    return bool(found)


def _is_damage(workspace: Workspace, error: Exception) -> bool:
    """Whether the graph's own files are what is wrong: not permissions, not somebody's lock, not the disk."""
    found = _graph_files(workspace)
    if not found or isinstance(error, PermissionError) or "Could not set lock on file" in str(error):
        return False
    return all(path.is_file() and os.access(path, os.R_OK | os.W_OK) for path in found)


def quarantine(workspace: Workspace, label: str) -> None:
    """Move cognee's graph and its vectors out of the way; they can be written anew from memory.db."""
    moved = _graph_files(workspace) + _vectors(workspace)
    kept = aside.move(workspace, label, moved)
    log.warning("set aside in %s: %s", kept, ", ".join(path.name for path in moved) or "nothing, for nothing was there")


def quarantine_relational(workspace: Workspace, label: str) -> bool:
    """Move cognee's SQLite database out of the way if it is damaged. Nothing of ours rests on its content."""
    path = databases_of(workspace) / _RELATIONAL
    if not path.exists() or not _is_damaged_sqlite(path):
        return False
    moved = sorted(path.parent.glob(f"{_RELATIONAL}*"))
    kept = aside.move(workspace, label, moved)
    log.warning("cognee's own database was damaged: set aside in %s", kept)
    return True


def _is_damaged_sqlite(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            found: str = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            return found != "ok"
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def surroundings_at_fault(error: BaseException) -> bool:
    """Whether an engine's error tells of the system and not of its files: no permission, no space, no memory."""
    if isinstance(error, OSError) and error.errno in _SURROUNDINGS:
        return True
    said = {int(number) for number in re.findall(r"os error (\d+)", str(error))}
    return isinstance(error, MemoryError | ImportError) or bool(said & _SURROUNDINGS)


def log_bytes(workspace: Workspace) -> int:
    """The size of the graph's write-ahead log."""
    try:
        return (databases_of(workspace) / f"{_GRAPH_FILE}.wal").stat().st_size
    except FileNotFoundError:
        return 0
