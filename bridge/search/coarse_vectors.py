"""An 8-bit copy of the rows of a vector file: a first comparison reads a quarter of the bytes, with a known error.

A row x is kept as a scale s and integers c of -127..127, which were rounded after a random fraction u was added to each
(a dither). The query is q = t * k + r, with integers k that were rounded by other random fractions. Then

    q.x = s * (t * (c.k) - u.q)  +  e.q  +  s * (c.r)

and whatever q and x are, each e is as likely anywhere between -s/2 and s/2, and each r is 0 in the mean and between -t
and t. A sum of hundreds of them is small (Hoeffding; the variance proxies are s*s/12 and t*t/4): it exceeds the error
that ``products`` gives for at most one row in 10**9, and in fact for far fewer. By the lengths of e and r alone (Cauchy
and Schwarz), the error would be three times that.

The products c.k of integers are exact on every processor. What is near a decision is compared again in full precision
(``Snapshot.exact_cosines``), so that an answer does not depend on this copy. Only a process that stays makes one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..embedding.embedder import Vector, Vectors
from ..store import vector_files

_ROWS_AT_ONCE = 4096
_LARGEST = 126  # before the dither
_LONGEST_ROW = 1.01  # a longer one, or NaN, means a damaged file
_LONGEST_COPY = 1.1  # of s * c
_SURE = math.sqrt(2 * math.log(2e9))  # the bound is so many times the root of the sum of the variance proxies
_ROUNDING = 1e-5  # more than float32 arithmetic on vectors of length 1 can add to a bound


@dataclass(frozen=True, slots=True)
class CoarseRows:
    """The copy of the first ``len(codes)`` rows. ``codes``: shape (rows, dimensions); ``scales``: shape (rows,)."""

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.codes)

    def products(self, vector: Vector, rows: int) -> tuple[Vector, float]:
        """About the dot product of each of the first ``rows`` rows with a vector, and the largest error."""
        import simsimd  # not at the top: a process that answers one query does not need it

        wide = vector.astype(np.float64)
        step = float(np.abs(wide).max()) / _LARGEST or 1.0
        of_rows, of_query = _dithers(len(wide))
        integers = np.rint(wide / step + of_query).astype(np.int8)
        codes, scales = self.codes[:rows], self.scales[:rows]
        found = np.empty(len(codes), np.float32)

        def sweep(part: slice) -> None:
            simsimd.cdist(integers[np.newaxis], codes[part], "dot", out=found[np.newaxis, part], out_dtype="float32")

        vector_files.swept(codes, sweep)
        found *= np.float32(step)
        found -= np.float32(of_rows @ wide)
        found *= scales
        spread = (float(scales.max(initial=0.0)) ** 2 * float(wide @ wide) / 12) + (step * _LONGEST_COPY) ** 2 / 4
        return found, _SURE * math.sqrt(spread) + _ROUNDING

    def extended(self, rows: Vectors) -> CoarseRows | None:
        """The copy of more rows of the same file, of which the first are copied already; None for damaged ones."""
        new = copied(rows[len(self) :])
        if new is None:
            return None
        return CoarseRows(np.concatenate([self.codes, new.codes]), np.concatenate([self.scales, new.scales]))


def copied(rows: Vectors) -> CoarseRows | None:
    """The copy of some rows; None if one of them is damaged."""
    import simsimd  # noqa: F401 - without it there is no copy either

    codes = np.empty(rows.shape, np.int8)
    scales = np.empty(len(rows), np.float32)
    dither, _ = _dithers(rows.shape[1])
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        read = np.array(rows[part], np.float32)
        with np.errstate(all="ignore"):
            lengths = np.linalg.norm(read, axis=1)
        if not np.all(lengths <= _LONGEST_ROW):  # also for NaN
            return None
        scale = np.maximum(np.abs(read).max(axis=1, initial=0.0) / np.float32(_LARGEST), np.float32(1e-9))
        codes[part], scales[part] = np.rint(read / scale[:, np.newaxis] + dither), scale
    return CoarseRows(codes, scales)


@cache
def _dithers(dimensions: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Random fractions of -0.5..0.5 for the rows and for a query, always the same; shape (dimensions,) each."""
    rows, query = np.random.default_rng(0).uniform(-0.5, 0.5, (2, dimensions)).astype(np.float32)
    return rows, query
