"""The rows of an export: all memories of memory.db, and the rows of the other exported tables, in constant memory."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from . import database, rows
from .values import Addition

# The other exported tables by line type: the table with its order, and its columns that hold JSON.
TABLES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "compaction": ("compactions ORDER BY seq", ("sources", "conflicts", "restored")),
    "cognified": ("cognified ORDER BY memory_id", ("found",)),
    "feedback": ('feedback ORDER BY memory_id, "by"', ()),
    "verdict": ("verdicts ORDER BY older, older_sha256, newer, newer_sha256", ()),
}
_OWN = ("seq",)  # columns without a meaning in another store


class ExportRows:
    """The rows of one state of the store."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @property
    def workspace_id(self) -> str | None:
        """The workspace's UUID; None if the store has none yet."""
        return database.meta(self._connection, "workspace_id")

    def counts(self) -> dict[str, int]:
        """How many rows there are, of "memory" and of each type of ``TABLES``."""

        def count(query: str) -> int:
            return int(self._connection.execute(f"SELECT count(*) FROM {query}").fetchone()[0])  # noqa: S608 - constants

        return {"memory": count("memories"), **{kind: count(table) for kind, (table, _) in TABLES.items()}}

    def additions(self) -> Iterator[Addition]:
        """All memories, hidden ones included, by rising number."""
        query = f"SELECT hidden, migrated_from, status_set_at, {rows.COLUMNS} FROM memories ORDER BY number"  # noqa: S608
        for hidden, migrated_from, status_set_at, *row in self._connection.execute(query):
            memory = rows.memory_of(tuple(row))
            yield Addition(memory, hidden=bool(hidden), migrated_from=migrated_from, status_set_at=status_set_at)

    def rows(self, kind: str) -> Iterator[dict[str, Any]]:
        """The rows of a type of ``TABLES``: its columns, JSON decoded."""
        table, as_json = TABLES[kind]
        found = self._connection.execute(f"SELECT * FROM {table}")  # noqa: S608 - a constant
        names = [column[0] for column in found.description]
        for row in found:
            yield {
                name: json.loads(value) if name in as_json and value is not None else value
                for name, value in zip(names, row, strict=True)
                if name not in _OWN
            }
