"""The embedding cache in memory.db, by model and text: each text is embedded once.

It uses the store's transaction if one is open. Otherwise new embeddings are committed at once, so that an ingestion
that is cut off afterwards need not embed again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

import numpy as np

from ..embedding.embedder import Embedder, Vector, Vectors
from . import database

_TOGETHER = 500  # keys of one query
_AT_A_TIME = 32  # texts between two pauses: about a second on a small machine


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
        for start in range(0, len(wanted), _TOGETHER):
            part = wanted[start : start + _TOGETHER]
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
