"""The memory store's writer: the truth about memories, in memory.db. Used by the child process alone.

One transaction makes memories visible, whole, and adds to the outbox what is owed to the knowledge graph.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lock import Lock

from . import database, rows, vectors
from .embedder import Embedder
from .embedding_cache import EmbeddingCache
from .memory import Memory, Status
from .passages import passages
from .terms import indexed

Action = Literal["write", "status", "delete"]


@dataclass(frozen=True, slots=True)
class Owed:
    """An entry of the outbox: what the knowledge graph has not been told yet."""

    seq: int
    memory_id: str
    action: Action
    tries: int


@dataclass(frozen=True, slots=True)
class Known:
    """What the store knows of an id: its number, and the job that brought it."""

    number: int
    origin_job: str | None


class Store:
    """Opens memory.db under a kernel lock of its own, so that no orphan writes beside a successor."""

    def __init__(self, workspace: Workspace, embedder: Embedder, *, new_model: bool = False) -> None:
        """``new_model`` opens a store of another model, which nothing but ``rebuild_vectors`` may then touch.

        Raises STORE_BUSY, STORE_NEWER, STORE_UNREADABLE, EMBEDDER_MISMATCH.
        """
        self._lock = Lock(workspace.store_lock)
        if not self._lock.acquire():
            raise JobError("STORE_BUSY")
        try:
            self._workspace = workspace
            self._embedder = embedder
            self._connection = database.open_for_writing(workspace)
        except BaseException:
            self._lock.release()
            raise
        self._embeddings = EmbeddingCache(self._connection, embedder)
        try:
            self.model_changed = self._check_embedder(new_model)
            if not self.model_changed:
                self._check_vectors()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._connection.close()
        self._lock.release()

    @property
    def workspace_id(self) -> str:
        return self._meta("workspace_id")

    def _meta(self, key: str) -> str:
        value = database.meta(self._connection, key)
        assert value is not None, key
        return value

    def _check_embedder(self, new_model: bool) -> bool:
        """Whether the store was made with another model than ours; raises unless that was expected."""
        recorded = database.meta(self._connection, "embedder")
        if recorded is None:
            with self._transaction():
                database.set_meta(self._connection, "embedder", self._embedder.identity)
                database.set_meta(self._connection, "dimensions", str(self._embedder.dimensions))
                database.set_meta(self._connection, "vector_generation", "1")
                database.set_meta(self._connection, "vector_rows", "0")
        elif recorded != self._embedder.identity:
            if new_model:
                return True
            raise JobError(
                "EMBEDDER_MISMATCH",
                f"The store was made with {recorded}; the settings name {self._embedder.identity}."
                " Nothing was changed.",
            )

        return False

    def _check_vectors(self) -> None:
        """A missing or short vector file is made again from the embeddings in memory.db."""
        found = vectors.open_rows(
            self._workspace.vectors,
            int(self._meta("vector_generation")),
            self._rows(),
            self._embedder.dimensions,
        )
        if found is None:
            self.rebuild_vectors()

    def _rows(self) -> int:
        return int(self._meta("vector_rows"))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def embed(self, texts: Sequence[str]) -> vectors.Vectors:
        """Vectors of the texts, each embedded once whoever asks. Shape (n, dimensions)."""
        return self._embeddings.embed(texts)

    # --- memories ---

    def _require_own_model(self) -> None:
        """Vectors of two models must never stand side by side."""
        if self.model_changed:
            raise JobError("EMBEDDER_MISMATCH", "The store waits for its rebuild with another embedding model.")

    def known(self, memory_id: str) -> Known | None:
        row = self._connection.execute("SELECT number, origin_job FROM memories WHERE id = ?", (memory_id,)).fetchone()
        return None if row is None else Known(*row)

    def forgotten_at(self, memory_id: str) -> str | None:
        row = self._connection.execute("SELECT forgotten_at FROM tombstones WHERE id = ?", (memory_id,)).fetchone()
        return None if row is None else str(row[0])

    def get(self, memory_id: str) -> Memory | None:
        row = self._connection.execute(
            f"SELECT {rows.COLUMNS} FROM memories WHERE id = ?",  # noqa: S608 - a constant
            (memory_id,),
        ).fetchone()
        return None if row is None else rows.memory_of(row)

    def add(self, memories: Sequence[tuple[Memory, str | None]], now: str) -> list[Memory]:
        """Add new memories (with the job that brought each) in one transaction; returns them numbered.

        The vectors are on the disk before the transaction that names them.
        """
        self._require_own_model()
        if not memories:
            return []
        parts = [[passage.text for passage in passages(memory)] for memory, _ in memories]
        first = self._rows()
        matrix = self.embed([text for texts in parts for text in texts])
        vectors.append(self._workspace.vectors, int(self._meta("vector_generation")), first, matrix)
        added = []
        with self._transaction():
            number = self._last_number()
            row = first
            for (memory, origin), texts in zip(memories, parts, strict=True):
                number += 1
                numbered = replace(memory, number=number)
                rows.insert(self._connection, numbered, origin_job=origin, passage_row=row, passage_count=len(texts))
                self._index_words(numbered)
                self._owe(memory.id, "write", now)
                row += len(texts)
                added.append(numbered)
            database.set_meta(self._connection, "vector_rows", str(row))
        return added

    def _last_number(self) -> int:
        row = self._connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'memories'").fetchone()
        return 0 if row is None else int(row[0])

    def _index_words(self, memory: Memory) -> None:
        topic = memory.content.topic if memory.content else ""
        body = passages(memory)[0].text
        self._connection.execute(
            "INSERT INTO words (rowid, topic, body) VALUES (?, ?, ?)",
            (memory.number, indexed(topic), indexed(body)),
        )

    def set_status(self, memory_id: str, status: Status, asked_at: str, now: str) -> Memory:
        """Change a summary's status; nothing is embedded again.

        What was asked for before the last change is past and changes nothing, so a job that is tried again
        does not undo a later one. Raises MEMORY_NOT_FOUND, ARGUMENT_INVALID.
        """
        found = self.get(memory_id)
        if found is None:
            raise JobError("MEMORY_NOT_FOUND", f"{memory_id!r} is not in the store.")
        if found.kind != "summary":
            what = "a legacy memory, which has no status" if found.kind == "legacy" else "a decision record"
            raise JobError("ARGUMENT_INVALID", f"{memory_id!r} is {what}: only a summary's status can be set.")
        (last,) = self._connection.execute("SELECT status_set_at FROM memories WHERE id = ?", (memory_id,)).fetchone()
        if last is not None and clock.parse(last) >= clock.parse(asked_at):
            return found
        with self._transaction():
            self._connection.execute(
                "UPDATE memories SET status = ?, updated_at = ?, status_set_at = ? WHERE id = ?",
                (status, now, now, memory_id),
            )
            self._owe(memory_id, "status", now)
        after = self.get(memory_id)
        assert after is not None
        return after

    # --- the outbox ---

    def _owe(self, memory_id: str, action: Action, now: str) -> None:
        self._connection.execute(
            "INSERT INTO outbox (memory_id, action, added_at) VALUES (?, ?, ?)", (memory_id, action, now)
        )

    def owed(self, limit: int, memory_ids: Sequence[str] | None = None, *, untried: bool = False) -> list[Owed]:
        """What the graph is owed, oldest first: of the given memories, or what was never refused yet."""
        query, arguments = "SELECT seq, memory_id, action, tries FROM outbox WHERE 1", list[object]()
        if memory_ids is not None:
            query += f" AND memory_id IN ({', '.join('?' * len(memory_ids))})"
            arguments += memory_ids
        if untried:
            query += " AND tries = 0"
        return [Owed(*row) for row in self._connection.execute(query + " ORDER BY seq LIMIT ?", (*arguments, limit))]

    def owed_count(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM outbox").fetchone()[0])

    def paid(self, entries: Sequence[Owed]) -> None:
        with self._transaction():
            self._connection.executemany("DELETE FROM outbox WHERE seq = ?", [(entry.seq,) for entry in entries])

    def not_paid(self, entry: Owed, error: str) -> None:
        with self._transaction():
            self._connection.execute(
                "UPDATE outbox SET tries = tries + 1, last_error = ? WHERE seq = ?", (error[:500], entry.seq)
            )

    def graph_is_of_another_model(self) -> bool:
        """Whether the graph's vectors were made with another model than ours."""
        return database.meta(self._connection, "graph_embedder") not in (None, self._embedder.identity)

    def graph_was_there(self) -> bool:
        """Whether the graph was ever opened: then its absence is a loss."""
        return database.meta(self._connection, "graph_embedder") is not None

    def graph_was_opened(self) -> None:
        """Note whose vectors the graph has, and let what it refused before be tried once more."""
        with self._transaction():
            self._connection.execute("UPDATE outbox SET tries = 0")
            database.set_meta(self._connection, "graph_embedder", self._embedder.identity)

    def owe_everything(self, now: str) -> int:
        """Put every memory into the outbox: the graph is to be written anew. Returns how many."""
        with self._transaction():
            self._connection.execute("DELETE FROM outbox")
            done = self._connection.execute(
                "INSERT INTO outbox (memory_id, action, added_at) SELECT id, 'write', ? FROM memories ORDER BY number",
                (now,),
            )
            return done.rowcount

    # --- derived data ---

    def rebuild_vectors(self) -> int:
        """Write a new generation of the vector file beside the old one and switch to it. Returns its rows.

        Embeddings come from the cache; only what is missing there is embedded again. A new model takes over
        in the same transaction.
        """
        generation = int(self._meta("vector_generation")) + 1
        vectors.path_of(self._workspace.vectors, generation).unlink(missing_ok=True)
        numbers: list[int] = [r[0] for r in self._connection.execute("SELECT number FROM memories ORDER BY number")]
        row = 0
        places: list[tuple[int, int, int]] = []
        for start in range(0, len(numbers), 500):
            chunk = numbers[start : start + 500]
            texts: list[str] = []
            for memory in self._numbered(chunk):
                found = [passage.text for passage in passages(memory)]
                places.append((row + len(texts), len(found), memory.number))
                texts += found
            vectors.append(self._workspace.vectors, generation, row, self.embed(texts))
            row += len(texts)
        if not numbers:
            empty = np.empty((0, self._embedder.dimensions), dtype=np.float32)
            vectors.append(self._workspace.vectors, generation, 0, empty)
        with self._transaction():
            self._connection.executemany(
                "UPDATE memories SET passage_row = ?, passage_count = ? WHERE number = ?", places
            )
            database.set_meta(self._connection, "vector_generation", str(generation))
            database.set_meta(self._connection, "vector_rows", str(row))
            database.set_meta(self._connection, "embedder", self._embedder.identity)
            database.set_meta(self._connection, "dimensions", str(self._embedder.dimensions))
        self.model_changed = False
        vectors.drop_other_generations(self._workspace.vectors, generation)
        return row

    def rebuild_words(self) -> int:
        """Fill the full-text index anew, in one transaction. Returns how many memories it holds."""
        numbers: list[int] = [r[0] for r in self._connection.execute("SELECT number FROM memories ORDER BY number")]
        with self._transaction():
            self._connection.execute("DELETE FROM words")
            for start in range(0, len(numbers), 500):
                for memory in self._numbered(numbers[start : start + 500]):
                    self._index_words(memory)
        return len(numbers)

    def _numbered(self, numbers: Sequence[int]) -> list[Memory]:
        marks = ", ".join("?" * len(numbers))
        query = f"SELECT {rows.COLUMNS} FROM memories WHERE number IN ({marks}) ORDER BY number"  # noqa: S608 - marks only
        return [rows.memory_of(row) for row in self._connection.execute(query, list(numbers))]

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the database where no reader is in the way."""
        try:
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.OperationalError:
            pass  # a reader holds it; the next one does it
