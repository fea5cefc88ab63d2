"""The lexical score: how well a memory's words fit a query, from the full-text index."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..text.terms import Term
from .ranking import NAME_SHARE

if TYPE_CHECKING:
    from ..store.protocol_reading import StoreSnapshot

_LEAST_IDF = 1e-6  # FTS5's as well
_K1 = 1.2  # FTS5's constant (sqlite.org/fts5.html#the_bm25_function)
_TOPIC_WEIGHT, _BODY_WEIGHT = 1.0, 1.0

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Lexical:
    """The memories that have a word of the query, by rising number, and the lexical score (0..1) of each."""

    numbers: NDArray[np.int64]
    scores: Scores

    def of(self, numbers: NDArray[np.int64]) -> Scores:
        """The score of each number, 0 for one that has no word of the query."""
        if not len(self.numbers):
            return np.zeros(len(numbers))
        indexes = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return np.where(self.numbers[indexes] == numbers, self.scores[indexes], 0.0)


NOTHING = Lexical(np.empty(0, np.int64), np.empty(0))


def search(store: StoreSnapshot, terms: Sequence[Term], memory_count: int) -> Lexical:
    """BM25 of each memory that has a term, as a share (0..1) of what the terms could attain.

    The attainable maximum is (k1 + 1) * the sum of the terms' idf, approached as a term fills a text. A memory that
    has a name of the query, an identifier, gets ``NAME_SHARE`` of what it lacks. Raises FullTextDamaged.
    """
    if not terms:
        return NOTHING
    weighed = [(term, _idf(store, term, memory_count)) for term in terms]
    # What half of the memories have says nothing, and is what takes the time: a microsecond for each. A name is meant.
    telling = [(term, idf) for term, idf in weighed if idf > _LEAST_IDF or term.is_name] or weighed
    attainable = (_K1 + 1) * sum(idf for _, idf in telling)
    found = store.bm25([term for term, _ in telling], (_TOPIC_WEIGHT, _BODY_WEIGHT))
    if not found:
        return NOTHING
    numbers, scores = (np.array(column) for column in zip(*found, strict=True))
    shares = np.minimum(1.0, scores / attainable)
    names = [term for term in terms if term.is_name]
    has_name = np.isin(numbers, store.having(names) if names else [])
    return Lexical(numbers, np.where(has_name, shares + NAME_SHARE * (1.0 - shares), shares))


def _idf(store: StoreSnapshot, term: Term, memory_count: int) -> float:
    """FTS5's own: log((N - n + 0.5) / (n + 0.5)), never below a millionth."""
    having = store.count_having(term)
    without = max(0, memory_count - having)  # a damaged index may count more than there are
    return max(_LEAST_IDF, math.log((without + 0.5) / (having + 0.5)))
