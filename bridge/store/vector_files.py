"""The vector files: float32 rows, in immutable generations, memory-mapped. One file has a row for each passage; the
other, for each memory, that of its whole text once more, to choose by where the passages are too many.

Rows are appended at the row count that memory.db has committed, synced, and only then committed there; a
reader maps no more than that. Nothing is truncated or rewritten under a reader.
"""

from __future__ import annotations

import mmap
import os
import zlib
from pathlib import Path
from typing import Literal

import numpy as np

from jobs import files

from ..background import Background
from ..embedding.embedder import Vector, Vectors

Part = Literal["passages", "wholes"]

ITEM_BYTES = 4
_READ_BYTES = 4 * 1024 * 1024
_ALONE = 20_000  # rows that one processor has swept before another has begun
_PAGES_A_FAULT = 16  # that the kernel maps at once


_SUFFIXES: dict[Part, str] = {"passages": ".f32", "wholes": ".wholes.f32"}


def path_of(folder: Path, generation: int, part: Part = "passages") -> Path:
    return folder / f"{generation:08d}{_SUFFIXES[part]}"


def append(path: Path, committed_rows: int, rows: Vectors, checksum: int = 0) -> int:
    """Write rows behind the committed ones; what an aborted append left there is overwritten.

    ``checksum`` is the CRC-32 of the committed bytes; returns that of all.
    """
    files.make_folder(path.parent)
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
    """The CRC-32 of the first ``size`` bytes, or None when they are not there. Read, not mapped: mapped pages would
    count as the memory of this process."""
    found = 0
    try:
        with path.open("rb", buffering=0) as file:
            while size:
                data = file.read(min(size, _READ_BYTES))
                if not data:
                    return None
                found = zlib.crc32(data, found)
                size -= len(data)
    except FileNotFoundError:
        return None
    return found


def open_rows(path: Path, row_count: int, dimensions: int) -> Vectors | None:
    """The committed rows, mapped read-only, or None when the file is missing or too short."""
    try:
        if path.stat().st_size < row_count * dimensions * ITEM_BYTES:
            return None
        if row_count == 0:
            return np.empty((0, dimensions), dtype=np.float32)
        return np.memmap(path, dtype="<f4", mode="r", shape=(row_count, dimensions))
    except FileNotFoundError:  # perhaps at the second look: a rebuild has removed it
        return None


def products(rows: Vectors, vector: Vector) -> Vector:
    """Each row's product with the vector, nearly: on two processors, since one cannot use all that memory brings."""
    if len(rows) < _ALONE:
        return rows @ vector
    found = np.empty(len(rows), np.float32)

    def sweep(part: slice) -> None:
        with np.errstate(all="ignore"):  # for this thread; who asks looks at what was found
            np.dot(rows[part], vector, out=found[part])

    half = len(rows) // 2
    first = Background(lambda: sweep(slice(half)))
    sweep(slice(half, None))
    first.result()
    return found


def read_ahead(rows: Vectors) -> None:
    """Have the pages of the mapped rows mapped, in the background: a first sweep would wait for each."""
    step = max(1, _PAGES_A_FAULT * mmap.PAGESIZE // (rows.shape[1] * ITEM_BYTES))
    Background(lambda: rows[::step, 0].max(initial=0))


def drop_other_generations(folder: Path, kept: int) -> None:
    """Remove the files of former generations; a reader that has one mapped keeps its pages."""
    keeps = {path_of(folder, kept, part) for part in _SUFFIXES}
    for path in folder.glob("*.f32"):
        if path not in keeps:
            try:
                files.remove(path)
            except PermissionError:
                pass  # Windows keeps a mapped file; the next rebuild tries again
