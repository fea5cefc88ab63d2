"""The parts of a worker in a team, put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bridge.settings import Settings
from bridge.team import last_try, opening
from bridge.team.membership import Membership
from bridge.team.protocol import Team
from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lifecycle import CrashLimits
from jobs.model import Record

from ..child.supervisor import Child
from ..monitoring.counters import Counters
from ..scheduling.ledger import Cancellation, Ledger
from ..scheduling.runnable_jobs import LocalJobs
from ..scheduling.runner import Runner
from .exchange import Exchange
from .team_jobs import TeamJobs
from .team_work import TeamWork

if TYPE_CHECKING:
    from jobs import schema

_LEASES_LOST = "team_leases_lost"


class Member:
    """A worker's side of the team. ``jobs`` is what its runner runs; ``work_with`` comes before everything else."""

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        membership: Membership,
        ledger: Ledger,
        local: LocalJobs,
        crash_limits: CrashLimits,
        counters: Counters,
    ) -> None:
        """Raises JobError: SETTING_INVALID without the database's address."""
        self._workspace = workspace
        self._membership = membership
        last_try.begin(workspace)
        self._team = _team_of(workspace, settings)
        self._lease_seconds = settings.lease_seconds
        self._refused_hours = settings.team_refused_hours
        self._copy_days = settings.team_copy_days
        self._most_memories = None if settings.team is None else settings.team_copy_memories
        self._exchange = Exchange(workspace.spool, ledger, self._team, membership, redacts=settings.redact_secrets)
        self._counters = counters
        counters.count(_LEASES_LOST, by=0)  # an alert misses the first step of a counter that begins at 1
        self._work: TeamWork | None = None
        self.jobs = TeamJobs(self._team, membership.node, crash_limits, local, stepped=self._stepped)

    def _stepped(self, record: Record) -> None:
        self.work.stepped(record)

    def work_with(self, runner: Runner, child: Child, changed: Callable[[], None]) -> Member:
        """Run jobs with these. Returns itself."""
        self._work = TeamWork(
            self._workspace,
            self._membership,
            self._team,
            self.jobs,
            runner,
            child,
            self._exchange,
            changed,
            lambda: self._counters.count(_LEASES_LOST),
            lease_seconds=self._lease_seconds,
            copy_days=self._copy_days,
            refused_hours=self._refused_hours,
            most_memories=self._most_memories,
        )
        return self

    @property
    def work(self) -> TeamWork:
        """The work, once there is a runner."""
        assert self._work is not None
        return self._work

    def describe(self) -> schema.WorkerInTeam:
        """The team's part of the heartbeat."""
        return {"problem": self.work.problem, "holds_lease": self.work.holds_lease}

    def start(self) -> None:
        """Start the work."""
        self.work.start()

    def stop(self) -> None:
        """Stop after the running job."""
        self.work.stop()
        self._team.close()

    def wake(self) -> None:
        """Look at once."""
        self.work.wake()

    def maintain(self) -> None:
        """Maintain the stores when nothing is to be done."""
        self.work.maintain()

    def cancel(self, job_id: str) -> Cancellation:
        """As ``Runner.cancel``, for a job of this machine, wherever it runs."""
        found = self._exchange.cancel(job_id)
        self.work.announce()
        return found


def _team_of(workspace: Workspace, settings: Settings) -> Team:
    """The team. A setting that is wrong is noted for all who ask here, since the worker ends. Raises as ``team_of``."""
    try:
        return opening.team_of(settings)
    except JobError as error:
        last_try.note(workspace, error, clock.now(), settings.team_refused_hours)
        raise
