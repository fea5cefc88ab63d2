"""The outbox relay: delivers the changes that memory.db has committed to the knowledge graph.

It writes to the graph, syncs, and only then deletes the outbox entry. After a crash at any point the entry is delivered
again, which is harmless, since every node has a derived id. The outbox itself is in ``store/outbox``.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from jobs import steps
from jobs.errors import JobError

from ..embedding.embedder import is_text_rejected
from ..memory import Memory
from ..slices import AdaptiveBatch, Progress, Slices
from ..store import values
from ..store.values import OutboxEntry

if TYPE_CHECKING:
    from ..store.store import Store
    from .cognee_store import CogneeStore

log = logging.getLogger(__name__)

_BATCH = 100  # memories per write to the graph, at most
_FIRST_BATCH = 25  # of sliced work, while the time of a write is unknown
_SMALLEST_BATCH = 25  # of sliced work; the first memory of a write costs as much as the next ten


class OutboxRelay:
    """Delivers outbox entries.

    ``store`` and ``graph`` return the present objects, since another job may close and reopen either. ``close_graph``
    closes the graph after a failure.
    """

    def __init__(
        self, store: Callable[[], Store], graph: Callable[[], CogneeStore], close_graph: Callable[[], None]
    ) -> None:
        self._store = store
        self._graph = graph
        self._close_graph = close_graph

    def deliver(self, memory_ids: Sequence[str]) -> dict[str, JobError]:
        """Deliver the entries of these memories.

        Returns memory id -> error for the memories that cognee rejected. Raises JobError for failures that are not a
        memory's: GRAPH_UNAVAILABLE, DISK_FULL, and errors of the embedding provider.
        """
        errors: dict[str, JobError] = {}
        ids = list(dict.fromkeys(memory_ids))
        self._graph()  # first, since opening it may enqueue all memories
        for start in range(0, len(ids), _BATCH):
            part = ids[start : start + _BATCH]
            while entries := self._store().outbox.pending(_BATCH, [i for i in part if i not in errors]):
                errors |= self._deliver(entries)
        return errors

    def deliver_all(self, progress: Progress, seconds: float = math.inf) -> int:
        """Deliver all entries that were not rejected since the graph was opened, in slices, for about so many seconds
        after the graph is open. Returns how many were delivered or rejected. Raises as ``deliver``.
        """
        self._graph()
        outbox = self._store().outbox
        done, batch = 0, AdaptiveBatch(_FIRST_BATCH, _BATCH, _SMALLEST_BATCH)
        slices = Slices(progress, "writing the knowledge graph", outbox.lag().changes)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and (entries := self._store().outbox.pending(batch.size, untried=True)):
            with batch:
                self._deliver(entries)
            done += len(entries)
            slices.advance(len(entries))
        return done

    def _deliver(self, entries: Sequence[OutboxEntry]) -> dict[str, JobError]:
        """Deliver entries together. If cognee rejects them, deliver each alone, so that only the bad ones fail."""
        try:
            self._apply(self._graph(), entries)
        except JobError as error:
            if error.code == "GRAPH_UNAVAILABLE" or error.code == "DISK_FULL":
                self._close_graph()  # otherwise its lock would block the next opening
            if error.code != "GRAPH_WRITE_FAILED" and not is_text_rejected(error):  # not the memories' failure
                raise
            if len(entries) > 1:
                errors: dict[str, JobError] = {}
                for entry in entries:
                    errors |= self._deliver([entry])
                return errors
            self._store().outbox.rejected(entries[0], error.code)
            return {entries[0].memory_id: error}
        self._store().outbox.delivered(entries)
        return {}

    def _apply(self, graph: CogneeStore, entries: Sequence[OutboxEntry]) -> None:
        """Write the present state of the entries' memories to the graph, whatever change each entry recorded."""
        ids = list(dict.fromkeys(entry.memory_id for entry in entries))
        shown = {memory.id: memory for memory in map(self._shown, ids) if memory is not None}
        gone = [memory_id for memory_id in ids if memory_id not in shown]
        with steps.fault_point("graph.write"):
            # A topic's node may have its name from a removed memory, so it first gets that of a remaining one.
            for successor in map(self._store().newest_about, graph.topics(gone)):
                if successor is not None:
                    shown.setdefault(successor.id, successor)
            graph.write(list(shown.values()), self._store().expected_graph.superseded(list(shown)))
            graph.delete(gone)
            self._apply_extractions(graph, list(shown), gone)
        with steps.fault_point("graph.sync"):
            graph.sync()

    def _apply_extractions(self, graph: CogneeStore, written: Sequence[str], gone: Sequence[str]) -> None:
        """Write the extractions of the written memories, and remove those of the removed ones."""
        kept = self._store().extractions
        if found := kept.of(written):
            graph.write_findings(values.together(found.values()))
        if found := kept.of(gone):
            graph.remove_findings(kept.alone(values.together(found.values()), gone))

    def _shown(self, memory_id: str) -> Memory | None:
        """The memory; None if it is hidden or removed, since the graph holds neither."""
        store = self._store()
        return None if store.is_hidden(memory_id) else store.get(memory_id)
