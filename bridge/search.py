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

from . import database, rows, vectors
from .memory import Memory, plan_key
from .ranking import Relevance, relevance
from .terms import Term, query_terms

_K1, _B = 1.2, 0.75  # FTS5's constants (sqlite.org/fts5.html#the_bm25_function)
_TOPIC_WEIGHT, _BODY_WEIGHT = 1.0, 1.0


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
            return Snapshot(workspace, connection)
        except JobError:
            connection.close()
            if last:
                raise
        except BaseException:
            connection.close()
            raise
    raise AssertionError("unreachable")


class Snapshot:
    """Holds a read transaction until it is closed."""

    def __init__(self, workspace: Workspace, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.execute("BEGIN")
        self.embedder_identity = database.meta(connection, "embedder")
        self.memory_count: int = connection.execute("SELECT count(*) FROM memories").fetchone()[0]
        if self.embedder_identity is None:
            return
        generation = int(database.meta(connection, "vector_generation") or 0)
        row_count = int(database.meta(connection, "vector_rows") or 0)
        dimensions = int(database.meta(connection, "dimensions") or 0)
        found = vectors.open_rows(workspace.vectors, generation, row_count, dimensions)
        if found is None:
            raise JobError(
                "STORE_UNREADABLE",
                f"The vector file of generation {generation} is missing or short.",
                remediation="Run: cognee-memory rebuild --what index. Nothing is lost: memory.db has every vector.",
            )
        self._vectors = found

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
        if not terms:
            return {}
        attainable = (_K1 + 1) * sum(self._idf(term) for term in terms)
        match = " OR ".join(term.match for term in terms)
        found = self._connection.execute(
            "SELECT rowid, -bm25(words, ?, ?) FROM words WHERE words MATCH ?",
            (_TOPIC_WEIGHT, _BODY_WEIGHT, match),
        )
        return {number: min(1.0, score / attainable) for number, score in found}

    def _idf(self, term: Term) -> float:
        """FTS5's own: log((N - n + 0.5) / (n + 0.5)), never below a millionth."""
        having: int = self._connection.execute(
            "SELECT count(*) FROM words WHERE words MATCH ?", (term.match,)
        ).fetchone()[0]
        return max(1e-6, math.log((self.memory_count - having + 0.5) / (having + 0.5)))

    def rough_vector_scores(self, query: vectors.Vector, candidates: Sequence[Candidate]) -> list[float]:
        """Best passage's cosine for each candidate, in float32 over the whole table: to choose by, not to show."""
        if not candidates:
            return []
        similarity = self._vectors @ query
        bounds = np.array([(c.passage_row, c.passage_row + c.passage_count) for c in candidates]).reshape(-1)
        # reduceat wants starts inside the array; each second segment is the gap behind a memory.
        padded = np.append(similarity, np.float32(-1.0))
        return [float(score) for score in np.maximum.reduceat(padded, bounds)[::2]]

    def relevance(self, query: vectors.Vector, candidate: Candidate, lexical: float) -> Relevance:
        """The relevance to show: cosines in float64, row by row, so that the table's size cannot matter."""
        wide = query.astype(np.float64)
        first, end = candidate.passage_row, candidate.passage_row + candidate.passage_count
        cosines = [float(np.dot(self._vectors[row].astype(np.float64), wide)) for row in range(first, end)]
        return relevance(max(cosines), cosines[0], lexical)
