"""An 8-bit copy of the rows of a vector file: a first comparison reads a quarter of the bytes, with a known error.

A row x is kept as a scale s and integers c of -127..127. With the query q as t * k in the same way,

    |q.x - s * t * (c.k)| <= |q| * |x - s * c|  +  |q - t * k| * |s * c|        (Cauchy and Schwarz)

and the products c.k of integers are exact on every processor. What is near a decision is compared again in full
precision (``estimate``), so that an answer does not depend on this copy. Only a process that stays makes one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..embedding.embedder import Vector, Vectors
from ..store import vector_files
from .catalogue import Catalogue
from .ranking import Scores

_ROWS_AT_ONCE = 4096
_GATHERED = 256
_LARGEST = 127
_LONGEST_ROW = 1.01  # a longer one, or NaN, means a damaged file
_ROUNDING = 1e-5  # more than float32 arithmetic on vectors of length 1 can add to a bound


@dataclass(frozen=True, slots=True)
class CoarseRows:
    """The copy of the first ``len(codes)`` rows. ``codes``: shape (rows, dimensions); ``scales``: shape (rows,).

    ``residual`` is the largest length of what a row lost.
    """

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    residual: float

    def __len__(self) -> int:
        return len(self.codes)

    def products(self, vector: Vector, rows: int) -> tuple[Vector, float]:
        """About the dot product of each of the first ``rows`` rows with a vector, and the largest possible error."""
        import simsimd  # not at the top: a process that answers one query does not need it

        wide = vector.astype(np.float64)
        step = float(np.abs(wide).max()) / _LARGEST or 1.0
        integers = np.rint(wide / step).astype(np.int8)
        lost, length = float(np.linalg.norm(wide - step * integers)), float(np.linalg.norm(wide))
        codes, scales = self.codes[:rows], self.scales[:rows]
        found = np.empty(len(codes), np.float32)

        def sweep(part: slice) -> None:
            simsimd.cdist(integers[np.newaxis], codes[part], "dot", out=found[np.newaxis, part], out_dtype="float32")

        vector_files.swept(codes, sweep)
        found *= np.float32(step) * scales
        return found, length * self.residual + lost * (_LONGEST_ROW + self.residual) + _ROUNDING

    def extended(self, rows: Vectors) -> CoarseRows | None:
        """The copy of more rows of the same file, of which the first are copied already; None for damaged ones."""
        new = copied(rows[len(self) :])
        if new is None:
            return None
        return CoarseRows(
            np.concatenate([self.codes, new.codes]),
            np.concatenate([self.scales, new.scales]),
            max(self.residual, new.residual),
        )


def refined_cosines(
    rows: Vectors, products: Vector, error: float, vector: Vector, some: Catalogue
) -> tuple[Scores, Scores]:
    """The cosines in float32 arithmetic of the best passage and of the whole text of some memories, shape (n,) each.

    ``products``: of all rows, with at most that error. Only passages that may be the best are compared again.
    """
    ends = np.cumsum(some.passage_count)
    firsts = ends - some.passage_count
    places = np.arange(int(ends[-1])) + np.repeat(some.passage_row - firsts, some.passage_count)
    known = products[places]
    is_open = known >= np.repeat(np.maximum.reduceat(known, firsts) - 2 * error, some.passage_count)
    is_open[firsts] = True  # the first passage is the whole text
    found = np.full(len(places), -1.0)
    with np.errstate(all="ignore"):
        found[is_open] = cosines(rows, places[is_open], vector)
    return np.maximum.reduceat(found, firsts), found[firsts]


def cosines(rows: Vectors, places: NDArray[np.intp], vector: Vector) -> Vector:
    """The dot products of some rows. A few hundred at once are still in the processor's cache when they are compared;
    to copy all first takes twice the time."""
    found = np.empty(len(places), np.float32)
    gathered = np.empty((min(len(places), _GATHERED), rows.shape[1]), np.float32)
    for start in range(0, len(places), _GATHERED):
        some = places[start : start + _GATHERED]
        part = np.take(rows, some, axis=0, out=gathered[: len(some)], mode="clip")  # "raise" would copy once more
        found[start : start + len(some)] = part @ vector
    return found


def copied(rows: Vectors) -> CoarseRows | None:
    """The copy of some rows; None if one of them is damaged."""
    import simsimd  # noqa: F401 - without it there is no copy either

    codes = np.empty(rows.shape, np.int8)
    scales = np.empty(len(rows), np.float32)
    residual = 0.0
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        read = np.array(rows[part], np.float32)
        with np.errstate(all="ignore"):
            lengths = np.linalg.norm(read, axis=1)
        if not np.all(lengths <= _LONGEST_ROW):  # also for NaN
            return None
        scale = np.abs(read).max(axis=1, initial=0.0) / np.float32(_LARGEST)
        scale[scale == 0] = 1
        integers = np.rint(read / scale[:, np.newaxis])
        codes[part], scales[part] = integers, scale
        lost = np.linalg.norm(read - integers * scale[:, np.newaxis], axis=1)
        residual = max(residual, float(lost.max(initial=0.0)))
    return CoarseRows(codes, scales, residual + _ROUNDING)
