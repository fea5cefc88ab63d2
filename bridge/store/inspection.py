"""A quick inspection of memory.db and its indexes, and a summary of it for a support archive, without texts.

Both only read. The inspection never raises: ``problem`` says why something could not be inspected.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from jobs.errors import JobError
from jobs.layout import Workspace

from ..text.terms import INDEX_FORMAT as WORDS_FORMAT
from . import database, migrations, outbox, replacements, vector_files
from .catalogue import WINDOW_STEP
from .full_text import table_in_force
from .sizes import size_of as size_of  # doctor takes it from here
from .vector_index import META


@dataclass(slots=True)
class StoreStatus:
    """The state of memory.db. ``whole`` is None if there was no time to read all of it; otherwise the problems that
    SQLite found.

    The fields after ``whole`` are filled for the present format only. ``words`` is the number of indexed texts, -1 if
    the index cannot be read.
    """

    is_there: bool = False
    size: int = 0
    log_size: int = 0
    problem: JobError | None = None
    format: int = 0
    whole: list[str] | None = None
    embedder: str | None = None
    memories: int = 0
    words: int = 0
    words_outdated: bool = False
    uncompared: int = 0
    vectors_lacking: list[str] = field(default_factory=list)
    pending: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    unfinished_since: str | None = None
    unfinished: int = 0
    meta: dict[str, str] = field(default_factory=dict)

    @property
    def is_present(self) -> bool:
        """Whether the database has the format that this program writes."""
        return self.format == migrations.FORMAT


def store_status(workspace: Workspace, seconds: float) -> StoreStatus:
    """Inspect memory.db. SQLite's check of the whole file takes at most ``seconds``."""
    path = workspace.memory_db
    status = StoreStatus()
    try:
        status.size = path.stat().st_size
        status.is_there = status.size > 0
        status.log_size = size_of(path.with_name(path.name + "-wal"))
        connection = database.open_for_reading(workspace)
        if connection is None:
            return status
        with closing(connection), database.failing_clearly():
            connection.execute("PRAGMA busy_timeout = 500")
            status.format = int(connection.execute("PRAGMA user_version").fetchone()[0])
            status.whole = _read_whole(connection, seconds)
            if status.is_present and not status.whole:
                _look(connection, workspace, status)
    except FileNotFoundError:
        pass
    except JobError as error:
        status.problem = error
    except (OSError, sqlite3.Error, ValueError) as error:
        status.problem = JobError("STORE_UNREADABLE", f"memory.db cannot be read: {error}.")
    return status


def _read_whole(connection: sqlite3.Connection, seconds: float) -> list[str] | None:
    """The problems that SQLite finds; None when the time is over."""
    deadline = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
    try:
        problems = [str(line) for (line,) in connection.execute("PRAGMA quick_check(5)")]
        return [] if problems == ["ok"] else problems
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return None
        raise
    finally:
        connection.set_progress_handler(None, 0)


def _look(connection: sqlite3.Connection, workspace: Workspace, found: StoreStatus) -> None:
    """Fill the fields that need the present format."""

    def one(query: str) -> Any:
        return connection.execute(query).fetchone()

    found.meta = dict(connection.execute("SELECT key, value FROM meta"))
    found.embedder = found.meta.get("embedder")
    found.memories = one("SELECT count(*) FROM memories WHERE hidden = 0")[0]
    try:
        # FTS5 keeps one row of sizes for each window: counting these reads no text.
        sizes = f"{table_in_force(connection)}_docsize"
        found.words = one(f"SELECT count(*) FROM {sizes} WHERE id < {2 * WINDOW_STEP}")[0]  # noqa: S608 - one of our own names
    except sqlite3.OperationalError:
        found.words = -1
    found.words_outdated = found.memories > 0 and found.meta.get("words_format") != str(WORDS_FORMAT)
    if found.embedder is not None:
        found.vectors_lacking = list(_lacking(workspace, found.meta))
    found.uncompared = replacements.uncompared(connection)
    found.pending = outbox.lag(connection).changes
    refused = "SELECT coalesce(last_error, '?'), count(*) FROM outbox WHERE tries > 0 GROUP BY 1"
    found.refused = dict(connection.execute(refused))
    found.unfinished, found.unfinished_since = one(
        "SELECT count(*), min(begun_at) FROM forgettings WHERE done_at IS NULL"
    )


def _lacking(workspace: Workspace, meta: dict[str, str]) -> Iterator[str]:
    """The names of vector files that are missing or too short."""
    dimensions = int((meta["embedder"].rpartition("/")[2]) or 0)
    for part, (key, _) in META.items():
        path = vector_files.path_of(workspace.vectors, int(meta.get("vector_generation", 0)), part)
        if size_of(path) < int(meta.get(key, 0)) * dimensions * vector_files.ITEM_BYTES or not path.exists():
            yield path.name


class DatabaseSummary:
    """``rows`` has the row count of each table, or the name of the error if it cannot be read.

    ``memories`` has counts by kind, status and whether hidden (0 or 1).
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Raises sqlite3.Error."""
        tables = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY 1").fetchall()
        memories = "SELECT kind, status, hidden, count(*) FROM memories GROUP BY 1, 2, 3"
        self.format = connection.execute("PRAGMA user_version").fetchone()[0]
        self.pages = connection.execute("PRAGMA page_count").fetchone()[0]
        self.rows = {name: _count(connection, name) for name, _ in tables}
        self.memories = connection.execute(memories).fetchall()
        self.meta = dict(connection.execute("SELECT key, value FROM meta"))
        self.schema = [sql for _, sql in tables]


def database_summary(workspace: Workspace) -> DatabaseSummary | None:
    """The summary; None if the store does not exist yet.

    Raises JobError: STORE_NEWER, STORE_UNREADABLE; and sqlite3.Error.
    """
    connection = database.open_for_reading(workspace)
    if connection is None:
        return None
    with closing(connection):
        return DatabaseSummary(connection)


def _count(connection: sqlite3.Connection, name: str) -> int | str:
    try:
        return int(connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0])  # noqa: S608 - as the file has it
    except sqlite3.Error as error:
        return type(error).__name__
