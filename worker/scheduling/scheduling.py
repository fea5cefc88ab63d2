"""How a workspace's jobs come to run: by this worker alone, from its queue, or wherever its team runs them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

from bridge.settings import Settings
from bridge.store.opening import uncompared_in
from jobs.layout import Workspace

from ..child.supervisor import Child
from .graph_upkeep import GraphUpkeep, read_lag
from .huey_queue import Queue
from .ledger import Cancellation, Ledger
from .runnable_jobs import LocalJobs
from .runner import MAINTENANCE, Runner

if TYPE_CHECKING:
    from jobs import schema

_LAST_PRIORITY = -1000


class Scheduling(Protocol):
    """A worker has one, chosen when it starts. ``runner`` runs the jobs; ``may_leave``: nothing is missed here while no
    worker runs."""

    runner: Runner
    may_leave: bool

    def start(self) -> None:
        """Start the threads."""

    def stop(self) -> None:
        """Stop after the running job."""

    def announce(self) -> None:
        """Let the jobs run that are new, or due again."""

    def resume(self) -> None:
        """Start jobs again, after ``runner.paused`` was set."""

    def cancel(self, job_id: str) -> Cancellation:
        """As ``Runner.cancel``, for a job of this machine's folder."""

    def maintain(self) -> None:
        """Maintain the stores when nothing is to be done."""

    def reconcile(self) -> None:
        """Repair what says which jobs wait."""

    def is_drained(self) -> bool:
        """Whether nothing runs here, and nothing waits that would run here."""

    def describe(self) -> schema.WorkerInTeam | None:
        """The team's part of the heartbeat; None without a team."""


class LocalScheduling:
    """``Scheduling`` of a workspace of this machine alone: Huey's queue."""

    may_leave = True

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        ledger: Ledger,
        child: Child,
        changed: Callable[[], None],
        on_requeued: Callable[[], None],
    ) -> None:
        """``changed`` and ``on_requeued``: as ``Runner``."""
        self._ledger = ledger
        self.runner = Runner(
            LocalJobs(workspace.spool, ledger),
            child,
            settings,
            upkeep=GraphUpkeep(workspace, settings),
            changed=changed,
            on_requeued=on_requeued,
            uncompared=partial(uncompared_in, workspace),
        )
        lag = read_lag(workspace)
        self.runner.graph_lag = None if lag is None else lag.changes
        self._queue = Queue(workspace.spool.queue_db, self.runner.run_if_due, self._waiting, self.runner.is_stale)
        self.start, self.stop, self.reconcile = self._queue.start, self._queue.stop, self._queue.reconcile
        self.cancel = self.runner.cancel

    def _waiting(self) -> list[tuple[str, int]]:
        """The jobs that are due, as (id, priority). Delayed jobs are announced when they become due."""
        return [(r.job_id, r.priority) for kind in self._ledger.kinds_due() for r in self._ledger.due(kind, 1_000_000)]

    def announce(self) -> None:
        self._queue.put_many((record.job_id, record.priority) for record in self._ledger.take_announced())

    def resume(self) -> None:
        self.runner.paused.clear()
        self._queue.put_many(self._waiting())  # the paused runner has consumed their messages

    def maintain(self) -> None:
        self._queue.put(MAINTENANCE, _LAST_PRIORITY)

    def is_drained(self) -> bool:
        # In this order, since a job that starts meanwhile is seen as due or as running. ``Runner.running`` is empty
        # for a moment while a started job goes to the child.
        is_due = bool(self._ledger.kinds_due())
        runs = self._ledger.counts()["running"] > 0
        return not runs and (self.runner.paused.is_set() or not is_due)

    def describe(self) -> None:
        return None
