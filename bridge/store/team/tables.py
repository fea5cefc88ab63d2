"""The tables of memory.db that all machines of a team share, and what is kept on each machine alone.

Not shared: the full-text index, the vector files and the embeddings, which are derived; the deliveries to the knowledge
graph, since each machine has its own graph; and the begun forgettings, since each machine removes its own copies.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Table:
    """A shared table. ``local`` are its columns that each machine has its own values for."""

    name: str
    key: tuple[str, ...]
    local: tuple[str, ...] = ()

    def columns(self, connection: sqlite3.Connection) -> tuple[str, ...]:
        """The shared columns, in the order of the table."""
        names = (row[1] for row in connection.execute(f"PRAGMA table_info({self.name})"))
        return tuple(name for name in names if name not in self.local)

    def where(self) -> str:
        """The condition for one row by its key."""
        return " AND ".join(f"{quoted(name)} = ?" for name in self.key)


MEMORIES = Table("memories", ("number",), local=("passage_row", "passage_count", "whole_row"))
TOMBSTONES = Table("tombstones", ("id",))

# In the order in which a replica applies them: a memory that is deleted takes its feedback and verdicts with it.
TABLES = (
    MEMORIES,
    TOMBSTONES,
    Table("numbers_skipped", ("first",)),
    Table("effects", ("job_id", "job_sha256")),
    Table("compactions", ("seq",)),
    Table("cognified", ("memory_id",)),
    Table("captured_sessions", ("tool", "session_id")),
    Table("captured_memories", ("memory_id",)),
    Table("captured_turns", ("tool", "session_id")),
    Table("feedback", ("memory_id", "by")),
    Table("verdicts", ("older", "older_sha256", "newer", "newer_sha256")),
)
BY_NAME = {table.name: table for table in TABLES}

# The highest numbers that SQLite has given, which must not be given again after their rows were deleted.
SEQUENCES = "sqlite_sequence"
NUMBERED = ("memories", "compactions")


def insert(connection: sqlite3.Connection, table: str, value: Mapping[str, Any]) -> None:
    """Insert a row with these columns."""
    names, marks = ", ".join(map(quoted, value)), ", ".join("?" * len(value))
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(value.values()))  # noqa: S608 - columns of the table


def quoted(name: str) -> str:
    """A column's name in SQL."""
    return f'"{name}"'


def key_text(parts: Sequence[Any]) -> str:
    """A row's key as JSON text, as SQLite's ``json_array`` writes it."""
    return json.dumps(list(parts), ensure_ascii=False, separators=(",", ":"))
