"""The rebuild that a worker starts by itself: a store of an earlier local model is embedded with the configured one.

This happens after an upgrade that changes the default model, or after the setting was changed.
"""

from __future__ import annotations

import logging
import time

from bridge import trust
from bridge.embedding.local_models import changes_by_itself
from bridge.settings import Settings
from bridge.store import opening
from jobs import client
from jobs.errors import JobError
from jobs.layout import Workspace

from ..scheduling.ledger import Ledger

log = logging.getLogger(__name__)

_AGAIN_SECONDS = 3600.0  # after a rebuild that failed
_LOOK_SECONDS = 30.0


class Reembedding:
    """Looks at the store's model at the worker's start and every 30 s, which is one read of memory.db."""

    def __init__(self, workspace: Workspace, settings: Settings, ledger: Ledger) -> None:
        self._workspace = workspace
        self._settings = settings
        self._embedding = settings.embedding
        self._ledger = ledger
        self._next_look = self._next_job = time.monotonic()

    def scan(self, now: float) -> None:
        """Drop a rebuild job if the store needs one and none waits or runs. ``now`` is of the monotonic clock.

        Raises JobError where memory.db cannot be read, and OSError.
        """
        if now < self._next_look:
            return
        self._next_look = now + _LOOK_SECONDS
        if now < self._next_job or not self._is_needed():
            return
        self._next_job = now + _AGAIN_SECONDS
        job = client.submit(self._workspace.spool, "rebuild", {"what": "index"}, submitted_by="worker")
        log.info("the memories are embedded with %s in the background: job %s", self._embedding.identity, job.job_id)

    def _is_needed(self) -> bool:
        if any(record.kind == "rebuild" for record in self._ledger.live()):
            return False
        try:
            trust.require_trusted(self._workspace, self._settings.config_folder)  # reading creates files beside a store
            recorded = opening.embedder_of(self._workspace)
        except JobError:
            return False  # each job reports it
        return changes_by_itself(recorded, self._embedding)
