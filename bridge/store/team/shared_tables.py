"""The tables of memory.db that all machines of a team share, what is kept on each machine alone, and the form of a
shared row, which every copy requires: a known table, a canonical key, and columns of the types that memory.db declares.

Not shared: the full-text index, the vector files and the embeddings, which are derived; the deliveries to the knowledge
graph, since each machine has its own graph; and the begun forgettings, since each machine removes its own copies.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ...memory import LISTS
from ...team.rows import SharedRow


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


MOST_NUMBER = 2**31 - 1  # of memories, compactions and counts


class _Column(NamedTuple):
    """A column as its table declares it."""

    type: str
    may_be_null: bool


class RowForms:
    """The forms, read from a database of the present format."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._columns: dict[str, dict[str, _Column]] = {SEQUENCES: {"seq": _Column("INTEGER", False)}}
        for table in TABLES:
            declared = connection.execute(f"PRAGMA table_info({table.name})").fetchall()
            self._columns[table.name] = {
                name: _Column(kind, not (is_required or is_key))
                for _, name, kind, is_required, _, is_key in declared
                if name not in table.local
            }

    def filled(self, row: SharedRow) -> SharedRow:
        """The row, with the default of each property that memories did not have when it was written."""
        if row.table != "memories" or row.value is None:
            return row
        return replace(row, value=dict.fromkeys(LISTS, "[]") | row.value)

    def require(self, row: SharedRow) -> None:
        """Raises ValueError for a row of another form, with what is wrong, without its words."""
        columns = self._columns.get(row.table)
        if columns is None:
            raise ValueError("no such table is shared")
        key = json.loads(row.key)
        if not isinstance(key, list) or row.key != key_text(key):
            raise ValueError("its key has another form")
        if row.table == SEQUENCES:
            if len(key) != 1 or key[0] not in NUMBERED or row.value is None:
                raise ValueError("it is no sequence")
        else:
            names = BY_NAME[row.table].key
            if len(key) != len(names) or not all(map(_fits, key, [columns[name] for name in names])):
                raise ValueError("its key has another form")
            if row.value is not None and key != [row.value.get(name) for name in names]:
                raise ValueError("its key is that of another row")
        if row.value is not None:
            if row.value.keys() != columns.keys():
                raise ValueError("its columns are others")
            for name, value in row.value.items():
                if not _fits(value, columns[name]):
                    raise ValueError(f"its {name} has another type")
        if row.vectors is not None and (row.table != "memories" or row.value is None or row.value["hidden"]):
            raise ValueError("it has no vectors")


def _fits(value: Any, column: _Column) -> bool:
    if value is None:
        return column.may_be_null
    if column.type == "TEXT":
        return type(value) is str
    if column.type == "INTEGER":
        return type(value) is int and 0 <= value <= MOST_NUMBER
    return type(value) in (int, float) and math.isfinite(value)
