"""Creates the embedder that the settings name: a local one (the default, offline) or one behind an endpoint."""

from __future__ import annotations

import os
from pathlib import Path

from .config import FORMER_LOCAL_IDENTITY, EmbeddingConfig
from .embedder import Embedder, wrong_dimensions
from .model_files import DIMENSIONS, find, has_int8

_HTTP_PROVIDERS = ("openai", "openai_compatible", "ollama")


def create(config: EmbeddingConfig, *, bulk: bool = False) -> Embedder:
    """The embedder that the settings name. ``bulk`` uses all processors; the vectors are the same.

    Raises JobError: MODEL_MISSING, EMBEDDING_CONFIG. For the local model, MODEL_CORRUPT is raised at the first use.
    """
    if config.is_local:
        if config.dimensions != DIMENSIONS:
            raise wrong_dimensions(config, DIMENSIONS)
        return _local(config, bulk=bulk)
    from . import remote_embedder

    if config.provider == "fastembed":
        from .local_embedder import FastembedEmbedder

        return FastembedEmbedder(config, threads=processors() if bulk else 1)
    # cognee sends "custom" through LiteLLM, for which these names mean the OpenAI protocol.
    custom = config.provider == "custom" and (config.model.startswith("openai/") or "/" not in config.model)
    if config.provider in _HTTP_PROVIDERS or custom:
        return remote_embedder.HttpEmbedder(config)
    return remote_embedder.LiteLLMEmbedder(config)


def create_former(identity: str, config: EmbeddingConfig, *, bulk: bool = False) -> Embedder | None:
    """The embedder of a store that an earlier version made with the built-in model; None for any other identity.

    Raises JobError: MODEL_MISSING.
    """
    if not config.is_local or identity != FORMER_LOCAL_IDENTITY:
        return None
    return _local(config, bulk=bulk, full_weights=True)


def _local(config: EmbeddingConfig, *, bulk: bool, full_weights: bool = False) -> Embedder:
    from .local_embedder import OnnxEmbedder

    folder = _model_folder(config)
    if bulk:
        return OnnxEmbedder(folder, threads=processors(), full_weights=full_weights)
    return OnnxEmbedder(folder, intra_op_threads=min(2, processors()), full_weights=full_weights)


def _model_folder(config: EmbeddingConfig) -> Path:
    """The model's folder. One of version 0.4.0 gets its 8-bit weights, which takes a second and no network."""
    folder = find(config.cache_dir)
    if not has_int8(folder):
        from .provision import provision

        provision(config.cache_dir)
    return folder


def processors() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
