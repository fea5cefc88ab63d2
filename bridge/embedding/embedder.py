"""Text to vectors: what every embedder promises, and how it is configured.

What the store records of an embedder and compares is its ``identity``. ``factory`` makes the one that the settings
ask for. Light to import.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from jobs.errors import JobError

from .model_files import DIMENSIONS, NAME

Vectors = np.ndarray[tuple[int, int], np.dtype[np.float32]]
Vector = np.ndarray[tuple[int], np.dtype[np.float32]]


class Embedder(Protocol):
    """Safe to share among threads."""

    @property
    def identity(self) -> str:
        """Provider, model and dimensions; vectors of equal identity may be compared."""

    @property
    def dimensions(self) -> int:
        """The length of every vector."""

    @property
    def tokenizer_name(self) -> str:
        """Whose tokens ``count_tokens`` counts; an estimate says that it is one."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text, in order: shape (n, dimensions), of Euclidean length 1.

        A text without a visible character gets zeros, as cognee gives it. Raises EMBEDDING_FAILED,
        EMBEDDING_CONFIG.
        """

    def count_tokens(self, text: str) -> int:
        """The tokens of the whole text, special tokens not counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingConfig:
    """The settings of embedding; the names of providers and models are cognee's."""

    cache_dir: Path
    provider: str = "fastembed"
    model: str = NAME
    dimensions: int = DIMENSIONS
    endpoint: str = ""
    api_key: str = field(default="", repr=False)

    @property
    def identity(self) -> str:
        """``fastembed/sentence-transformers/all-MiniLM-L6-v2/384``: known without loading anything."""
        return f"{self.provider}/{self.model.removeprefix(f'{self.provider}/')}/{self.dimensions}"

    @property
    def is_local(self) -> bool:
        """Whether the model is the one that we keep on this machine."""
        return self.provider == "fastembed" and self.model == NAME


def refuses_a_text(error: JobError) -> bool:
    """Whether a provider refused what it was given to embed, one text perhaps of many: not us, and not for now."""
    return error.code == "EMBEDDING_FAILED" and error.details.get("status") in (400, 413, 422)


def embed_visible(texts: Sequence[str], dimensions: int, embed: Callable[[list[str]], Vectors]) -> Vectors:
    """``embed`` of the texts that show something, with zeros in the rows of the others."""
    shown = [row for row, text in enumerate(texts) if text.strip()]
    vectors = np.zeros((len(texts), dimensions), np.float32)
    if shown:
        vectors[shown] = embed([texts[row] for row in shown])
    return vectors


def normalised(vectors: NDArray[Any]) -> Vectors:
    """Rows scaled to Euclidean length 1; a row of zeros stays one. As fastembed does it."""
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    scaled: Vectors = (vectors / lengths).astype(np.float32)
    return scaled


def wrong_dimensions(config: EmbeddingConfig, found: int) -> JobError:
    return JobError(
        "EMBEDDING_CONFIG",
        f"The model {config.model} makes vectors of {found} numbers, but EMBEDDING_DIMENSIONS is {config.dimensions}.",
        remediation=f"Set EMBEDDING_DIMENSIONS={found}.",
    )
