"""A summary of memory.db for a support archive: its schema and row counts, without a text of a memory."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass

from jobs.layout import Workspace

from . import database


@dataclass(frozen=True, slots=True)
class DatabaseSummary:
    """``rows`` has the row count of each table, or the name of the error if it cannot be read.

    ``memories`` has counts by kind, status and whether hidden (0 or 1).
    """

    format: int
    pages: int
    rows: dict[str, int | str]
    memories: list[tuple[str, str | None, int, int]]
    meta: dict[str, str]
    schema: list[str]


def database_summary(workspace: Workspace) -> DatabaseSummary | None:
    """The summary; None if the store does not exist yet.

    Raises JobError: STORE_NEWER, STORE_UNREADABLE; and sqlite3.Error.
    """
    connection = database.open_for_reading(workspace)
    if connection is None:
        return None
    with closing(connection):
        tables = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY 1").fetchall()
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        memories = connection.execute("SELECT kind, status, hidden, count(*) FROM memories GROUP BY 1, 2, 3").fetchall()
        return DatabaseSummary(
            format=connection.execute("PRAGMA user_version").fetchone()[0],
            pages=connection.execute("PRAGMA page_count").fetchone()[0],
            rows={name: _count(connection, name) for name, _ in tables},
            memories=memories,
            meta=meta,
            schema=[sql for _, sql in tables],
        )


def _count(connection: sqlite3.Connection, name: str) -> int | str:
    try:
        return int(connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0])  # noqa: S608 - as the file has it
    except sqlite3.Error as error:
        return type(error).__name__
