"""Search over one snapshot of the store: which memories match a query, and how well.

The memories, their words and the vector rows of a snapshot belong to the same state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jobs.errors import JobError
from jobs.layout import Workspace

from ..embedding.embedder import Vector, Vectors
from ..memory import Memory
from ..store import vector_files
from ..store.protocol_reading import FullTextDamaged
from ..store.reading import reader_of
from ..text.terms import query_terms
from . import lexical
from .catalogue import Catalogue, Filters
from .index_cache import IndexCache
from .lexical import Lexical
from .ranking import Relevance, Scores, attainable_relevance, relevance, semantic_score, vector_scores

if TYPE_CHECKING:
    from ..store.protocol_reading import StoreSnapshot

# With more passages than this, not all are compared: the wholes and the words choose, and their passages decide.
EXACT_ROWS = 500_000
FIRST_STAGE = 1_500  # memories chosen by relevance, and as many by the score, both from the whole and the words
# Fewer rows than this part of the file are read one by one instead of all in a sweep.
_SWEEP = 8

_LONGEST_COSINE = 1.01
_REMEDY = "Run: cognee-memory rebuild --what index. Nothing is lost: it is made from memory.db."


def open_snapshot(workspace: Workspace, cache: IndexCache | None = None) -> Snapshot | None:
    """The store as it is now, or None where nothing was ever stored.

    A rebuild may remove the vector files after their generation was read and before they are opened; then the next
    snapshot has the new generation. Raises STORE_NEWER, STORE_UNREADABLE.
    """
    reader = reader_of(workspace)
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
    """Holds a snapshot of the store until it is closed. Without one half of the index it answers from the other."""

    def __init__(self, workspace: Workspace, store: StoreSnapshot, cache: IndexCache | None = None) -> None:
        self._store = store
        self._lexical: dict[str, Lexical] = {}
        cache = cache or IndexCache()
        self.embedder_identity = store.vectors.embedder
        self.warnings: list[str] = []
        self.catalogue = cache.edition(store).catalogue
        self.memory_count = len(self.catalogue)
        self._has_words = True
        self._passages: Vectors | None = None
        self._wholes: Vectors | None = None
        self._swept: tuple[Vectors, Vector, Vector] | None = None
        if self.embedder_identity is not None and self.memory_count:
            generation, dimensions = store.vectors.generation, store.vectors.dimensions
            count = store.vectors.passage_rows
            self._passages = cache.rows(
                vector_files.path_of(workspace.vectors, generation), count, dimensions, swept=count <= EXACT_ROWS
            )
            if self._passages is None:
                self._miss(f"The vector file of generation {generation} is missing or short: only words were compared.")
            elif count > EXACT_ROWS:
                path = vector_files.path_of(workspace.vectors, generation, "wholes")
                # Without it, in a store of before, all passages are compared.
                self._wholes = cache.rows(path, store.vectors.whole_rows, dimensions, swept=True)

    def _miss(self, what: str) -> None:
        self.warnings.append(f"{what} {_REMEDY}")

    @property
    def has_vectors(self) -> bool:
        """Whether there are vectors to compare; without memories nothing is missed."""
        return self._passages is not None or not self.memory_count

    @property
    def attainable_relevance(self) -> float:
        """The highest relevance that can be shown: 1, or less without one half of the index.

        Raises STORE_UNREADABLE without both.
        """
        found = attainable_relevance(vectors=self.has_vectors, words=self._has_words)
        if not found:
            raise JobError("STORE_UNREADABLE", "The whole search index is damaged.", remediation=_REMEDY)
        return found

    def close(self) -> None:
        self._store.close()

    def candidates(self, filters: Filters) -> Catalogue:
        return self.catalogue.filtered(filters, self._store)

    def memories(self, numbers: Sequence[int]) -> list[Memory]:
        """Memories by number, in no order."""
        return self._store.memories(numbers)

    # --- words ---

    def lexical(self, query: str) -> Lexical:
        """The memories that have a word of the query; kept, since a question needs them more than once."""
        if query not in self._lexical:
            self._lexical[query] = self._by_words(query)
        return self._lexical[query]

    def _by_words(self, query: str) -> Lexical:
        if not self._has_words:
            return lexical.NOTHING
        try:
            return lexical.search(self._store, query_terms(query), self.memory_count)
        except FullTextDamaged:
            self._give_words_up()
            return lexical.NOTHING

    def _give_words_up(self) -> None:
        self._has_words = False
        self._miss("The full-text index is damaged or missing: only meanings were compared.")

    def matched_terms(self, query: str, numbers: Sequence[int]) -> dict[int, list[str]]:
        """The terms of the query that each memory has, in the query's order."""
        found: dict[int, list[str]] = {number: [] for number in numbers}
        for term in query_terms(query) if self._has_words else ():
            try:
                for number in self._store.having([term], among=list(found)):
                    found[number].append(term.text)
            except FullTextDamaged:
                self._give_words_up()
                break
        return found

    # --- meanings ---

    def sweep(self, vector: Vector, candidates: Catalogue) -> None:
        """Do what ``estimate`` has to do for this vector with a whole file: in a thread, while words are looked up."""
        rows = self._passages if self._wholes is None else self._wholes
        if rows is not None and (rows is self._wholes or not self._are_few(candidates)):
            self._swept = (rows, vector, vector_files.products(rows, vector))

    def _products(self, rows: Vectors, vector: Vector) -> Vector:
        if self._swept is not None and self._swept[0] is rows and self._swept[1] is vector:
            return self._swept[2]
        return vector_files.products(rows, vector)

    def _are_few(self, candidates: Catalogue) -> bool:
        return self._passages is None or int(candidates.passage_count.sum()) * _SWEEP < len(self._passages)

    def estimate(
        self,
        query: str,
        vector: Vector,
        candidates: Catalogue,
        score: Callable[[Catalogue, Scores], Scores] = lambda _, semantic: semantic,
    ) -> tuple[Catalogue, Scores]:
        """The semantic score of each candidate to 1e-5, to choose by, not to show.

        In a store of very many passages only those candidates come back that come near by their words and their whole
        text, or by the ``score`` that this would give.
        """
        words = self.lexical(query).of(candidates.number)
        if self._wholes is not None:
            kept = self._first_stage(vector, candidates, words, score)
            candidates, words = candidates.take(kept), words[kept]
        best, whole = self._similarities(vector, candidates)
        return candidates, semantic_score(vector_scores(best, whole), words)

    def _first_stage(
        self,
        vector: Vector,
        candidates: Catalogue,
        words: Scores,
        score: Callable[[Catalogue, Scores], Scores],
    ) -> NDArray[np.intp]:
        """The indexes of the candidates whose passages are compared."""
        assert self._wholes is not None
        if len(candidates) <= FIRST_STAGE:
            return np.arange(len(candidates))
        whole = self._products(self._wholes, vector)[candidates.whole_row]
        semantic = semantic_score(np.maximum(whole, 0), words)  # as if the whole were the only passage
        by_score = score(candidates, semantic)
        return np.union1d(*(np.argpartition(-by, FIRST_STAGE)[:FIRST_STAGE] for by in (semantic, by_score)))

    def _similarities(self, vector: Vector, candidates: Catalogue) -> tuple[Scores, Scores]:
        """The best passage's cosine and the whole's, for each candidate, in float32 arithmetic."""
        nothing = np.zeros(len(candidates))
        if self._passages is None or not len(candidates):
            return nothing, nothing
        starts, counts = candidates.passage_row, candidates.passage_count
        ends = np.cumsum(counts)
        with np.errstate(all="ignore"):
            if self._are_few(candidates):
                # One by one: taking them together would copy them, which is most of the time.
                parts = zip(starts.tolist(), (starts + counts).tolist(), strict=True)
                found = np.concatenate([self._passages[start:end] @ vector for start, end in parts])
                bounds, wholes = ends - counts, ends - counts
            else:
                found = self._products(self._passages, vector)
                # reduceat wants starts inside the array; each second segment is the gap behind a memory.
                found = np.append(found, np.float32(-1.0))
                bounds, wholes = np.stack([starts, starts + counts], axis=1).reshape(-1), starts
        if not np.all(np.abs(found) < _LONGEST_COSINE):  # no vector of length one gives that, nor no number
            self._passages = None
            self._miss("The vector file is damaged: only words were compared.")
            return nothing, nothing
        best = np.maximum.reduceat(found, bounds)[:: len(bounds) // len(starts)]
        return best.astype(np.float64), found[wholes].astype(np.float64)

    def relevance(self, query: str, vector: Vector, candidates: Catalogue) -> list[Relevance]:
        """The relevance to show: cosines in float64, row by row, so that the table's size cannot matter."""
        found = []
        shares = self.lexical(query).of(candidates.number)
        wide = vector.astype(np.float64)
        for first, count, from_words in zip(
            candidates.passage_row.tolist(), candidates.passage_count.tolist(), shares.tolist(), strict=True
        ):
            if self._passages is None:
                found.append(relevance(0.0, 0.0, from_words))
                continue
            passages = self._passages[first : first + count].astype(np.float64)
            cosines = [float(np.dot(passage, wide)) for passage in passages]
            found.append(relevance(max(cosines), cosines[0], from_words))
        return found

    def whole_text_vectors(self, numbers: Sequence[int]) -> Vectors:
        """The vector of each memory's whole text, in the order given; zeros where there is none."""
        dimensions = 0 if self._passages is None else self._passages.shape[1]
        found = np.zeros((len(numbers), dimensions), np.float32)
        for at, index in enumerate(self.catalogue.indexes(np.array(numbers, np.int64)).tolist()):
            if index >= 0 and self._passages is not None:
                found[at] = self._passages[int(self.catalogue.passage_row[index])]
        return found
