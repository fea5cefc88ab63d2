"""memory.db: how it is opened for writing and for reading, its transactions, and what its errors mean."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from jobs import files
from jobs.errors import JobError
from jobs.layout import Workspace

from . import migrations

_NO_WORKSPACE = "00000000-0000-0000-0000-000000000000"
PATIENCE_SECONDS = 10  # of the writer, for the moment that another connection may hold the database

_NO_SPACE = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))  # Windows has no quotas by that name
_UNREADABLE = (
    sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM,
)  # fmt: skip


def open_for_writing(workspace: Workspace) -> sqlite3.Connection:
    """The one writer's connection (WAL, every commit synced), created or brought to the present format.

    Raises STORE_NEWER, STORE_UNREADABLE.
    """
    path = workspace.memory_db
    with _opening(path):
        if not path.exists():
            files.replace(path, b"")  # created 0600 whatever the umask
        connection = sqlite3.connect(path, isolation_level=None, timeout=PATIENCE_SECONDS)
        with _closed_on_error(connection):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")
            migrations.bring_up(connection, path)
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of what is done in it, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk may have ended it, and that is the error to tell of
            connection.execute("ROLLBACK")
        raise


def open_for_reading(workspace: Workspace) -> sqlite3.Connection | None:
    """A read-only connection, or None where nothing was ever stored.

    Raises STORE_NEWER, STORE_UNREADABLE.
    """
    path = workspace.memory_db
    with _opening(path):
        try:
            if path.stat().st_size == 0:
                return None
        except (FileNotFoundError, NotADirectoryError):
            return None
        mode = "mode=ro"
        if not path.with_name(path.name + "-wal").exists() and not os.access(path.parent, os.W_OK):
            mode += "&immutable=1"  # a read-only copy of a workspace: nobody writes, and no lock can be taken
        connection = sqlite3.connect(f"{path.as_uri()}?{mode}", uri=True, isolation_level=None, timeout=5)
        with _closed_on_error(connection):
            if migrations.format_of(connection, path) == 0:  # the writer is just creating it
                connection.close()
                return None
    return connection


@contextmanager
def reading(workspace: Workspace) -> Iterator[sqlite3.Connection | None]:
    """A read-only connection for a moment; None where nothing was ever stored. Raises as ``open_for_reading``.

    Until a writer comes, a database may be of an older format; what it lacks looks empty.
    """
    connection = open_for_reading(workspace)
    if connection is None:
        yield None
        return
    with closing(connection), failing_clearly():
        migrations.show_as_present(connection, migrations.format_of(connection, workspace.memory_db))
        yield connection


@contextmanager
def nothing_stored() -> Iterator[sqlite3.Connection]:
    """An empty database in memory, in the present format: what a reader sees where nothing was ever stored."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrations.bring_up(connection, Path(":memory:"))
        set_meta(connection, "workspace_id", _NO_WORKSPACE)
        yield connection


@contextmanager
def _opening(path: Path) -> Iterator[None]:
    """Whatever keeps the database from being opened is an error of the table."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise _explained(error) or JobError("STORE_UNREADABLE", f"{path} cannot be opened: {why}.") from error


@contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


@contextmanager
def failing_clearly() -> Iterator[None]:
    """Raise what the disk or SQLite fails with as an error of the table; everything else as it is."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        found = _explained(error)
        if found is None:
            raise
        raise found from error


def _explained(error: Exception) -> JobError | None:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary one, without its extension
    if code == sqlite3.SQLITE_FULL or (isinstance(error, OSError) and error.errno in _NO_SPACE):
        return JobError("DISK_FULL")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return JobError("STORE_BUSY")
    if code in _UNREADABLE:
        return JobError("STORE_UNREADABLE", f"memory.db cannot be used: {error}.")
    return None


def meta(connection: sqlite3.Connection, key: str) -> str | None:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def set_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
