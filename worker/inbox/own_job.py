"""The jobs that a worker drops by itself: embedding again after a change of the model, and asking the language model
which of two decisions that may contradict each other holds. In a team, the service asks, with its own model.
"""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from bridge import trust
from bridge.embedding.local_models import changes_by_itself
from bridge.graph import installed, llm
from bridge.settings import Settings
from bridge.store import opening
from bridge.store.opening import reader_of
from jobs import client
from jobs.errors import JobError
from jobs.layout import Workspace

from ..scheduling.ledger import Ledger

log = logging.getLogger(__name__)

_AGAIN_SECONDS = 3600.0  # after a job, whatever became of it
_LOOK_SECONDS = 30.0


class OwnJob(ABC):
    """Looks at the store at the worker's start and every 30 s, which is one read of memory.db."""

    kind: ClassVar[str]
    payload: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, workspace: Workspace, settings: Settings, ledger: Ledger) -> None:
        self._workspace = workspace
        self._settings = settings
        self._ledger = ledger
        self._next_look = self._next_job = time.monotonic()

    def scan(self, now: float) -> None:
        """Drop the job if the store needs one and none waits or runs. ``now`` is of the monotonic clock.

        Raises OSError.
        """
        if now < self._next_look:
            return
        self._next_look = now + _LOOK_SECONDS
        if now < self._next_job or any(record.kind == self.kind for record in self._ledger.live()):
            return
        try:
            trust.require_trusted(self._workspace, self._settings.config_folder)  # reading creates files beside a store
            is_needed = self.is_needed()
        except JobError:
            return  # each job reports it
        if is_needed:
            self._next_job = now + _AGAIN_SECONDS
            job = client.submit(self._workspace.spool, self.kind, dict(self.payload), submitted_by="worker")
            log.info("the store needs a job %s, which was dropped: %s", self.kind, job.job_id)

    @abstractmethod
    def is_needed(self) -> bool:
        """Whether the store needs the job. Raises JobError where memory.db cannot be read."""


def may_ask(settings: Settings) -> bool:
    """Whether there is a model that may be asked."""
    is_allowed = settings.review_with_llm and settings.llm_calls_per_job and settings.llm_calls_per_day
    can_ask = llm.is_configured(settings) and (settings.llm_tool or installed.is_installed())
    return bool(is_allowed and can_ask)


class Judging(OwnJob):
    """The job."""

    kind = "judge"

    def is_needed(self) -> bool:
        if not may_ask(self._settings):
            return False
        from bridge.search.standings import is_doubtful  # an idle worker without a model holds no search

        with reader_of(self._workspace).lists() as lists:
            return lists is not None and any(map(is_doubtful, lists.unsaid()))


class Reembedding(OwnJob):
    """The job."""

    kind = "rebuild"
    payload = {"what": "index"}

    def is_needed(self) -> bool:
        return changes_by_itself(opening.embedder_of(self._workspace), self._settings.embedding)
