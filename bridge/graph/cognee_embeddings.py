"""cognee's embedding engine over our embedder and its cache, so that each text is embedded once, by one model.

It imports cognee, so only ``cognee_store`` imports it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from cognee.infrastructure.databases.vector.embeddings.EmbeddingEngine import EmbeddingEngine, EmbeddingResult

from jobs.errors import JobError

from ..embedding.embedder import Embedder, Vectors
from ..store.opening import failing_clearly

_BATCH = 1000  # texts per write to a vector table; each write makes a version of the table and scans all of it


class SharedEmbeddings(EmbeddingEngine):  # type: ignore[misc]
    """cognee's embedding engine over our embedder and its cache."""

    def __init__(self, embedder: Embedder, embed: Callable[[Sequence[str]], Vectors]) -> None:
        self._embed = embed
        self.failure: JobError | None = None  # the provider's error, since cognee wraps it into another class
        self.model = embedder.identity
        self.dimensions = embedder.dimensions
        self.max_completion_tokens = 510
        self.tokenizer = self  # cognee splits texts by its ``count_tokens``
        self._count = embedder.count_tokens

    async def embed_text(self, text: list[str]) -> EmbeddingResult:
        """The vectors of texts, for cognee. Raises JobError, which ``failure`` keeps."""
        try:
            with failing_clearly():  # the cache is in memory.db
                vectors = self._embed(text)
        except JobError as error:
            self.failure = error
            raise
        return EmbeddingResult([vector.tolist() for vector in vectors], tokens=0)

    def count_tokens(self, text: str) -> int:
        """The number of tokens in a text."""
        return self._count(text)

    def get_vector_size(self) -> int:
        """The number of dimensions."""
        return self.dimensions

    def get_batch_size(self) -> int:
        """The number of texts per call of ``embed_text``."""
        return _BATCH

    async def input_limit(self) -> int | None:
        """The limit of a text in tokens."""
        return self.max_completion_tokens


def give_embeddings(engine: SharedEmbeddings) -> None:
    """Make cognee use our engine, both in its vector engine and where it splits texts, which would otherwise load the
    model a second time to count tokens. cognee's vector engine keeps the first engine that it gets."""
    for name in ("infrastructure.databases.vector.create_vector_engine", "tasks.chunks.chunk_by_sentence"):
        sys.modules[f"cognee.{name}"].get_embedding_engine = lambda: engine  # type: ignore[attr-defined]
