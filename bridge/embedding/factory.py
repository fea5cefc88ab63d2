"""Creates the embedder that the settings name: a local one (the default, offline) or one behind an endpoint."""

from __future__ import annotations

import os

from .config import EmbeddingConfig
from .embedder import Embedder, wrong_dimensions
from .model_files import DIMENSIONS, find

_HTTP_PROVIDERS = ("openai", "openai_compatible", "ollama")


def create(config: EmbeddingConfig, *, bulk: bool = False) -> Embedder:
    """The embedder that the settings name. ``bulk`` uses all processors; the vectors are the same.

    Raises JobError: MODEL_MISSING, EMBEDDING_CONFIG. For the local model, MODEL_CORRUPT is raised at the first use.
    """
    if config.is_local:
        if config.dimensions != DIMENSIONS:
            raise wrong_dimensions(config, DIMENSIONS)
        from .local_embedder import OnnxEmbedder

        if bulk:
            return OnnxEmbedder(find(config.cache_dir), threads=processors())
        return OnnxEmbedder(find(config.cache_dir), intra_op_threads=min(2, processors()))
    from . import remote_embedder

    if config.provider == "fastembed":
        from .local_embedder import FastembedEmbedder

        return FastembedEmbedder(config, threads=processors() if bulk else 1)
    # cognee sends "custom" through LiteLLM, for which these names mean the OpenAI protocol.
    custom = config.provider == "custom" and (config.model.startswith("openai/") or "/" not in config.model)
    if config.provider in _HTTP_PROVIDERS or custom:
        return remote_embedder.HttpEmbedder(config)
    return remote_embedder.LiteLLMEmbedder(config)


def processors() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
