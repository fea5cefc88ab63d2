"""The child process's stores, opened when they are first needed: the memory store, and cognee only for the graph.

It decides when the graph is opened, repaired, filled and closed. How it is written is in ``outbox_relay`` and
``cognee_store``.
"""

from __future__ import annotations

import contextlib
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

from .. import trust
from ..embedding.config import EmbeddingConfig
from ..embedding.embedder import Embedder
from ..embedding.factory import create, earlier
from ..embedding.local_models import changes_by_itself, config_of
from ..memory import Memory
from ..settings import Settings
from ..slices import Progress, Slices, ignore_progress
from ..store import opening, values
from ..team import membership
from . import earlier_stores, graph_files, installed, llm
from .llm_budget import Meter
from .outbox_relay import OutboxRelay

if TYPE_CHECKING:
    from ..store.memories import Memories
    from ..store.store import Store
    from ..team.membership import Membership
    from ..team.protocol import Team
    from .cognee_audit import GraphComparison
    from .cognee_store import CogneeStore

log = logging.getLogger(__name__)

_LOCK_PATIENCE_SECONDS = 15.0  # the child of an earlier worker may still be closing its stores
_DEADLY_OPENINGS = 2  # deaths while opening, in a row, after which the graph counts as damaged; one may be a kill
_COMPARED_TOGETHER = 500  # memories per batch
_LOG_BYTES_LEFT = 4 * 1024 * 1024  # of the graph; maintenance checkpoints only a larger log


