"""The vector index: which generation of the vector file is in force, its committed rows and their checksum, and the
making of the next generation. The file itself is ``vectors``' business.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from jobs import steps
from jobs.layout import Workspace

from . import critical, database, vectors
from .memory import Memory
from .passages import passages
from .slices import Slices

Embed = Callable[[Sequence[str]], vectors.Vectors]
# Memories with a number above the first argument, in their order, at most so many.
MemoriesAfter = Callable[[int, int], Sequence[Memory]]

_TOGETHER = 50  # memories of one append


@dataclass(frozen=True, slots=True)
class Extent:
    """The rows of a generation from its start, and the CRC-32 of their bytes."""

    rows: int
    checksum: int


class VectorIndex:
    """Over the one writer's connection."""

    def __init__(self, workspace: Workspace, connection: sqlite3.Connection, dimensions: int) -> None:
        self._folder = workspace.vectors
        self._connection = connection
        self._dimensions = dimensions

    def create(self) -> None:
        """An empty first generation, inside the transaction that makes the store."""
        self._note(1, self._append(1, Extent(0, 0), self._no_rows()))

    def _no_rows(self) -> vectors.Vectors:
        return np.empty((0, self._dimensions), dtype=np.float32)

    @property
    def generation(self) -> int:
        return int(database.meta(self._connection, "vector_generation") or 0)

    @property
    def path(self) -> Path:
        return vectors.path_of(self._folder, self.generation)

    @property
    def extent(self) -> Extent:
        """What is committed."""
        rows = int(database.meta(self._connection, "vector_rows") or 0)
        return Extent(rows, int(database.meta(self._connection, "vector_crc32") or 0))

    def _note(self, generation: int, extent: Extent) -> None:
        database.set_meta(self._connection, "vector_generation", str(generation))
        database.set_meta(self._connection, "dimensions", str(self._dimensions))
        self.commit(extent)

    def append(self, rows: vectors.Vectors) -> Extent:
        """Write rows behind the committed ones, on the medium; they count once ``commit`` has named the new extent."""
        with steps.step("vectors.append"):
            return self._append(self.generation, self.extent, rows)

    def _append(self, generation: int, before: Extent, rows: vectors.Vectors) -> Extent:
        checksum = vectors.append(self._folder, generation, before.rows, rows, before.checksum)
        return Extent(before.rows + len(rows), checksum)

    def commit(self, extent: Extent) -> None:
        """Inside the transaction that names the rows."""
        database.set_meta(self._connection, "vector_rows", str(extent.rows))
        database.set_meta(self._connection, "vector_crc32", str(extent.checksum))

    @property
    def is_there(self) -> bool:
        """Whether the file holds the committed rows, by its size."""
        try:
            return self.path.stat().st_size >= self.extent.rows * self._dimensions * vectors.ITEM_BYTES
        except FileNotFoundError:
            return False

    def damage(self) -> str | None:
        """What is wrong with the committed rows, or None. Reads the whole file: more than 1 GB a second."""
        extent = self.extent
        found = vectors.checksum(self.path, extent.rows * self._dimensions * vectors.ITEM_BYTES)
        if found is None:
            return "missing or short"
        if database.meta(self._connection, "vector_crc32") is None:  # a store from before there were checksums
            with database.transaction(self._connection):
                self.commit(Extent(extent.rows, found))
            return None
        return None if found == extent.checksum else "not as it was written"

    def rebuild(
        self, memories_after: MemoriesAfter, embed: Embed, slices: Slices, switching: Callable[[], None]
    ) -> int:
        """Write the next generation beside the one in force and switch to it. Returns its rows.

        Between slices memories may come in; they are taken along before the switch, whose transaction has
        ``switching`` called in it.
        """
        generation = self.generation + 1
        path = vectors.path_of(self._folder, generation)
        path.unlink(missing_ok=True)
        try:
            extent = self._fill(generation, memories_after, embed, slices, switching)
        except BaseException:
            if self.generation != generation:
                path.unlink(missing_ok=True)  # it may be what has filled the disk
            raise
        vectors.drop_other_generations(self._folder, generation)
        return extent.rows

    def _fill(
        self,
        generation: int,
        memories_after: MemoriesAfter,
        embed: Embed,
        slices: Slices,
        switching: Callable[[], None],
    ) -> Extent:
        extent = self._append(generation, Extent(0, 0), self._no_rows())
        places: list[tuple[int, int, int]] = []
        last = 0
        while memories := memories_after(last, _TOGETHER):
            texts: list[str] = []
            for memory in memories:
                found = [passage.text for passage in passages(memory)]
                places.append((extent.rows + len(texts), len(found), memory.number))
                texts += found
            extent = self._append(generation, extent, embed(texts))
            last = memories[-1].number
            slices.done(len(memories))
        with critical.section(), database.transaction(self._connection):
            self._connection.executemany(
                "UPDATE memories SET passage_row = ?, passage_count = ? WHERE number = ?", places
            )
            self._note(generation, extent)
            switching()
        return extent
