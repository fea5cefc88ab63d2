"""Search over one snapshot of memory.db: which memories match a query, and how well.

A snapshot is one read transaction: the memories, their words and the vector rows all belong together.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jobs.errors import JobError
from jobs.layout import Workspace

from . import database, rows, vectors, words
from .memory import Memory, plan_key
from .ranking import LEXICAL_WEIGHT, VECTOR_WEIGHT, Relevance, relevance
from .terms import Term, query_terms

_K1, _B = 1.2, 0.75  # FTS5's constants (sqlite.org/fts5.html#the_bm25_function)
_TOPIC_WEIGHT, _BODY_WEIGHT = 1.0, 1.0

_LONGEST_COSINE = 1.01
_REMEDY = "Run: cognee-memory rebuild --what index. Nothing is lost: it is made from memory.db."


@dataclass(frozen=True, slots=True)
class Filters:
    """Which memories are looked at at all. Empty statuses mean those shown by default."""

    include_superseded: bool = False
    status: str | None = None
    topic_id: str | None = None
    plan_id: str | None = None

    def sql(self) -> tuple[str, list[Any]]:
        clauses = ["hidden = 0"]
        arguments: list[Any] = []
        if self.status is not None:
            clauses.append("status = ?")
            arguments.append(self.status)
        else:
            shown = ["Active", "DecisionRecord"] + (["Superseded"] if self.include_superseded else [])
            clauses.append(f"(status IS NULL OR status IN ({', '.join('?' * len(shown))}))")
            arguments += shown
        if self.topic_id is not None:
            clauses.append("topic_id = ?")
            arguments.append(self.topic_id)
        if self.plan_id is not None:
            clauses.append("plan_key = ?")
            arguments.append(plan_key(self.plan_id))
        return " AND ".join(clauses), arguments


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory and its passages' place in the vector file."""

    number: int
    passage_row: int
    passage_count: int


def open_snapshot(workspace: Workspace) -> Snapshot | None:
    """The store as it is now, or None where nothing was ever stored.

    A rebuild may remove the vector file between the look at its number and its opening; then the next
    look has the new number. Raises STORE_NEWER, STORE_UNREADABLE.
    """
    for last in (False, False, True):
        connection = database.open_for_reading(workspace)
        if connection is None:
            return None
        try:
            snapshot = Snapshot(workspace, connection)
            if snapshot.has_vectors or last:
                return snapshot
        except BaseException:
            connection.close()
            raise
        connection.close()
    raise AssertionError("unreachable")


