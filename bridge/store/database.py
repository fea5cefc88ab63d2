"""Connections to memory.db for writing and reading, transactions, and SQLite's errors as error codes."""

from __future__ import annotations

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
PATIENCE_SECONDS = 10  # how long the writer waits for another connection's lock

_UNREADABLE = (
    sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM,
)  # fmt: skip


def open_for_writing(workspace: Workspace) -> sqlite3.Connection:
    """The one writer's connection (WAL, every commit synced). Creates the database, or upgrades it to the present
    format.

    Raises JobError: STORE_NEWER, STORE_UNREADABLE, STORE_BUSY, DISK_FULL.
    """
    path = workspace.memory_db
    with _opening(path):
        if not path.exists():
            files.replace(path, b"")  # created 0600 whatever the umask
        connection = sqlite3.connect(path, isolation_level=None, timeout=PATIENCE_SECONDS)
        with _closed_on_error(connection):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA synchronous = NORMAL")  # a migration that a power cut undoes is done again
            migrations.bring_up(connection, path)
            connection.execute("PRAGMA synchronous = FULL")
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A write transaction: commits on leaving the block, rolls back on any exception."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk may have ended it already; that error is the one to raise
            connection.execute("ROLLBACK")
        raise


def open_for_reading(workspace: Workspace) -> sqlite3.Connection | None:
    """A read-only connection; None if the store does not exist yet.

    Raises JobError: STORE_NEWER, STORE_UNREADABLE.
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
            mode += "&immutable=1"  # a read-only copy of a workspace: it has no writer, and no lock can be taken
        connection = sqlite3.connect(
            f"{path.as_uri()}?{mode}", uri=True, isolation_level=None, timeout=5, check_same_thread=False
        )
        with _closed_on_error(connection):
            if migrations.format_of(connection, path) == 0:  # the writer is creating it now
                connection.close()
                return None
    return connection


@contextmanager
def read_connection(workspace: Workspace) -> Iterator[sqlite3.Connection | None]:
    """A read-only connection for the block; None if the store does not exist yet. Raises as ``open_for_reading``.

    A database of an older format is shown as one of the present format; tables that it lacks are empty.
    """
    connection = open_for_reading(workspace)
    if connection is None:
        yield None
        return
    with closing(connection), failing_clearly():
        migrations.show_as_present(connection)
        yield connection


@contextmanager
def nothing_stored() -> Iterator[sqlite3.Connection]:
    """An empty in-memory database of the present format, for readers where the store does not exist yet."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrations.bring_up(connection, Path(":memory:"))
        set_meta(connection, "workspace_id", _NO_WORKSPACE)
        yield connection


@contextmanager
def _opening(path: Path) -> Iterator[None]:
    """Translate any error of opening the database to a JobError."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise _explained(error) or JobError("STORE_UNREADABLE", f"{path} cannot be opened: {why}.") from error


@contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    """Close the connection if the block raises."""
    try:
        yield
    except BaseException:
        connection.close()
        raise


@contextmanager
def failing_clearly() -> Iterator[None]:
    """Raise errors of the disk or SQLite as JobError: DISK_FULL, STORE_BUSY, STORE_UNREADABLE. Other errors pass
    through.
    """
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        job_error = _explained(error)
        if job_error is None:
            raise
        raise job_error from error


def _explained(error: Exception) -> JobError | None:
    """The JobError for an error of the disk or SQLite; None for any other."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary code, without the extended part
    if files.is_no_space(error):
        return JobError("DISK_FULL")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return JobError("STORE_BUSY")
    if code in _UNREADABLE:
        return JobError("STORE_UNREADABLE", f"memory.db cannot be used: {error}.")
    return None


def meta(connection: sqlite3.Connection, key: str) -> str | None:
    """A value of the table ``meta``, or None."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def set_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Set a value of the table ``meta``."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
