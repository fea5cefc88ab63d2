"""Paying the outbox: what memory.db has committed is carried over to the knowledge graph.

Written, then synced, and only then is the debt deleted; a crash anywhere is mended by paying again, since every node
has a derived id.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from jobs import steps
from jobs.errors import JobError

from ..embedding.embedder import is_text_rejected
from ..memory import Memory
from ..slices import AdaptiveBatch, Progress, Slices
from ..store import extractions
from ..store.extractions import Extraction
from ..store.outbox import OutboxEntry
from ..store.protocol import Store

log = logging.getLogger(__name__)

_TOGETHER = 100  # memories of one write of the graph
_FIRST = 25  # of work in slices: how long a write takes is not known yet
_LEAST = 25  # of these: the first memory of a write costs as much as the next ten
_REST_SECONDS = 1.0  # how much of other jobs' debts a job pays along with its own


class Graph(Protocol):
    """What the knowledge graph takes."""

    def write(self, memories: Sequence[Memory], superseded: Sequence[tuple[str, str]] = ()) -> None: ...

    def set_status(self, memory: Memory) -> None: ...

    def topics(self, memory_ids: Sequence[str]) -> list[str]: ...

    def delete(self, memory_ids: Sequence[str]) -> None: ...

    def write_findings(self, found: Extraction) -> None: ...

    def remove_findings(self, found: Extraction) -> None: ...

    def sync(self) -> None: ...


class OutboxRelay:
    """``store`` and ``graph`` give what is open now: another job may have closed and opened either meanwhile."""

    def __init__(self, store: Callable[[], Store], graph: Callable[[], Graph], let_go: Callable[[], None]) -> None:
        self._store = store
        self._graph = graph
        self._let_go = let_go

    def deliver(self, memory_ids: Sequence[str]) -> dict[str, JobError]:
        """Pay what is owed of these memories, then of the others for a moment.

        Returns the errors of those of the memories that cognee refused. Raises what is no fault of a memory.
        """
        errors: dict[str, JobError] = {}
        ids = list(dict.fromkeys(memory_ids))
        if self._store().outbox.count() == 0:
            return errors
        self._graph()  # opening it may put everything into the outbox, so it comes first
        for start in range(0, len(ids), _TOGETHER):
            part = ids[start : start + _TOGETHER]
            while entries := self._store().outbox.pending(_TOGETHER, [i for i in part if i not in errors]):
                errors |= self._deliver(entries)
        try:
            self._deliver_rest(_REST_SECONDS)
        except JobError as error:  # the given ones are paid: it is not their trouble
            # The code alone: a provider's own words may quote the text.
            log.warning("of what else the graph is owed something could not be paid: %s", error.code)
        return errors

    def _deliver_rest(self, seconds: float) -> None:
        """Entries of earlier jobs and of a rebuilt graph; what was refused waits for its job, or the next opening."""
        deadline = time.monotonic() + seconds
        portion = AdaptiveBatch(_FIRST, _TOGETHER, _LEAST)
        while time.monotonic() < deadline and (entries := self._store().outbox.pending(portion.size, untried=True)):
            with portion:
                self._deliver(entries)

    def deliver_all(self, progress: Progress) -> int:
        """Pay everything that was not refused, in slices. Returns how many entries were paid or refused."""
        outbox = self._store().outbox
        done, portion = 0, AdaptiveBatch(_FIRST, _TOGETHER, _LEAST)
        if outbox.count() == 0:
            return done
        self._graph()
        slices = Slices(progress, "writing the knowledge graph", outbox.count())
        while entries := self._store().outbox.pending(portion.size, untried=True):
            with portion:
                self._deliver(entries)
            done += len(entries)
            slices.done(len(entries))
        return done

    def _deliver(self, entries: Sequence[OutboxEntry]) -> dict[str, JobError]:
        """Pay what can be paid. After a refusal of many, each is tried alone, so that one bad one fails alone."""
        try:
            self._apply(self._graph(), entries)
        except JobError as error:
            if error.code == "GRAPH_UNAVAILABLE" or error.code == "DISK_FULL":
                self._let_go()  # else its own lock would be in the way of the next opening
            if error.code != "GRAPH_WRITE_FAILED" and not is_text_rejected(error):  # no fault of the memories
                raise
            if len(entries) > 1:
                errors: dict[str, JobError] = {}
                for entry in entries:
                    errors |= self._deliver([entry])
                return errors
            self._store().outbox.not_paid(entries[0], error.code)
            return {entries[0].memory_id: error}
        self._store().outbox.paid(entries)
        return {}

    def _apply(self, graph: Graph, entries: Sequence[OutboxEntry]) -> None:
        """What of a memory the graph is told is how the memory is now, whatever it was owed for."""
        ids = list(dict.fromkeys(entry.memory_id for entry in entries))
        memories = {memory.id: memory for memory in map(self._shown, ids) if memory is not None}
        whole = {e.memory_id: memories[e.memory_id] for e in entries if e.action == "write" and e.memory_id in memories}
        gone = [memory_id for memory_id in ids if memory_id not in memories]
        with steps.fault_point("graph.write"):
            # A topic's name may be that of a memory that goes: first it gets the name of one that stays.
            for heir in map(self._store().newest_about, graph.topics(gone)):
                if heir is not None:
                    whole.setdefault(heir.id, heir)
            graph.write(list(whole.values()), self._store().superseded(list(whole)))
            graph.delete(gone)
            self._apply_extractions(graph, list(whole), gone)
            for entry in entries:
                if entry.action == "status" and entry.memory_id in memories and entry.memory_id not in whole:
                    graph.set_status(memories[entry.memory_id])
        with steps.fault_point("graph.sync"):
            graph.sync()

    def _apply_extractions(self, graph: Graph, written: Sequence[str], gone: Sequence[str]) -> None:
        """What cognee found in a memory's text comes and goes with it."""
        kept = self._store().extractions
        if found := kept.of(written):
            graph.write_findings(extractions.together(found.values()))
        if found := kept.of(gone):
            graph.remove_findings(kept.alone(extractions.together(found.values()), gone))

    def _shown(self, memory_id: str) -> Memory | None:
        """The memory, unless it is hidden or gone: the graph has none of these."""
        store = self._store()
        return None if store.is_hidden(memory_id) else store.get(memory_id)
