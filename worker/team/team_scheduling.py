"""Scheduling in a team: jobs are posted to it, and run by whoever holds the workspace's lease."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bridge.settings import Settings
from bridge.team import last_try, opening
from bridge.team.gateway_team import GatewayTeam
from bridge.team.membership import Membership
from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lifecycle import CrashLimits
from jobs.model import Record

from ..child.supervisor import Child
from ..scheduling.ledger import Cancellation, Ledger
from ..scheduling.runnable_jobs import LocalJobs
from ..scheduling.runner import Runner
from .exchange import Exchange
from .team_jobs import TeamJobs
from .team_work import TeamWork

if TYPE_CHECKING:
    from jobs import schema

_LEASES_LOST = "team_leases_lost"


class TeamScheduling:
    """``Scheduling`` of a workspace of a team. Its worker stays: the copy here would stop to follow."""

    may_leave = False

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        membership: Membership,
        ledger: Ledger,
        child: Child,
        crash_limits: CrashLimits,
        changed: Callable[[], None],
        on_requeued: Callable[[], None],
    ) -> None:
        """``changed`` and ``on_requeued``: as ``Runner``. Raises JobError: SETTING_INVALID without the team's
        address."""
        last_try.begin(workspace)
        self._ledger = ledger
        self._team = _team_of(workspace, settings)
        self._exchange = Exchange(workspace.spool, ledger, self._team, membership, redacts=settings.redact_secrets)
        counters = child.counters
        counters.count(_LEASES_LOST, by=0)  # an alert misses the first step of a counter that begins at 1
        local = LocalJobs(workspace.spool, ledger)
        jobs = TeamJobs(self._team, membership.node, crash_limits, local, stepped=self._stepped)
        self.runner = Runner(
            jobs,
            child,
            batch_size=settings.batch_size,
            idle_seconds=settings.child_idle_seconds,
            slice_seconds=settings.slice_seconds,
            now=jobs.now,
            changed=changed,
            on_requeued=on_requeued,
        )
        self._work = TeamWork(
            workspace,
            settings,
            membership,
            self._team,
            jobs,
            self.runner,
            child,
            self._exchange,
            changed,
            lambda: counters.count(_LEASES_LOST),
        )
        self.start, self.maintain = self._work.start, self._work.maintain

    def _stepped(self, record: Record) -> None:
        self._work.stepped(record)

    def stop(self) -> None:
        self._work.stop()
        self._team.close()

    def announce(self) -> None:
        if self._ledger.take_announced():
            self._work.wake()

    def pause(self) -> None:
        self.runner.paused.set()

    def resume(self) -> None:
        self.runner.paused.clear()
        self._work.wake()

    def cancel(self, job_id: str) -> Cancellation:
        found = self._exchange.cancel(job_id)
        self._work.announce()
        return found

    def reconcile(self) -> None:
        """Nothing: the team's database says which jobs wait."""

    def is_drained(self) -> bool:
        return not self.runner.running  # what waits runs elsewhere, too

    def describe(self) -> schema.WorkerInTeam:
        return {"problem": self._work.problem, "holds_lease": self._work.holds_lease}


def _team_of(workspace: Workspace, settings: Settings) -> GatewayTeam:
    """The team. A setting that is wrong is noted for all who ask here, since the worker ends. Raises as ``team_of``."""
    try:
        return opening.team_of(settings)
    except JobError as error:
        last_try.note(workspace, error, clock.now(), settings.team_refused_hours)
        raise
