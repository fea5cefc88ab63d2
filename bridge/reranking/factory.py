"""Creates the reranker that the settings name: in a folder of this machine, or behind an endpoint."""

from __future__ import annotations

from ..embedding.factory import processors
from .config import RerankConfig
from .reranker import Reranker


def create(config: RerankConfig) -> Reranker:
    """The reranker that the settings name. What is wrong with it shows at its first use."""
    if config.is_local:
        from .local_reranker import LocalReranker

        return LocalReranker(config, processors())
    from .http_reranker import HttpReranker

    return HttpReranker(config)
