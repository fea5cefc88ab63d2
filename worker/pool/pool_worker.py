"""One worker of a pool: takes the lease of whichever workspace has a due job, and runs its jobs for a while; with the
pool's counters for Prometheus.

Its child process keeps the embedding model, and opens the copy of one workspace after another. cognee has one place for
its files for the whole life of a process, so a workspace with a knowledge graph has a child of its own, which stays
until another such workspace comes: to load cognee takes seconds.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge

from bridge.graph import graph_files
from bridge.settings import Settings
from bridge.store.opening import known_format
from bridge.team.postgres_team import PostgresTeam
from jobs.errors import SLIPS, JobError
from jobs.ids import new_job_id
from jobs.kinds import NEEDS_GRAPH
from jobs.layout import Workspace
from jobs.lifecycle import CrashLimits
from jobs.model import Record

from ..child.protocol import CLOSE
from ..child.supervisor import Child, ChildEnded
from ..inbox import own_job
from ..scheduling.runner import Runner
from ..team import copy_follower
from ..version import VERSION
from .copies import Copies, PoolCopy
from .team_jobs import TeamJobs

log = logging.getLogger(__name__)
_LOOK_SECONDS = 30.0  # unless a notice comes, or a job becomes due
_AGAIN_SECONDS = 1.0
_PAUSE_SECONDS = 3.0  # after a failure
_HELD_SECONDS = 30.0  # then a workspace lets others run before it goes on
_JUDGE_SECONDS = 3600.0


class PoolMetrics:
    """The counters of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        counter, gauge = partial(Counter, registry=self.registry), partial(Gauge, registry=self.registry)
        self._ended = counter(
            "cognee_memory_pool_jobs_ended_total",
            "Jobs that ended in this pool, by kind and state.",
            ["kind", "state"],
        )
        self.leases = counter("cognee_memory_pool_leases_total", "Leases of workspaces that were taken.")
        self.lost = counter("cognee_memory_pool_leases_lost_total", "Leases that another worker took over.")
        self.busy = gauge("cognee_memory_pool_busy_workers", "Workers that hold a lease.")
        self.copies = gauge("cognee_memory_pool_copies", "Copies of workspaces on this host.")
        self.behind = gauge("cognee_memory_pool_copies_behind", "Copies that have still to follow the team.")
        self.free = gauge("cognee_memory_pool_free_bytes", "Free disk for the copies.")
        self.is_reached = gauge("cognee_memory_pool_team_reached", "1 while the team's database is reached.")

    def stepped(self, record: Record) -> None:
        """Count the record, if the job has ended. One that failed by a person's slip is ``refused``, so that an alert
        of failures does not tell of it."""
        if record.ended:
            is_slip = record.state == "failed" and record.error is not None and record.error["code"] in SLIPS
            self._ended.labels(str(record.kind), "refused" if is_slip else record.state).inc()


@dataclass(frozen=True, slots=True)
class _Process:
    """A child process, and what runs jobs in it."""

    child: Child
    runner: Runner


class NoteChange(Protocol):
    """Tells others that the workspace has changed, ``at_once`` or within a second."""

    def __call__(self, workspace_id: str, *, at_once: bool) -> None: ...


