"""Search over one snapshot of the store: the relevance of memories to a query, from words and vectors.

The memories, the full-text index and the vector rows of a snapshot belong to the same state. Scores are left to
``ranking``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace

from ..embedding.embedder import Vector, Vectors
from ..memory import Memory
from ..store import similar_ids, vector_files
from ..store.catalogue import FullTextDamaged
from ..store.opening import reader_of
from ..team import last_try
from ..text.terms import Term, query_terms
from . import lexical
from .catalogue import Catalogue, Filters
from .index_cache import IndexCache
from .known_memories import KnownMemory
from .lexical import Lexical
from .ranking import (
    Relevance,
    Scores,
    attainable_relevance,
    relevance,
)
from .standings import FEW_UNCOMPARED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..memory_shapes import InCode
    from ..store.reader import StoreReader, StoreSnapshot

# With more passages than this, the search has two stages: whole texts and words choose the candidates, and only the
# passages of these are compared.
EXACT_ROWS = 500_000
# If the candidates have less than 1/_SWEEP of all passages, these are compared one by one, not the whole file.
_SWEEP = 8

_LONGEST_COSINE = 1.01
SINGLE_ERROR = 3e-5  # of a product of vectors of length one in float32 arithmetic

_REMEDY = "Run: cognee-memory rebuild --what index. Nothing is lost: it is made from memory.db."


def open_snapshot(
    workspace: Workspace, cache: IndexCache | None = None, reader: StoreReader | None = None
) -> Snapshot | None:
    """A snapshot of the store's present state; None if nothing was ever stored. ``reader``: one that is kept.

    A rebuild may remove the vector files after their generation was read and before they are opened; then it tries
    again with the new generation. Raises JobError: STORE_NEWER, STORE_UNREADABLE, TEAM_REFUSED.
    """
    last_try.require_let_in(workspace, clock.now())
    reader = reader or reader_of(workspace)
    for last in (False, False, True):
        store = reader.snapshot()
        if store is None:
            return None
        try:
            snapshot = Snapshot(workspace, store, cache)
            if snapshot.has_vectors or last:
                return snapshot
        except BaseException:
            store.close()
            raise
        store.close()
    raise AssertionError("unreachable")


class Snapshot:
    """Search over a snapshot of the store, until ``close``. If vectors or full-text index are damaged, it uses the
    other half and adds to ``warnings``. ``has_words``: whether the full-text index can be searched, as far as is known.
    ``standings``: what holds, of the state of the store."""

    def __init__(self, workspace: Workspace, store: StoreSnapshot, cache: IndexCache | None = None) -> None:
        self._store = store
        self._root = workspace.root
        self._lexical: dict[str, Lexical] = {}
        cache = cache or IndexCache()
        self.embedder_identity = store.vectors.embedder
        self.warnings: list[str] = []
        self._cache = cache
        self._edition = cache.edition(store)
        self.catalogue = self._edition.catalogue
        self.standings = self._edition.standings
        self.memory_count = len(self.catalogue)
        uncompared = int(np.count_nonzero(self.catalogue.number > store.last_compared()))
        if uncompared > FEW_UNCOMPARED:
            self.warnings.append(
                f"{uncompared} memories are not compared with the others yet, which the worker does when it is idle:"
                " an outdated one may come first"
            )
        self.has_words = True
        self._passages: Vectors | None = None
        self.wholes: Vectors | None = None
        self._swept: tuple[Vectors, Vector, Callable[[], tuple[Vector, float]]] | None = None
        if self.embedder_identity is not None and self.memory_count:
            generation, dimensions = store.vectors.generation, store.vectors.dimensions
            count = store.vectors.passage_rows
            path = vector_files.path_of(workspace.vectors, generation)
            self._passages = cache.rows(path, count, dimensions, swept=count <= EXACT_ROWS)
            if self._passages is None:
                self._miss(f"The vector file of generation {generation} is missing or short: only words were compared.")
            elif count > EXACT_ROWS:
                path = vector_files.path_of(workspace.vectors, generation, "wholes")
                # Stores of earlier versions lack this file; then all passages are compared.
                self.wholes = cache.rows(path, store.vectors.whole_rows, dimensions, swept=True)
            self._swept_path = path

    def _miss(self, what: str) -> None:
        self.warnings.append(f"{what} {_REMEDY}")

    @property
    def has_vectors(self) -> bool:
        """Whether the vectors can be compared; True for a store without memories."""
        return self._passages is not None or not self.memory_count

    @property
    def attainable_relevance(self) -> float:
        """The highest possible relevance: 1, or less without one half of the index.

        Raises JobError: STORE_UNREADABLE when both halves are damaged.
        """
        attainable = attainable_relevance(vectors=self.has_vectors, words=self.has_words)
        if not attainable:
            raise JobError("STORE_UNREADABLE", "The whole search index is damaged.", remediation=_REMEDY)
        return attainable

    def close(self) -> None:
        """Release the snapshot of the store."""
        self._store.close()

    def candidates(self, filters: Filters) -> Catalogue:
        """The catalogue's rows that pass the filters.

        Raises JobError: TOPIC_NOT_FOUND, PLAN_NOT_FOUND for a filter that names one that no memory has, since "nothing
        fits" would mislead. Of a store without memories nobody can know the topics.
        """
        found = self.catalogue.filtered(filters, self._store)
        if not len(found) and self.memory_count:
            self._require_known(filters)
        return found

    def _require_known(self, filters: Filters) -> None:
        unknown = [name for name, value in filters.labels.items() if not self._store.numbers(**{name: value})]
        if "topic_id" in unknown:
            raise similar_ids.not_found(filters.labels["topic_id"], self._store.topic_ids())
        if "plan_id" in unknown:
            raise similar_ids.plan_not_found(filters.labels["plan_id"], self._store.plan_ids())

    def memories(self, numbers: Sequence[int]) -> list[Memory]:
        """The memories with these numbers, in no particular order."""
        return [known.memory for known in self.known_memories(numbers)]

    def known_memories(self, numbers: Sequence[int]) -> list[KnownMemory]:
        """The memories with these numbers, with their texts to show, in no particular order."""
        return self._edition.memories.read(self._store, numbers)

    def in_code(self, memories: Sequence[Memory]) -> dict[int, InCode]:
        """Number -> what the code of the workspace says of a memory, for those of which it says something."""
        if not any(memory.metadata.anchors for memory in memories):
            return {}
        from ..anchors.checking import in_code  # imported here: most questions do not need it

        return in_code(memories, self._root)

    # --- words ---

    @property
    def is_new(self) -> bool:
        """Whether nobody has searched for words in this state of the store, as in a process of one question."""
        return self._edition.words.is_new

    def meant(self, query: str, is_word: Callable[[str], bool]) -> dict[str, str]:
        """The misspelt words of the query, and the memories' words that are meant; see ``spelling``.

        ``is_word``: whether a word is one of the language.
        """
        if not self.has_words:
            return {}
        words = self._edition.words
        try:
            unknown = [term for term, having in self.counts(query).items() if not having]
            if not unknown:
                return {}
            from . import spelling  # imported here: most questions do not need it

            asked = spelling.candidates(query, unknown)
            found = {word: words.meant(self._store, word, is_word) for word in asked}
        except FullTextDamaged:
            self._give_words_up()
            return {}
        return {word: meant for word, meant in found.items() if meant is not None}

    def lexical(self, query: str) -> Lexical:
        """The lexical scores of the memories that contain a word of the query. Computed once per query."""
        if query not in self._lexical:
            self._lexical[query] = self._by_words(query)
        return self._lexical[query]

    def _by_words(self, query: str) -> Lexical:
        if not self.has_words:
            return lexical.NOTHING
        try:
            return lexical.search(self._store, query_terms(query), self.memory_count, self._edition.words)
        except FullTextDamaged:
            self._give_words_up()
            return lexical.NOTHING

    def _give_words_up(self) -> None:
        self.has_words = False
        self._miss("The full-text index is damaged or missing: only meanings were compared.")

    def _give_vectors_up(self) -> None:
        self._passages = None
        self._miss("The vector file is damaged: only words were compared.")

    def counts(self, query: str) -> dict[Term, int]:
        """How many memories have each of the query's terms. Raises FullTextDamaged."""
        return {term: self._edition.words.count(self._store, term) for term in query_terms(query)}

    def matched(self, query: str, numbers: Sequence[int]) -> dict[int, list[Term]]:
        """Memory number -> the query's terms that the memory contains, in the query's order."""
        matched: dict[int, list[Term]] = {number: [] for number in numbers}
        for term in query_terms(query) if self.has_words else ():
            try:
                for number in self._store.having([term], among=list(matched)):
                    matched[number].append(term)
            except FullTextDamaged:
                self._give_words_up()
                break
        return matched

    # --- meanings ---

    def sweep(self, vector: Vector, candidates: Catalogue) -> None:
        """Begin to compare the query's vector with a whole vector file, if ``products`` will need it.

        A second thread goes on while the full-text index is searched.
        """
        rows = self._swept_rows
        if rows is not None and (rows is self.wholes or not self._are_few(candidates)):
            self._swept = rows, vector, self._compared(rows, vector)

    @property
    def _swept_rows(self) -> Vectors | None:
        """The rows of which all are compared: of the passages, or of the whole texts if there are two stages."""
        return self._passages if self.wholes is None else self.wholes

    def products(self, rows: Vectors, vector: Vector) -> tuple[Vector, float]:
        """The dot product of each row with the vector, and the largest possible error. The last ones are kept."""
        if self._swept is None or self._swept[0] is not rows or self._swept[1] is not vector:
            self._swept = rows, vector, self._compared(rows, vector)
        return self._swept[2]()

    def _compared(self, rows: Vectors, vector: Vector) -> Callable[[], tuple[Vector, float]]:
        coarse = self._cache.coarse(self._swept_path, rows) if rows is self._swept_rows else None
        if coarse is None:
            whole = vector_files.products(rows, vector)
            return lambda: (whole, SINGLE_ERROR)
        end = coarse.products(vector, len(rows))

        @cache
        def ended() -> tuple[Vector, float]:
            products, error = end()
            if len(products) < len(rows):
                products = np.concatenate([products, vector_files.products(rows[len(products) :], vector)])
            return products, error

        return ended

    def _are_few(self, candidates: Catalogue) -> bool:
        return self._passages is None or candidates.passages * _SWEEP < len(self._passages)

    def similarities(self, vector: Vector, candidates: Catalogue) -> tuple[Scores, Scores, float]:
        """The cosines of the best passage and of the whole text for each candidate, and their largest error.

        Two float64 columns of shape (len(candidates),).
        """
        nothing = np.zeros(len(candidates))
        if self._passages is None or not len(candidates):
            return nothing, nothing, 0.0
        starts, counts = candidates.passage_row, candidates.passage_count
        with np.errstate(all="ignore"):
            if self._are_few(candidates):
                # One by one, since taking them together would copy them, which takes most of the time.
                parts = zip(starts.tolist(), (starts + counts).tolist(), strict=True)
                cosines, error = (
                    np.concatenate([self._passages[start:end] @ vector for start, end in parts]),
                    SINGLE_ERROR,
                )
                wholes = np.cumsum(counts) - counts
                segments, end, a_row = wholes, len(cosines), 1
            else:
                cosines, error = self.products(self._passages, vector)
                wholes = starts
                segments, end, a_row = candidates.segments
                if end > len(cosines):  # reduceat needs starts inside the array
                    cosines = np.append(cosines, np.float32(-1.0))
        longest = _LONGEST_COSINE + error
        if not -longest < cosines.min() <= cosines.max() < longest:  # vectors of length one cannot give more, nor NaN
            self._give_vectors_up()
            return nothing, nothing, 0.0
        # As integers, which takes half the time: they have the order of the numbers, but for those below 0, which count
        # as 0 (``vector_scores``).
        best = np.maximum.reduceat(cosines.view(np.int32)[:end], segments)[::a_row].view(np.float32)
        return best.astype(np.float64), cosines[wholes].astype(np.float64), error

    def relevance(self, vector: Vector, candidates: Catalogue, words: Scores) -> list[Relevance]:
        """The exact relevance of each candidate, for the answer. ``words``: their lexical scores."""
        best, whole = self.exact_cosines(vector, candidates.passage_row, candidates.passage_count)
        return list(map(relevance, best.tolist(), whole.tolist(), words.tolist()))

    def exact_cosines(
        self, vector: Vector, rows: NDArray[np.int64], counts: NDArray[np.int64], *, single: bool = False
    ) -> tuple[Scores, Scores]:
        """The cosines of the best passage and of the whole text of each of some memories, shape (n,) both.

        ``rows``, ``counts``: where their passages are. Float64, one row after another, so that a cosine does not depend
        on the size of the store; ``single``: in float32, with SINGLE_ERROR. Of passages that were compared already,
        only those that may be the best are read.
        """
        if self._passages is None or not len(rows):
            return np.zeros(len(rows)), np.zeros(len(rows))
        firsts = np.cumsum(counts) - counts
        places = np.arange(int(counts.sum())) + np.repeat(rows - firsts, counts)
        if self._swept is not None and self._swept[0] is self._passages and self._swept[1] is vector:
            products, error = self._swept[2]()
            known = products[places]
            may_be_best = known >= np.repeat(np.maximum.reduceat(known, firsts) - 2 * error, counts)
            may_be_best[firsts] = True  # the first passage is the whole text
            places, firsts = places[may_be_best], np.cumsum(may_be_best)[firsts] - 1
        compare = vector_files.single_products if single else vector_files.exact_products
        cosines = compare(self._passages, places, vector)
        if not np.all(np.abs(cosines) < _LONGEST_COSINE):  # damage since they were compared
            self._give_vectors_up()
            return np.zeros(len(rows)), np.zeros(len(rows))
        return np.maximum.reduceat(cosines, firsts), cosines[firsts]

    def passage_vectors(self, number: int) -> Vectors:
        """The vector of each passage of a memory, shape (passages, dimensions); of none without vectors."""
        (index,) = self.catalogue.indexes(np.array([number], np.int64)).tolist()
        if self._passages is None or index < 0:
            return np.empty((0, 0), np.float32)
        first, count = int(self.catalogue.passage_row[index]), int(self.catalogue.passage_count[index])
        return self._passages[first : first + count]

    def cosines(self, vector: Vector, numbers: Collection[int]) -> dict[int, list[float]]:
        """Number -> the cosines of the query's vector with the passages, of each memory that is there; without vectors,
        of none."""
        some = self.catalogue.of(numbers)
        places = zip(some.number.tolist(), some.passage_row.tolist(), some.passage_count.tolist(), strict=True)
        rows = self._passages
        return {
            number: [] if rows is None else (rows[first : first + count] @ vector).tolist()
            for number, first, count in places
        }

    def whole_text_vectors(self, numbers: Sequence[int]) -> Vectors:
        """The vectors of the memories' whole texts, shape (len(numbers), dimensions); zeros for a memory without one.

        Without vectors, ``dimensions`` is 0.
        """
        if self._passages is None:
            return np.zeros((len(numbers), 0), np.float32)
        rows = self.catalogue.indexes(np.array(numbers, np.int64))
        vectors: Vectors = self._passages[self.catalogue.passage_row[rows]]
        vectors[rows < 0] = 0
        return vectors
