"""Scheduling in a team: jobs are posted to it, and run by its pools; those that change no memory run here.

A worker works in three threads.

run       makes memory.db follow the team's changes, then writes the records that came back: who knows of a job's end
          finds here what it has stored. It attaches to jobs what they need of files here, and runs the jobs that stay
          on this machine
exchange  posts; while the other one is busy with a job, it writes records as well
listen    wakes the others when the workspace has changed

The first two sleep until they are woken, since a drop, a change or the time of a job wakes them, and look every half
minute in case nobody has told them of something. A gateway does that for its machines. When the connection is lost,
this worker looks at once, and then whenever it is tried again.
"""

from __future__ import annotations

import contextlib
import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from bridge.settings import Settings
from bridge.store.opening import copy_state, uncompared_in
from bridge.team import copy_age, last_try, opening, unreached
from bridge.team.gateway_team import GatewayTeam
from bridge.team.membership import Membership
from bridge.team.rows import Position, Registered
from jobs import clock, lifecycle
from jobs.errors import ERRORS, JobError, Reaction
from jobs.layout import Workspace
from jobs.lifecycle import Event
from jobs.model import Record
from jobs.scrub import JOB_FILES

from ..child.protocol import ATTACH, decode
from ..child.supervisor import Child, ChildEnded
from ..log import about, of_job
from ..scheduling.ledger import Cancellation, Ledger
from ..scheduling.runner import MAINTENANCE, Runner
from ..scheduling.tasks import read_tasks
from ..version import VERSION
from . import copy_follower
from .exchange import Exchange, MachineJobs

if TYPE_CHECKING:
    from jobs import schema

log = logging.getLogger(__name__)

