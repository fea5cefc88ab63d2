"""Notes which shared rows a transaction of memory.db changes, by temporary triggers of its connection.

So the code that writes memory.db is the same with and without a team.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator

from ...team.rows import SharedRow
from .shared_tables import BY_NAME, MEMORIES, NUMBERED, SEQUENCES, TABLES, Table, key_text, quoted

# (passage_row, passage_count) -> the bytes of a memory's vectors.
ReadVectors = Callable[[int, int], bytes]

_NOTES = "CREATE TEMP TABLE team_changed (tbl TEXT, key TEXT, inserted INTEGER, PRIMARY KEY (tbl, key)) WITHOUT ROWID"


class Recorder:
    """The notes of one connection. ``clear`` begins a transaction's notes; ``rows`` returns what it changed."""

    def __init__(self, connection: sqlite3.Connection, read_vectors: ReadVectors) -> None:
        self._connection = connection
        self._read_vectors = read_vectors
        self._columns = {table.name: table.columns(connection) for table in TABLES}
        connection.execute(_NOTES)
        for table in TABLES:
            for trigger in _triggers(table, self._columns[table.name]):
                connection.execute(trigger)
        self._numbers: dict[str, int] = {}

    def clear(self) -> None:
        """Forget what was noted, inside the transaction whose changes are to be noted."""
        self._connection.execute("DELETE FROM team_changed")
        self._numbers = self._given_numbers()

    def rows(self) -> Iterator[SharedRow]:
        """The rows that the transaction changed since ``clear``, as they are now."""
        noted = self._connection.execute("SELECT tbl, key, inserted FROM team_changed").fetchall()
        for name, key, inserted in noted:
            yield self._row(BY_NAME[name], key, bool(inserted))
        for name, number in self._given_numbers().items():
            if number != self._numbers.get(name):
                yield SharedRow(SEQUENCES, key_text([name]), {"seq": number})

    def all_rows(self) -> Iterator[SharedRow]:
        """All shared rows of the database, in constant memory."""
        for table in TABLES:
            keys = ", ".join(quoted(name) for name in table.key)
            for (key,) in self._connection.execute(f"SELECT json_array({keys}) FROM {table.name}"):  # noqa: S608 - constants
                yield self._row(table, key, inserted=True)
        for name, number in self._given_numbers().items():
            yield SharedRow(SEQUENCES, key_text([name]), {"seq": number})

    def _row(self, table: Table, key: str, inserted: bool) -> SharedRow:
        columns = self._columns[table.name]
        chosen = ", ".join(quoted(name) for name in (*columns, *table.local))
        found = self._connection.execute(
            f"SELECT {chosen} FROM {table.name} WHERE {table.where()}",  # noqa: S608 - constants
            json.loads(key),
        ).fetchone()
        if found is None:
            return SharedRow(table.name, key, None)
        value = dict(zip(columns, found, strict=False))
        vectors = None
        if table is MEMORIES and inserted and not value["hidden"]:
            passage_row, passage_count, _ = found[len(columns) :]
            vectors = self._read_vectors(passage_row, passage_count)
        return SharedRow(table.name, key, value, vectors)

    def _given_numbers(self) -> dict[str, int]:
        marks = ", ".join("?" * len(NUMBERED))
        query = f"SELECT name, seq FROM {SEQUENCES} WHERE name IN ({marks})"  # noqa: S608 - constants
        return {str(name): int(number) for name, number in self._connection.execute(query, NUMBERED)}


def _triggers(table: Table, columns: tuple[str, ...]) -> Iterator[str]:
    """The statements that create a table's triggers. Changes of local columns alone are not noted."""
    shared = ", ".join(quoted(name) for name in columns)
    for event, row, inserted in (("INSERT", "NEW", 1), (f"UPDATE OF {shared}", "NEW", 0), ("DELETE", "OLD", 0)):
        keys = ", ".join(f"{row}.{quoted(name)}" for name in table.key)
        yield (
            f"CREATE TEMP TRIGGER team_{table.name}_{event.split()[0].lower()} AFTER {event} ON main.{table.name} BEGIN"  # noqa: S608
            f" INSERT INTO team_changed VALUES ('{table.name}', json_array({keys}), {inserted})"
            " ON CONFLICT (tbl, key) DO UPDATE SET inserted = max(inserted, excluded.inserted); END"
        )
