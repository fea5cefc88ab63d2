"""An 8-bit copy of the rows of a vector file: a first comparison reads a quarter of the bytes, with a known error.

A row x is kept as integers c, which were rounded after random fractions u (a dither) were added to x / s, and the query
q as integers k, with other fractions v and the step t:

    x = s * (c - u) + e        q = t * (k - v) + r        q.x = s * t * (c.k - u.k - v.x / s)  +  t * e.k  +  r.x

The copy has v.x / s of each row. Whatever q and x are, each e is as likely anywhere between -s/2 and s/2, and each r
between -t/2 and t/2. A sum of hundreds of them is small (Hoeffding; the variance proxies are s*s/12 and t*t/12): it
exceeds the error that ``products`` gives for at most one row in 10**9, and in fact for far fewer. By the lengths of e
and r alone (Cauchy and Schwarz), the error would be three times that.

Multiplied are c and K = k + 64, which has no sign: c.k = c.K - 64 (sum of c). For these, onnxruntime has a kernel that
waits for nothing but memory; with AVX2 it adds pairs of products in 16 bits, which 127 * (128 + 128) just fits.

The products of integers are exact on every processor. What is near a decision is compared again in full precision
(``Snapshot.exact_cosines``), so that an answer does not depend on this copy. Only a process that stays makes one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..embedding.embedder import Vector, Vectors
from ..embedding.onnx_session import Session

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_ALONE_BYTES = 30 * 1024 * 1024  # that one processor sweeps before a second one could start
_BLOCK_BYTES = 32 * 1024 * 1024
_ROWS_AT_ONCE = 256  # that the cache has room for
_LARGEST, _LARGEST_OF_QUERY = 126, 63  # before the dither
_MIDDLE = 64  # K for a k of 0
_LONGEST_ROW = 1.01  # a longer one, or NaN, means a damaged file
_SURE = math.sqrt(2 * math.log(2e9))  # the bound is so many times the root of the sum of the variance proxies
_ROUNDING = 1e-5  # more than float32 arithmetic on vectors of length 1 can add to a bound


@dataclass(frozen=True, slots=True)
class CoarseRows:
    """The copy of some rows. ``blocks``: c, a column for each row, shape (dimensions, rows of the block); ``shifts``:
    v.x / s + 64 (sum of c), shape (rows,); ``scale``: s."""

    blocks: list[NDArray[np.int8]]
    shifts: NDArray[np.float32]
    scale: float

    def __len__(self) -> int:
        return len(self.shifts)

    def products(self, vector: Vector, rows: int) -> Callable[[], tuple[Vector, float]]:
        """Begin to multiply; the result ends it: about the dot product of each of the first ``rows`` rows with a
        vector, and the largest error."""
        wide = vector.astype(np.float64)
        step = float(np.abs(wide).max()) / _LARGEST_OF_QUERY or 1.0
        of_rows, of_query = _dithers(len(wide))
        integers = np.rint(wide / step + of_query)
        query = (integers + _MIDDLE).astype(np.uint8)[np.newaxis]
        found = np.empty(len(self), np.float32)
        dithered, unit = np.float32(of_rows @ integers), np.float32(self.scale * step)

        def sweep(at: int) -> None:
            start = at * self.blocks[0].shape[1]
            part = slice(start, start + self.blocks[at].shape[1])
            found[part] = _multiplication().run({"K": query, "c": self.blocks[at]})[0]
            found[part] -= self.shifts[part]
            found[part] -= dithered
            found[part] *= unit

        end = _begun(self.blocks, sweep)
        spread = (self.scale * step) ** 2 * float(np.square(integers).sum())

        def ended() -> tuple[Vector, float]:
            end()
            return found[:rows], _SURE * math.sqrt((spread + (step * _LONGEST_ROW) ** 2) / 12) + _ROUNDING

        return ended


def copied(rows: Vectors) -> CoarseRows | None:
    """The copy of some rows; None if one of them is damaged. Raises as ``Session``."""
    _multiplication()
    scale = 1e-9
    count, dimensions = rows.shape
    parts = [slice(start, min(count, start + _ROWS_AT_ONCE)) for start in range(0, count, _ROWS_AT_ONCE)]
    for part in parts:
        with np.errstate(all="ignore"):
            squares = np.einsum("ij,ij->i", rows[part], rows[part])
        if not np.all(squares <= _LONGEST_ROW**2):  # also for NaN
            return None
        scale = max(scale, float(rows[part].max()) / _LARGEST, -float(rows[part].min()) / _LARGEST)
    # One block for one thread, or as many for either of two.
    size = count * dimensions
    pieces = 1 if size < _ALONE_BYTES else 2 * math.ceil(size / (2 * _BLOCK_BYTES))
    width = math.ceil(len(parts) / pieces) * _ROWS_AT_ONCE
    blocks = [np.empty((dimensions, min(width, count - start)), np.int8) for start in range(0, count, width)]
    shifts = np.empty(count, np.float32)
    of_rows, of_query = _dithers(dimensions)
    for part in parts:
        scaled = rows[part] / np.float32(scale)
        shifts[part] = scaled @ of_query
        scaled += of_rows
        codes = np.rint(scaled, out=scaled).astype(np.int8)
        shifts[part] += _MIDDLE * scaled.sum(axis=1)
        blocks[part.start // width][:, part.start % width :][:, : len(codes)] = codes.T
    return CoarseRows(blocks, shifts, scale)


@cache
def _multiplication() -> Session:
    """The ONNX graph of one node that multiplies K, shape (1, dimensions), by a block. Raises as ``Session``."""

    def has(field: int, value: bytes | int) -> bytes:
        """A field of a protobuf message; no value is longer than 127 bytes."""
        return bytes([field << 3, value]) if isinstance(value, int) else bytes([field << 3 | 2, len(value)]) + value

    def port(field: int, name: bytes, element: int) -> bytes:
        return has(field, has(1, name) + has(2, has(1, has(1, element))))

    node = has(1, b"K") + has(1, b"c") + has(2, b"products") + has(4, b"MatMulInteger")
    graph = has(1, node) + has(2, b"graph") + port(11, b"K", 2) + port(11, b"c", 3) + port(12, b"products", 6)
    return Session(has(1, 8) + has(7, graph) + has(8, has(2, 13)), threads=1, level=0, settings={})


def _begun(blocks: Sequence[NDArray[np.int8]], sweep: Callable[[int], None]) -> Callable[[], None]:
    """Begin to call ``sweep`` for the place of each block; the result ends it. Of several blocks another thread takes
    as many as it can, since one processor does not use the whole memory bandwidth."""
    places = iter(range(len(blocks)))

    def sweep_what_is_left() -> None:
        for at in places:
            sweep(at)

    other = _helper().submit(sweep_what_is_left) if len(blocks) > 1 else None

    def end() -> None:
        sweep_what_is_left()
        if other is not None and not other.cancel():  # on a busy machine it may not have begun
            other.result()

    return end


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
