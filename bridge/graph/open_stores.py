"""The child process's stores, opened when they are first needed: the memory store, and cognee only for the graph."""

from __future__ import annotations

import logging
from datetime import datetime
from functools import cached_property, partial
from typing import Any

from jobs import clock
from jobs.errors import JobError

from .. import trust
from ..slices import Progress, ignore_progress
from ..store.open_store import OpenStore
from . import installed, llm
from .graph import Graph
from .llm_budget import Meter

log = logging.getLogger(__name__)


class Stores(OpenStore):
    """The memory store with its graph, as a context that closes them in order. Not thread-safe."""

    _checked_marks: tuple[object, ...] = ()  # of the folders when their trust was checked

    @cached_property
    def graph(self) -> Graph:
        """The graph of these memories, which is opened when something needs it."""
        return Graph(self)

    def __enter__(self) -> Stores:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the graph, then as ``OpenStore.close``."""
        self.graph.close()
        super().close()

    def are_in_place(self) -> bool:
        """Whether the open stores are still the workspace's. If not, what was read from them or written to them since
        does not count."""
        return (self._store is None or self._store.is_in_place()) and self.graph.is_in_place()

    def renew(self) -> None:
        """Close stores that are no longer in place, so that the next use opens what is there now, and create the
        workspace's folders that were removed. Before it opens a store, the folders must be this user's. Call it before
        an operation, and not in the pause of another one.

        Raises JobError: WORKSPACE_NOT_TRUSTED for a folder that appeared from elsewhere, WORKSPACE_MOVED.
        """
        if not self.are_in_place():
            log.warning("the memory's files were removed or replaced: they are opened again")
            self.close()
        marks = trust.marks(self.workspace)
        if None in marks or (self._store is None and marks != self._checked_marks):
            trust.recreate(self.workspace, self.settings.config_folder)
            self._checked_marks = trust.marks(self.workspace)

    def meter(self, job_id: str) -> Meter:
        """The meter of an attempt for calls to the language model's provider. Raises JobError: LLM_NOT_CONFIGURED,
        LLM_CONFIG."""
        llm.require_provider(self.settings)
        return Meter(self.store.llm_usage, self.settings, job_id, clock.now)

    def asker(self, job_id: str, tool: str | None = None, model: str | None = None) -> partial[Any]:
        """Asks the language model on the budget of an attempt of the job: as ``tool_model.ask``, if this tool or the
        settings name one, else as ``cognee_llm.ask``. Raises as ``meter``, and GRAPH_NOT_INSTALLED."""
        tool = tool or self.settings.llm_tool
        if tool is not None:
            from . import tool_model  # not at the top: few processes need it

            meter = Meter(self.store.llm_usage, self.settings, job_id, clock.now)
            return partial(tool_model.ask, meter, tool, model)
        meter = self.meter(job_id)
        if not installed.is_installed():
            why = "The language model is asked through cognee, which comes with the knowledge graph."
            raise JobError("GRAPH_NOT_INSTALLED", why)
        with self.loading():
            with installed.importing():
                from . import cognee_process  # noqa: F401 - with cognee; the gate needs LiteLLM, ready only afterwards
            from .cognee_llm import ask  # not at the top: it takes seconds and hundreds of megabytes
        return partial(ask, meter)

    def rebuild_vectors(self, progress: Progress = ignore_progress) -> int:
        """As ``OpenStore.rebuild_vectors``. A graph with vectors of the earlier model is closed: the next opening makes
        it again."""
        former = self._embedder
        count = super().rebuild_vectors(progress)
        if self._embedder is not former:
            self.graph.close()
        return count

    def maintain(self, now: datetime | None = None, progress: Progress = ignore_progress) -> None:
        """The maintenance of an idle child: compact, checkpoint, clean up. It opens no store."""
        self.graph.compact(progress)
        if self._store is not None:
            self._store.maintain(now or clock.now())
        self.graph.checkpoint()
