"""The lexical score: how well a memory's words fit a query, from the full-text index."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..text.terms import Term
from .ranking import Scores, attainable_bm25, inverse_document_frequency, lexical_scores, tells_apart

_TOPIC_WEIGHT, _BODY_WEIGHT = 1.0, 1.0


@dataclass(frozen=True, slots=True)
class Lexical:
    """The memories that have a word of the query, by rising number, and the lexical score (0..1) of each."""

    numbers: NDArray[np.int64]
    scores: Scores

    def of(self, numbers: NDArray[np.int64]) -> Scores:
        """The score of each number, 0 for one that has no word of the query."""
        if not len(self.numbers):
            return np.zeros(len(numbers))
        places = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return np.where(self.numbers[places] == numbers, self.scores[places], 0.0)


NOTHING = Lexical(np.empty(0, np.int64), np.empty(0))


def search(connection: sqlite3.Connection, table: str, terms: Sequence[Term], memory_count: int) -> Lexical:
    """The ``lexical_score`` of each memory that has a term. Raises sqlite3.Error."""
    if not terms:
        return NOTHING
    weighed = [(term, _idf(connection, table, term, memory_count)) for term in terms]
    # What half of the memories have says nothing, and is what takes the time: a microsecond for each. A name is meant.
    telling = [(term, idf) for term, idf in weighed if tells_apart(idf) or term.is_name] or weighed
    found = connection.execute(
        f"SELECT rowid, -bm25({table}, ?, ?) FROM {table} WHERE {table} MATCH ? ORDER BY rowid",  # noqa: S608 - one of our names
        (_TOPIC_WEIGHT, _BODY_WEIGHT, _any_of([term for term, _ in telling])),
    ).fetchall()
    if not found:
        return NOTHING
    numbers, bm25 = (np.array(column) for column in zip(*found, strict=True))
    has_name = np.isin(numbers, _having(connection, table, [term for term in terms if term.is_name]))
    return Lexical(numbers, lexical_scores(bm25, attainable_bm25(idf for _, idf in telling), has_name))


def _any_of(terms: Sequence[Term]) -> str:
    """In FTS5's query language."""
    return " OR ".join(term.match for term in terms)


def _having(connection: sqlite3.Connection, table: str, terms: Sequence[Term]) -> list[int]:
    """The memories that have one of the terms."""
    if not terms:
        return []
    query = f"SELECT rowid FROM {table} WHERE {table} MATCH ?"  # noqa: S608 - one of our names
    return [number for (number,) in connection.execute(query, (_any_of(terms),))]


def _idf(connection: sqlite3.Connection, table: str, term: Term, memory_count: int) -> float:
    query = f"SELECT count(*) FROM {table} WHERE {table} MATCH ?"  # noqa: S608 - one of our names
    having: int = connection.execute(query, (term.match,)).fetchone()[0]
    return inverse_document_frequency(memory_count, having)
