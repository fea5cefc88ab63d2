"""The rebuild that a worker starts by itself: a store of an earlier local model is embedded with the configured one.

This happens after an upgrade that changes the default model, or after the setting was changed. Models behind an
endpoint are left out: they may cost money, so that a person starts their rebuild.
"""

from __future__ import annotations

from bridge.embedding.local_models import known
from bridge.store import opening

from .own_job import OwnJob


class Reembedding(OwnJob):
    """The job."""

    kind = "rebuild"
    payload = {"what": "index"}

    def is_needed(self) -> bool:
        embedding = self._settings.embedding
        wanted = known(embedding.identity, embedding.cache_dir)
        if wanted is None:
            return False
        recorded = opening.embedder_of(self._workspace)
        if recorded == embedding.identity or known(recorded, embedding.cache_dir) is None:
            return False
        return wanted.is_installed(embedding.cache_dir)
