"""The vector files: float32 rows in generations, memory-mapped. One file has a row for each passage. The other has a
row for the whole text of each memory, to preselect where there are too many passages.

Rows are appended after the row count that memory.db has committed, synced, and then committed there. A reader maps only
committed rows, and they are never truncated or rewritten.
"""

from __future__ import annotations

import mmap
import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from jobs import files

from ..background import Background
from ..embedding.embedder import Vector, Vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

Part = Literal["passages", "wholes"]

ITEM_BYTES = 4
_READ_BYTES = 4 * 1024 * 1024
_GATHERED = 128
_PAGES_A_FAULT = 16  # pages that the kernel maps at once


_SUFFIXES: dict[Part, str] = {"passages": ".f32", "wholes": ".wholes.f32"}


def path_of(folder: Path, generation: int, part: Part = "passages") -> Path:
    """The path of a vector file of a generation."""
    return folder / f"{generation:08d}{_SUFFIXES[part]}"


def append(path: Path, committed_rows: int, rows: Vectors, checksum: int = 0) -> int:
    """Write rows after the committed ones, overwriting what an aborted append left there, and sync the file.

    ``checksum`` is the CRC-32 of the committed bytes. Returns the CRC-32 of all bytes.
    """
    files.make_folder(path.parent, parents=False)
    is_new = not path.exists()
    data = np.ascontiguousarray(rows, dtype="<f4").tobytes()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with os.fdopen(descriptor, "r+b", closefd=False) as file:
            file.seek(committed_rows * rows.shape[1] * ITEM_BYTES)
            file.write(data)
        files.sync(descriptor)
    finally:
        os.close(descriptor)
    if is_new:
        files.sync_folder(path.parent)
    return zlib.crc32(data, checksum)


def checksum(path: Path, size: int) -> int | None:
    """The CRC-32 of the first ``size`` bytes; None if the file is missing or shorter.

    The file is read, not mapped, since mapped pages count as memory of this process.
    """
    crc = 0
    try:
        with path.open("rb", buffering=0) as file:
            while size:
                data = file.read(min(size, _READ_BYTES))
                if not data:
                    return None
                crc = zlib.crc32(data, crc)
                size -= len(data)
    except FileNotFoundError:
        return None
    return crc


def open_rows(path: Path, row_count: int, dimensions: int) -> Vectors | None:
    """The committed rows, mapped read-only, shape (row_count, dimensions); None if the file is missing or too short."""
    try:
        if path.stat().st_size < row_count * dimensions * ITEM_BYTES:
            return None
        if row_count == 0:
            return np.empty((0, dimensions), dtype=np.float32)
        return np.memmap(path, dtype="<f4", mode="r", shape=(row_count, dimensions))
    except FileNotFoundError:  # also between the two calls, when a rebuild removes it
        return None


def products(rows: Vectors, vector: Vector) -> Vector:
    """The dot product of each row with the vector, shape (rows,), up to rounding. Two threads take as long: both wait
    for pages."""
    result = np.empty(len(rows), np.float32)
    with np.errstate(all="ignore"):  # the caller checks the values
        np.dot(rows, vector, out=result)
    return result


def exact_products(rows: Vectors, places: NDArray[np.int64], vector: Vector) -> NDArray[np.float64]:
    """The dot product of each row at these places with the vector in float64, shape (places,): the same bits whatever
    the others are. A few hundred rows at once are still in the processor's cache when they are multiplied."""
    wide = vector.astype(np.float64)
    found = np.empty(len(places))
    for start in range(0, len(places), _GATHERED):
        gathered = rows.take(places[start : start + _GATHERED], axis=0).astype(np.float64)
        with np.errstate(all="ignore"):
            found[start : start + _GATHERED] = np.matmul(gathered[:, np.newaxis], wide)[:, 0]  # one after another
    return found


def single_products(rows: Vectors, places: NDArray[np.int64], vector: Vector) -> NDArray[np.float64]:
    """The same up to the rounding of float32, in a third of the time."""
    found = np.empty(len(places))
    for start in range(0, len(places), _GATHERED):
        with np.errstate(all="ignore"):
            part = slice(start, start + _GATHERED)
            found[part] = rows.take(places[part], axis=0) @ vector
    return found


def read_ahead(rows: Vectors) -> None:
    """Map the pages of the rows in the background, since a first multiplication would wait for each page fault."""
    step = max(1, _PAGES_A_FAULT * mmap.PAGESIZE // (rows.shape[1] * ITEM_BYTES))
    Background(lambda: rows[::step, 0].max(initial=0))


def drop_other_generations(folder: Path, kept: int) -> None:
    """Delete the files of other generations. A reader that has mapped one keeps its pages."""
    keeps = {path_of(folder, kept, part) for part in _SUFFIXES}
    for path in folder.glob("*.f32"):
        if path not in keeps:
            try:
                files.remove(path)
            except PermissionError:
                pass  # Windows keeps a mapped file; the next rebuild tries again
