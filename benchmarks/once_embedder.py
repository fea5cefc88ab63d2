"""Embeddings that are computed once: for all workspaces and methods of a run, and for further runs in a folder.

The folder's file holds vectors by model and by the text's digest, no text. Two models may have the same name, such as
one with other weights, so a model is known by its identity and by its vector of one fixed text. This module runs beside
other commits too, so of the project it imports only types.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bridge.embedding.embedder import Embedder, Vectors

_PROBE = "Only the tray helper renews tokens: request_access_token() since 3.2."
_TABLE = (
    "CREATE TABLE IF NOT EXISTS vectors (model TEXT, text BLOB, vector BLOB, PRIMARY KEY (model, text)) WITHOUT ROWID"
)
_MOST_VARIABLES = 500


class OnceEmbedder:
    """An embedder that asks another one for each text once."""

    def __init__(self, embedder: Embedder, folder: Path | None = None) -> None:
        self._embedder = embedder
        self._known: dict[bytes, Vectors] = {}
        self.identity, self.dimensions = embedder.identity, embedder.dimensions
        self.tokenizer_name, self.count_tokens = embedder.tokenizer_name, embedder.count_tokens
        self._file = folder / "embeddings.db" if folder is not None else None
        if self._file is not None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._file)) as connection, connection:
                connection.execute(_TABLE)
            probe = hashlib.sha256(embedder.embed([_PROBE]).tobytes()).hexdigest()
            self._model = f"{embedder.identity} {probe[:16]}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        digests = [hashlib.sha256(text.encode()).digest() for text in texts]
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in self._known}
        if missing and self._file is not None:
            self._known |= self._read(self._file, list(missing))
            missing = {digest: text for digest, text in missing.items() if digest not in self._known}
        if missing:
            new = dict(zip(missing, self._embedder.embed(list(missing.values())), strict=True))
            self._known |= new
            if self._file is not None:
                self._write(self._file, new.items())
        return np.array([self._known[digest] for digest in digests], np.float32).reshape(len(texts), self.dimensions)

    def _read(self, file: Path, digests: Sequence[bytes]) -> dict[bytes, Vectors]:
        found: dict[bytes, Vectors] = {}
        with closing(sqlite3.connect(file, timeout=60)) as connection:
            for start in range(0, len(digests), _MOST_VARIABLES):
                asked = digests[start : start + _MOST_VARIABLES]
                marks = ", ".join("?" * len(asked))
                query = f"SELECT text, vector FROM vectors WHERE model = ? AND text IN ({marks})"
                found |= {
                    text: np.frombuffer(vector, np.float32)
                    for text, vector in connection.execute(query, (self._model, *asked))
                }
        return found

    def _write(self, file: Path, vectors: Iterable[tuple[bytes, Vectors]]) -> None:
        rows = [(self._model, text, vector.tobytes()) for text, vector in vectors]
        with closing(sqlite3.connect(file, timeout=60)) as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