class PoolWorker:
    """A thread, with one child process for most jobs."""

    def __init__(
        self,
        number: int,
        node: str,
        team: PostgresTeam,
        copies: Copies,
        settings: Settings,
        metrics: PoolMetrics,
        next_to_follow: Callable[[], str | None],
        tell: NoteChange,
    ) -> None:
        """``next_to_follow`` gives a workspace whose copy has to follow; ``tell`` tells others of a change."""
        self._node = node
        self._team = team
        self._copies = copies
        self._settings = settings
        self._metrics = metrics
        self._next_to_follow = next_to_follow
        self._tell = tell
        limits = CrashLimits(settings.max_crashes, settings.max_worker_deaths)
        self._jobs = TeamJobs(team, node, limits, stepped=self._stepped, count_loss=metrics.lost.inc)
        self._shared = self._process(Workspace(copies.folder), is_pool=True)
        self._own: _Process | None = None  # of the workspace with a graph that was worked on last
        self._current = self._shared
        self._leased = ""  # the workspace of the last lease
        self._judge_at: dict[str, float] = {}  # workspace -> when its pairs may be judged again
        self._stop = threading.Event()
        self.wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"pool-{number}", daemon=True)
        self.problem: str | None = None  # the error code of the last failure to reach the team

    def _process(self, workspace: Workspace, *, is_pool: bool) -> _Process:
        child = Child(workspace, self._settings, is_pool=is_pool)
        return _Process(child, Runner(self._jobs, child, self._settings, now=self._jobs.now))

    @property
    def is_running(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, *, at_once: bool = False) -> None:
        """Start no more jobs; ``at_once`` also ends the running one, which another worker runs again."""
        self._stop.set()
        for process in filter(None, (self._shared, self._own)):
            process.runner.stopping.set()
            if at_once:
                process.child.end_for_good()
        self.wake.set()

    def join(self) -> None:
        """Wait for the end."""
        self._thread.join()

    def look_after(self) -> None:
        """Renew the lease in time; end the running jobs that somebody asked to cancel. Raises JobError."""
        if not self._jobs.renew_if_due(self._settings.lease_seconds):
            self._current.child.end("stopped")
        for job_id in self._jobs.cancel_requests():
            self._current.runner.cancel(job_id)

    def _stepped(self, record: Record) -> None:
        self._metrics.stepped(record)
        self._tell(self._leased, at_once=record.state != "running")

    # --- working ---

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                try:
                    due_seconds = self._run_once()
                    self.problem = None
                except (JobError, OSError) as error:
                    self.problem = error.code if isinstance(error, JobError) else "SYSTEM_BUSY"
                    log.warning("the pool's work waits: %s", error)
                    self._stop.wait(_PAUSE_SECONDS)
                except Exception:
                    log.exception("the pool's work failed; it is tried again")
                    self._stop.wait(_PAUSE_SECONDS)
                else:
                    self.wake.wait(min(due_seconds, _LOOK_SECONDS))
                    self.wake.clear()
        finally:
            for process in filter(None, (self._own, self._shared)):
                process.child.close()

    def _run_once(self) -> float:
        """Run the jobs of one workspace, or make one copy follow. Returns the seconds until there may be more;
        0 if there was something."""
        settings = self._settings
        embedder, format_ = settings.embedding.identity, known_format()
        lease = self._team.take(self._node, None, settings.lease_seconds, embedder=embedder, format_=format_)
        if lease is not None:
            self._leased = lease.workspace_id
            self._metrics.leases.inc()
            busy = self._metrics.busy.track_inprogress()
            with busy, self._jobs.holding(lease), self._at(lease.workspace_id) as copy:
                has_run = self._run_jobs(copy)
            if has_run:
                self._have_judged(lease.workspace_id)
            if has_run and self._jobs.left_jobs:
                self._tell(lease.workspace_id, at_once=True)  # others may take the lease now
            self._copies.remove_oldest(lambda gone: self._team.remove_copy(gone.workspace_id, gone.node))
            return 0.0 if has_run else _AGAIN_SECONDS
        if (workspace_id := self._next_to_follow()) is not None:
            with self._at(workspace_id):
                copy_follower.follow(self._current.child)
            return 0.0
        for process in filter(None, (self._shared, self._own)):
            if process.child.is_idle(settings.child_idle_seconds):
                process.child.stop(why="idle")
        due_seconds = self._team.due_in(self._node, embedder=embedder, format_=format_)
        return _LOOK_SECONDS if due_seconds is None else max(due_seconds, _AGAIN_SECONDS)

    def _run_jobs(self, copy: PoolCopy) -> bool:
        """Run what is due, for a while. Returns whether there was a job."""
        until = time.monotonic() + _HELD_SECONDS
        has_run = False
        while not self._stop.is_set() and time.monotonic() < until and (job_id := self._jobs.next()) is not None:
            record = self._jobs.startable(job_id)
            if record is not None and record.kind in NEEDS_GRAPH:
                self._use_own_process(copy)
            self._current.runner.run_if_due(job_id)
            has_run = True
        return has_run

    def _have_judged(self, workspace_id: str) -> None:
        """After changes, have the language model asked which decisions hold, if there is one: at times."""
        now = time.monotonic()
        if own_job.may_ask(self._settings) and now >= self._judge_at.get(workspace_id, now):
            self._judge_at[workspace_id] = now + _JUDGE_SECONDS
            self._team.submit(workspace_id, "judge", {}, new_job_id())

    # --- a copy, and the process that has it open ---

    @contextmanager
    def _at(self, workspace_id: str) -> Iterator[PoolCopy]:
        """Work on a copy. At the end its files are closed, so that another worker can open them."""
        with self._copies.use(workspace_id) as copy:
            self._shared.child.workspace_id = workspace_id
            if graph_files.store_exists(copy.workspace):
                self._use_own_process(copy)
            try:
                yield copy
            finally:
                self._close()
        seen = self._copies.positions()[workspace_id]
        if seen.position is not None:
            self._team.note_copy(workspace_id, copy.membership.node, seen.position.seq, VERSION, seen.has_removed_all)

    def _use_own_process(self, copy: PoolCopy) -> None:
        if self._current is self._own:
            return
        self._close()
        own, workspace_id = self._own, copy.membership.workspace_id
        if own is None or own.child.workspace_id != workspace_id or not graph_files.store_exists(copy.workspace):
            if own is not None:
                own.child.close()
            self._own = own = self._process(copy.workspace, is_pool=False)
            own.child.workspace_id = workspace_id
        self._current, self._jobs.hides_graph = own, False

    def _close(self) -> None:
        child = self._current.child
        if child.pid is not None:
            try:
                child.ask({"kind": CLOSE, "jobs": [], "lease": None})
            except (ChildEnded, OSError) as error:
                log.debug("the child has ended, and its files are closed: %s", error)
        self._current, self._jobs.hides_graph = self._shared, True
