"""The embedding models that run on this machine: one table, by the identity that a store records.

It imports little, since queries read it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from jobs.errors import JobError

from . import model_files, multilingual_files
from .config import EmbeddingConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A model. ``provider``, ``model`` and ``dimensions`` are the settings that choose it.

    ``size_mb`` is the size of its files, ``download_mb`` that of the download, 0 for the default model, which is in the
    package; ``query_ms`` is the usual time of embedding a question, on one processor of a small server.
    """

    name: str
    provider: str
    model: str
    dimensions: int
    languages: str
    licence: str
    size_mb: int
    download_mb: int
    query_ms: int

    @property
    def identity(self) -> str:
        """The identity of its embedder."""
        return self.config(EmbeddingConfig(cache_dir=Path())).identity

    def config(self, base: EmbeddingConfig) -> EmbeddingConfig:
        """The configuration of its embedder, with the cache folder of ``base``."""
        return replace(
            base,
            provider=self.provider,
            model=self.model,
            dimensions=self.dimensions,
            endpoint="",
            api_key="",
        )


ENGLISH = LocalModel(
    name="english",
    provider="fastembed",
    model=model_files.NAME,
    dimensions=model_files.DIMENSIONS,
    languages="English",
    licence="Apache-2.0",
    size_mb=24,
    download_mb=0,
    query_ms=3,
)
ENGLISH_FULL = replace(
    ENGLISH, name="english-full", model=model_files.FULL_WEIGHTS, size_mb=91, download_mb=84, query_ms=10
)
MULTILINGUAL = LocalModel(
    name="multilingual",
    provider=multilingual_files.PROVIDER,
    model=multilingual_files.NAME,
    dimensions=multilingual_files.DIMENSIONS,
    languages="about 100",
    licence="MIT",
    size_mb=72,
    download_mb=91,
    query_ms=30,
)
LOCAL_MODELS = {model.identity: model for model in (ENGLISH, ENGLISH_FULL, MULTILINGUAL)}
BY_NAME = {model.name: model for model in LOCAL_MODELS.values()}


def config_of(identity: str | None, base: EmbeddingConfig) -> EmbeddingConfig | None:
    """The configuration of the embedder with this identity: ``base`` itself or a local model's; None for others.

    A model behind an endpoint is only reached with its own settings: the endpoint may serve another one by now.
    """
    if identity == base.identity:
        return base
    model = LOCAL_MODELS.get(identity or "")
    return None if model is None else model.config(base)


def verify(config: EmbeddingConfig) -> None:
    """Verify the checksums of the built-in model that is configured. Raises JobError: MODEL_CORRUPT, and of the full
    weights MODEL_MISSING."""
    if config.has_full_weights:
        model_files.verify(model_files.find(config.cache_dir))
    elif config.is_local:
        model_files.verify_default()


def is_installed(model: LocalModel, cache_dir: Path) -> bool:
    """Whether the files of the model are on this machine. Does not read them."""
    try:
        _find(model, cache_dir)
    except JobError:
        return False
    return True


def require(config: EmbeddingConfig) -> None:
    """Raise the error of a model that cannot be used until a person has done something, as far as files and settings
    tell; nothing is loaded. Raises JobError: MODEL_MISSING, MODEL_CORRUPT, EMBEDDING_CONFIG.
    """
    chosen = LOCAL_MODELS.get(config.identity)
    if chosen is not None:
        _find(chosen, config.cache_dir)
    elif config.provider not in (ENGLISH.provider, MULTILINGUAL.provider):
        from .remote_embedder import address

        address(config)


def _find(model: LocalModel, cache_dir: Path) -> None:
    if model is MULTILINGUAL:
        multilingual_files.find(cache_dir)
    elif model is ENGLISH_FULL:
        model_files.find(cache_dir)
    else:
        model_files.find_default()
