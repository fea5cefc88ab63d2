"""The estimated relevance of the candidates of a question, with the largest possible error, and what is chosen by it.

Wherever an estimate leaves a decision open, the passages are compared in float64, and what is open even then is decided
by the exact relevance, which is rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..store import vector_files
from . import standing_effects
from .ranking import (
    ABOVE_ANY_SCORE,
    Period,
    Scores,
    ageless_scores,
    good_fit,
    highest_scores,
    relevance,
    scores,
    semantic_error,
    semantic_score,
    vector_scores,
)
from .snapshot import SINGLE_ERROR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..embedding.embedder import Vector, Vectors
    from .catalogue import Catalogue
    from .question import Question
    from .ranking import Ranking
    from .snapshot import Snapshot
    from .standings import Fall

FIRST_STAGE = 1_500  # memories chosen by relevance, and as many by score, both from whole texts and words
# More than the rounding of an exact semantic score, which an estimate in float64 lacks.
MARGIN = 1e-9
_SINGLE = semantic_error(SINGLE_ERROR)  # of an estimate in float32


class Choice(NamedTuple):
    """The candidates of which the exact score is needed; those of them that fell, by number; and how many of the first
    by it may be hits."""

    candidates: Catalogue
    falls: dict[int, Fall]
    depth: int


class Estimate:
    """The candidates and their estimated semantic scores; columns of equal length."""

    def __init__(
        self,
        snapshot: Snapshot,
        vector: Vector,
        candidates: Catalogue,
        words: Scores,
        semantic: Scores,
        error: float,
    ) -> None:
        """``words``: the lexical scores. ``error``: the largest error of ``semantic``, at least MARGIN. Both columns
        are the estimate's own."""
        self._snapshot = snapshot
        self.vector = vector
        self.candidates = candidates
        self._words = words
        self.semantic = semantic
        self.error = max(error, MARGIN)

    def __len__(self) -> int:
        return len(self.semantic)

    @property
    def bounds(self) -> Scores:
        """The lowest and the highest possible semantic scores, shape (2, n)."""
        return np.stack([np.maximum(self.semantic - self.error, 0.0), self.semantic + self.error])

    def take(self, which: NDArray[np.intp]) -> Estimate:
        """The rows that an array of indexes selects."""
        columns = self._words[which], self.semantic[which]
        return Estimate(self._snapshot, self.vector, self.candidates.take(which), *columns, self.error)

    def best_relevance(self) -> float:
        """The exact relevance of the best candidate."""
        refined, exact = self._refined(np.flatnonzero(self.semantic >= self.semantic.max() - 2 * self.error))
        return max(map(exact, np.flatnonzero(refined >= refined.max() - 2 * MARGIN)))

    def reaching(self, least: float) -> NDArray[np.intp]:
        """The indexes of the candidates that have at least this relevance."""
        doubtful = np.flatnonzero(np.abs(self.semantic - least) < self.error)
        if self.error > _SINGLE:
            self.semantic[doubtful] = self._refined(doubtful, single=True)[0]
            doubtful = doubtful[np.abs(self.semantic[doubtful] - least) < _SINGLE]
        reaching: NDArray[np.bool_] = self.semantic >= least
        if len(doubtful):
            refined, exact = self._refined(doubtful)
            self.semantic[doubtful], reaching[doubtful] = refined, refined >= least
            for at in np.flatnonzero(np.abs(refined - least) < MARGIN):
                reaching[doubtful[at]] = exact(at) >= least
        return np.flatnonzero(reaching)

    def newest(self, question: Question) -> Catalogue:
        """The first ``max_results`` by date, the newest first; of the same moment, the higher number."""
        found = self.candidates
        last = found.legacy if question.legacy == "append" else np.zeros(len(found), np.bool_)
        return found.take(np.lexsort((-found.number, -found.dated, last))[: question.max_results])

    def timed(self, question: Question) -> Question:
        """The question with its period, if it asks for the newest or the oldest: that of the candidates that fit
        well."""
        if question.time is None or question.time.used not in ("newest", "oldest") or not len(self):
            return question
        dated = self.candidates.dated[self.reaching(good_fit(self.best_relevance()))]
        dated = dated[~np.isnan(dated)]
        if not len(dated):
            return question
        if question.time.used == "newest":
            return question.at(Period(datetime.fromtimestamp(float(dated.max()), UTC), None))
        return question.at(Period(None, datetime.fromtimestamp(float(dated.min()), UTC)))

    def choose(self, question: Question, depth: int, among: Catalogue) -> Choice:
        """The choice of the first ``depth`` candidates, and of those ``among`` which they fall or that stand in their
        place."""
        falls = self._falls(question)
        depth += len(falls)
        possible = self.take(self.needed(question, depth, is_coarse=True))
        possible.semantic, possible.error = possible._refined(np.arange(len(possible)))[0], MARGIN
        chosen = possible.candidates.take(possible.needed(question, depth))
        if falls:
            numbers = {*chosen.number.tolist(), *falls, *(fall.by[0] for fall in falls.values())}
            chosen = among.of(numbers)
        return Choice(chosen, falls, depth)

    def needed(self, question: Question, depth: int, *, is_coarse: bool = False) -> NDArray[np.intp]:
        """The indexes of all candidates of which the exact score is needed, given the estimate's error; ``is_coarse``:
        or may be needed once the error is smaller."""
        bounds = self.bounds
        least, most = _scores(self.candidates, bounds, question.ranking)
        is_needed = np.zeros(len(self), np.bool_)  # np.union1d would import numpy.ma, which takes milliseconds
        parts = self._parts(question)
        for some in parts:
            is_needed[top(some, least, most, depth)] = True
        # Those that may rank first of those with the highest score if age counts for nothing.
        lower, upper = ageless_scores(bounds, self.candidates.status, self.candidates.votes, question.ranking)
        best = top(parts[0], lower, upper, 1)
        is_needed[best if is_coarse else top(best, least, most, 1)] = True
        return np.flatnonzero(is_needed)

    def _parts(self, question: Question) -> list[NDArray[np.intp]]:
        """The indexes of the candidates that are ranked together, the first ones first."""
        if question.legacy == "mixed":
            return [np.arange(len(self))]
        return [np.flatnonzero(~self.candidates.legacy), np.flatnonzero(self.candidates.legacy)]

    def _falls(self, question: Question) -> dict[int, Fall]:
        """What fell of the candidates that may be hits, or whose heir may be one, by number. So many are looked at that
        ``max_results`` of them do not fall: others cannot become hits by it."""
        known = self._snapshot.standings
        if known.is_empty:
            return {}
        lower, upper = self.bounds
        least, highest = _scores(self.candidates, lower, question.ranking), highest_scores(upper, question.ranking)
        known, falls, depth = known.at(question.seen_from), dict[int, "Fall"](), 2 * question.max_results
        # What may have fallen; a question about the past also asks for what the others replaced.
        is_new = np.isin(self.candidates.number, [*known.statements]) | question.asks_past
        while True:
            chosen = top(np.arange(len(self)), least, highest, depth)
            some = self.candidates.take(chosen[is_new[chosen]])
            is_new[chosen] = False
            falls |= standing_effects.falls(known, self._snapshot, question, self.vector, some)
            if depth - len(falls) >= question.max_results or len(chosen) == len(self):
                return falls
            depth *= 2

    def _refined(self, indexes: NDArray[np.intp], *, single: bool = False) -> tuple[Scores, Callable[[np.intp], float]]:
        """These semantic scores, accurate to MARGIN or in float32, and the exact one at each place among them."""
        rows, counts = self.candidates.passage_row[indexes], self.candidates.passage_count[indexes]
        best, whole = self._snapshot.exact_cosines(self.vector, rows, counts, single=single)
        words = self._words[indexes]

        def exact(at: np.intp) -> float:
            return relevance(float(best[at]), float(whole[at]), float(words[at])).semantic_score

        return semantic_score(vector_scores(best, whole), words), exact


