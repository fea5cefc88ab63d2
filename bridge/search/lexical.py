"""The lexical score: how well a memory's words match a query, from the full-text index.

A long memory has several windows in the index, and counts as its best one does. How rare a word is depends on the
memories that have it, not on the windows: a long log must not make its words common.

The index gives the BM25 of one phrase at a time, and this module adds them up, so that a warm process can keep the
column of a phrase for the next query. A query has the same bits with and without kept columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..store.catalogue import WINDOW_STEP
from ..text.terms import Term
from .bounded_cache import BoundedCache
from .ranking import Scores, bm25_norm, inverse_document_frequency, lexical_scores, rarity, tells_apart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..store.reader import StoreSnapshot

_TOPIC_WEIGHT, _BODY_WEIGHT = 1.0, 1.0
# Windows are equally long, so their length says nothing. BM25 divides by k1 * (1 - b + b * length / average): with this
# weight by a quarter of it, which for a window of average length is as much as for a text of no length.
_LONG_WEIGHT = 4.0

# Numbers of memories may have gaps. Up to so many times the memories, a sum by number takes less than a sort.
_GAPS = 8


class Column(NamedTuple):
    """The windows with a phrase, ascending, and the BM25 of each; shape (n,) both. See WINDOW_STEP."""

    windows: NDArray[np.int64]
    bm25: Scores


class KnownWords:
    """What was read from the full-text index of one state of the store, for the next queries. Threads may share it."""

    def __init__(self, most_bytes: int = 16 * 1024 * 1024) -> None:
        self._counts = BoundedCache[str, int](most_bytes // 16)
        self._columns = BoundedCache[str, Column](most_bytes)
        self._meant = BoundedCache[str, tuple[str | None]](most_bytes // 16)

    @property
    def is_new(self) -> bool:
        """Whether no column was read yet."""
        return not self._columns.bytes

    def count(self, store: StoreSnapshot, term: Term) -> int:
        """How many memories have the term. Raises FullTextDamaged."""
        count = self._counts.get(term.match)
        if count is None:
            count = store.count_having(term)
            self._counts.put(term.match, count, 200 + len(term.match))
        return count

    def meant(self, store: StoreSnapshot, word: str, is_word: Callable[[str], bool]) -> str | None:
        """The word that is meant by one that no memory has; see ``spelling.nearest``. None for a word of the language.
        Raises FullTextDamaged."""
        kept = self._meant.get(word)
        if kept is None:
            from .spelling import nearest  # imported here: few questions need it

            kept = (None if is_word(word) else nearest(word, store),)
            self._meant.put(word, kept, 300)
        return kept[0]

    def column(self, store: StoreSnapshot, phrase: Term, memory_count: int) -> Column:
        """The column of a phrase. Raises FullTextDamaged."""
        column = self._columns.get(phrase.match)
        if column is None:
            rows = store.bm25([phrase], (_TOPIC_WEIGHT, _BODY_WEIGHT), _LONG_WEIGHT)
            # Faster than an array of pairs. Windows stay exact up to 2**53.
            table = np.fromiter(chain.from_iterable(rows), np.float64, 2 * len(rows)).reshape(-1, 2)
            column = Column(table[:, 0].astype(np.int64), table[:, 1].copy())
            column = _weighed_by_rarity(column, memory_count, memory_count + store.more_windows())
            size = column.windows.nbytes + column.bm25.nbytes + 500
            self._columns.put(phrase.match, column, size + len(phrase.match))
        return column


class Lexical(NamedTuple):
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
        last = int(max(self.numbers[-1], numbers.max(initial=0)))
        if last < _GAPS * len(numbers):  # by number, which takes less than a search for each
            scores = np.zeros(last + 1)
            scores[self.numbers] = self.scores
            return scores[numbers]
        indexes = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return np.where(self.numbers[indexes] == numbers, self.scores[indexes], 0.0)

    def has_name(self, numbers: NDArray[np.int64]) -> bool:
        """Whether one of these memories has a name of the query."""
        return bool(len(self.named)) and bool(np.isin(self.named, numbers).any())


NOTHING = Lexical(np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))


def search(store: StoreSnapshot, terms: Sequence[Term], memory_count: int, known: KnownWords) -> Lexical:
    """The ``lexical_score`` of each memory that contains a term. Raises FullTextDamaged from the store."""
    if not terms:
        return NOTHING
    weighed = [(term, rarity(memory_count, known.count(store, term))) for term in terms]
    # A term in half of the memories or more distinguishes nothing and costs a microsecond per memory. Names always
    # count.
    telling = [(term, idf) for term, idf in weighed if tells_apart(idf) or term.is_name] or weighed
    found = [term for term, _ in telling if known.count(store, term)]
    columns = [(phrase, known.column(store, phrase, memory_count)) for term in found for phrase in term.phrases]
    if not columns:
        return NOTHING
    numbers, bm25 = _of_best_windows(_summed([column for _, column in columns]))
    names = {phrase.match for term in found if term.is_name for phrase in term.phrases}
    having = [column.windows for phrase, column in columns if phrase.match in names]
    named = np.unique(np.concatenate(having) % WINDOW_STEP) if having else np.empty(0, np.int64)
    norm = bm25_norm(idf for _, idf in telling)
    has_name = np.zeros(len(numbers), np.bool_)
    has_name[np.searchsorted(numbers, named)] = True
    return Lexical(numbers, lexical_scores(bm25, norm, has_name), named)


def _weighed_by_rarity(column: Column, memory_count: int, window_count: int) -> Column:
    """The column with the phrase's rarity among memories; the index weighs by its idf among windows."""
    having = len(column.windows) if window_count == memory_count else len(np.unique(column.windows % WINDOW_STEP))
    own, wanted = inverse_document_frequency(window_count, len(column.windows)), rarity(memory_count, having)
    return column if own == wanted else Column(column.windows, column.bm25 * (wanted / own))


def _of_best_windows(column: Column) -> tuple[NDArray[np.int64], Scores]:
    """The memories, by ascending number, and the BM25 of the best window of each."""
    if not len(column.windows) or column.windows[-1] < WINDOW_STEP:
        return column
    numbers, places = np.unique(column.windows % WINDOW_STEP, return_inverse=True)
    best: Scores = np.zeros(len(numbers))
    np.maximum.at(best, places, column.bm25)
    return numbers, best


def _summed(columns: Sequence[Column]) -> Column:
    """The sum of columns, each window's BM25 added in their order, as the index itself adds those of a query."""
    windows = np.concatenate([column.windows for column in columns])
    bm25 = np.concatenate([column.bm25 for column in columns])
    if not len(windows):
        return Column(windows, bm25)
    first = int(windows.min())
    if int(windows.max()) - first < _GAPS * len(windows) + 1000:
        sums: Scores = np.bincount(windows - first, weights=bm25).astype(np.float64)  # added up in their order
        present = np.flatnonzero(sums > 0)  # as BM25 is; of truth values, it takes a fifth of the time
        return Column(present + first, sums[present])
    found, places = np.unique(windows, return_inverse=True)
    sums = np.bincount(places, weights=bm25).astype(np.float64)
    return Column(found, sums)
