"""The work of a worker in a team, in two threads: one runs jobs, one renews the lease and exchanges jobs.

run       takes the lease of a workspace with a due job, runs what is due, and gives the lease up; between leases
          it makes memory.db follow the team's changes
exchange  posts and reports; while there is a lease, every second, renews it and ends jobs that were cancelled

Both sleep until they are woken, since a drop, a change or the time of a job wakes them, and look every half minute in
case nobody has told them of something. A gateway does that for its machines.
"""

from __future__ import annotations

import contextlib
import logging
import math
import threading
import time
from collections.abc import Callable

from bridge.settings import Settings
from bridge.store.opening import copy_state
from bridge.team import copy_age, last_try
from bridge.team.gateway_team import GatewayTeam
from bridge.team.leases import Lease
from bridge.team.membership import Membership
from bridge.team.rows import Position, Registered
from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.model import Record

from ..child.supervisor import Child
from ..scheduling.runner import MAINTENANCE, Runner
from ..version import VERSION
from . import copy_follower
from .exchange import Exchange
from .held_lease import HeldLease
from .team_jobs import TeamJobs
from .wakeups import Wakeups

log = logging.getLogger(__name__)

_AGAIN_SECONDS = 1.0
_LOOK_SECONDS = 30.0
_PAUSES_SECONDS = (0.5, 1.0, 2.0, 3.0)  # after the first failure, the second, and so on
_NOTE_SECONDS = 30.0
_REMOVE_AGAIN_SECONDS = 30.0
_STUCK_SECONDS = 60.0  # at most, between two tries of a copy that does not come on