def compared(snapshot: Snapshot, question: Question, vector: Vector, candidates: Catalogue) -> Estimate:
    """The candidates with their estimated semantic scores: for choosing, not for showing.

    In a store with vectors of whole texts, only the candidates of the first stage are returned: the best by words and
    whole text, and the best by the score of these.
    """
    words = snapshot.lexical(question.query).of(candidates.number)
    if snapshot.wholes is not None and len(candidates) > FIRST_STAGE:
        kept = _first_stage(snapshot, snapshot.wholes, question, vector, candidates, words)
        candidates, words = candidates.take(kept), words[kept]
    best, whole, error = snapshot.similarities(vector, candidates)
    semantic = semantic_score(vector_scores(best, whole), words)
    return Estimate(snapshot, vector, candidates, words, semantic, semantic_error(error))


def _first_stage(
    snapshot: Snapshot, wholes: Vectors, question: Question, vector: Vector, candidates: Catalogue, words: Scores
) -> NDArray[np.intp]:
    """The indexes of the candidates whose passages are compared."""
    products, error = snapshot.products(wholes, vector)

    def semantic(whole: Scores, of_words: Scores) -> Scores:
        return semantic_score(np.maximum(whole, 0), of_words)  # as if the whole text were the only passage

    def bounds(whole: Scores, error: float, of_words: Scores) -> Scores:
        return semantic(np.stack([whole - error, whole + error]), of_words)

    def exactly(indexes: NDArray[np.intp]) -> Scores:
        return semantic(vector_files.exact_products(wholes, candidates.whole_row[indexes], vector), words[indexes])

    relevances = bounds(products[candidates.whole_row].astype(np.float64), error, words)
    preferred = _preferred(candidates, relevances, question)
    kept = np.zeros(len(candidates), np.bool_)
    kept[exact_top(relevances, FIRST_STAGE, exactly)] = True
    kept[exact_top(preferred, FIRST_STAGE, lambda i: _preferred(candidates.take(i), exactly(i), question))] = True
    return np.flatnonzero(kept)


