"""The configuration of an embedder: which provider and model, with how many dimensions, at which address.

It does not import numpy, since an idle worker and each query read it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from .model_files import DIMENSIONS, FULL_WEIGHTS, NAME


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
            name = NAME if self.has_full_weights else f"{NAME}:int8"
            return f"{self.provider}/{name}/{self.dimensions}"
        return f"{self.provider}/{self.model.removeprefix(f'{self.provider}/')}/{self.dimensions}"

    @property
    def is_local(self) -> bool:
        """Whether this is the built-in model, which runs on this machine."""
        return self.provider == "fastembed" and self.model in (NAME, FULL_WEIGHTS)

    @property
    def has_full_weights(self) -> bool:
        """Whether the built-in model runs with the weights as published, as version 0.4.0 did, and not with 8 bits."""
        return self.model == FULL_WEIGHTS