class Snapshot:
    """Holds a read transaction until it is closed. Without one half of the index it answers from the other."""

    def __init__(self, workspace: Workspace, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.execute("BEGIN")
        self.embedder_identity = database.meta(connection, "embedder")
        self.memory_count: int = connection.execute("SELECT count(*) FROM memories").fetchone()[0]
        self.warnings: list[str] = []
        self._words: str | None = words.table_in_force(connection)
        self._vectors: vectors.Vectors | None = None
        if self.embedder_identity is not None and self.memory_count:
            generation = int(database.meta(connection, "vector_generation") or 0)
            row_count = int(database.meta(connection, "vector_rows") or 0)
            dimensions = int(database.meta(connection, "dimensions") or 0)
            self._vectors = vectors.open_rows(workspace.vectors, generation, row_count, dimensions)
            if self._vectors is None:
                self._miss(f"The vector file of generation {generation} is missing or short: only words were compared.")

    def _miss(self, what: str) -> None:
        self.warnings.append(f"{what} {_REMEDY}")

    @property
    def has_vectors(self) -> bool:
        """Whether there are vectors to compare; without memories nothing is missed."""
        return self._vectors is not None or not self.memory_count

    @property
    def weight(self) -> float:
        """How much of a relevance can be told: 1, or less without one half of the index.

        Raises STORE_UNREADABLE without both.
        """
        found = (VECTOR_WEIGHT if self.has_vectors else 0.0) + (LEXICAL_WEIGHT if self._words else 0.0)
        if not found:
            raise JobError("STORE_UNREADABLE", "The whole search index is damaged.", remediation=_REMEDY)
        return found

    def close(self) -> None:
        self._connection.close()

    def candidates(self, filters: Filters) -> list[Candidate]:
        where, arguments = filters.sql()
        query = f"SELECT number, passage_row, passage_count FROM memories WHERE {where} ORDER BY passage_row"  # noqa: S608 - our own clauses
        return [Candidate(*row) for row in self._connection.execute(query, arguments)]

    def memories(self, numbers: Sequence[int]) -> list[Memory]:
        """Memories by number, in no order."""
        found: list[Memory] = []
        for start in range(0, len(numbers), 500):
            part = numbers[start : start + 500]
            query = f"SELECT {rows.COLUMNS} FROM memories WHERE number IN ({', '.join('?' * len(part))})"  # noqa: S608 - marks only
            found += [rows.memory_of(row) for row in self._connection.execute(query, list(part))]
        return found

    def lexical_scores(self, query: str) -> dict[int, float]:
        """BM25 of each memory that has a word of the query, as a share (0..1) of what the query could attain.

        The attainable maximum is (k1 + 1) * the sum of the terms' idf, approached as a term fills a text.
        """
        terms = query_terms(query)
        if not terms or self._words is None:
            return {}
        try:
            return self._lexical_scores(self._words, terms)
        except sqlite3.Error as error:
            if not words.is_damage(error):
                raise
            self._words = None
            self._miss("The full-text index is damaged or missing: only meanings were compared.")
            return {}

    def _lexical_scores(self, table: str, terms: Sequence[Term]) -> dict[int, float]:
        attainable = (_K1 + 1) * sum(self._idf(table, term) for term in terms)
        match = " OR ".join(term.match for term in terms)
        found = self._connection.execute(
            f"SELECT rowid, -bm25({table}, ?, ?) FROM {table} WHERE {table} MATCH ?",  # noqa: S608 - one of our names
            (_TOPIC_WEIGHT, _BODY_WEIGHT, match),
        )
        return {number: min(1.0, score / attainable) for number, score in found}

    def _idf(self, table: str, term: Term) -> float:
        """FTS5's own: log((N - n + 0.5) / (n + 0.5)), never below a millionth."""
        query = f"SELECT count(*) FROM {table} WHERE {table} MATCH ?"  # noqa: S608 - one of our names
        having: int = self._connection.execute(query, (term.match,)).fetchone()[0]
        without = max(0, self.memory_count - having)  # a damaged index may count more than there are
        return max(1e-6, math.log((without + 0.5) / (having + 0.5)))

    def rough_vector_scores(self, query: vectors.Vector, candidates: Sequence[Candidate]) -> list[float]:
        """Best passage's cosine for each candidate, in float32 over the whole table: to choose by, not to show."""
        if not candidates or self._vectors is None:
            return [0.0] * len(candidates)
        with np.errstate(all="ignore"):
            similarity = self._vectors @ query
        if not np.all(np.abs(similarity) < _LONGEST_COSINE):  # no vector of length one gives that, nor no number
            self._vectors = None
            self._miss("The vector file is damaged: only words were compared.")
            return [0.0] * len(candidates)
        bounds = np.array([(c.passage_row, c.passage_row + c.passage_count) for c in candidates]).reshape(-1)
        # reduceat wants starts inside the array; each second segment is the gap behind a memory.
        padded = np.append(similarity, np.float32(-1.0))
        return [float(score) for score in np.maximum.reduceat(padded, bounds)[::2]]

    def relevance(self, query: vectors.Vector, candidate: Candidate, lexical: float) -> Relevance:
        """The relevance to show: cosines in float64, row by row, so that the table's size cannot matter."""
        if self._vectors is None:
            return relevance(0.0, 0.0, lexical)
        wide = query.astype(np.float64)
        first, end = candidate.passage_row, candidate.passage_row + candidate.passage_count
        cosines = [float(np.dot(self._vectors[row].astype(np.float64), wide)) for row in range(first, end)]
        return relevance(max(cosines), cosines[0], lexical)