def _scores(candidates: Catalogue, semantic: Scores, ranking: Ranking) -> Scores:
    return scores(semantic, candidates.dated, candidates.status, candidates.votes, ranking)


def _preferred(candidates: Catalogue, semantic: Scores, question: Question) -> Scores:
    """The estimated scores; with ``append``, raised for all but legacy memories, so that these come last."""
    estimated = _scores(candidates, semantic, question.ranking)
    return estimated + ABOVE_ANY_SCORE * ~candidates.legacy if question.legacy == "append" else estimated


def top(indexes: NDArray[np.intp], least: Scores, most: Scores, count: int) -> NDArray[np.intp]:
    """The indexes whose highest possible score reaches the lowest score that ``count`` of them certainly have."""
    if len(indexes) <= count:
        return indexes
    certain = np.partition(least[indexes], -count)[-count]
    found: NDArray[np.intp] = indexes[most[indexes] >= certain]
    return found


def exact_top(bounds: Scores, count: int, exact: Callable[[NDArray[np.intp]], Scores]) -> NDArray[np.intp]:
    """The indexes of the ``count`` highest scores, by ``bounds`` as far as these decide, then by ``exact``; of equal
    ones the first. ``bounds``: the lowest and highest possible scores, shape (2, n)."""
    least, most = bounds
    possible = top(np.arange(len(least)), least, most, count)
    if len(possible) <= count:
        return possible
    is_certain = least[possible] > np.partition(most, -count - 1)[-count - 1]
    certain, open_ = possible[is_certain], possible[~is_certain]
    order = np.argsort(-exact(open_), kind="stable")[: count - len(certain)]
    return np.concatenate([certain, open_[order]])
