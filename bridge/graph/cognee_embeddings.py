"""cognee's embedding engine, made of our own embedder and its cache: each text is embedded once, by the same model.

Imported by ``cognee_store`` alone, since it imports cognee.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from cognee.infrastructure.databases.vector.embeddings.EmbeddingEngine import EmbeddingEngine, EmbeddingResult

from jobs.errors import JobError

from ..embedding.embedder import Embedder, Vectors
from ..store.database import failing_clearly

_BATCH = 1000  # texts of one write to a vector table: each makes a version of it, and looks through all of it


class SharedEmbeddings(EmbeddingEngine):  # type: ignore[misc]
    """cognee's embedding engine over our embedder and its cache."""

    def __init__(self, embedder: Embedder, embed: Callable[[Sequence[str]], Vectors]) -> None:
        self._embed = embed
        self.failure: JobError | None = None  # the provider's, which cognee wraps into something else
        self.model = embedder.identity
        self.dimensions = embedder.dimensions
        self.max_completion_tokens = 510
        self.tokenizer = self  # which cognee cuts texts by
        self._count = embedder.count_tokens

    async def embed_text(self, text: list[str]) -> EmbeddingResult:
        try:
            with failing_clearly():  # the cache is in memory.db
                vectors = self._embed(text)
        except JobError as error:
            self.failure = error
            raise
        return EmbeddingResult([vector.tolist() for vector in vectors], tokens=0)

    def count_tokens(self, text: str) -> int:
        return self._count(text)

    def get_vector_size(self) -> int:
        return self.dimensions

    def get_batch_size(self) -> int:
        return _BATCH

    async def input_limit(self) -> int | None:
        return self.max_completion_tokens


def give_embeddings(engine: SharedEmbeddings) -> None:
    """Hand our engine to the place where cognee makes its vector engine, which keeps one for good, and to the one where
    it cuts texts, which would load the model once more to count tokens."""
    for name in ("infrastructure.databases.vector.create_vector_engine", "tasks.chunks.chunk_by_sentence"):
        sys.modules[f"cognee.{name}"].get_embedding_engine = lambda: engine  # type: ignore[attr-defined]
