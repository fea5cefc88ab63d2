"""The configuration of an embedder: which provider and model, with how many dimensions, at which address.

It does not import numpy, since an idle worker and each query read it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from .model_files import DIMENSIONS, FULL, INT8, NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingConfig:
    """The settings of an embedder. The names of providers and models are cognee's."""

    cache_dir: Path
    provider: str = "fastembed"
    model: str = NAME
    dimensions: int = DIMENSIONS
    endpoint: str = ""
    api_key: str = field(default="", repr=False)

    @property
    def identity(self) -> str:
        """The embedder's identity, without loading it: ``openai/text-embedding-3-small/1536``."""
        if self.is_local:
            return local_identity(INT8, self.dimensions)
        return f"{self.provider}/{self.model.removeprefix(f'{self.provider}/')}/{self.dimensions}"

    @property
    def is_local(self) -> bool:
        """Whether this is the built-in model, which runs on this machine."""
        return self.provider == "fastembed" and self.model == NAME


def local_identity(name: str, dimensions: int = DIMENSIONS) -> str:
    """The identity of the built-in model with these weights: FULL or INT8."""
    return f"fastembed/{name}/{dimensions}"


# Version 0.4.0 and earlier embedded with the full weights. Their stores are re-embedded.
FORMER_LOCAL_IDENTITY = local_identity(FULL)


def is_former(recorded: str, configured: str) -> bool:
    """Whether a store's model is the one that earlier versions used where this one uses the configured one."""
    return recorded == FORMER_LOCAL_IDENTITY and configured == local_identity(INT8)
