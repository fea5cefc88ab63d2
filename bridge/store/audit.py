"""The audit: reads memory.db and its indexes completely and reports inconsistencies as findings. It changes nothing.

A finding has the ids of memories, never their texts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import get_args

import numpy as np

from jobs import clock
from jobs.finding import Finding, finding
from jobs.layout import Workspace

from ..embedding.embedder import Embedder, Vector, Vectors
from ..memory import Memory, MemoryKind, Status
from ..slices import Slices
from ..text.passages import passages
from . import database, full_text as words, migrations, rows, vector_files as vectors
from .catalogue import WINDOW_STEP
from .graph_content import ExpectedGraph
from .values import Action
from .vector_index import META

_TOGETHER = 100  # memories between two pauses
_SAMPLE = 24  # memories whose texts are embedded again for comparison
# The largest distance of a text's vectors, a cosine of 0.99: another processor or release of the library that runs the
# model changes the last digits, and their rounding to 8 bits those before.
_SAME = 0.14
_STATUSES: dict[str, tuple[str | None, ...]] = {
    "summary": ("Draft", "Active", "Superseded"),
    "decision_record": ("DecisionRecord", "Superseded"),
    "legacy": (None,),
}
assert set(_STATUSES) == set(get_args(MemoryKind))
assert {status for each in _STATUSES.values() for status in each if status} == set(get_args(Status))

SecretsIn = Callable[[str], bool]


# What may be wrong with memories, in the order of the findings; and the subject of each.
_TROUBLES = {
    "MEMORIES_INVALID": "memories",
    "WORDS_DAMAGED": "words",
    "VECTORS_MISPLACED": "vectors",
    "SOURCES_MISSING": "lineage",
    "SECRETS_STORED": "secrets",
}


@dataclass(slots=True)
class _Wrong:
    """``ids`` of inconsistent memories, by the code of the finding."""

    ids: dict[str, list[str]] = field(default_factory=lambda: {code: [] for code in _TROUBLES})
    words_more: int = 0
    no_index: bool = False


@contextmanager
def open_audit(workspace: Workspace) -> Iterator[Audit | None]:
    """The audit of a workspace's store; None if the store does not exist yet.

    Raises JobError: STORE_NEWER, STORE_UNREADABLE.
    """
    connection = database.open_for_reading(workspace)
    if connection is None:
        yield None
        return
    with closing(connection):
        yield Audit(workspace, connection)


def finding_of(error: Exception) -> Finding | None:
    """The finding for an error of SQLite; None for any other error."""
    if not isinstance(error, sqlite3.DatabaseError):
        return None
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary one, without its extension
    damaged = code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    return finding("STORE_DAMAGED" if damaged else "CHECK_NOT_MADE", "store", f"SQLite says: {error}.")


class Audit:
    """An audit through a read-only connection, to a database of the present format. Its methods raise sqlite3.Error.

    It holds no transaction: a check of a large store takes minutes, and a writer may run between its slices.
    """

    def __init__(self, workspace: Workspace, connection: sqlite3.Connection) -> None:
        self._workspace = workspace
        self._connection = connection
        self.expected_graph = ExpectedGraph(connection)

    @property
    def is_of_present_format(self) -> bool:
        """Whether the database has this program's format. For an older one only ``whole`` works."""
        return bool(self._connection.execute("PRAGMA user_version").fetchone()[0] >= migrations.FORMAT)

    def count(self) -> int:
        """How many memories SQLite can count, hidden ones included; 0 if it can count none.

        ``memories`` then reports why, since it reads the same table.
        """
        try:
            return int(self._connection.execute("SELECT count(*) FROM memories").fetchone()[0])
        except sqlite3.DatabaseError:
            return 0

    def whole(self) -> Iterator[Finding]:
        """Findings of SQLite's own integrity check."""
        problems = [str(line) for (line,) in self._connection.execute("PRAGMA integrity_check(20)")]
        if problems != ["ok"]:
            yield finding("STORE_DAMAGED", "store", f"SQLite says: {problems[0][:200]}.", count=len(problems))

    def full_text(self) -> Iterator[Finding]:
        """Whether the full-text index agrees with the words that it stores.

        SQLite needs a write transaction for this check; it is rolled back.
        """
        table = words.table_in_force(self._connection)
        path = self._workspace.memory_db
        patience = database.PATIENCE_SECONDS
        with closing(
            sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=patience)
        ) as own:
            own.execute("BEGIN IMMEDIATE")
            try:
                own.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")  # noqa: S608 - one of our own names
            except sqlite3.Error as error:
                if not words.is_damage(error):
                    raise
                yield finding("WORDS_DAMAGED", "words", "SQLite finds it damaged.")
            finally:
                if own.in_transaction:
                    own.execute("ROLLBACK")

    def memories(self, slices: Slices, has_secrets: SecretsIn | None) -> Iterator[Finding]:
        """Findings about each memory: its row, its words in the index, its rows in the vector files, its sources, and
        secrets if ``has_secrets`` is given.
        """
        wrong = _Wrong()
        last = 0
        while numbers := self._next(last):
            for number in numbers:
                self._look(number, wrong, has_secrets)
            last = numbers[-1]
            slices.advance(len(numbers))
        self._words_without_memory(wrong)
        for code, ids in wrong.ids.items():
            if ids:
                yield finding(code, _TROUBLES[code], f"In all: {len(ids)}.", count=len(ids), memory_ids=ids)
        if wrong.no_index:
            yield finding("WORDS_DAMAGED", "words", "It cannot be read.")
        if wrong.words_more:
            detail = f"Texts without a memory that may be found: {wrong.words_more}."
            yield finding("WORDS_DAMAGED", "words", detail, count=wrong.words_more)

    def _next(self, after: int) -> list[int]:
        """The next memory numbers after this one."""
        query = "SELECT number FROM memories WHERE number > ? ORDER BY number LIMIT ?"
        return [number for (number,) in self._connection.execute(query, (after, _TOGETHER))]

    def _look(self, number: int, wrong: _Wrong, has_secrets: SecretsIn | None) -> None:
        """Check one memory."""
        query = (
            f"SELECT {rows.COLUMNS}, body, hidden, passage_row, passage_count, whole_row"  # noqa: S608 - a constant
            " FROM memories WHERE number = ?"
        )
        row = self._connection.execute(query, (number,)).fetchone()
        if row is None:  # deleted during a pause
            return
        *columns, body, hidden, passage_row, passage_count, whole_row = row
        memory = rows.readable(tuple(columns))
        if memory is None:
            wrong.ids["MEMORIES_INVALID"].append(str(row[1]))
            return
        texts = [passage.text for passage in passages(memory)]
        if memory.metadata.status not in _STATUSES.get(memory.kind, ()):
            wrong.ids["MEMORIES_INVALID"].append(memory.id)
        if memory.kind == "decision_record" and self._lacks_a_source(memory):
            wrong.ids["SOURCES_MISSING"].append(memory.id)
        if has_secrets is not None and has_secrets(str(body)):
            wrong.ids["SECRETS_STORED"].append(memory.id)
        if hidden:
            return
        if not wrong.no_index and not self._has_words(memory, wrong):
            wrong.ids["WORDS_DAMAGED"].append(memory.id)
        if passage_count != len(texts) or not self._is_in_place(texts, passage_row, whole_row):
            wrong.ids["VECTORS_MISPLACED"].append(memory.id)

    def _lacks_a_source(self, memory: Memory) -> bool:
        """Whether a source of the record was never in the store."""
        known = "SELECT 1 FROM memories WHERE id = ? UNION ALL SELECT 1 FROM tombstones WHERE id = ?"
        return any(self._connection.execute(known, (each, each)).fetchone() is None for each in memory.sources)

    def _has_words(self, memory: Memory, wrong: _Wrong) -> bool:
        """Whether the index has exactly the memory's words; True where the index cannot be read at all."""
        table = words.table_in_force(self._connection)
        try:
            query = f"SELECT rowid, topic, body FROM {table} WHERE rowid = ?"  # noqa: S608 - one of our own names
            expected = words.rows_of(memory)
            behind = expected[-1][0] + WINDOW_STEP  # a window that must not be there
            found = [self._connection.execute(query, (row,)).fetchone() for row in [*(e[0] for e in expected), behind]]
        except sqlite3.Error as error:
            if not words.is_damage(error):
                raise
            wrong.no_index = True
            return True
        return found == [*expected, None]

    def _is_in_place(self, texts: Sequence[str], passage_row: int, whole_row: int | None) -> bool:
        """Whether the memory's first rows in both vector files equal the cached embedding of its whole text."""
        kept = self._kept(texts[0]) if texts else None
        if kept is None:
            return True  # no embedding to compare with; the checksums cover the files
        for part, row in (("passages", passage_row), ("wholes", whole_row)):
            mapped = self._mapped("passages" if part == "passages" else "wholes")
            if mapped is None:
                continue  # the missing file is a finding itself
            if row is None or not 0 <= row < len(mapped) or not np.array_equal(mapped[row], kept):
                return False
        return True

    def _kept(self, text: str) -> Vector | None:
        """The cached embedding of a text by the store's model, shape (dimensions,), or None."""
        query = "SELECT vector FROM embeddings WHERE model = ? AND text_sha256 = ?"
        key = (database.meta(self._connection, "embedder"), sha256(text.encode()).digest())
        row = self._connection.execute(query, key).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype="<f4")

    def _mapped(self, part: vectors.Part) -> Vectors | None:
        """The committed rows of a vector file, shape (rows, dimensions), or None."""
        meta = self._meta()
        generation = int(meta.get("vector_generation", 0))
        path = vectors.path_of(self._workspace.vectors, generation, part)
        return vectors.open_rows(path, int(meta.get(META[part][0], 0)), dimensions_of(meta.get("embedder", "")))

    def _meta(self) -> dict[str, str]:
        return dict(self._connection.execute("SELECT key, value FROM meta"))

    def _words_without_memory(self, wrong: _Wrong) -> None:
        """Count the indexed texts that belong to no visible memory."""
        table = words.table_in_force(self._connection)
        visible = "SELECT number FROM memories WHERE hidden = 0"
        query = f"SELECT count(*) FROM {table}_docsize WHERE id % {WINDOW_STEP} NOT IN ({visible})"  # noqa: S608 - one of our own names
        try:
            wrong.words_more = int(self._connection.execute(query).fetchone()[0])
        except sqlite3.Error:
            wrong.no_index = True

    # --- the vectors ---

    def vector_files(self) -> Iterator[Finding]:
        """Findings about the vector files: their bytes, compared with the committed checksums."""
        meta = self._meta()
        dimensions = dimensions_of(meta.get("embedder", ""))
        for part, (key, checksum_key) in META.items():
            if key not in meta:
                continue
            path = vectors.path_of(self._workspace.vectors, int(meta["vector_generation"]), part)
            size = int(meta[key]) * dimensions * vectors.ITEM_BYTES
            checksum = vectors.checksum(path, size)
            if checksum is None:
                yield finding("VECTORS_LACKING", "vectors", f"It is about {path.name}.")
            elif checksum != int(meta[checksum_key]):
                yield finding("VECTORS_DAMAGED", "vectors", f"It is about {path.name}.")

    def embeddings(self, embedder: Embedder) -> Iterator[Finding]:
        """Findings about cached embeddings: their lengths, and a sample of texts embedded again.

        Raises what the embedder raises.
        """
        sizes = "SELECT model, length(vector), count(*) FROM embeddings GROUP BY 1, 2"
        for model, size, count in self._connection.execute(sizes).fetchall():
            if size != dimensions_of(model) * vectors.ITEM_BYTES:
                yield finding("EMBEDDINGS_MISSIZED", "embeddings", f"In all: {count}.", count=count)
        if database.meta(self._connection, "embedder") != embedder.identity:
            yield finding("MODEL_CHANGED", "embedding")
            return
        sample = list(self._sample())
        fresh = embedder.embed([text for _, text in sample])
        differ = [
            memory_id
            for (memory_id, text), vector in zip(sample, fresh, strict=True)
            if (kept := self._kept(text)) is not None
            and (len(kept) != len(vector) or float(np.linalg.norm(kept - vector)) > _SAME)
        ]
        if differ:
            detail = f"It is so of {len(differ)} of {len(sample)} kept embeddings."
            yield finding("VECTORS_DIFFER", "embeddings", detail, count=len(differ), memory_ids=differ)

    def _sample(self) -> Iterator[tuple[str, str]]:
        """The ids and whole texts of memories at equal distances, from the first to the newest."""
        (count,) = self._connection.execute("SELECT count(*) FROM memories WHERE hidden = 0").fetchone()
        query = f"SELECT {rows.COLUMNS} FROM memories WHERE hidden = 0 ORDER BY number LIMIT 1 OFFSET ?"  # noqa: S608 - a constant
        offsets = sorted({part * count // _SAMPLE for part in range(_SAMPLE)}) if count else []
        for offset in offsets:
            row = self._connection.execute(query, (offset,)).fetchone()
            memory = None if row is None else rows.readable(row)
            if memory is not None:
                yield memory.id, passages(memory)[0].text

    # --- tombstones and the outbox ---

    def bookkeeping(self) -> Iterator[Finding]:
        """Findings about tombstones and the outbox."""
        query = (
            "SELECT memories.id, stored_at, forgotten_at, at FROM memories"
            " JOIN tombstones ON tombstones.id = memories.id LEFT JOIN effects ON job_id = origin_job"
        )
        back = sorted(
            {
                memory_id
                for memory_id, stored, forgotten, at in self._connection.execute(query)
                if clock.parse(max(stored, at or "")) < clock.parse(forgotten)  # else it was stored again since
            }
        )
        if back:
            yield finding("FORGOTTEN_HERE", "tombstones", f"In all: {len(back)}.", count=len(back), memory_ids=back)
        actions = ", ".join(f"'{action}'" for action in get_args(Action))
        query = (
            f"SELECT count(*) FROM outbox WHERE action NOT IN ({actions})"  # noqa: S608 - constants
            " OR action <> 'delete' AND memory_id NOT IN (SELECT id FROM memories)"
        )
        (count,) = self._connection.execute(query).fetchone()
        if count:
            yield finding("OUTBOX_INVALID", "outbox", f"In all: {count}.", count=count)


def dimensions_of(model: str) -> int:
    """The length of the model's vectors, from the end of its identity; 0 if that has none."""
    tail = model.rpartition("/")[2]
    return int(tail) if tail.isdecimal() else 0
