"""The child's stores, each opened when it is first needed: memory.db at once, cognee only for the graph.

Pays the outbox: what memory.db has committed is carried over to the knowledge graph.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from jobs import clock
from jobs.errors import JobError, Reaction
from jobs.layout import Workspace

from . import graph_files
from .embedder import Embedder, create
from .memory import Memory
from .settings import Settings
from .store import Owed, Store

if TYPE_CHECKING:
    from .cognee_store import CogneeStore

log = logging.getLogger(__name__)

_LOCK_PATIENCE_SECONDS = 15.0  # a former worker's child may still be closing its stores
_TOGETHER = 100  # memories of one write of the graph


class Stores:
    """A context: on leaving it, what was opened is closed in order."""

    def __init__(self, workspace: Workspace, settings: Settings) -> None:
        self._workspace = workspace
        self._settings = settings
        self._embedder: Embedder | None = None
        self._store: Store | None = None
        self._graph: CogneeStore | None = None

    def __enter__(self) -> Stores:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._graph is not None:
            self._graph.close()
        if self._store is not None:
            self._store.checkpoint()
            self._store.close()

    @property
    def embedder(self) -> Embedder:
        if self._embedder is None:
            self._embedder = create(self._settings.embedding, bulk=True)
        return self._embedder

    @property
    def store(self) -> Store:
        """Raises STORE_BUSY, STORE_NEWER, STORE_UNREADABLE, EMBEDDER_MISMATCH, MODEL_MISSING."""
        return self.open_store()

    def open_store(self, *, new_model: bool = False) -> Store:
        """The store, opened at first; ``new_model`` for the rebuild that a new embedding model needs."""
        if self._store is not None and self._store.model_changed and not new_model:
            self._store.close()  # a rebuild was cut off: what it left is of the former model still
            self._store = None
        if self._store is None:
            deadline = time.monotonic() + _LOCK_PATIENCE_SECONDS
            while True:
                try:
                    self._store = Store(self._workspace, self.embedder, new_model=new_model)
                    break
                except JobError as error:
                    if error.code != "STORE_BUSY" or time.monotonic() > deadline:
                        raise
                    time.sleep(0.1)
        return self._store

    @property
    def graph(self) -> CogneeStore:
        """Raises GRAPH_UNAVAILABLE."""
        if self._graph is None:
            from .cognee_store import CogneeStore  # seconds and hundreds of megabytes

            now = clock.iso(clock.now())
            if self.store.graph_is_of_another_model():
                graph_files.set_aside(self._workspace, now)
                self._owe_everything("made with another embedding model", now)
            graph = CogneeStore(self._workspace, self.embedder, self.store.embed)
            found = graph.open()
            if found in ("set aside", "absent") and self.store.graph_was_there():
                self._owe_everything("damaged" if found == "set aside" else "gone", now)
            self.store.graph_was_opened()
            self._graph = graph
        return self._graph

    def _owe_everything(self, why: str, now: str) -> None:
        owed = self.store.owe_everything(now)
        log.warning("the graph was %s: it is written anew from %d memories", why, owed)

    def graph_lag(self) -> int | None:
        """How many changes the graph has not been told yet; None while the store is not open."""
        return None if self._store is None else self._store.owed_count()

    def pay(self, memory_ids: Sequence[str]) -> dict[str, JobError]:
        """Bring the graph up to date with the memories, and with what else is owed as far as it goes.

        Returns the errors of those of the memories that cognee refused. Raises GRAPH_UNAVAILABLE.
        """
        errors: dict[str, JobError] = {}
        ids = list(dict.fromkeys(memory_ids))
        if self.store.owed_count() == 0:
            return errors
        graph = self.graph  # opening it may put everything into the outbox, so it comes first
        for start in range(0, len(ids), _TOGETHER):
            part = ids[start : start + _TOGETHER]
            while entries := self.store.owed(_TOGETHER, [i for i in part if i not in errors]):
                errors |= self._pay_entries(graph, entries)
        self._pay_rest(graph)
        return errors

    def _pay_rest(self, graph: CogneeStore) -> None:
        """Entries of earlier jobs and of a rebuilt graph; what was refused waits for its job, or the next child."""
        while entries := self.store.owed(_TOGETHER, untried=True):
            self._pay_entries(graph, entries)

    def _pay_entries(self, graph: CogneeStore, entries: Sequence[Owed]) -> dict[str, JobError]:
        """Pay what can be paid. After a refusal of many, each is tried alone, so that one bad one fails alone."""
        try:
            self._tell(graph, entries)
        except JobError as error:
            if error.reaction is Reaction.WAIT:  # no fault of the memories
                graph.close()  # else its own lock would be in the way of the next opening
                self._graph = None
                raise
            if len(entries) > 1:
                errors: dict[str, JobError] = {}
                for entry in entries:
                    errors |= self._pay_entries(graph, [entry])
                return errors
            self.store.not_paid(entries[0], error.code)
            return {entries[0].memory_id: error}
        self.store.paid(entries)
        return {}

    def _tell(self, graph: CogneeStore, entries: Sequence[Owed]) -> None:
        memories: dict[str, Memory] = {}
        for entry in entries:
            memory = self.store.get(entry.memory_id)
            if memory is not None:
                memories[memory.id] = memory
        whole = [memories[e.memory_id] for e in entries if e.action == "write" and e.memory_id in memories]
        graph.write(list({memory.id: memory for memory in whole}.values()))
        written = {memory.id for memory in whole}
        for entry in entries:
            if entry.action == "status" and entry.memory_id in memories and entry.memory_id not in written:
                graph.set_status(memories[entry.memory_id])

    def rebuild_graph(self, now: str, progress: Callable[[dict[str, Any]], None]) -> int:
        """Write the whole graph anew from memory.db; what cognee held is set aside. Returns the memories written."""
        if self._graph is not None:
            self._graph.close()
            self._graph = None
        graph_files.set_aside(self._workspace, now)
        total = self.store.owe_everything(now)
        done = 0
        graph = self.graph
        while entries := self.store.owed(_TOGETHER, untried=True):
            self._pay_entries(graph, entries)
            done += len(entries)
            progress({"done": done, "total": total, "message": "writing the knowledge graph"})
        return total - self.store.owed_count()
