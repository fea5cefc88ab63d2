"""The form of a shared row, which every copy requires: a known table, a canonical key, and columns of the types that
memory.db declares."""

from __future__ import annotations

import json
import math
import sqlite3
from dataclasses import replace
from typing import Any, NamedTuple

from ...memory import LISTS
from ...team.rows import SharedRow
from .tables import BY_NAME, NUMBERED, SEQUENCES, TABLES, key_text

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
