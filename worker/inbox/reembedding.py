"""The rebuild that a worker starts by itself: a store of an earlier local model is embedded with the configured one.

This happens after an upgrade that changes the default model, or after the setting was changed.
"""

from __future__ import annotations

from bridge.embedding.local_models import changes_by_itself
from bridge.store import opening

from .own_job import OwnJob


class Reembedding(OwnJob):
    """The job."""

    kind = "rebuild"
    payload = {"what": "index"}

    def is_needed(self) -> bool:
        return changes_by_itself(opening.embedder_of(self._workspace), self._settings.embedding)