_AGAIN_SECONDS = 1.0
_LISTEN_AGAIN_SECONDS = 5.0
_STOP_SECONDS = 1.5  # for the thread that listens
_LOOK_SECONDS = 30.0
_PAUSES_SECONDS = (0.5, 1.0, 2.0, 3.0)  # after the first failure, the second, and so on
_NOTE_SECONDS = 30.0
_REMOVE_AGAIN_SECONDS = 30.0
_STUCK_SECONDS = 60.0  # at most, between two tries of a copy that does not come on


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
        self._settings = settings
        self._workspace = workspace
        self._membership = membership
        self._ledger = ledger
        self._child = child
        self._changed = changed
        self._team = _team_of(workspace, settings)
        self._jobs = MachineJobs(workspace.spool, ledger)
        self._exchange = Exchange(workspace.spool, ledger, self._team, membership, self._jobs.stays)
        left = partial(uncompared_in, workspace)
        self.runner = Runner(self._jobs, child, settings, changed=changed, on_requeued=on_requeued, uncompared=left)
        self._remove_again_at = 0.0
        self._stuck_seconds = 0.0
        self._follow_at = 0.0
        self._noted: tuple[tuple[int, bool], float] = ((-1, False), 0.0)  # of the copy, and when
        self._has_copy: bool | None = None  # whether this machine has, or will have, a copy; None before it is known
        self._stop = threading.Event()
        self._has_run = threading.Event()  # no job runs any more
        self._wake_run = threading.Event()
        self._wake_exchange = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, name="team-run", daemon=True),
            threading.Thread(target=self._exchange_all, name="team-exchange", daemon=True),
            threading.Thread(target=self._listen, name="team-listen", daemon=True),
        ]
        self._look_at = 0.0
        self._current: Position | None = None  # of the copy, while nothing is known that it lacks
        self.problem: str | None = None  # the error code of the last failure to reach the team, until it is reached
        self._wants_maintenance = threading.Event()
        self._is_busy = threading.Event()  # with a job

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def _wake(self) -> None:
        """Look at once: a job was dropped, or something has changed."""
        self._wake_exchange.set()
        self._wake_run.set()

    def announce(self) -> None:
        if self._ledger.take_announced():
            self._wake()

    def resume(self) -> None:
        self.runner.paused.clear()
        self._wake()

    def cancel(self, job_id: str) -> Cancellation:
        record = self._ledger.get(job_id)
        if record is not None and self._jobs.stays(record):
            return self.runner.cancel(job_id)
        found = self._exchange.cancel(job_id)
        self._wake()
        return found

    def reconcile(self) -> None:
        """Nothing: the team's database says which jobs wait."""

    def is_drained(self) -> bool:
        return not self.runner.running  # what waits runs elsewhere

    def describe(self) -> schema.WorkerInTeam:
        return {"problem": self.problem}

    def maintain(self) -> None:
        self._wants_maintenance.set()
        self._wake_run.set()

    def _heard(self, changed: bool) -> None:
        if changed:
            self._current = None
            self._wake()
        else:
            self._look_at = time.monotonic() + _LOOK_SECONDS
            if (current := self._current) is not None:
                with contextlib.suppress(OSError):  # it is noted again soon
                    copy_age.note_current(self._workspace, clock.now(), self._settings.team_copy_days, *current)

    def stop(self) -> None:
        self._stop.set()
        self._wake()
        for thread, seconds in zip(self._threads, (None, None, _STOP_SECONDS), strict=True):
            if thread.ident is not None:
                thread.join(seconds)  # a gateway may keep the one that listens for longer; it ends with the process
        self._team.close()

    def _listen(self) -> None:
        workspace_id, node = self._membership.workspace_id, self._membership.node
        while not self._stop.is_set():
            try:
                self._team.listen(workspace_id, node, self._heard, self._stop.is_set)
            except JobError as error:
                log.debug("not listening: %s", error.code)
                self._heard(True)
                self._stop.wait(_LISTEN_AGAIN_SECONDS)

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
            self._wait(due_seconds)

    def _wait(self, due_seconds: float) -> None:
        """Wait until somebody wakes this thread, a job may be due, or it is time to look."""
        now = time.monotonic()
        due_at, self._look_at = now + due_seconds, now + _LOOK_SECONDS
        while (left := min(due_at, self._look_at) - time.monotonic()) > 0 and not self._wake_run.wait(left):
            pass
        self._wake_run.clear()

    def _run_once(self) -> float:
        """Do what is to be done now. Returns the seconds until there may be more; 0 if there was something."""
        if self._attach():
            return 0.0
        reports = self._exchange.reports()
        found = self._team.registered(self._membership.workspace_id)  # whether the team is reached
        if self._has_copy is None:
            self._has_copy = self._keeps_copy()
        if not self._has_copy:
            copy_age.record_no_copy(self._workspace)
            self._refuse_own()
            self._exchange.write(reports)
            return 0.0 if reports else math.inf
        try:
            follow_seconds = self._follow(found)
        finally:
            self._exchange.write(reports)
        has_run = self._run_own()
        if self._wants_maintenance.is_set():
            self._wants_maintenance.clear()
            self.runner.run_if_due(MAINTENANCE)
        return 0.0 if has_run or reports else follow_seconds

    def _run_own(self) -> bool:
        """Run the jobs that stay here and are due. Returns whether there was one."""
        has_run = False
        while not (self._stop.is_set() or self.runner.paused.is_set()) and (job_id := self._jobs.next()):
            with self._busy():
                self.runner.run_if_due(job_id)
            has_run = True
        return has_run

    @contextlib.contextmanager
    def _busy(self) -> Iterator[None]:
        """Work that may take long, for the block."""
        self._is_busy.set()
        try:
            yield
        finally:
            self._is_busy.clear()

    def _refuse_own(self) -> None:
        """End the jobs that would run here, where there are no memories."""
        while (job_id := self._jobs.next()) is not None:
            if (record := self._jobs.startable(job_id)) is not None:
                self._exchange.refuse(record, JobError("TEAM_NO_COPY"))

    def _attach(self) -> bool:
        """Attach to jobs what they need of files here. Returns whether there was something to attach. A job for which
        that is not possible now is tried again when all are posted again.

        Raises JobError: as ``Team``.
        """
        waiting = list(self._exchange.unattached.values())
        for record in waiting:
            if self._stop.is_set():
                break
            outcome = self._attached(record)
            self._exchange.unattached.pop(record.job_id, None)
            if isinstance(outcome, lifecycle.Succeeded):
                self._exchange.post_again(record)
            elif isinstance(outcome, lifecycle.Failed) and not _is_temporary(outcome.error):
                self._exchange.refuse(record, outcome.error)
        if waiting:
            self._wake_exchange.set()
        return bool(waiting)

    def _attached(self, record: Record) -> Event:
        """What came of attaching to a job."""
        kind, tasks = f"{ATTACH}{record.kind}", read_tasks(self._jobs.read, [record])
        if tasks.lost:
            return lifecycle.Failed(tasks.lost[record.job_id])
        try:
            with about([record]), self._busy():
                answer = self._child.ask({"kind": kind, "jobs": tasks.jobs, "lease": None})
        except (ChildEnded, OSError) as error:
            log.warning("what a job needs is not attached yet: %s", error, extra=of_job(record))
            return lifecycle.Interrupted()
        outcome = decode(answer["outcomes"][record.job_id])
        if isinstance(outcome, lifecycle.Failed):
            log.warning("what a job needs is not attached: %s", outcome.error, extra=of_job(record))
        return outcome

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
        state = copy_state(self._workspace)
        if found is None and not (self._membership.shares and state.position is None):
            raise unreached.not_shown(is_yet_to_share=False)
        if found is not None and found.position == state.position:
            self._note_current(found.position, has_removed_all=state.has_removed_all)
            too_early_for = self._remove_again_at - time.monotonic()
            if not state.forgettings or too_early_for > 0:
                return too_early_for if state.forgettings else math.inf
            self._remove_again_at = time.monotonic() + _REMOVE_AGAIN_SECONDS
        else:
            self._current = None
            if (too_early_for := self._follow_at - time.monotonic()) > 0:
                return too_early_for
        copy_follower.follow(self._child, self._scrub)
        self._changed()
        is_behind = found is None or found.position != state.position
        if is_behind and copy_state(self._workspace).position == state.position:
            self._stuck_seconds = min(_STUCK_SECONDS, max(1.0, 2 * self._stuck_seconds))
            self._follow_at = time.monotonic() + self._stuck_seconds
            return self._stuck_seconds
        self._stuck_seconds = 0.0
        return 0.0  # to see that the copy is current, or what else came

    def _scrub(self, job_files: Mapping[str, Any]) -> None:
        """Scrub files of this machine's folder that quote what another machine forgot. Raises OSError."""
        self._jobs.without_forgotten_texts(lifecycle.Succeeded({JOB_FILES: job_files}), self._jobs.apply)

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
        while not self._has_run.is_set():
            pause = _LOOK_SECONDS
            try:
                self._exchange.run()
                if self._is_busy.is_set():
                    self._exchange.write(self._exchange.reports())
                if self._exchange.unattached:
                    self._wake_run.set()
                problem = None
            except Exception as error:
                if not isinstance(error, JobError | OSError):
                    log.exception("the exchange with the team failed; it is tried again")
                elif str(error) != problem:
                    problem = str(error)
                    log.warning("the exchange with the team waits: %s", error)
                pause = _AGAIN_SECONDS
                self._stop.wait(pause)
            self._wake_exchange.wait(pause)
            self._wake_exchange.clear()
        try:
            self._exchange.run()
            self._exchange.write(self._exchange.reports())
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


def _is_temporary(error: JobError) -> bool:
    """Whether the cause may go away by itself, so that the job is tried again."""
    return error.code.startswith("TEAM_") or ERRORS[error.code].reaction is Reaction.WAIT


def _team_of(workspace: Workspace, settings: Settings) -> GatewayTeam:
    """The team. A setting that is wrong is noted for all who ask here, since the worker ends. Raises as ``team_of``."""
    try:
        return opening.team_of(settings)
    except JobError as error:
        last_try.note(workspace, error, clock.now(), settings.team_refused_hours)
        raise
