"""Estimated relevance of many memories, with the largest possible error, to choose those to be computed exactly.

An estimate from the 8-bit copy of the vectors is coarse. Wherever it leaves a decision open, ``refine`` compares the
passages in float32, and the caller decides what is open even then by the exact relevance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .catalogue import Catalogue
from .ranking import Scores

# More than ten times the error of a semantic score that is estimated in float32.
MARGIN = 1e-4

Refine = Callable[[Catalogue], Scores]
"""The semantic scores of some candidates, accurate to MARGIN."""


class Estimate:
    """The candidates and their estimated semantic scores; columns of equal length."""

    def __init__(self, candidates: Catalogue, semantic: Scores, error: Scores | float, refine: Refine) -> None:
        """``error``: the largest error of the scores; what is at most MARGIN is never refined."""
        self.candidates = candidates
        self.semantic = semantic
        self.error: Scores = np.broadcast_to(np.maximum(error, MARGIN), semantic.shape)
        self._refine = refine

    def __len__(self) -> int:
        return len(self.semantic)

    @property
    def least(self) -> Scores:
        """The lowest possible semantic scores."""
        bound: Scores = np.maximum(self.semantic - self.error, 0.0)
        return bound

    @property
    def most(self) -> Scores:
        """The highest possible semantic scores."""
        bound: Scores = self.semantic + self.error
        return bound

    def take(self, which: Any) -> Estimate:
        """The rows that a mask or an array of indexes selects."""
        return Estimate(self.candidates.take(which), self.semantic[which], self.error[which], self._refine)

    def refine(self, indexes: NDArray[np.intp]) -> bool:
        """Make the scores at these indexes accurate to MARGIN. Returns whether any was not."""
        coarse = indexes[self.error[indexes] > MARGIN]
        if len(coarse):
            self.semantic, self.error = self.semantic.copy(), self.error.copy()
            self.semantic[coarse] = self._refine(self.candidates.take(coarse))
            self.error[coarse] = MARGIN
        return bool(len(coarse))


def top(indexes: NDArray[np.intp], least: Scores, most: Scores, count: int) -> NDArray[np.intp]:
    """The indexes whose highest possible score reaches the lowest score that ``count`` of them certainly have."""
    if len(indexes) <= count:
        return indexes
    certain = np.partition(least[indexes], -count)[-count]
    found: NDArray[np.intp] = indexes[most[indexes] >= certain]
    return found


def undecided(bounds: Scores, count: int) -> NDArray[np.bool_]:
    """Which scores may be among the ``count`` highest or not, shape (n,). ``bounds``: the lowest and highest possible
    ones, shape (2, n), of more than ``count``."""
    least, most = bounds
    maybe: NDArray[np.bool_] = most >= np.partition(least, -count)[-count]
    maybe &= least <= np.partition(most, -count - 1)[-count - 1]
    return maybe


def exact_top(bounds: Scores, count: int, exact: Callable[[NDArray[np.intp]], Scores]) -> NDArray[np.intp]:
    """The indexes of the ``count`` highest scores, by ``bounds`` as far as these decide, then by ``exact``; of equal
    ones the first. ``bounds``: as in ``undecided``, of any number."""
    least, most = bounds
    possible = top(np.arange(len(least)), least, most, count)
    if len(possible) <= count:
        return possible
    is_certain = least[possible] > np.partition(most, -count - 1)[-count - 1]
    certain, open_ = possible[is_certain], possible[~is_certain]
    order = np.argsort(-exact(open_), kind="stable")[: count - len(certain)]
    return np.concatenate([certain, open_[order]])