class Stores:
    """The memory store and the graph, as a context that closes them in order. Not thread-safe."""

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        loading: Callable[[bool], None] = lambda _: None,
        *,
        load_embedder: Callable[[EmbeddingConfig], Embedder] | None = None,
        team: Team | None = None,
    ) -> None:
        """``loading`` is called with True before, and with False after, a step that takes seconds once per process.

        ``load_embedder`` and ``team`` are what the stores of several workspaces share; the caller closes the team.
        """
        self._workspace = workspace
        self._settings = settings
        self._on_loading = loading
        self._embedder: Embedder | None = None
        self._is_embedder_earlier = False
        self._store: Store | None = None
        self._bulk = load_embedder or partial(create, bulk=True)
        self._shared_team = team
        self._team: tuple[Membership, Team] | None = None
        self._lease: int | None = None
        self._graph: CogneeStore | None = None
        self._is_graph_rebuilding = False
        self._checked_marks: tuple[object, ...] = ()  # of the folders when their trust was checked
        self._relay = OutboxRelay(lambda: self.store, lambda: self.graph, lambda: self._close_graph(cleanly=False))

    def __enter__(self) -> Stores:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        self._close_graph()
        store, self._store = self._store, None
        if store is not None:
            store.checkpoint()
            store.close()
        team, self._team = self._team, None
        if team is not None and self._shared_team is None:
            team[1].close()

    def are_in_place(self) -> bool:
        """Whether the open stores are still the workspace's. If not, what was read from them or written to them since
        does not count."""
        return all(store is None or store.is_in_place() for store in (self._store, self._graph))

    def renew(self) -> None:
        """Close stores that are no longer in place, so that the next use opens what is there now, and create the
        workspace's folders that were removed. Before it opens a store, the folders must be this user's. Call it before
        an operation, and not in the pause of another one.

        Raises JobError: WORKSPACE_NOT_TRUSTED for a folder that appeared from elsewhere, WORKSPACE_MOVED.
        """
        if not self.are_in_place():
            log.warning("the memory's files were removed or replaced: they are opened again")
            self._close()
        marks = trust.marks(self._workspace)
        if None in marks or (self._store is None and marks != self._checked_marks):
            trust.recreate(self._workspace, self._settings.config_folder)
            self._checked_marks = trust.marks(self._workspace)

    def use_lease(self, number: int | None) -> None:
        """In a team: the lease under which the next changes are committed."""
        self._lease = number
        if self._store is not None:
            self._store.use_lease(number)

    def _open_team(self) -> tuple[Membership, Team] | None:
        """The workspace's team; None if it has none. Raises JobError: SETTING_INVALID."""
        if self._team is None:
            found = membership.membership_of(self._workspace, self._settings.config_folder)
            if found is not None:
                from ..team import opening as team_opening  # only a team needs a client of its own

                reach = team_opening.whole_team_of if found.is_pool else team_opening.team_of
                self._team = (found, self._shared_team or reach(self._settings))
        return self._team

    @contextmanager
    def _loading(self) -> Iterator[None]:
        self._on_loading(True)
        try:
            yield
        finally:
            self._on_loading(False)

    @property
    def workspace(self) -> Workspace:
        """The workspace of the stores."""
        return self._workspace

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._settings

    def meter(self, job_id: str) -> Meter:
        """The meter for the language model calls of an attempt. Raises JobError: LLM_NOT_CONFIGURED, LLM_CONFIG."""
        llm.require(self._settings)
        return Meter(self.store.llm_usage, self._settings, job_id, clock.now)

    def asker(self, job_id: str) -> partial[Any]:
        """``cognee_llm.ask`` on the budget of an attempt of the job. Raises as ``meter``, and GRAPH_NOT_INSTALLED."""
        meter = self.meter(job_id)
        if not installed.is_installed():
            why = "The language model is asked through cognee, which comes with the knowledge graph."
            raise JobError("GRAPH_NOT_INSTALLED", why)
        with self._loading(), installed.importing():
            from .cognee_llm import ask  # not at the top: it takes seconds and hundreds of megabytes
        return partial(ask, meter)

    @property
    def embedder(self) -> Embedder:
        """The embedder of the store's vectors, for bulk work: the one that the settings name, or the earlier one if the
        store is still to be embedded with the new one. Raises JobError: MODEL_MISSING, EMBEDDING_CONFIG."""
        if self._embedder is None:
            recorded = None
            with contextlib.suppress(JobError):  # opening the store reports it
                recorded = opening.embedder_of(self._workspace)
            with self._loading():
                former = earlier(recorded, self._settings.embedding, self._bulk)
                self._is_embedder_earlier = former is not None
                self._embedder = former or self._bulk(self._settings.embedding)
        return self._embedder

    def rebuild_vectors(self, progress: Progress = ignore_progress) -> int:
        """Rebuild the vectors with the model that the settings name, and switch to them. Returns the number of
        passages. Until the switch, jobs in the pauses use the earlier model.

        Raises JobError: STORE_BUSY during another rebuild, and as ``open_store``.
        """
        store = self.open_store(new_model=True)
        target = self.embedder
        if self._is_embedder_earlier:
            with self._loading():
                target = self._bulk(self._settings.embedding)
        count = store.rebuild_vectors(progress, target)
        if target is not self._embedder:
            self._close_graph()  # its vectors are of the earlier model: the next opening makes it again
            self._embedder, self._is_embedder_earlier = target, False
        return count

    @property
    def store(self) -> Store:
        """The memory store, opened if necessary. Raises as ``open_store``."""
        return self.open_store()

    def open_store(self, *, new_model: bool = False) -> Store:
        """The memory store, opened if necessary; ``new_model`` for the rebuild with a new embedding model.

        Raises JobError: STORE_BUSY, STORE_NEWER, STORE_UNREADABLE, EMBEDDER_MISMATCH, EMBEDDER_CHANGING, MODEL_MISSING.
        """
        if self._store is not None and self._store.model_changed and not new_model:
            if self._store.is_rebuilding:  # this job runs in a pause of the rebuild
                raise JobError("EMBEDDER_CHANGING")
            self._store.close()  # a rebuild was interrupted: the store still has the vectors of the former model
            self._store = None
        if self._store is None:
            self._forget_other_embedder()
            deadline = time.monotonic() + _LOCK_PATIENCE_SECONDS
            while True:
                try:
                    opening.require_safe(self._workspace, self._settings.allow_unsafe_mount)
                    embedder = self.embedder
                    with self._loading():  # opening rebuilds a damaged index
                        self._store = opening.open_store(
                            self._workspace, embedder, new_model=new_model, team=self._open_team()
                        )
                    self._store.use_lease(self._lease)
                    break
                except JobError as error:
                    if error.code == "EMBEDDER_MISMATCH" and self._changes_by_itself():
                        raise JobError("EMBEDDER_CHANGING", error.message) from None
                    if error.code != "STORE_BUSY" or time.monotonic() > deadline:
                        raise
                    time.sleep(0.1)
        return self._store

    def _changes_by_itself(self) -> bool:
        return changes_by_itself(opening.embedder_of(self._workspace), self._settings.embedding)

    def _forget_other_embedder(self) -> None:
        """Drop the loaded embedder if the store has another one by now, such as after files were replaced."""
        if self._embedder is None:
            return
        recorded = opening.embedder_of(self._workspace)
        is_known = config_of(recorded, self._settings.embedding) is not None
        if recorded != self._embedder.identity and (self._is_embedder_earlier or is_known):
            self._embedder = None

    def open_for_reading(self) -> AbstractContextManager[Memories]:
        """The memories for reading, without opening the store; empty if nothing was ever stored.

        Raises JobError: STORE_NEWER, STORE_UNREADABLE, STORE_BUSY.
        """
        return opening.open_memories(self._workspace)

    # --- the graph ---

    @property
    def graph(self) -> CogneeStore:
        """The graph, opened if necessary, and again if it was found broken, which repairs it. Get it again after each
        pause, since another job may have closed it.

        Raises JobError: GRAPH_NOT_INSTALLED, GRAPH_UNAVAILABLE.
        """
        if self._graph is not None and self._graph.is_broken():
            self._close_graph(cleanly=False)
        if self._graph is None:
            installed.require()
            store = self.store
            with self._loading(), steps.fault_point("graph.open"):
                self._graph = self._open_graph(store)
        return self._graph

    def _open_graph(self, store: Store) -> CogneeStore:
        now = clock.iso(clock.now())
        outbox = store.outbox
        deaths = outbox.note_opening()
        try:
            if outbox.graph_model() not in (None, self.embedder.identity):
                self._start_from_scratch(store, "made with another embedding model", now)
            elif not outbox.stores_are_ours() and self._make_room(now):
                pass  # the graph begins empty
            elif deaths >= _DEADLY_OPENINGS:
                self._start_from_scratch(store, f"the end of its process {deaths} times in a row", now)
            return self._open_graph_of_ours(store, now)
        except BaseException:
            store.outbox.note_survived()
            raise

    def _make_room(self, now: str) -> bool:
        """Move stores away that memory.db does not know: another program's, for a migration to read, or those of a
        memory.db that was removed, whose memories must not be found in the graph. Returns whether there were any."""
        if graph_files.has_our_memories(self._workspace):
            graph_files.quarantine_all(self._workspace, f"graph-{now}")
            return True
        moved = earlier_stores.archive(self._workspace)
        if moved is not None:
            log.warning("cognee's stores were another's: moved to %s, for a migration to read", moved.name)
        return moved is not None

    def _start_from_scratch(self, store: Store, why: str, now: str) -> None:
        log.warning("the graph was %s: it is made again", why)
        # First, since until then it is known to which memories the old vectors belong.
        graph_files.quarantine(self._workspace, f"graph-{now}")
        store.outbox.forget_graph()

    def _open_graph_of_ours(self, store: Store, now: str) -> CogneeStore:
        with installed.importing():
            from .cognee_store import CogneeStore  # not at the top: it takes seconds and hundreds of megabytes

        was_closed = store.outbox.graph_was_closed()
        graph = CogneeStore(self._workspace, self.embedder, store.embed)
        state = graph.open()
        try:
            is_repairable = self._enqueue_what_it_needs(graph, state, store, was_closed, now)
        except BaseException:
            graph.close()  # otherwise the next opening would open the files twice
            raise
        if is_repairable:
            return graph
        graph.close()
        self._start_from_scratch(store, "lacking what had been written again", now)
        return self._open_graph_of_ours(store, now)

    def _enqueue_what_it_needs(
        self, graph: CogneeStore, state: graph_files.GraphState, store: Store, was_closed: bool, now: str
    ) -> bool:
        """Enqueue the memories that the graph lacks. False if the same memories were missing before: then writing them
        again does not help."""
        outbox = store.outbox
        if outbox.graph_model() is None or state in ("set aside", "absent"):
            log.info("the graph is made from %d memories; it was %s", outbox.enqueue_all(now), state)
        outbox.note_opened(self.embedder.identity)
        if state in ("set aside", "absent"):
            return True
        if state == "repaired" or not was_closed or not self._has_enough(graph, store):
            missed_before = outbox.missing_memory()
            missing = self._enqueue_missing(graph, store, now)
            return state == "repaired" or missed_before not in missing
        return True

    @staticmethod
    def _has_enough(graph: CogneeStore, store: Store) -> bool:
        """Whether the graph has at least as many memories as were delivered. Cheap; it detects a lost table."""
        return graph.memory_count() >= store.count() - len(store.outbox.undelivered_ids())

    @staticmethod
    def _enqueue_missing(graph: CogneeStore, store: Store, now: str) -> list[str]:
        """Compare the graph with the delivered memories and enqueue those that it lacks. Returns their ids."""
        undelivered = store.outbox.undelivered_ids()

        def delivered() -> Iterator[list[Memory]]:
            last = 0
            while memories := store.after(last, _COMPARED_TOGETHER):
                last = memories[-1].number
                yield [memory for memory in memories if memory.id not in undelivered]

        missing = graph.missing(delivered())
        if missing:
            log.warning("the graph lacked %d of %d memories: they are written again", len(missing), store.count())
        store.outbox.enqueue_missing(missing, now)
        return missing

    def compare_graph(self, **wanted: Any) -> GraphComparison:
        """Compare the graph as it is with the expected content (the fields of ``cognee_audit.Wanted``).

        Repairs, enqueues and records nothing, and lets no other job run meanwhile. Raises JobError:
        GRAPH_NOT_INSTALLED, GRAPH_UNAVAILABLE, MODEL_MISSING.
        """
        installed.require()
        embedder = self.embedder
        with self._loading(), installed.importing():
            from .cognee_audit import Wanted  # not at the top: it takes seconds and hundreds of megabytes
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
        """Checkpoint and close the graph. With ``cleanly=False`` it is recorded as not closed, so that the next opening
        compares it in full."""
        graph, self._graph = self._graph, None
        if graph is None:
            return
        is_clean = graph.close() and cleanly
        if self._store is not None:
            self._store.outbox.note_closed() if is_clean else self._store.outbox.note_survived()

    def graph_lag(self) -> int | None:
        """How many changes the graph lacks, as ``Outbox.lag``; None while the store is not open, where the graph is not
        installed, and in a team, where a machine never makes the graph by itself."""
        if self._store is None or self._team is not None or not installed.is_installed():
            return None
        return self._store.outbox.lag().changes

    @property
    def is_in_team(self) -> bool:
        """Whether the workspace belongs to a team. Raises JobError: SETTING_INVALID."""
        return self._open_team() is not None

    def deliver(self, memory_ids: Sequence[str]) -> dict[str, JobError]:
        """As ``OutboxRelay.deliver``; nothing where the graph is not installed."""
        return self._relay.deliver(memory_ids) if installed.is_installed() else {}

    def deliver_all(self, progress: Progress = ignore_progress) -> int:
        """Bring the graph up to date, as ``OutboxRelay.deliver_all``. It opens the graph first, which loads cognee once
        per process."""
        if self._graph is None:
            message = "opening the knowledge graph; what is stored can be found"
            progress({"done": 0, "total": 1, "message": message})
        with self._noting_failure():
            return self._relay.deliver_all(progress)

    def deliver_for(self, seconds: float) -> None:
        """As ``OutboxRelay.deliver_for``."""
        with self._noting_failure():
            self._relay.deliver_for(seconds)

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        try:
            yield
        except JobError as error:
            if self._store is not None and installed.is_installed():
                self._store.outbox.note_failure(error.code)
            raise

    def store_if_open(self) -> Store | None:
        """The store of memories, if something has opened it."""
        return self._store

    def rebuild_graph(self, now: str, progress: Progress = ignore_progress) -> int:
        """Rebuild the whole graph from memory.db and quarantine the old one. Returns the number of memories written.

        Raises JobError: GRAPH_NOT_INSTALLED, STORE_BUSY during another rebuild, and as ``deliver_all``.
        """
        installed.require()
        if self._is_graph_rebuilding:
            raise JobError("STORE_BUSY", "The graph is being rebuilt.")
        self._is_graph_rebuilding = True
        try:
            store = self.store
            self._close_graph(cleanly=False)
            self._start_from_scratch(store, "to be rebuilt", now)
            self.deliver_all(progress)
            return store.count() - len(store.outbox.undelivered_ids())
        finally:
            self._is_graph_rebuilding = False

    @property
    def can_edit_graph(self) -> bool:
        """Whether memories can be removed from the graph as it is: its files exist, and cognee is installed."""
        has_graph = self.store.outbox.graph_model() is not None and graph_files.store_exists(self._workspace)
        return has_graph and installed.is_installed()

    def _remove_graph(self) -> None:
        """Remove cognee's stores, with its copies of texts. The next job that needs the graph makes it again from
        memory.db. Idempotent. Raises JobError: STORE_BUSY during a rebuild of it."""
        if self._is_graph_rebuilding:
            raise JobError("STORE_BUSY", "The graph is being rebuilt.")
        self._close_graph(cleanly=False)
        earlier_stores.remove_present(self._workspace)
        self.store.outbox.forget_graph()  # last, since until then it is known that there were stores to remove

    def scrub_graph(self) -> None:
        """Rewrite cognee's files that contain deleted bytes: the vectors, the graph and cognee's own database.

        Call it when the outbox is delivered. Closes the graph. Idempotent; an interruption leaves each store intact,
        old or new. Raises JobError: GRAPH_UNAVAILABLE, DISK_FULL, GRAPH_WRITE_FAILED, STORE_BUSY.
        """
        if self._is_graph_rebuilding:
            raise JobError("STORE_BUSY", "The graph is being rebuilt.")
        if not graph_files.store_exists(self._workspace):
            return
        graph = self.graph
        self.store.outbox.note_survived()  # if the process dies in here, opening the graph is not the cause
        with steps.fault_point("graph.scrub"):
            graph.scrub()
            self._close_graph()
            graph_files.rewrite(self._workspace)
            graph_files.vacuum(self._workspace)

    def forget_extractions(self, memory_ids: Sequence[str]) -> None:
        """Remove the extractions of these memories' texts, and cognee's copies of the texts; the whole graph, if it
        cannot be edited. Idempotent.

        Nodes and edges that other memories share are kept. Raises JobError: GRAPH_UNAVAILABLE, DISK_FULL,
        GRAPH_WRITE_FAILED.
        """
        stored = self.store.extractions
        if not self.can_edit_graph:
            self._remove_graph()
        else:
            known = stored.of(memory_ids).values()
            graph = self.graph
            extraction = values.together([*known, graph.written_of(memory_ids)])
            if own := stored.alone(extraction, memory_ids):
                graph.remove_findings(own)
            graph.clear_texts(memory_ids)
            graph.sync()
            self.store.outbox.note_survived()  # if the process dies later, opening the graph is not the cause
        with self.store.change(clock.iso(clock.now())) as change:
            change.drop_extractions(memory_ids)

    # --- upkeep ---

    def maintain(self, now: datetime | None = None, progress: Progress = ignore_progress) -> None:
        """The maintenance of an idle child: compact, checkpoint, clean up. It opens no store."""
        tables = self._graph.overgrown() if self._graph is not None else []
        slices = Slices(progress, "compacting the vector tables", len(tables))
        for table in tables:
            if self._graph is not None:  # another job may have closed it in a pause
                self._graph.compact(table)
                slices.advance(1)
        if self._store is not None:
            self._store.maintain(now or clock.now())
        if self._graph is not None:
            try:
                self._graph.checkpoint(_LOG_BYTES_LEFT)
            except JobError:
                self._close_graph(cleanly=False)  # the next opening then compares it in full
                raise
