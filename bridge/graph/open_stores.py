"""The child's stores, each opened when it is first needed: memory.db at once, cognee only for the graph."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from jobs import clock, steps
from jobs.errors import JobError
from jobs.layout import Workspace

from ..embedding.embedder import Embedder
from ..embedding.factory import create
from ..memory import Memory
from ..settings import Settings
from ..slices import Progress, Slices, ignore_progress
from ..store import extractions, memories, mounts
from ..store.memory_store import MemoryStore
from ..store.protocol import Memories, Store
from . import earlier_stores, graph_files, llm
from .llm_budget import Meter
from .outbox_relay import OutboxRelay

if TYPE_CHECKING:
    from .cognee_audit import GraphComparison
    from .cognee_store import CogneeStore

log = logging.getLogger(__name__)

_LOCK_PATIENCE_SECONDS = 15.0  # a former worker's child may still be closing its stores
_DEADLY_OPENINGS = 2  # in a row, with nothing paid: damage may end its reader, and one may have been killed
_COMPARED_TOGETHER = 500  # memories
_LOG_BYTES_LEFT = 4 * 1024 * 1024  # of the graph, by maintenance: less is not worth a checkpoint


class Stores:
    """A context: on leaving it, what was opened is closed in order."""

    def __init__(
        self, workspace: Workspace, settings: Settings, loading: Callable[[bool], None] = lambda _: None
    ) -> None:
        """``loading`` is told when something that takes seconds once a process begins, and when it is there."""
        self._workspace = workspace
        self._settings = settings
        self._on_loading = loading
        self._embedder: Embedder | None = None
        self._store: Store | None = None
        self._graph: CogneeStore | None = None
        self._is_graph_rebuilding = False
        self._relay = OutboxRelay(lambda: self.store, lambda: self.graph, lambda: self._close_graph(cleanly=False))

    def __enter__(self) -> Stores:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close_graph()
        if self._store is not None:
            self._store.checkpoint()
            self._store.close()

    @contextmanager
    def _loading(self) -> Iterator[None]:
        self._on_loading(True)
        try:
            yield
        finally:
            self._on_loading(False)

    @property
    def workspace(self) -> Workspace:
        return self._workspace

    @property
    def settings(self) -> Settings:
        return self._settings

    def meter(self, job_id: str) -> Meter:
        """What an attempt of the job may ask of the language model. Raises LLM_NOT_CONFIGURED, LLM_CONFIG."""
        llm.require(self._settings)
        return Meter(self.store.llm_usage, self._settings, job_id, clock.now)

    def asker(self, job_id: str) -> partial[Any]:
        """``cognee_llm.ask`` at the expense of an attempt of the job. Raises as ``meter`` does."""
        meter = self.meter(job_id)
        with self._loading():
            from .cognee_llm import ask  # seconds and hundreds of megabytes
        return partial(ask, meter)

    @property
    def embedder(self) -> Embedder:
        if self._embedder is None:
            with self._loading():
                self._embedder = create(self._settings.embedding, bulk=True)
        return self._embedder

    @property
    def store(self) -> Store:
        """Raises STORE_BUSY, STORE_NEWER, STORE_UNREADABLE, EMBEDDER_MISMATCH, MODEL_MISSING."""
        return self.open_store()

    def open_store(self, *, new_model: bool = False) -> Store:
        """The store, opened at first; ``new_model`` for the rebuild that a new embedding model needs."""
        if self._store is not None and self._store.model_changed and not new_model:
            if self._store.is_rebuilding:  # we are in a pause of it
                raise JobError("EMBEDDER_MISMATCH", "The store is being rebuilt with another embedding model.")
            self._store.close()  # a rebuild was cut off: what it left is of the former model still
            self._store = None
        if self._store is None:
            deadline = time.monotonic() + _LOCK_PATIENCE_SECONDS
            while True:
                try:
                    mounts.require_safe(self._workspace, self._settings.allow_unsafe_mount)
                    embedder = self.embedder
                    with self._loading():  # what it finds damaged, it makes anew
                        self._store = MemoryStore(self._workspace, embedder, new_model=new_model)
                    break
                except JobError as error:
                    if error.code != "STORE_BUSY" or time.monotonic() > deadline:
                        raise
                    time.sleep(0.1)
        return self._store

    def reading(self) -> AbstractContextManager[Memories]:
        """The memories as they are, without opening the store: none where nothing was ever stored.

        Raises STORE_NEWER, STORE_UNREADABLE, STORE_BUSY.
        """
        return memories.reading(self._workspace)

    # --- the graph ---

    @property
    def graph(self) -> CogneeStore:
        """The graph as it is open now; to be asked for again after each pause. Raises GRAPH_UNAVAILABLE."""
        if self._graph is None:
            store = self.store
            with self._loading(), steps.fault_point("graph.open"):
                self._graph = self._open_graph(store)
        return self._graph

    def _open_graph(self, store: Store) -> CogneeStore:
        now = clock.iso(clock.now())
        outbox = store.outbox
        died = outbox.note_opening()
        try:
            if outbox.graph_model() not in (None, self.embedder.identity):
                self._start_from_scratch(store, "made with another embedding model", now)
            elif not outbox.stores_are_ours() and (moved := earlier_stores.archive(self._workspace)) is not None:
                log.warning("cognee's stores were another's: moved to %s, for a migration to read", moved.name)
            elif died >= _DEADLY_OPENINGS:
                self._start_from_scratch(store, f"the end of its process {died} times in a row", now)
            return self._open_graph_of_ours(store, now)
        except BaseException:
            store.outbox.note_survived()
            raise

    def _start_from_scratch(self, store: Store, why: str, now: str) -> None:
        graph_files.quarantine(self._workspace, f"graph-{now}")
        self._enqueue_all(store, why, now)

    def _open_graph_of_ours(self, store: Store, now: str) -> CogneeStore:
        from .cognee_store import CogneeStore  # seconds and hundreds of megabytes

        was_closed = store.outbox.graph_was_closed()
        graph = CogneeStore(self._workspace, self.embedder, store.embed)
        found = graph.open()
        try:
            can_be_mended = self._enqueue_what_it_needs(graph, found, store, was_closed, now)
        except BaseException:
            graph.close()  # else the next opening would have its files open twice
            raise
        if can_be_mended:
            return graph
        graph.close()
        self._start_from_scratch(store, "lacking what had been written again", now)
        return self._open_graph_of_ours(store, now)

    def _enqueue_what_it_needs(
        self, graph: CogneeStore, found: graph_files.GraphState, store: Store, was_closed: bool, now: str
    ) -> bool:
        """Owe the graph what it lacks; False when that was of no use before."""
        outbox = store.outbox
        if found in ("set aside", "absent") and outbox.graph_model() is not None:
            self._enqueue_all(store, "damaged" if found == "set aside" else "gone", now)
        outbox.note_opened(self.embedder.identity)
        if found in ("set aside", "absent"):
            return True
        if found == "repaired" or not was_closed or not self._has_enough(graph, store):
            lacked = outbox.lacked()
            missing = self._enqueue_missing(graph, store, now)
            return found == "repaired" or lacked not in missing
        return True

    def _enqueue_all(self, store: Store, why: str, now: str) -> None:
        owed = store.outbox.enqueue_all(now)
        log.warning("the graph was %s: it is written anew from %d memories", why, owed)

    @staticmethod
    def _has_enough(graph: CogneeStore, store: Store) -> bool:
        """Whether the graph has at least as many memories as were told it: cheap, and sees a lost table."""
        return graph.memory_count() >= store.count() - len(store.outbox.untold())

    @staticmethod
    def _enqueue_missing(graph: CogneeStore, store: Store, now: str) -> list[str]:
        """Compare the graph with the memories that it was told, and owe what it lacks. Returns their ids."""
        untold = store.outbox.untold()

        def told() -> Iterator[list[Memory]]:
            last = 0
            while memories := store.after(last, _COMPARED_TOGETHER):
                last = memories[-1].number
                yield [memory for memory in memories if memory.id not in untold]

        missing = graph.missing(told())
        if missing:
            log.warning("the graph lacked %d of %d memories: they are written again", len(missing), store.count())
        store.outbox.enqueue_missing(missing, now)
        return missing

    def reconcile(self) -> int:
        """Owe the graph what it lacks of the memories that it was told of. Returns how many memories that are.

        Raises GRAPH_UNAVAILABLE.
        """
        graph = self.graph
        return len(self._enqueue_missing(graph, self.store, clock.iso(clock.now())))

    def compare_graph(self, **wanted: Any) -> GraphComparison:
        """The graph as it lies there, compared with what it is to have (the fields of ``cognee_audit.Wanted``).

        Nothing is mended, owed or noted, and nobody is let in between. Raises GRAPH_UNAVAILABLE, MODEL_MISSING.
        """
        embedder = self.embedder
        with self._loading():
            from .cognee_audit import Wanted  # seconds and hundreds of megabytes
            from .cognee_store import CogneeStore
        if self._graph is not None:
            return self._graph.compare(Wanted(**wanted))
        graph = CogneeStore(self._workspace, embedder, embedder.embed)
        graph.open_without_repair()
        try:
            return graph.compare(Wanted(**wanted))
        finally:
            graph.close()

    def _close_graph(self, *, cleanly: bool = True) -> None:
        """Checkpoint and close. After trouble it counts as not closed, so that the next opening looks closely."""
        graph, self._graph = self._graph, None
        if graph is None:
            return
        is_clean = graph.close() and cleanly
        if self._store is not None:
            self._store.outbox.note_closed() if is_clean else self._store.outbox.note_survived()

    def graph_lag(self) -> int | None:
        """How many changes the graph is still to be told; None while the store is not open.

        Without those that it refused: they wait for its next opening, and nobody need ask again until then.
        """
        return None if self._store is None else self._store.outbox.count(untried=True)

    def deliver(self, memory_ids: Sequence[str]) -> dict[str, JobError]:
        """Bring the graph up to date with the memories, and for a moment with what else is owed.

        Returns the errors of those of the memories that cognee refused. Raises GRAPH_UNAVAILABLE, DISK_FULL,
        and what the embedding provider raises.
        """
        return self._relay.deliver(memory_ids)

    def deliver_all(self, progress: Progress = ignore_progress) -> int:
        """Bring the graph up to date, in slices. Returns how many changes it was told; raises as ``pay`` does."""
        return self._relay.deliver_all(progress)

    def rebuild_graph(self, now: str, progress: Progress = ignore_progress) -> int:
        """Write the whole graph anew from memory.db; what cognee held is set aside. Returns the memories written."""
        if self._is_graph_rebuilding:
            raise JobError("STORE_BUSY", "The graph is being rebuilt.")
        self._is_graph_rebuilding = True
        try:
            store = self.store
            self._close_graph(cleanly=False)
            graph_files.quarantine(self._workspace, f"graph-{now}")
            store.outbox.enqueue_all(now)  # last: until then it is known whose vectors lay there
            self._relay.deliver_all(progress)
            return store.count() - len(store.outbox.untold())
        finally:
            self._is_graph_rebuilding = False

    def scrub_graph(self) -> None:
        """Write cognee's files anew where they hold bytes of what was deleted: vectors, graph and its own database.

        To be called once the outbox is paid. The graph is closed afterwards. Cut off, it leaves each store whole,
        old or new; again is the same as once. Raises GRAPH_UNAVAILABLE, DISK_FULL, GRAPH_WRITE_FAILED, STORE_BUSY.
        """
        if self._is_graph_rebuilding:
            raise JobError("STORE_BUSY", "The graph is being rebuilt.")
        if not graph_files.store_exists(self._workspace):
            return
        graph = self.graph
        self.store.outbox.note_survived()  # whatever ends the process in here, it is not the opening
        with steps.fault_point("graph.scrub"):
            graph.scrub()
            self._close_graph()
            graph_files.rewrite(self._workspace)
            graph_files.vacuum(self._workspace)

    def forget_extractions(self, memory_ids: Sequence[str]) -> None:
        """Remove what cognee found in these memories' texts, and what it keeps of the texts; again is the same as once.

        What others have as well stays. Raises GRAPH_UNAVAILABLE, DISK_FULL, GRAPH_WRITE_FAILED.
        """
        kept = self.store.extractions
        if graph_files.store_exists(self._workspace):
            known = kept.of(memory_ids).values()
            graph = self.graph
            found = extractions.together([*known, graph.written_of(memory_ids)])
            if own := kept.alone(found, memory_ids):
                graph.remove_findings(own)
            graph.clear_texts(memory_ids)
            graph.sync()
            self.store.outbox.note_survived()  # a look into a text may take minutes: what ends it is not the opening
        with self.store.change(clock.iso(clock.now())) as change:
            change.drop_extractions(memory_ids)

    # --- upkeep ---

    def maintain(self, now: datetime | None = None, progress: Progress = ignore_progress) -> None:
        """What is to be done when there is nothing to do: of the stores that are open, none is opened for it."""
        tables = self._graph.overgrown() if self._graph is not None else []
        slices = Slices(progress, "compacting the vector tables", len(tables))
        for table in tables:
            if self._graph is not None:  # else another job has closed it in a pause
                self._graph.compact(table)
                slices.done(1)
        if self._store is not None:
            self._store.maintain(now or clock.now())
        if self._graph is not None:
            try:
                self._graph.checkpoint(_LOG_BYTES_LEFT)
            except JobError:
                self._close_graph(cleanly=False)  # it is to be looked at before it is used again
                raise
