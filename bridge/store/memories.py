"""Memories read from memory.db by id, number or topic. Methods return values, never rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence

from jobs import clock

from ..memory import MAX_KEPT, Memory
from . import database, feedback, replacements, rows, verdicts
from .forgettings import ForgettingReader
from .graph_content import ExpectedGraph, ExtractionReader
from .history import CaptureReader, CompactionReader
from .values import AppliedJob, Feedback, KnownPair, MemoryState, PairVerdict


class Memories:
    """Reads through one connection. Hidden memories are left out, unless a method says otherwise."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.compactions = CompactionReader(connection)
        self.extractions = ExtractionReader(connection)
        self.forgettings = ForgettingReader(connection)
        self.captures = CaptureReader(connection)
        self.expected_graph = ExpectedGraph(connection)

    @property
    def workspace_id(self) -> str:
        """The workspace's UUID, from which ids of memories derive."""
        value = database.meta(self._connection, "workspace_id")
        assert value is not None
        return value

    def is_applied(self, job: AppliedJob) -> bool:
        """Whether the job's effect is committed."""
        query = "SELECT 1 FROM effects WHERE job_id = ? AND job_sha256 = ?"
        return self._connection.execute(query, (job.job_id, job.job_sha256)).fetchone() is not None

    # --- by id; hidden ones included ---

    def known(self, memory_id: str) -> MemoryState | None:
        """What the store records of the memory; None if it does not exist."""
        query = "SELECT number, origin_job, hidden, status, status_set_at, migrated_from FROM memories WHERE id = ?"
        row = self._connection.execute(query, (memory_id,)).fetchone()
        if row is None:
            return None
        number, origin_job, hidden, status, status_set_at, migrated_from = row
        return MemoryState(number, origin_job, bool(hidden), status, status_set_at, migrated_from)

    def is_hidden(self, memory_id: str) -> bool:
        """Whether the memory exists and is hidden: an original, or a withdrawn record."""
        row = self._connection.execute("SELECT hidden FROM memories WHERE id = ?", (memory_id,)).fetchone()
        return row is not None and bool(row[0])

    def forgotten_at(self, memory_id: str) -> str | None:
        """When the id was last forgotten; None if never. A later job may have stored it again."""
        row = self._connection.execute("SELECT forgotten_at FROM tombstones WHERE id = ?", (memory_id,)).fetchone()
        return None if row is None else str(row[0])

    def was_forgotten_since(self, memory_id: str, accepted_at: str) -> bool:
        """Whether the memory was forgotten at or after the time at which a job was accepted."""
        forgotten = self.forgotten_at(memory_id)
        return forgotten is not None and clock.parse(accepted_at) <= clock.parse(forgotten)

    def get(self, memory_id: str) -> Memory | None:
        """The memory of this id, or None."""
        return next(iter(rows.read(self._connection, "id = ?", memory_id)), None)

    def forgotten_with(self, job: AppliedJob) -> list[str]:
        """The ids of the memories that were forgotten when the job was applied."""
        query = (
            "SELECT id FROM tombstones JOIN effects ON effects.at = forgotten_at"
            " WHERE job_id = ? AND job_sha256 = ? ORDER BY id"
        )
        return rows.column(self._connection, query, job.job_id, job.job_sha256)

    def select(self, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """Id -> memory, for those of the ids that exist."""
        found = rows.read(self._connection, "id IN (SELECT value FROM json_each(?))", json.dumps(memory_ids))
        return {memory.id: memory for memory in found}

    def unknown(self, memory_ids: Sequence[str]) -> list[str]:
        """Those of the ids that were never in the store: neither a memory nor a tombstone has them."""
        known = "SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?1))"
        gone = "SELECT id FROM tombstones WHERE id IN (SELECT value FROM json_each(?1))"
        known_ids = set(rows.column(self._connection, f"{known} UNION {gone}", json.dumps(memory_ids)))
        return [memory_id for memory_id in memory_ids if memory_id not in known_ids]

    def all_ids(self) -> list[str]:
        """The ids of all memories, in no order."""
        return rows.column(self._connection, "SELECT id FROM memories")

    def ids_about(self, topic_id: str | None) -> list[str]:
        """The ids of a topic's memories, by number."""
        return rows.column(self._connection, "SELECT id FROM memories WHERE topic_id = ? ORDER BY number", topic_id)

    def conversions_of(self, memory_id: str) -> list[str]:
        """The ids of the memories that an original was converted to."""
        return rows.column(self._connection, "SELECT id FROM memories WHERE migrated_from = ?", memory_id)

    def feedback(self, memory_id: str, *, withdrawn: bool = False) -> list[Feedback]:
        """The feedback on a memory, the latest first; with ``withdrawn``, also what was withdrawn."""
        return feedback.of_memory(self._connection, memory_id, withdrawn=withdrawn)

    def all_feedback(self) -> Iterator[Feedback]:
        """All feedback, also what was withdrawn."""
        return feedback.of_all(self._connection)

    def all_verdicts(self) -> Iterator[PairVerdict]:
        """What was said of pairs of statements."""
        return verdicts.of_all(self._connection)

    def known_pairs(self, memory_ids: Sequence[str]) -> list[KnownPair]:
        """What was found, and then what was said, of the statements of these memories."""
        return replacements.known(self._connection, memory_ids)

    def records(self) -> list[tuple[Memory, bool]]:
        """All decision records by number, each with whether it is hidden."""
        query = f"SELECT {rows.COLUMNS}, hidden FROM memories WHERE kind = 'decision_record' ORDER BY number"  # noqa: S608 - a constant
        return [(rows.memory_of(row[:-1]), bool(row[-1])) for row in self._connection.execute(query)]

    def words_without(self, memory_ids: Collection[str]) -> Iterator[str]:
        """The texts of all memories except these, each as JSON text."""
        bodies = self._connection.execute("SELECT id, body FROM memories")
        return (body for memory_id, body in bodies if memory_id not in memory_ids)

    # --- visible memories ---

    def count(self) -> int:
        """How many memories there are."""
        return int(self._connection.execute("SELECT count(*) FROM memories WHERE hidden = 0").fetchone()[0])

    def ids(self) -> list[str]:
        """The ids of all memories, by number."""
        return rows.column(self._connection, "SELECT id FROM memories WHERE hidden = 0 ORDER BY number")

    def after(self, number: int, limit: int) -> list[Memory]:
        """Memories with a higher number, in order, at most ``limit``."""
        return rows.read(self._connection, "number > ? AND hidden = 0 ORDER BY number LIMIT ?", number, limit)

    def newest(self, limit: int) -> list[str]:
        """The ids of the ``limit`` memories with the highest numbers, the highest first."""
        query = "SELECT id FROM memories WHERE hidden = 0 ORDER BY number DESC LIMIT ?"
        return rows.column(self._connection, query, limit)

    def about(self, topic_id: str) -> list[Memory]:
        """A topic's memories by number."""
        return rows.read(self._connection, "topic_id = ? AND hidden = 0 ORDER BY number", topic_id)

    def newest_about(self, topic_id: str) -> Memory | None:
        """The topic's memory with the highest number, or None."""
        found = rows.read(self._connection, "topic_id = ? AND hidden = 0 ORDER BY number DESC LIMIT 1", topic_id)
        return next(iter(found), None)

    def topic_ids(self) -> list[str]:
        """The ids of all topics, in alphabetical order."""
        query = "SELECT DISTINCT topic_id FROM memories WHERE topic_id IS NOT NULL AND hidden = 0 ORDER BY topic_id"
        return rows.column(self._connection, query)

    def same_as(self, memory: Memory) -> str | None:
        """The id of a visible memory with the same kind, topic and text, or None."""
        body = rows.body_of(memory.content, memory.text)
        found = self._connection.execute(
            # The plus prevents SQLite from comparing the text in the index, which has only its length.
            "SELECT id FROM memories WHERE hidden = 0 AND kind = ? AND topic_id IS ? AND length(body) = length(?)"
            " AND +body = ? LIMIT 1",
            (memory.kind, memory.metadata.topic_id, body, body),
        ).fetchone()
        return None if found is None else str(found[0])

    def under_its_id(self, memory: Memory) -> Memory:
        """The memory under the id that it has here, where an import brought the same text under another id."""
        twin = None if self.known(memory.id) else self.same_as(memory)
        return memory if twin is None else memory._replace(id=twin)

    def brought_by(self, job_id: str, since: str) -> list[str]:
        """The ids of the memories that a job stored since then, by number."""
        query = (
            "SELECT id FROM memories WHERE origin_job = ? AND hidden = 0"
            " AND rtrim(stored_at, 'Z') >= rtrim(?, 'Z') ORDER BY number"
        )
        return rows.column(self._connection, query, job_id, since)

    # --- numbers ---

    def is_free(self, number: int) -> bool:
        """Whether no memory ever had the number, so that a new one can get it."""
        query = "SELECT 1 FROM numbers_skipped WHERE first <= ? AND last >= ?"
        was_skipped = self._connection.execute(query, (number, number)).fetchone() is not None
        return number <= MAX_KEPT and (was_skipped or number > self.last_number())

    def last_number(self) -> int:
        """The highest number ever used; 0 before the first."""
        return last_number(self._connection)


def last_number(connection: sqlite3.Connection) -> int:
    """As ``Memories.last_number``."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'memories'").fetchone()
    return 0 if row is None else int(row[0])
