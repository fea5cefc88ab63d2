"""Applies the rows of Postgres to memory.db, with what is derived from them: words, vectors, deliveries to the graph.

What is applied is committed with its position in one transaction, so a replica goes on after any kill. A row that
cannot be applied is set aside, and the others are applied.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from ...embedding.embedder import Vectors
from ...team.rows import FeedRow, SharedRow
from .. import rows
from ..outbox import Outbox
from ..vector_index import VectorIndex
from ..word_index import WordIndex
from .position import RowSetAside, note_set_aside, rows_set_aside
from .shared_tables import MEMORIES, SEQUENCES, TABLES, RowForms, Table, insert, quoted

_IN_MEMORY = 16 * 1024 * 1024


class IncomingRows:
    """The rows that a copy lacks, in a file without a name: they are read twice, and may be gigabytes.

    So the database's snapshot is free again before anything is applied. As a context it removes the file. Each
    iteration reads all rows, in their order.
    """

    def __init__(self, rows: Iterable[FeedRow], folder: Path) -> None:
        """Keep the rows. Raises OSError, and what reading them raises."""
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=str(folder))  # noqa: SIM115 - this object is its context
        try:
            for seq, row in rows:
                size = None if row.vectors is None else len(row.vectors)
                head = json.dumps([seq, row.table, row.key, row.value, size], ensure_ascii=False)
                self._file.write(head.encode("utf-8", "surrogatepass") + b"\n" + (row.vectors or b""))
        except BaseException:
            self._file.close()
            raise

    def __iter__(self) -> Iterator[FeedRow]:
        self._file.seek(0)
        while head := self._file.readline():
            seq, table, key, value, size = json.loads(head.decode("utf-8", "surrogatepass"))
            vectors = None if size is None else self._file.read(size)
            yield FeedRow(seq, SharedRow(table, key, value, vectors))

    def __enter__(self) -> IncomingRows:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


log = logging.getLogger(__name__)

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
        self._forms = RowForms(connection)
        self._set_aside: dict[tuple[str, str], RowSetAside] = {}  # by table and key

    def well_formed(self, feed: Iterable[FeedRow]) -> Iterator[FeedRow]:
        """The rows that have the form of a row; the others are set aside by the next ``apply``."""
        self._set_aside = {}
        for found in feed:
            found = found._replace(row=self._forms.filled(found.row))
            try:
                self._forms.require(found.row)
            except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
                self._leave_out(found.row, error)
            else:
                yield found

    def _leave_out(self, row: SharedRow, error: Exception) -> None:
        why = str(error) if type(error) is ValueError else type(error).__name__
        log.warning("a row of the table %s is set aside: %s", row.table[:40], why)
        left_out = RowSetAside(row.table[:40], row.key[:200], why)
        self._set_aside[left_out.table, left_out.key] = left_out

    def apply(self, feed: Iterable[FeedRow], now: str, *, is_all: bool = False) -> int:
        """Apply well-formed rows, inside a transaction. Returns how many. ``feed`` is read more than once. ``is_all``:
        every other shared row is deleted."""
        before = {} if is_all else {(each.table, each.key): each for each in rows_set_aside(self._connection)}
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
            for _, row in some:
                before.pop((row.table, row.key[:200]), None)
            count += self._apply_what_can_be([row for _, row in some], now)
        if before or self._set_aside or rows_set_aside(self._connection):
            note_set_aside(self._connection, (before | self._set_aside).values())
        self._set_aside = {}
        return count

    def _apply_what_can_be(self, some: Sequence[SharedRow], now: str) -> int:
        """Apply rows together; where that fails, each half, so that the one that cannot be applied is left out."""
        by_table: dict[str, list[SharedRow]] = {}
        for row in some:
            by_table.setdefault(row.table, []).append(row)
        try:
            with _savepoint(self._connection):
                return self._apply(by_table, now)
        except Exception as error:
            if not _is_of_row(error):
                raise
            if len(some) == 1:
                self._leave_out(some[0], error)
                return 0
        middle = len(some) // 2
        return self._apply_what_can_be(some[:middle], now) + self._apply_what_can_be(some[middle:], now)

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
                insert(self._connection, table.name, {name: row.value[name] for name in names})

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
            if not row.vectors and not row.value["hidden"]:
                raise ValueError("its vectors are missing")
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
        after = self._vectors.append(np.concatenate([arrival.vectors for arrival in arrivals]), sizes)
        passage_row, whole_row = before["passages"].rows, before["wholes"].rows
        for arrival, size in zip(arrivals, sizes, strict=True):
            names = self._columns[MEMORIES.name]
            value = {name: arrival.value[name] for name in names}
            place = {"passage_row": passage_row, "passage_count": size, "whole_row": whole_row}
            insert(self._connection, MEMORIES.name, value | place)
            if not value["hidden"]:
                (memory,) = rows.read(self._connection, "number = ?", value["number"])
                self._words.add(memory)
                self._outbox.enqueue(value["id"], "write", now)
                whole_row += 1
            passage_row += size
        self._vectors.commit(after)


@contextmanager
def _savepoint(connection: sqlite3.Connection) -> Iterator[None]:
    """A part of a transaction, of which an exception leaves nothing."""
    connection.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # a full disk may have ended it
            connection.execute("ROLLBACK TO part")
            connection.execute("RELEASE part")
        raise
    connection.execute("RELEASE part")


def _is_of_row(error: Exception) -> bool:
    """Whether a row is the reason, and not the disk or memory.db."""
    if isinstance(error, sqlite3.OperationalError):
        return "malformed JSON" in str(error)
    of_rows = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.InterfaceError, sqlite3.ProgrammingError)
    return isinstance(error, (*of_rows, ValueError, TypeError, LookupError, AttributeError, OverflowError))


def _batches(feed: Iterable[FeedRow]) -> Iterator[list[FeedRow]]:
    rows = iter(feed)
    while some := list(islice(rows, _TOGETHER)):
        yield some


def vector_bytes(found: Vectors) -> bytes:
    """Vectors as a row has them."""
    return np.ascontiguousarray(found, dtype="<f4").tobytes()
