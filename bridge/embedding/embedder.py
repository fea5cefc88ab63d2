"""The interface of embedders, which turn texts into vectors, and the shapes of vectors.

The store records the ``identity`` of its embedder and compares it. ``factory`` creates the embedder that the settings
name. This module imports little: numpy where it is used, so that a model is loaded while numpy is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from jobs.errors import JobError

from .config import EmbeddingConfig

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vectors: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.float32]]"
Vector: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float32]]"


class Embedder(Protocol):
    """Turns texts into vectors. Threads may share it."""

    @property
    def identity(self) -> str:
        """Provider, model and dimensions. Vectors may be compared only if these are equal."""

    @property
    def dimensions(self) -> int:
        """The number of dimensions of each vector."""

    @property
    def tokenizer_name(self) -> str:
        """The tokenizer by which ``count_tokens`` counts."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The texts' vectors, shape (n, dimensions), each of Euclidean length 1.

        A blank text gets zeros, as in cognee. Raises JobError: EMBEDDING_FAILED, EMBEDDING_CONFIG, and of the local
        model MODEL_CORRUPT, of others EMBEDDING_UNREACHABLE and RATE_LIMITED.
        """

    def count_tokens(self, text: str) -> int:
        """The number of tokens in the whole text, without special tokens."""


@runtime_checkable
class QueryEmbedder(Protocol):
    """An embedder that distinguishes queries from the texts that they are to find."""

    def embed_query(self, query: str) -> Vector:
        """The query's vector, shape (dimensions,), to be compared with those of ``embed``. Raises as ``embed``."""


def embed_query(embedder: Embedder, query: str) -> Vector:
    """The vector of a query, shape (dimensions,): as of any text, unless the model distinguishes queries."""
    if isinstance(embedder, QueryEmbedder):
        return embedder.embed_query(query)
    vector: Vector = embedder.embed([query])[0]
    return vector


def is_text_rejected(error: JobError) -> bool:
    """Whether the error means that the provider permanently rejects a text, perhaps one of a batch; it is not about
    our key or configuration."""
    return error.code == "EMBEDDING_FAILED" and error.details.get("status") in (400, 413, 422)


def embed_non_blank(texts: Sequence[str], dimensions: int, embed: Callable[[list[str]], Vectors]) -> Vectors:
    """The result of ``embed`` for the texts that are not blank, with zeros in the rows of the others."""
    import numpy as np

    visible = [row for row, text in enumerate(texts) if text.strip()]
    vectors = np.zeros((len(texts), dimensions), np.float32)
    if visible:
        vectors[visible] = embed([texts[row] for row in visible])
    return vectors


def normalised(vectors: NDArray[Any]) -> Vectors:
    """The rows scaled to Euclidean length 1, as fastembed does; a row of zeros is not changed."""
    import numpy as np

    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    scaled: Vectors = (vectors / lengths).astype(np.float32)
    return scaled


def wrong_dimensions(config: EmbeddingConfig, found: int) -> JobError:
    """The error EMBEDDING_CONFIG for a model whose vectors have ``found`` dimensions, not the configured number."""
    return JobError(
        "EMBEDDING_CONFIG",
        f"The model {config.model} makes vectors of {found} numbers, but EMBEDDING_DIMENSIONS is {config.dimensions}.",
        remediation=f"Set EMBEDDING_DIMENSIONS={found}.",
    )
