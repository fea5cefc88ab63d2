"""cognee's embedding engine, made of our own embedder and its cache: each text is embedded once, by the same model.

Imported by ``cognee_store`` alone, since it imports cognee.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from cognee.infrastructure.databases.vector.embeddings.EmbeddingEngine import EmbeddingEngine, EmbeddingResult

from jobs.errors import JobError

from .database import failing_clearly
from .embedder import Embedder
from .vectors import Vectors

_BATCH = 100


class SharedEmbeddings(EmbeddingEngine):  # type: ignore[misc]
    """cognee's embedding engine over our embedder and its cache."""

    def __init__(self, embedder: Embedder, embed: Callable[[Sequence[str]], Vectors]) -> None:
        self._embed = embed
        self.failure: JobError | None = None  # the provider's, which cognee wraps into something else
        self.model = embedder.identity
        self.dimensions = embedder.dimensions
        self.max_completion_tokens = 510

    async def embed_text(self, text: list[str]) -> EmbeddingResult:
        try:
            with failing_clearly():  # the cache is in memory.db
                vectors = self._embed(text)
        except JobError as error:
            self.failure = error
            raise
        return EmbeddingResult([vector.tolist() for vector in vectors], tokens=0)

    def get_vector_size(self) -> int:
        return self.dimensions

    def get_batch_size(self) -> int:
        return _BATCH

    async def input_limit(self) -> int | None:
        return self.max_completion_tokens


def give_embeddings(engine: SharedEmbeddings) -> None:
    """Hand our engine to the place where cognee makes its vector engine, which keeps one for good."""
    module = sys.modules["cognee.infrastructure.databases.vector.create_vector_engine"]
    module.get_embedding_engine = lambda: engine  # type: ignore[attr-defined]
