"""Scheduling in a team: jobs are posted to it, and run by its pools; those that change no memory run here."""

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

from ..child.supervisor import Child
from ..scheduling.ledger import Cancellation, Ledger
from ..scheduling.runner import Runner
from .exchange import Exchange
from .machine_jobs import MachineJobs
from .team_work import TeamWork

if TYPE_CHECKING:
    from jobs import schema


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
        changed: Callable[[], None],
        on_requeued: Callable[[], None],
    ) -> None:
        """``changed`` and ``on_requeued``: as ``Runner``. Raises JobError: SETTING_INVALID without the team's
        address."""
        last_try.begin(workspace)
        self._ledger = ledger
        self._team = _team_of(workspace, settings)
        self._jobs = MachineJobs(workspace.spool, ledger)
        self._exchange = Exchange(workspace.spool, ledger, self._team, membership, self._jobs.stays)
        self.runner = Runner(self._jobs, child, settings, changed=changed, on_requeued=on_requeued)
        self._work = TeamWork(
            workspace, settings, membership, self._team, self._jobs, self.runner, child, self._exchange, changed
        )
        self.start, self.maintain = self._work.start, self._work.maintain

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
        record = self._ledger.get(job_id)
        if record is not None and self._jobs.stays(record):
            return self.runner.cancel(job_id)
        found = self._exchange.cancel(job_id)
        self._work.wake()
        return found

    def reconcile(self) -> None:
        """Nothing: the team's database says which jobs wait."""

    def is_drained(self) -> bool:
        return not self.runner.running  # what waits runs elsewhere

    def describe(self) -> schema.WorkerInTeam:
        return {"problem": self._work.problem}


def _team_of(workspace: Workspace, settings: Settings) -> GatewayTeam:
    """The team. A setting that is wrong is noted for all who ask here, since the worker ends. Raises as ``team_of``."""
    try:
        return opening.team_of(settings)
    except JobError as error:
        last_try.note(workspace, error, clock.now(), settings.team_refused_hours)
        raise
