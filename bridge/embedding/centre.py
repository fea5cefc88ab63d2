"""What all vectors of a model share, and its removal.

The vectors of some models share a direction, so that any two have a cosine of 0.7 or more. When enough of it is
removed, unrelated texts have as low a cosine as with the default model, and all that is measured by cosines means the
same: relevance, its floor, repetitions. A multilingual model's vectors of one language share a direction more.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .embedder import Vectors, normalised


class Centre:
    """The mean vector of a model's texts, that of its queries, and the directions of languages.

    In a file: rows of float32, first both means, then the directions, which are orthonormal.
    """

    def __init__(self, rows: NDArray[Any], removed: float) -> None:
        """``removed``: the share of the mean that is removed, 0..1. All of the directions is."""
        self._rows = rows.astype(np.float64)
        self._removed = removed

    @classmethod
    def read(cls, path: Path, removed: float) -> Centre:
        """Raises OSError, ValueError."""
        return cls(np.load(path, allow_pickle=False), removed)

    def remove(self, vectors: Vectors, *, is_query: bool) -> Vectors:
        """The vectors without what they share, of length 1."""
        mean, directions = self._rows[int(is_query)], self._rows[2:]
        rest = vectors.astype(np.float64)
        for row in rest:  # one by one: in a product of matrices the last bits depend on the other rows
            row -= directions.T @ (directions @ (row - mean)) + self._removed * mean
        return normalised(rest)
