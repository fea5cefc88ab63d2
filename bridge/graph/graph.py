"""The knowledge graph of a workspace: when it is opened, made again, filled, compared, rewritten and closed.

It is derived from the memory store. How it is written is in ``outbox_relay`` and ``cognee_store``.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jobs import clock, steps
from jobs.errors import JobError

from ..slices import Progress, Slices, ignore_progress
from ..store import values
from . import earlier_stores, graph_files, installed
from .outbox_relay import OutboxRelay

if TYPE_CHECKING:
    from ..store.open_store import OpenStore
    from ..store.store import Store
    from .cognee_audit import GraphComparison
    from .cognee_store import CogneeStore

log = logging.getLogger(__name__)

_DEADLY_OPENINGS = 2  # deaths while opening, in a row, after which the graph counts as damaged; one may be a kill
_LOG_BYTES_LEFT = 4 * 1024 * 1024  # of the graph; maintenance checkpoints only a larger log


class Graph:
    """Not thread-safe."""

    def __init__(self, memory: OpenStore) -> None:
        """``memory``: the store from which the graph is made."""
        self._memory = memory
        self._cognee: CogneeStore | None = None
        self._is_rebuilding = False
        self._was_damaged = False  # since it was last closed well
        self._relay = OutboxRelay(lambda: memory.store, self.open, lambda: self.close(cleanly=False))

    def is_in_place(self) -> bool:
        """Whether an open graph's files are still the workspace's."""
        return self._cognee is None or self._cognee.is_in_place()

    def open(self) -> CogneeStore:
        """The graph in cognee's stores, opened if necessary, and again if it was found broken. Get it again after each
        pause, since another job may have closed it.

        A damaged graph is quarantined and made again from memory.db. It is never mended.

        Raises JobError: GRAPH_NOT_INSTALLED, GRAPH_UNAVAILABLE.
        """
        if self._cognee is not None and self._cognee.is_broken:
            self.close(cleanly=False)
        if self._cognee is None:
            installed.require()
            store = self._memory.store
            with self._memory.loading(), steps.fault_point("graph.open"):
                self._cognee = self._open(store)
        return self._cognee

    def _open(self, store: Store) -> CogneeStore:
        now = clock.iso(clock.now())
        outbox = store.outbox
        deaths = outbox.note_opening()
        try:
            if outbox.graph_model() not in (None, self._memory.embedder.identity):
                self._start_from_scratch(store, "It was made with another embedding model.", now)
            elif not outbox.stores_are_ours() and self._make_room(now):
                pass  # the graph begins empty
            elif deaths >= _DEADLY_OPENINGS:
                self._start_from_scratch(store, f"Opening it ended its process {deaths} times in a row.", now)
            return self._open_or_remake(store, now)
        except BaseException:
            store.outbox.note_survived()
            raise

    def _make_room(self, now: str) -> bool:
        """Move stores away that memory.db does not know: another program's, for a migration to read, or those of a
        memory.db that was removed, whose memories must not be found in the graph. Returns whether there were any."""
        if graph_files.has_our_memories(self._memory.workspace):
            graph_files.quarantine_all(self._memory.workspace, f"graph-{now}")
            return True
        moved = earlier_stores.archive(self._memory.workspace)
        if moved is not None:
            log.warning("cognee's stores were another's: moved to %s, for a migration to read", moved.name)
        return moved is not None

    def _start_from_scratch(self, store: Store, why: str, now: str) -> None:
        log.warning("the graph is made again. %s", why)
        # First, since until then it is known to which memories the old vectors belong.
        graph_files.quarantine(self._memory.workspace, f"graph-{now}")
        store.outbox.forget_graph()

    def _open_or_remake(self, store: Store, now: str) -> CogneeStore:
        """A damaged graph is made again; what was made so and not closed well since is not made a second time."""
        try:
            return self._open_ours(store, now)
        except graph_files.GraphDamaged as error:
            if self._was_damaged:
                raise
            self._was_damaged = True
            self._start_from_scratch(store, error.message, now)
            return self._open_ours(store, now)

    def _open_ours(self, store: Store, now: str) -> CogneeStore:
        with installed.importing():
            from .cognee_store import CogneeStore  # not at the top: it takes seconds and hundreds of megabytes

        outbox = store.outbox
        was_closed = outbox.graph_was_closed()
        graph = CogneeStore(self._memory.workspace, self._memory.embedder, store.embed)
        is_new = not graph.open() or outbox.graph_model() is None
        try:
            if is_new:
                log.info("the graph is made from %d memories", outbox.enqueue_all(now))
            outbox.note_opened(self._memory.embedder.identity)
            if not is_new and not (was_closed and self._has_enough(graph, store)):
                self._require_whole(graph, store)
        except BaseException:
            graph.close()  # otherwise the next opening would open the files twice
            raise
        return graph

    @staticmethod
    def _has_enough(graph: CogneeStore, store: Store) -> bool:
        """Whether the graph has at least as many memories as were delivered. Cheap; it detects a lost table."""
        return graph.memory_count() >= store.count() - len(store.outbox.undelivered_ids())

    @staticmethod
    def _require_whole(graph: CogneeStore, store: Store) -> None:
        """Compare the graph with the delivered memories. Raises GraphDamaged when it lacks any."""
        missing = graph.missing(store.expected_graph, store.outbox.undelivered_ids())
        if missing:
            raise graph_files.GraphDamaged(f"It lacks {len(missing)} of {store.count()} memories.")

    def compare(self, **wanted: Any) -> GraphComparison:
        """Compare the graph as it is with the expected content (the fields of ``cognee_audit.Wanted``).

        Repairs, enqueues and records nothing, and lets no other job run meanwhile. Raises JobError:
        GRAPH_NOT_INSTALLED, GRAPH_UNAVAILABLE, MODEL_MISSING.
        """
        installed.require()
        embedder = self._memory.embedder
        with self._memory.loading(), installed.importing():
            from .cognee_audit import Wanted  # not at the top: it takes seconds and hundreds of megabytes
            from .cognee_store import CogneeStore
        if self._cognee is not None:
            return self._cognee.compare(Wanted(**wanted))
        graph = CogneeStore(self._memory.workspace, embedder, embedder.embed)
        graph.open()
        try:
            return graph.compare(Wanted(**wanted))
        finally:
            graph.close()

    def close(self, *, cleanly: bool = True) -> None:
        """Checkpoint and close the graph. With ``cleanly=False`` it is recorded as not closed, so that the next opening
        compares it in full."""
        graph, self._cognee = self._cognee, None
        if graph is None:
            return
        is_clean = graph.close() and cleanly
        self._was_damaged = self._was_damaged and not is_clean
        store = self._memory.store_if_open()
        if store is not None:
            store.outbox.note_closed() if is_clean else store.outbox.note_survived()

    def lag(self) -> int | None:
        """How many changes the graph lacks, as ``Outbox.lag``; None while the store is not open, where the graph is not
        installed, and in a team, where a machine never makes the graph by itself."""
        store = self._memory.store_if_open()
        if store is None or self._memory.team_if_open() is not None or not installed.is_installed():
            return None
        return store.outbox.lag().changes

    def deliver(self, memory_ids: Sequence[str]) -> dict[str, JobError]:
        """As ``OutboxRelay.deliver``; nothing where the graph is not installed."""
        return self._relay.deliver(memory_ids) if installed.is_installed() else {}

    def deliver_all(self, progress: Progress = ignore_progress, seconds: float = math.inf) -> int:
        """Bring the graph up to date, as ``OutboxRelay.deliver_all``. It opens the graph first, which loads cognee once
        per process. A failure is noted for whoever asks how far the graph is."""
        if self._cognee is None:
            message = "opening the knowledge graph; what is stored can be found"
            progress({"done": 0, "total": 1, "message": message})
        try:
            return self._relay.deliver_all(progress, seconds)
        except JobError as error:
            store = self._memory.store_if_open()
            if store is not None and installed.is_installed():
                store.outbox.note_failure(error.code)
            raise

    def rebuild(self, now: str, progress: Progress = ignore_progress) -> int:
        """Rebuild the whole graph from memory.db and quarantine the old one. Returns the number of memories written.

        Raises JobError: GRAPH_NOT_INSTALLED, STORE_BUSY during another rebuild, and as ``deliver_all``.
        """
        installed.require()
        if self._is_rebuilding:
            raise JobError("STORE_BUSY", "The graph is being rebuilt.")
        self._is_rebuilding = True
        try:
            store = self._memory.store
            self.close(cleanly=False)
            self._start_from_scratch(store, "It is to be rebuilt.", now)
            self.deliver_all(progress)
            return store.count() - len(store.outbox.undelivered_ids())
        finally:
            self._is_rebuilding = False

    @property
    def is_editable(self) -> bool:
        """Whether memories can be removed from the graph as it is: its files exist, and cognee is installed."""
        is_ours = self._memory.store.outbox.graph_model() is not None
        return is_ours and graph_files.store_exists(self._memory.workspace) and installed.is_installed()

    def _remove(self) -> None:
        """Remove cognee's stores, with its copies of texts. The next job that needs the graph makes it again from
        memory.db. Idempotent. Raises JobError: STORE_BUSY during a rebuild of it."""
        if self._is_rebuilding:
            raise JobError("STORE_BUSY", "The graph is being rebuilt.")
        self.close(cleanly=False)
        earlier_stores.remove_present(self._memory.workspace)
        self._memory.store.outbox.forget_graph()  # last, since until then it is known that there were stores to remove

    def scrub(self) -> None:
        """Rewrite cognee's files that contain deleted bytes: the vectors, the graph and cognee's own database.

        Call it when the outbox is delivered. Closes the graph. Idempotent; an interruption leaves each store intact,
        old or new. Raises JobError: GRAPH_UNAVAILABLE, DISK_FULL, GRAPH_WRITE_FAILED, STORE_BUSY.
        """
        if self._is_rebuilding:
            raise JobError("STORE_BUSY", "The graph is being rebuilt.")
        if not graph_files.store_exists(self._memory.workspace):
            return
        graph = self.open()
        self._memory.store.outbox.note_survived()  # if the process dies in here, opening the graph is not the cause
        with steps.fault_point("graph.scrub"):
            graph.scrub()
            self.close()
            graph_files.rewrite(self._memory.workspace)
            graph_files.vacuum(self._memory.workspace)

    def forget_extractions(self, memory_ids: Sequence[str]) -> None:
        """Remove the extractions of these memories' texts, and cognee's copies of the texts; the whole graph, if it
        cannot be edited. Idempotent.

        Nodes and edges that other memories share are kept. Raises JobError: GRAPH_UNAVAILABLE, DISK_FULL,
        GRAPH_WRITE_FAILED.
        """
        stored = self._memory.store.extractions
        if not self.is_editable:
            self._remove()
        else:
            known = stored.of(memory_ids).values()
            graph = self.open()
            extraction = values.together([*known, graph.written_of(memory_ids)])
            if own := stored.alone(extraction, memory_ids):
                graph.remove_findings(own)
            graph.clear_texts(memory_ids)
            graph.sync()
            self._memory.store.outbox.note_survived()  # if the process dies later, opening the graph is not the cause
        with self._memory.store.change(clock.iso(clock.now())) as change:
            change.extractions_to_drop += memory_ids

    def compact(self, progress: Progress = ignore_progress) -> None:
        """Compact the vector tables of an open graph that have overgrown."""
        tables = self._cognee.overgrown() if self._cognee is not None else []
        slices = Slices(progress, "compacting the vector tables", len(tables))
        for table in tables:
            if self._cognee is not None:  # another job may have closed it in a pause
                self._cognee.compact(table)
                slices.advance(1)

    def checkpoint(self) -> None:
        """Checkpoint an open graph whose log is large. Raises JobError; then the next opening compares it in full."""
        if self._cognee is not None:
            try:
                self._cognee.checkpoint(_LOG_BYTES_LEFT)
            except JobError:
                self.close(cleanly=False)
                raise
