"""An 8-bit copy of the rows of a vector file: a first comparison reads a quarter of the bytes, with a known error.

A row x is kept as integers c, which were rounded after random fractions u (a dither) were added to x / s, and the query
q as integers k, with other fractions v and the step t:

    x = s * (c - u) + e        q = t * (k - v) + r        q.x = s * t * (c.k - u.k - v.x / s)  +  t * e.k  +  r.x

The copy has v.x / s of each row. Whatever q and x are, each e is as likely anywhere between -s/2 and s/2, and each r
between -t/2 and t/2. A sum of hundreds of them is small (Hoeffding; the variance proxies are s*s/12 and t*t/12): it
exceeds the error that ``products`` gives for at most one row in 10**9, and in fact for far fewer. By the lengths of e
and r alone (Cauchy and Schwarz), the error would be three times that.

The products c.k of integers are exact on every processor. What is near a decision is compared again in full precision
(``Snapshot.exact_cosines``), so that an answer does not depend on this copy. Only a process that stays makes one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..embedding.embedder import Vector, Vectors

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_ALONE_BYTES = 30 * 1024 * 1024  # that one processor sweeps before a second one could start
_SWEPT_BYTES = 32 * 1024 * 1024
_ROWS_AT_ONCE = 256  # that the cache has room for
_LARGEST = 126  # before the dither
_LONGEST_ROW = 1.01  # a longer one, or NaN, means a damaged file
_SURE = math.sqrt(2 * math.log(2e9))  # the bound is so many times the root of the sum of the variance proxies
_ROUNDING = 1e-5  # more than float32 arithmetic on vectors of length 1 can add to a bound


@dataclass(frozen=True, slots=True)
class CoarseRows:
    """The copy of the first ``len(codes)`` rows. ``codes``: shape (rows, dimensions); ``shifts``: shape (rows,);
    ``scale``: s."""

    codes: NDArray[np.int8]
    shifts: NDArray[np.float32]
    scale: float

    def __len__(self) -> int:
        return len(self.codes)

    def products(self, vector: Vector, rows: int) -> tuple[Vector, float]:
        """About the dot product of each of the first ``rows`` rows with a vector, and the largest error."""
        import simsimd  # not at the top: a process that answers one query does not need it

        wide = vector.astype(np.float64)
        step = float(np.abs(wide).max()) / _LARGEST or 1.0
        of_rows, of_query = _dithers(len(wide))
        integers = np.rint(wide / step + of_query).astype(np.int8)
        codes, shifts = self.codes[:rows], self.shifts[:rows]
        found = np.empty(len(codes), np.float32)
        dithered, unit = np.float32(of_rows @ integers), np.float32(self.scale * step)

        def sweep(part: slice) -> None:
            # Not into ``out``: then simsimd returns a None that it does not own, and some thousands end the process.
            whole = np.asarray(simsimd.cdist(integers[np.newaxis], codes[part], "dot", out_dtype="float32"))[0]
            np.subtract(whole, shifts[part], out=found[part])
            found[part] -= dithered
            found[part] *= unit

        _swept(codes, sweep)
        spread = (self.scale * step) ** 2 * float(np.square(integers, dtype=np.float64).sum())
        return found, _SURE * math.sqrt((spread + (step * _LONGEST_ROW) ** 2) / 12) + _ROUNDING


def copied(rows: Vectors) -> CoarseRows | None:
    """The copy of some rows; None if one of them is damaged."""
    import simsimd  # noqa: F401 - without it there is no copy either

    scale = 1e-9
    codes, shifts = np.empty(rows.shape, np.int8), np.empty(len(rows), np.float32)
    parts = [slice(start, start + _ROWS_AT_ONCE) for start in range(0, len(rows), _ROWS_AT_ONCE)]
    for part in parts:
        with np.errstate(all="ignore"):
            squares = np.einsum("ij,ij->i", rows[part], rows[part])
        if not np.all(squares <= _LONGEST_ROW**2):  # also for NaN
            return None
        scale = max(scale, float(rows[part].max()) / _LARGEST, -float(rows[part].min()) / _LARGEST)
    of_rows, of_query = _dithers(rows.shape[1])
    for part in parts:
        scaled = rows[part] / np.float32(scale)
        shifts[part] = scaled @ of_query
        scaled += of_rows
        codes[part] = np.rint(scaled, out=scaled)
    return CoarseRows(codes, shifts, scale)


def _swept(rows: NDArray[np.int8], sweep: Callable[[slice], None]) -> None:
    """Call ``sweep`` for all rows, some at once, whose products stay in the processor's cache. Of many rows another
    thread takes as many as it can, since one processor does not use the whole memory bandwidth."""
    step = max(1, _SWEPT_BYTES // rows.shape[1])
    parts = iter([slice(start, start + step) for start in range(0, len(rows), step)])

    def sweep_what_is_left() -> None:
        for part in parts:
            sweep(part)

    other = _helper().submit(sweep_what_is_left) if rows.nbytes >= _ALONE_BYTES else None
    sweep_what_is_left()
    if other is not None and not other.cancel():  # on a busy machine it may not have begun
        other.result()


@cache
def _helper() -> ThreadPoolExecutor:
    """A thread that stays: to start one for each question takes as long as thousands of rows."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(1, "sweep")


@cache
def _dithers(dimensions: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Random fractions of -0.5..0.5 for the rows and for a query, always the same; shape (dimensions,) each."""
    rows, query = np.random.default_rng(0).uniform(-0.5, 0.5, (2, dimensions)).astype(np.float32)
    return rows, query
