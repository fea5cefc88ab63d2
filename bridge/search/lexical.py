"""The lexical score: how well a memory's words match a query, from the full-text index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..text.terms import Term
from .ranking import Scores, bm25_norm, inverse_document_frequency, lexical_scores, tells_apart

if TYPE_CHECKING:
    from ..store.protocol_reading import StoreSnapshot

_TOPIC_WEIGHT, _BODY_WEIGHT = 1.0, 1.0


@dataclass(frozen=True, slots=True)
class Lexical:
    """The memories that contain a word of the query, by ascending number, the lexical score (0..1) of each, and the
    numbers of those that have a name of the query.

    The arrays have the shapes (n,), (n,) and (m,).
    """

    numbers: NDArray[np.int64]
    scores: Scores
    named: NDArray[np.int64]

    def of(self, numbers: NDArray[np.int64]) -> Scores:
        """The score of each number, shape (len(numbers),); 0 for a memory without a word of the query."""
        if not len(self.numbers):
            return np.zeros(len(numbers))
        indexes = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return np.where(self.numbers[indexes] == numbers, self.scores[indexes], 0.0)

    def has_name(self, numbers: NDArray[np.int64]) -> bool:
        """Whether one of these memories has a name of the query."""
        return bool(len(self.named)) and bool(np.isin(self.named, numbers).any())


NOTHING = Lexical(np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))


def search(store: StoreSnapshot, terms: Sequence[Term], memory_count: int) -> Lexical:
    """The ``lexical_score`` of each memory that contains a term. Raises FullTextDamaged from the store."""
    if not terms:
        return NOTHING
    weighed = [(term, inverse_document_frequency(memory_count, store.count_having(term))) for term in terms]
    # A term in half of the memories or more distinguishes nothing and costs a microsecond per memory. Names always
    # count.
    telling = [(term, idf) for term, idf in weighed if tells_apart(idf) or term.is_name] or weighed
    rows = store.bm25([term for term, _ in telling], (_TOPIC_WEIGHT, _BODY_WEIGHT))
    if not rows:
        return NOTHING
    numbers, bm25 = (np.array(column) for column in zip(*rows, strict=True))
    names = [term for term in terms if term.is_name]
    named = np.array(store.having(names) if names else [], np.int64)
    norm = bm25_norm(idf for _, idf in telling)
    return Lexical(numbers, lexical_scores(bm25, norm, np.isin(numbers, named)), named)
