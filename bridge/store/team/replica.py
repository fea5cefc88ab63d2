"""Applies the rows of Postgres to memory.db, with what is derived from them: words, vectors, deliveries to the graph.

What is applied is committed with its position in one transaction, so a replica goes on after any kill.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Any

import numpy as np

from ...embedding.embedder import Vectors
from ...memory import Memory
from ...team.rows import FeedRow, SharedRow
from .. import rows
from ..outbox import Outbox
from ..vector_index import VectorIndex
from ..word_index import WordIndex
from .tables import MEMORIES, SEQUENCES, TABLES, Table, quoted

_TOGETHER = 2000  # rows; a memory's vectors are some 30 kB


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A memory that is new here, or came back under its number, with its vectors."""

    value: dict[str, Any]
    vectors: Vectors


class Replica:
    """Writes rows of the team through the one writer's connection."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        vectors: VectorIndex,
        words: WordIndex,
        outbox: Outbox,
        dimensions: int,
    ) -> None:
        self._connection = connection
        self._vectors = vectors
        self._words = words
        self._outbox = outbox
        self._dimensions = dimensions
        self._columns = {table.name: table.columns(connection) for table in TABLES}

    def apply(self, feed: Iterable[FeedRow], now: str, *, is_all: bool = False) -> int:
        """Apply rows, inside a transaction. Returns how many. ``feed`` is read more than once. ``is_all``: every other
        shared row is deleted."""
        kept: dict[str, set[str]] = {table.name: set() for table in TABLES}
        count = 0
        if is_all:
            for _, row in feed:
                kept.get(row.table, set()).add(row.key)
            gone = {table.name: self._missing(table, kept[table.name]) for table in TABLES}
            for row in gone[MEMORIES.name]:
                self._remove_other(row, now)
            count += self._apply(gone, now)
        for _, row in feed:  # first, since a memory may have another number now, and a number another memory
            if row.table == MEMORIES.name:
                self._remove_other(row, now)
        for some in _batches(feed):
            by_table: dict[str, list[SharedRow]] = {}
            for _, row in some:
                by_table.setdefault(row.table, []).append(row)
            count += self._apply(by_table, now)
        return count

    def _apply(self, by_table: Mapping[str, Sequence[SharedRow]], now: str) -> int:
        self._memories(by_table.get(MEMORIES.name, ()), now)
        for table in TABLES[1:]:
            self._others(table, by_table.get(table.name, ()))
        for row in by_table.get(SEQUENCES, ()):
            self._raise_sequence(json.loads(row.key)[0], int((row.value or {})["seq"]))
        return sum(map(len, by_table.values()))

    def _missing(self, table: Table, kept: set[str]) -> list[SharedRow]:
        """The rows of memory.db that are not among the kept ones, as deleted rows."""
        keys = ", ".join(quoted(name) for name in table.key)
        found = self._connection.execute(f"SELECT json_array({keys}) FROM {table.name}")  # noqa: S608 - constants
        return [SharedRow(table.name, key, None) for (key,) in found if key not in kept]

    def _others(self, table: Table, changed: Sequence[SharedRow]) -> None:
        names = self._columns[table.name]
        for row in changed:
            self._connection.execute(f"DELETE FROM {table.name} WHERE {table.where()}", json.loads(row.key))  # noqa: S608 - constants
            if row.value is not None:
                self._insert(table.name, {name: row.value[name] for name in names})

    def _insert(self, table: str, value: dict[str, Any]) -> None:
        names = ", ".join(map(quoted, value))
        marks = ", ".join("?" * len(value))
        self._connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(value.values()))  # noqa: S608 - constants

    def _raise_sequence(self, table: str, seq: int) -> None:
        changed = self._connection.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (seq, table))
        if not changed.rowcount:
            self._connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, seq))

    # --- memories ---

    def _remove_other(self, row: SharedRow, now: str) -> None:
        """Remove the memory that has this row's number, if it is not the row's own."""
        (number,) = json.loads(row.key)
        former = self._connection.execute("SELECT id, hidden FROM memories WHERE number = ?", (number,)).fetchone()
        if former is not None and (row.value is None or former[0] != row.value["id"]):
            self._remove(number, former[0], bool(former[1]), now)

    def _memories(self, changed: Sequence[SharedRow], now: str) -> None:
        arrivals = []
        for row in changed:
            (number,) = json.loads(row.key)
            former = self._connection.execute("SELECT id, hidden FROM memories WHERE number = ?", (number,)).fetchone()
            if row.value is None:
                continue
            if former is not None and row.vectors is None:
                self._update(number, row.value, was_hidden=bool(former[1]), now=now)
                continue
            if former is not None:
                self._remove(number, former[0], bool(former[1]), now)
            arrivals.append(_Arrival(row.value, self._rows_of(row.vectors)))
        self._add(arrivals, now)

    def _rows_of(self, vectors: bytes | None) -> Vectors:
        data = np.frombuffer(vectors or b"", dtype="<f4")
        return data.reshape(len(data) // self._dimensions, self._dimensions)

    def _remove(self, number: int, memory_id: str, was_hidden: bool, now: str) -> None:
        if not was_hidden:
            self._take_out(number, memory_id, now)
        self._connection.execute("DELETE FROM memories WHERE number = ?", (number,))

    def _take_out(self, number: int, memory_id: str, now: str) -> None:
        self._words.remove(number)
        self._outbox.discard([memory_id])
        self._outbox.enqueue(memory_id, "delete", now)

    def _update(self, number: int, value: dict[str, Any], *, was_hidden: bool, now: str) -> None:
        """Give a memory that is here already its new columns; only its labels, its status or whether it is hidden."""
        if value["hidden"] and not was_hidden:
            self._take_out(number, value["id"], now)
        settings = ", ".join(f"{quoted(name)} = ?" for name in value)
        self._connection.execute(f"UPDATE memories SET {settings} WHERE number = ?", (*value.values(), number))  # noqa: S608 - constants
        if not value["hidden"]:
            self._outbox.enqueue(value["id"], "status", now)

    def _add(self, arrivals: Sequence[_Arrival], now: str) -> None:
        if not arrivals:
            return
        before = self._vectors.extents
        sizes = [len(arrival.vectors) for arrival in arrivals]
        starts = [start for start, size in zip([0, *accumulate(sizes)], sizes, strict=False) if size]
        after = self._vectors.append(np.concatenate([arrival.vectors for arrival in arrivals]), starts)
        passage_row, whole_row = before["passages"].rows, before["wholes"].rows
        for arrival, size in zip(arrivals, sizes, strict=True):
            names = self._columns[MEMORIES.name]
            value = {name: arrival.value[name] for name in names}
            place = {"passage_row": passage_row, "passage_count": size, "whole_row": whole_row}
            self._insert(MEMORIES.name, value | place)
            if not value["hidden"]:
                self._words.add(self._memory(value["number"]))
                self._outbox.enqueue(value["id"], "write", now)
                whole_row += 1
            passage_row += size
        self._vectors.commit(after)

    def _memory(self, number: int) -> Memory:
        query = f"SELECT {rows.COLUMNS} FROM memories WHERE number = ?"  # noqa: S608 - constants
        return rows.memory_of(self._connection.execute(query, (number,)).fetchone())


def _batches(feed: Iterable[FeedRow]) -> Iterator[list[FeedRow]]:
    rows = iter(feed)
    while some := list(islice(rows, _TOGETHER)):
        yield some


def vector_bytes(found: Vectors) -> bytes:
    """Vectors as a row has them."""
    return np.ascontiguousarray(found, dtype="<f4").tobytes()
