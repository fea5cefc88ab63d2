"""The vector index: the generation of vector files in force, its committed rows and checksums, and rebuilds; and the
embedding cache in memory.db, by model and text, so that each text is embedded once.

``vector_files`` reads and writes the files themselves. The cache uses the store's transaction if one is open. Otherwise
new embeddings are committed at once, so that an ingestion that is cut off afterwards need not embed again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np

from jobs import steps
from jobs.layout import Workspace

from .. import critical
from ..embedding.embedder import Embedder, Vector, Vectors
from ..memory import Memory
from ..slices import Slices
from ..text.passages import passages
from . import database, vector_files
from .word_index import MemoriesAfter

_KEYS_OF_A_QUERY = 500  # keys of one query
_AT_A_TIME = 32  # texts between two pauses: about a second on a small machine

_TOGETHER = 50  # memories of one append
# The keys in meta of each file's extent.
META: dict[vector_files.Part, tuple[str, str]] = {
    "passages": ("vector_rows", "vector_crc32"),
    "wholes": ("whole_rows", "whole_crc32"),
}


class EmbeddingCache:
    """The cache, through the one writer's connection."""

    def __init__(self, connection: sqlite3.Connection, embedder: Embedder) -> None:
        self._connection = connection
        self.embedder = embedder

    def embed(self, texts: Sequence[str], pause: Callable[[], None] | None = None) -> Vectors:
        """Vectors of the texts, shape (n, dimensions), from the cache or newly embedded and cached.

        ``pause`` is called between batches; the batches before it are in the cache by then.
        """
        keys = [sha256(text.encode()).digest() for text in texts]
        known = self._known(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        keys_missing = list(missing)
        size = len(missing) if pause is None else _AT_A_TIME
        for start in range(0, len(missing), size or 1):
            part = keys_missing[start : start + size]
            fresh = dict(zip(part, self.embedder.embed([missing[key] for key in part]), strict=True))
            self._keep(fresh)
            known |= fresh
            if pause is not None:
                pause()
        vectors = np.empty((len(texts), self.embedder.dimensions), dtype=np.float32)
        for position, key in enumerate(keys):
            vectors[position] = known[key]
        return vectors

    def drop(self, texts: Iterable[str]) -> None:
        """Delete the embeddings of texts, of all models, inside a transaction."""
        models = self._connection.execute("SELECT DISTINCT model FROM embeddings").fetchall()
        keys = [sha256(text.encode()).digest() for text in texts]
        delete = "DELETE FROM embeddings WHERE model = ? AND text_sha256 = ?"
        self._connection.executemany(delete, [(model, key) for (model,) in models for key in keys])

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        vectors: dict[bytes, Vector] = {}
        wanted = list(dict.fromkeys(keys))
        for start in range(0, len(wanted), _KEYS_OF_A_QUERY):
            part = wanted[start : start + _KEYS_OF_A_QUERY]
            marks = ", ".join("?" * len(part))
            query = f"SELECT text_sha256, vector FROM embeddings WHERE model = ? AND text_sha256 IN ({marks})"  # noqa: S608 - marks only
            for key, blob in self._connection.execute(query, (self.embedder.identity, *part)):
                vectors[key] = np.frombuffer(blob, dtype="<f4")
        return vectors

    def _keep(self, fresh: dict[bytes, Vector]) -> None:
        rows = [(self.embedder.identity, key, vector.astype("<f4").tobytes()) for key, vector in fresh.items()]
        insert = "INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?)"
        if self._connection.in_transaction:
            self._connection.executemany(insert, rows)
            return
        with database.transaction(self._connection):
            self._connection.executemany(insert, rows)


class Extent(NamedTuple):
    """The number of rows from a file's start, and the CRC-32 of their bytes."""

    rows: int
    checksum: int


# The committed rows of each file of a generation.
Extents = Mapping[vector_files.Part, Extent]

_EMPTY: Extents = {"passages": Extent(0, 0), "wholes": Extent(0, 0)}


class VectorIndex:
    """The index, through the one writer's connection."""

    def __init__(self, workspace: Workspace, connection: sqlite3.Connection, dimensions: int) -> None:
        self._folder = workspace.vectors
        self._connection = connection
        self._dimensions = dimensions

    def create(self, model: Embedder) -> None:
        """Create an empty first generation, inside the transaction that creates the store."""
        self._note(1, self._append(1, _EMPTY, self._no_rows(model), []), model)

    @staticmethod
    def _no_rows(model: Embedder) -> Vectors:
        return np.empty((0, model.dimensions), dtype=np.float32)

    @property
    def generation(self) -> int:
        """The number of the generation in force."""
        return int(database.meta(self._connection, "vector_generation") or 0)

    def _path(self, part: vector_files.Part, generation: int | None = None) -> Path:
        return vector_files.path_of(self._folder, self.generation if generation is None else generation, part)

    @property
    def paths(self) -> list[Path]:
        """The files of the generation in force."""
        return [self._path(part) for part in META]

    @property
    def extents(self) -> Extents:
        """The committed extents."""
        return {
            part: Extent(*(int(database.meta(self._connection, key) or 0) for key in keys))
            for part, keys in META.items()
        }

    def _note(self, generation: int, extents: Extents, model: Embedder) -> None:
        database.set_meta(self._connection, "embedder", model.identity)
        database.set_meta(self._connection, "vector_generation", str(generation))
        database.set_meta(self._connection, "dimensions", str(model.dimensions))
        self.commit(extents)

    def append(self, passages: Vectors, sizes: Sequence[int]) -> Extents:
        """Write rows after the committed ones and sync them. They count once ``commit`` has recorded the returned
        extents.

        ``sizes``: how many passages each memory has. The first one is its whole text.
        """
        starts = [start for start, size in zip([0, *accumulate(sizes)], sizes, strict=False) if size]
        with steps.fault_point("vectors.append"):
            return self._append(self.generation, self.extents, passages, starts)

    def _append(self, generation: int, before: Extents, passages: Vectors, starts: Sequence[int]) -> Extents:
        rows: dict[vector_files.Part, Vectors] = {"passages": passages, "wholes": passages[list(starts)]}
        after: dict[vector_files.Part, Extent] = {}
        for part, extent in before.items():
            checksum = vector_files.append(self._path(part, generation), extent.rows, rows[part], extent.checksum)
            after[part] = Extent(extent.rows + len(rows[part]), checksum)
        return after

    def commit(self, extents: Extents) -> None:
        """Record the extents, inside the transaction that refers to their rows."""
        for part, (rows, checksum) in META.items():
            database.set_meta(self._connection, rows, str(extents[part].rows))
            database.set_meta(self._connection, checksum, str(extents[part].checksum))

    def _size(self, extent: Extent) -> int:
        return extent.rows * self._dimensions * vector_files.ITEM_BYTES

    @property
    def is_there(self) -> bool:
        """Whether the files are long enough for the committed rows."""
        try:
            return all(self._path(part).stat().st_size >= self._size(e) for part, e in self.extents.items())
        except FileNotFoundError:
            return False

    def damage(self, *, closely: bool = True) -> str | None:
        """What is wrong with the committed rows, in words, or None.

        ``closely`` reads all of them: a GB in a second or two.
        """
        if not closely:
            return None if self.is_there else "missing or short"
        extents = self.extents
        checksums = {part: vector_files.checksum(self._path(part), self._size(e)) for part, e in extents.items()}
        if None in checksums.values():
            return "missing or short"
        return None if all(checksums[part] == e.checksum for part, e in extents.items()) else "not as it was written"

    def rebuild(self, memories_after: MemoriesAfter, embeddings: EmbeddingCache, slices: Slices) -> int:
        """Write the next generation, of the vectors of ``embeddings``, and switch to it and its model. Returns its
        number of passages.

        Other jobs may add memories between slices; these are included before the switch.
        """
        generation = self.generation + 1
        self._remove(generation)
        try:
            extents = self._fill(generation, memories_after, embeddings, slices)
        except BaseException:
            if self.generation != generation:
                self._remove(generation)  # it may have filled the disk
            raise
        vector_files.drop_other_generations(self._folder, generation)
        return extents["passages"].rows

    def _remove(self, generation: int) -> None:
        for part in META:
            self._path(part, generation).unlink(missing_ok=True)

    def _fill(
        self, generation: int, memories_after: MemoriesAfter, embeddings: EmbeddingCache, slices: Slices
    ) -> Extents:
        """Write all rows of a generation, then switch to it. Returns its extents."""
        model = embeddings.embedder
        extents = self._append(generation, _EMPTY, self._no_rows(model), [])
        positions: dict[int, tuple[int, int, int]] = {}
        last = 0
        while memories := memories_after(last, _TOGETHER) or self._missed(positions, memories_after):
            texts: list[str] = []
            starts: list[int] = []
            for memory in memories:
                passage_texts = [passage.text for passage in passages(memory)]
                whole_row = extents["wholes"].rows + len(starts)
                positions[memory.number] = (extents["passages"].rows + len(texts), len(passage_texts), whole_row)
                starts.append(len(texts))
                texts += passage_texts
            extents = self._append(generation, extents, embeddings.embed(texts, slices.advance), starts)
            last = max(last, memories[-1].number)
            slices.advance(len(memories))
        with critical.critical_section(), database.transaction(self._connection):
            self._connection.executemany(
                "UPDATE memories SET passage_row = ?, passage_count = ?, whole_row = ? WHERE number = ?",
                [(*position, number) for number, position in positions.items()],
            )
            # Hidden memories have no rows in the new files.
            self._connection.execute(
                "UPDATE memories SET passage_row = 0, passage_count = 0, whole_row = NULL WHERE hidden"
            )
            self._note(generation, extents, model)
        self._dimensions = model.dimensions
        return extents

    def _missed(self, places: Mapping[int, object], memories_after: MemoriesAfter) -> list[Memory]:
        """Visible memories that came back meanwhile under a number that the rebuild had passed."""
        visible = self._connection.execute("SELECT number FROM memories WHERE hidden = 0")
        return [memories_after(number - 1, 1)[0] for (number,) in visible.fetchall() if number not in places]
