"""Text to vectors: what every embedder promises, and which one the settings ask for.

What the store records of an embedder and compares is its ``identity``. How the vectors come about
is left to ``local_embedder`` (the default, offline) and ``remote_embedder``. Light to import.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from jobs.errors import JobError

from .model_files import DIMENSIONS, NAME, find

Vectors = NDArray[np.float32]

_HTTP_PROVIDERS = ("openai", "openai_compatible", "ollama")


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


def create(config: EmbeddingConfig, *, bulk: bool = False) -> Embedder:
    """The embedder that the settings ask for; ``bulk`` uses every processor, with the same vectors.

    Raises MODEL_MISSING, EMBEDDING_CONFIG. Of the local model, MODEL_CORRUPT comes with its first use.
    """
    if config.is_local:
        if config.dimensions != DIMENSIONS:
            raise wrong_dimensions(config, DIMENSIONS)
        from .local_embedder import OnnxEmbedder

        if bulk:
            return OnnxEmbedder(find(config.cache_dir), threads=processors())
        return OnnxEmbedder(find(config.cache_dir), inside=min(2, processors()))
    from . import remote_embedder

    if config.provider == "fastembed":
        from .local_embedder import FastembedEmbedder

        return FastembedEmbedder(config, threads=processors() if bulk else 1)
    # cognee sends "custom" through LiteLLM, for which these names mean the OpenAI protocol.
    custom = config.provider == "custom" and (config.model.startswith("openai/") or "/" not in config.model)
    if config.provider in _HTTP_PROVIDERS or custom:
        return remote_embedder.HttpEmbedder(config)
    return remote_embedder.LiteLLMEmbedder(config)


def refuses_a_text(error: JobError) -> bool:
    """Whether a provider refused what it was given to embed, one text perhaps of many: not us, and not for now."""
    return error.code == "EMBEDDING_FAILED" and error.details.get("status") in (400, 413, 422)


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