class TeamWork:
    """Starts and stops the threads."""

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        membership: Membership,
        team: GatewayTeam,
        jobs: TeamJobs,
        runner: Runner,
        child: Child,
        exchange: Exchange,
        changed: Callable[[], None] = lambda: None,
        count_loss: Callable[[], None] = lambda: None,
    ) -> None:
        self._settings = settings
        self._workspace = workspace
        self._membership = membership
        self._team = team
        self._jobs = jobs
        self._runner = runner
        self._child = child
        self._exchange = exchange
        self._changed = changed
        self._remove_again_at = 0.0
        self._stuck_seconds = 0.0
        self._follow_at = 0.0
        self._noted: tuple[tuple[int, bool], float] = ((-1, False), 0.0)  # of the copy, and when
        self._lease = HeldLease(team, jobs, settings.lease_seconds, lambda: child.end("stopped"), count_loss)
        self._stop = threading.Event()
        self._has_run = threading.Event()  # no job runs any more
        self._wake_run = threading.Event()
        self._wake_exchange = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, name="team-run", daemon=True),
            threading.Thread(target=self._exchange_all, name="team-exchange", daemon=True),
        ]
        self._look_at = 0.0
        self._current: Position | None = None  # of the copy, while nothing is known that it lacks
        self._wakeups = Wakeups(team, membership.workspace_id, membership.node, self._heard)
        self.problem: str | None = None  # the error code of the last failure to reach the team, until it is reached
        self._wants_maintenance = threading.Event()
        self._begun = threading.Event()  # a job was started, and the others have not been told

    @property
    def holds_lease(self) -> bool:
        """Whether this worker runs the team's jobs now."""
        return self._lease.is_held

    def start(self) -> None:
        """Start both threads."""
        for thread in self._threads:
            thread.start()
        self._wakeups.start()

    def wake(self) -> None:
        """Look at once: a job was dropped, or something has changed."""
        self._wake_exchange.set()
        self._wake_run.set()

    def maintain(self) -> None:
        """Maintain the stores when nothing is to be done."""
        self._wants_maintenance.set()
        self._wake_run.set()

    def announce(self) -> None:
        """Look at once, and tell the others to."""
        self.wake()
        self._wakeups.tell()

    def stepped(self, record: Record) -> None:
        """Tell the others of a job's record: that one runs, within a second, unless it ends before."""
        if record.state == "running":
            self._begun.set()
        else:
            self._begun.clear()
            self._wakeups.tell()

    def _heard(self, changed: bool) -> None:
        if changed:
            self._current = None
            self.wake()
        else:
            self._look_at = time.monotonic() + _LOOK_SECONDS
            if (current := self._current) is not None:
                with contextlib.suppress(OSError):  # it is noted again soon
                    copy_age.note_current(self._workspace, clock.now(), self._settings.team_copy_days, *current)

    def stop(self) -> None:
        """Stop after the running job. The lease is given up, so that another worker need not wait for its end."""
        self._stop.set()
        self.wake()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()
        self._wakeups.stop()

    # --- running ---

    def _run(self) -> None:
        try:
            self._run_jobs()
        finally:
            self._has_run.set()
            self._wake_exchange.set()

    def _run_jobs(self) -> None:
        failures = 0
        while not self._stop.is_set():
            try:
                due_seconds = self._run_once()
                self._reached(None)
                failures = 0
            except Exception as error:
                if isinstance(error, JobError):
                    self._reached(error)
                else:
                    log.exception("the team's work failed; it is tried again")
                self._stop.wait(_PAUSES_SECONDS[min(failures, len(_PAUSES_SECONDS) - 1)])
                failures += 1
                continue
            self._rest(due_seconds)

    def _rest(self, due_seconds: float) -> None:
        """Wait until somebody wakes this thread, a job may be due, or it is time to look."""
        now = time.monotonic()
        due_at, self._look_at = now + due_seconds, now + _LOOK_SECONDS
        while (left := min(due_at, self._look_at) - time.monotonic()) > 0 and not self._wake_run.wait(left):
            pass
        self._wake_run.clear()

    def _run_once(self) -> float:
        """Run what is due. Returns the seconds until there may be more; 0 if there was something."""
        if self._exchange.has_copy is None:
            self._exchange.has_copy = self._keeps_copy()
            self._wake_exchange.set()
        if not self._exchange.has_copy:
            self._team.registered(self._membership.workspace_id)  # whether the team is reached
            copy_age.record_no_copy(self._workspace)
            return math.inf
        workspace_id, node = self._membership.workspace_id, self._membership.node
        if self._runner.paused.is_set():
            return self._follow(self._team.registered(workspace_id))
        turn = self._team.look(workspace_id, node, self._settings.lease_seconds)
        if turn is None or turn.lease is None:
            follow_seconds = self._follow(None if turn is None else turn.registered)
            if self._wants_maintenance.is_set():
                self._wants_maintenance.clear()
                self._runner.run_if_due(MAINTENANCE)
            if turn is None or turn.due_seconds is None:
                return follow_seconds
            return min(follow_seconds, max(turn.due_seconds, _AGAIN_SECONDS))
        with self._lease.holding(Lease(workspace_id, turn.lease)):
            self._wake_exchange.set()  # to renew it
            has_run = self._lease.run_due(self._run_job, self._may_start)
        self._wake_exchange.set()
        if has_run and self._lease.left_jobs:
            self._wakeups.tell()  # others may take the lease now
        return 0.0 if has_run else _AGAIN_SECONDS

    def _run_job(self, job_id: str) -> None:
        self._runner.run_if_due(job_id)
        self._wake_exchange.set()

    def _may_start(self) -> bool:
        return not (self._stop.is_set() or self._runner.paused.is_set())

    def _keeps_copy(self) -> bool:
        """Whether this machine has a copy, or will make one; decided once, when the team is first reached. None is
        made of a large workspace, and no job of it runs here."""
        state = copy_state(self._workspace)
        has_one = state.position is not None and state.position.seq > 0
        if has_one or self._membership.shares:
            return True
        count = self._team.memory_count(self._membership.workspace_id)
        if count <= self._settings.team_copy_memories:
            return True
        log.warning("the workspace has %d memories: no copy is made here, the team's gateway answers questions", count)
        return False

    def _follow(self, found: Registered | None) -> float:
        """Let the child apply what other machines changed. Returns the seconds until it is to be tried again."""
        if found is None and not self._membership.shares:
            raise JobError("TEAM_NOT_SHARED", "The team's database does not know this workspace.")
        state = copy_state(self._workspace)
        if found is not None and found.position == state.position:
            self._note_current(found.position, has_removed_all=not state.forgettings)
            too_early_for = self._remove_again_at - time.monotonic()
            if not state.forgettings or too_early_for > 0:
                return too_early_for if state.forgettings else math.inf
            self._remove_again_at = time.monotonic() + _REMOVE_AGAIN_SECONDS
        else:
            self._current = None
            if (too_early_for := self._follow_at - time.monotonic()) > 0:
                return too_early_for
        copy_follower.follow(self._child, self._jobs.scrub_here)
        self._changed()
        is_behind = found is None or found.position != state.position
        if is_behind and copy_state(self._workspace).position == state.position:
            self._stuck_seconds = min(_STUCK_SECONDS, max(1.0, 2 * self._stuck_seconds))
            self._follow_at = time.monotonic() + self._stuck_seconds
            return self._stuck_seconds
        self._stuck_seconds = 0.0
        return 0.0  # to see that the copy is current, or what else came

    def _note_current(self, position: Position, *, has_removed_all: bool) -> None:
        """Note, at times, that the copy on this machine has all changes: for its own answers, and for operators."""
        self._current = position
        seq = position.seq
        noted, noted_at = self._noted
        if (seq, has_removed_all) == noted and time.monotonic() - noted_at < _NOTE_SECONDS:
            return
        copy_age.note_current(self._workspace, clock.now(), self._settings.team_copy_days, *position)
        workspace_id, node = self._membership.workspace_id, self._membership.node
        self._team.note_copy(workspace_id, node, seq, VERSION, has_removed_all)
        self._noted = ((seq, has_removed_all), time.monotonic())

    # --- exchanging ---

    def _exchange_all(self) -> None:
        problem = None
        while not self._has_run.is_set():  # also after a stop: the running job still needs its lease
            pause = _LOOK_SECONDS
            try:
                self._lease.renew_if_due()
                for job_id in self._jobs.cancel_requests():
                    self._runner.cancel(job_id)
                if self._begun.is_set():
                    self._begun.clear()
                    self._wakeups.tell()
                self._exchange.run()
                if self._exchange.has_posted:
                    self._wakeups.tell()
                    self._wake_run.set()
                problem = None
            except (JobError, OSError) as error:
                if str(error) != problem:
                    problem = str(error)
                    log.warning("the exchange with the team waits: %s", error)
                pause = _AGAIN_SECONDS
                self._stop.wait(pause)
            except Exception:
                log.exception("the exchange with the team failed; it is tried again")
                pause = _AGAIN_SECONDS
                self._stop.wait(pause)
            if self._lease.is_held:
                pause = min(_AGAIN_SECONDS, self._lease.renew_seconds)
            self._wake_exchange.wait(pause)
            self._wake_exchange.clear()
        try:
            self._exchange.run()
        except (JobError, OSError) as error:
            log.warning("the last exchange with the team was left out: %s", error)

    def _reached(self, error: JobError | None) -> None:
        try:
            last_try.note(self._workspace, error, clock.now(), self._settings.team_refused_hours)
        except OSError as trouble:
            log.debug("how the team was reached is not noted: %s", trouble)
        code = None if error is None else error.code
        if error is not None:
            self._current = None
        if code != self.problem:
            self.problem = code
            log.log(logging.INFO if error is None else logging.WARNING, "the team: %s", error or "reached")
            self._changed()
