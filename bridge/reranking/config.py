"""The configuration of a reranker: a model in a folder of this machine, or one behind an endpoint.

It imports nothing heavy, since each process that answers a question reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

ScoreKind = Literal["probability", "logit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankConfig:
    """The settings of a reranker. ``model``: a folder, or the name that the ``endpoint`` gets."""

    model: str
    endpoint: str = ""
    api_key: str = field(default="", repr=False)
    timeout_seconds: float = 2.0
    hits: int = 20
    """How many first hits are judged again."""
    scores: ScoreKind = "probability"
    """What the endpoint sends. The model of a folder always makes logits."""

    @property
    def is_local(self) -> bool:
        """Whether the model runs on this machine, in the process that answers."""
        return not self.endpoint

    @property
    def identity(self) -> str:
        """What answers name: ``local:/home/you/models/minilm`` or ``endpoint:jina-reranker-v2``. It has no address,
        which may contain a password."""
        return f"{'local' if self.is_local else 'endpoint'}:{self.model}"
