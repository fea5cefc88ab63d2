"""The runner: from a queue message to an attempt in the child process and its outcome in the record.

While the child runs a batch of a long backlog, the worker writes the ends of the batch before and starts the next one,
so that neither waits for the other.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from bridge.settings import Settings
from jobs import clock, files, lifecycle
from jobs.errors import JobError
from jobs.kinds import BATCHED, PREEMPTIBLE, YIELDS
from jobs.lifecycle import Event
from jobs.model import Record

from ..child.protocol import COMPARE, DELIVER, MAINTAIN, Answer, decode
from ..child.supervisor import Child, ChildEnded
from ..log import about, of_job
from .graph_upkeep import GraphUpkeep
from .ledger import Cancellation
from .runnable_jobs import RunnableJobs
from .tasks import Tasks, read_tasks

if TYPE_CHECKING:
    from jobs.schema import Progress

log = logging.getLogger(__name__)

MAINTENANCE = "@maintenance"  # a queue message that is not a job id
_WRITE_AGAIN_SECONDS = 1.0
_JOBS_BETWEEN_MAINTENANCE = 200

# What ended a child -> the error of the jobs whose operation ran, and the message if it did not run.
_CODES = {"died": "CHILD_DIED", "memory": "CHILD_TOO_LARGE", "timeout": "JOB_TIMEOUT"}
_WHILE_LOADING = {
    "died": "The process that runs jobs died while it was loading.",
    "memory": "The process that runs jobs exceeded its memory limit while it was loading.",
    "timeout": "The process that runs jobs did not finish loading in time.",
}
_TOO_LATE = "The attempt took longer than the job's timeout_seconds, but its effect is committed."


@dataclass(frozen=True, slots=True)
class Running:
    """A request that the child runs, for the heartbeat."""

    job_ids: tuple[str, ...]
    kind: str
    started_at: datetime
    progress: Progress | None = None


_Ends = dict[str, tuple[Event, tuple[int, int]]]  # by job id: how an attempt has ended, and its ticket


def _ends(records: Iterable[Record], events: Mapping[str, Event]) -> _Ends:
    return {record.job_id: (events[record.job_id], record.ticket) for record in records}


class Runner:
    """Runs jobs one request at a time, in Huey's consumer thread. ``cancel`` may be called from any thread."""

    def __init__(
        self,
        jobs: RunnableJobs,
        child: Child,
        settings: Settings,
        *,
        upkeep: GraphUpkeep | None = None,
        now: Callable[[], datetime] = clock.now,
        changed: Callable[[], None] = lambda: None,
        on_requeued: Callable[[], None] = lambda: None,
        uncompared: Callable[[], int] = lambda: 0,
    ) -> None:
        """``upkeep`` says when the graph is brought up to date without a job; None: never. ``changed`` is called when
        ``running`` changes; ``on_requeued`` when a job must wait again, so that the caller enqueues it when it is
        due. ``uncompared``: how many memories the child, when it is idle, has still to compare."""
        self._jobs = jobs
        self._child = child
        self._settings = settings
        self._upkeep = upkeep
        self._now = now
        self._changed = changed
        self._on_requeued = on_requeued
        self._running: list[Running] = []
        self._started: dict[str, Record] = {}  # by job id: what the next request has
        self._in_child: set[str] = set()
        self._cancelled: set[str] = set()
        self._lock = threading.Lock()
        self._jobs_since_maintenance = 0
        self._worked_at = time.monotonic()
        self.graph_lag: int | None = None
        self._uncompared, self._left_uncompared = uncompared, 0
        self.has_uncompared = uncompared() > 0  # memories for which no job of this worker has opened the store
        self.is_delivering = False  # to the graph, without a job
        self.stopping = threading.Event()
        self.paused = threading.Event()

    @property
    def running(self) -> Sequence[Running]:
        """The running requests: at most one, and after it the short one that runs in its pause."""
        return tuple(self._running)

    def is_stale(self, job_id: str) -> bool:
        """Whether ``run_if_due`` would have no effect: the job ran with others, has ended, or is not due."""
        return job_id != MAINTENANCE and self._jobs.startable(job_id) is None

    def run_if_due(self, job_id: str) -> None:
        """Run the job if it is waiting and due, in a batch with others of its kind if the kind allows it."""
        if self._is_halted:
            return
        if job_id == MAINTENANCE:
            self._maintain()
            return
        record = self._jobs.startable(job_id)
        if record is not None:
            self._run_with_others(record)

    def cancel(self, job_id: str) -> Cancellation:
        """Cancel a job whose change is not committed: at once if it waits; if it runs ("running"), end the child."""
        cancellation = self._jobs.cancel(job_id)
        if cancellation == "running":
            with self._lock:
                if (started := self._started.get(job_id)) is not None:
                    done = self._jobs.apply({job_id: lifecycle.Cancelled()}, {job_id: started.ticket})
                    del self._started[job_id]
                    return "cancelled" if done else "ended"
                if job_id not in self._in_child:
                    return cancellation  # between two steps; the caller tries again
                self._cancelled.add(job_id)
            self._child.end("cancelled")
        return cancellation

    # --- choosing ---

    def _run_with_others(self, first: Record, *, in_pause: bool = False) -> None:
        before: _Ends = {}
        tasks = self._start(self._batch(first), in_pause=in_pause)
        while tasks is not None:
            tasks = self._run(str(first.kind), tasks, before, in_pause=in_pause)

    def _start(self, batch: list[Record], *, in_pause: bool = False) -> Tasks | None:
        """Read the copies of jobs and write that they run; None if none does."""
        tasks = read_tasks(self._jobs.read, self._without_expired(batch))
        if tasks.lost:
            lost = self._apply({job_id: lifecycle.Started() for job_id in tasks.lost})
            self._settle(_ends(lost, {job_id: lifecycle.Failed(error) for job_id, error in tasks.lost.items()}))
        together = len(tasks.jobs) + int(in_pause)
        started = self._apply({task["job_id"]: lifecycle.Started(together) for task in tasks.jobs})
        self._started = {record.job_id: record for record in started}  # some may have been cancelled meanwhile
        return tasks if started else None

    def _start_next(self, kind: str, least: float = 0) -> Tasks | None:
        """Start the jobs that come next if they are of this kind and more than ``least``."""
        if self._is_halted or self._jobs.kinds_due()[:1] != [kind]:
            return None
        batch = [record for first in self._jobs.due(kind, 1) for record in self._batch(first)]
        return self._start(batch) if len(batch) > least else None

    @property
    def _is_halted(self) -> bool:
        return self.stopping.is_set() or self.paused.is_set()

    def _batch(self, first: Record) -> list[Record]:
        if first.kind not in BATCHED:
            return [first]
        room = lifecycle.max_batch_size(first, self._settings.batch_size)
        batch = [first]
        for record in self._jobs.due(first.kind, self._settings.batch_size) if room > 1 else ():
            fits = min(room, lifecycle.max_batch_size(record, self._settings.batch_size))
            if record.job_id != first.job_id and len(batch) < fits:
                batch.append(record)
                room = fits
        return batch

    def _without_expired(self, batch: list[Record]) -> list[Record]:
        now = self._now()
        expired = [r for r in batch if lifecycle.is_expired(r, now) and not self._jobs.is_committed(r)]
        if expired:
            self._apply({record.job_id: lifecycle.Expired() for record in expired})
        return [record for record in batch if record not in expired]

    # --- running ---

    def _run(self, kind: str, tasks: Tasks, before: _Ends, *, in_pause: bool) -> Tasks | None:
        """Have the child run the jobs that were started. Meanwhile, write how those ``before`` have ended, and start
        the next ones, which are returned. Afterwards ``before`` has these jobs, unless that is written already."""
        with self._lock:
            records, self._started = self._started, {}
            self._in_child |= records.keys()
        if not records:
            self._settle(before)
            return None
        self._running.append(Running(tuple(records), kind, self._now()))
        self._changed()
        following: Tasks | None = None
        is_batch = len(records) > 1  # a job that runs alone is long, or suspected of ending the child

        def note_executing(runs: bool) -> None:
            nonlocal following
            try:  # without the note, no death of the worker counts
                self._jobs.note_executing(records.values(), runs=runs)
            except OSError as error:
                log.warning("which jobs execute could not be written: %s", error)
            if runs and not in_pause:
                with suppress(OSError):  # the worker stops
                    self._settle(before)
                    if following is None and is_batch:  # fewer than half a batch may still become more
                        following = self._start_next(kind, self._settings.batch_size / 2)

        events: dict[str, Event]
        has_answered = False
        try:
            with about(records.values()):
                answer = self._child.ask(
                    {
                        "kind": kind,
                        "jobs": [task for task in tasks.jobs if task["job_id"] in records],
                        "lease": self._jobs.lease_number(),
                        "ahead": self._jobs.seconds_ahead(),
                    },
                    self._progress,
                    timeout_seconds=tasks.timeout_seconds,
                    on_pause=self._pause_handler(kind, next(iter(records.values())), in_pause),
                    is_cancelled=lambda: bool(self._cancelled & records.keys()),
                    on_executing=note_executing,
                )
            events = self._outcomes(kind, answer, records)
            has_answered = True
        except ChildEnded as ended:
            events = self._events_after(ended, records)
        except OSError as error:
            log.error("the child could not be started: %s", error)
            failure = JobError("SYSTEM_BUSY", f"The child process could not be started: {error.strerror}.")
            events = {job_id: lifecycle.Failed(failure) for job_id in records}
        except Exception:
            log.exception("the request to the child failed")
            failure = JobError("INTERNAL", "The child process could not be asked, or its answer cannot be read.")
            events = {job_id: lifecycle.Failed(failure) for job_id in records}
        finally:
            self._jobs.forget_executing(records.values())
            with self._lock:
                self._in_child -= records.keys()
                self._cancelled -= records.keys()
            self._running.pop()
        self._jobs_since_maintenance += len(records)
        self._worked_at = time.monotonic()
        before |= _ends(records.values(), events)
        may_follow = has_answered and not self._child.should_recycle
        if following is None and may_follow and is_batch and not in_pause:
            following = self._start_next(kind)
        if self._is_halted or following is None:
            with self._lock:
                given_back, self._started, following = self._started, {}, None
            before |= _ends(given_back.values(), dict.fromkeys(given_back, lifecycle.Interrupted()))
        if following is None or not may_follow:
            self._settle(before)
        if self._child.should_recycle:
            self._child.stop(why="worn")
        return following

    def _outcomes(self, kind: str, answer: Answer, records: Mapping[str, Record]) -> dict[str, Event]:
        """The event for each job from the child's answer. Raises what a malformed answer causes, such as KeyError."""
        events: dict[str, Event] = {job_id: decode(outcome) for job_id, outcome in answer["outcomes"].items()}
        for job_id in records.keys() - events.keys():  # a bug, which must not repeat forever
            events[job_id] = lifecycle.Failed(JobError("INTERNAL", "The operation left the job without an outcome."))
        self.graph_lag = answer["graph_lag"]
        if kind == "forget":
            events = {job_id: self._scrubbed(event) for job_id, event in events.items()}
        return events

    def _scrubbed(self, event: Event) -> Event:
        """The outcome of a forget job after jobs' files are scrubbed too; Failed if that is not possible now."""
        try:
            return self._jobs.without_forgotten_texts(event, self._apply)
        except OSError as error:
            log.error("jobs' files cannot be scrubbed: %s", error)
            return lifecycle.Failed(JobError("DISK_FULL" if files.is_no_space(error) else "SYSTEM_BUSY"))

    def _events_after(self, ended: ChildEnded, records: Mapping[str, Record]) -> dict[str, Event]:
        """The event for each job whose child ended without an answer.

        Only a job that was alone in the child is blamed for a crash or timeout, and only if its own operation ran. A
        cancelled job whose change is committed is not cancelled.
        """
        why = "stopped" if self.stopping.is_set() else ended.why  # a stopping worker may have ended the child itself
        code = _CODES.get(why)
        alone = len(records) == 1 and not ended.in_pause and all(r.attempts[-1].together == 1 for r in records.values())
        after: Event = lifecycle.Interrupted(code)
        if ended.in_pause and why in ("timeout", "cancelled"):
            after = lifecycle.Interrupted()
        elif code is not None and not ended.executing:
            after = lifecycle.Failed(JobError("CHILD_START_FAILED", f"{_WHILE_LOADING[why]} No job is the cause."))
        elif alone and why == "timeout":
            has_effect = all(map(self._jobs.is_committed, records.values()))
            after = lifecycle.Failed(JobError("JOB_TIMEOUT", _TOO_LATE if has_effect else ""))
        elif alone and code is not None:
            after = lifecycle.Crashed(code)
        with self._lock:
            cancelled = self._cancelled & records.keys()
        events = dict.fromkeys(records, after)
        events |= {
            job_id: lifecycle.Cancelled() for job_id in cancelled if not self._jobs.is_committed(records[job_id])
        }
        return events

    def _settle(self, ends: _Ends) -> None:
        """Write how attempts have ended, and empty ``ends``."""
        if not ends:
            return
        events = {job_id: event for job_id, (event, _) in ends.items()}
        for record in self._apply(events, {job_id: ticket for job_id, (_, ticket) in ends.items()}):
            level = logging.INFO if record.state == "succeeded" else logging.WARNING
            log.log(level, "%s", record.state, extra=of_job(record, code=record.error and record.error["code"]))
            if not record.ended:
                self._on_requeued()
        ends.clear()
        self._changed()

    def _apply(self, events: Mapping[str, Event], tickets: Mapping[str, tuple[int, int]] | None = None) -> list[Record]:
        """As ``Ledger.apply``, repeated until the disk accepts the records.

        A skipped step would leave the job in a state that nothing ends. Raises OSError when the worker stops meanwhile;
        recovery then repairs the job.
        """
        while True:
            try:
                return self._jobs.apply(events, tickets)
            except OSError as error:
                log.error("records cannot be written: %s", error)
                if self.stopping.wait(_WRITE_AGAIN_SECONDS):
                    raise

    def _progress(self, progress: Progress) -> None:
        if self._running:
            last = self._running[-1]
            self._running[-1] = Running(last.job_ids, last.kind, last.started_at, progress)
            self._changed()

    # --- short jobs in the pauses of long ones ---

    def _pause_handler(self, kind: str, record: Record, is_in_pause: bool) -> Callable[[], object] | None:
        """The call for the pauses of a job; None for one that itself runs in a pause.

        In those of a job that has ended its child before, no other job runs. A short job ends before the worker stops.
        """
        if is_in_pause or kind not in YIELDS:
            return None
        return self._run_short_jobs if lifecycle.max_batch_size(record, 2) > 1 else self._end_child_if_stopping

    def _end_child_if_stopping(self) -> None:
        """If the worker stops, end the child; the next worker resumes the long job."""
        if self.stopping.is_set():
            self._child.end("stopped")

    def _run_short_jobs(self) -> None:
        """Run short jobs in the pause of a long one, for about as long as a slice of that takes. The long one ends if
        the worker stops."""
        self._run_in_pause()
        self._end_child_if_stopping()

    def _run_in_pause(self) -> None:
        began = time.monotonic()
        while not self._is_halted and time.monotonic() - began < self._settings.slice_seconds:
            heads = [self._jobs.due(kind, 1) for kind in self._jobs.kinds_due() if kind not in PREEMPTIBLE]
            fit = [r for head in heads for r in head if lifecycle.max_batch_size(r, 2) > 1]
            if not fit:
                return
            self._run_with_others(fit[0], in_pause=True)
            if self._child.pid is None:
                return

    def _maintain(self) -> None:
        """If no job is due: compare what another child left, bring the graph up to date if it is due, compact the
        stores, and stop an idle child."""
        if self._jobs.kinds_due():
            return
        try:
            if self.has_uncompared:
                self.has_uncompared = False
                self._child.ask({"kind": COMPARE, "jobs": [], "lease": None})
            idle = self._child.is_idle(self._settings.child_idle_seconds)
            idle |= self._bring_graph_up_to_date()
            if self._child.pid is not None and self._jobs_since_maintenance >= (
                1 if idle else _JOBS_BETWEEN_MAINTENANCE
            ):
                self._child.ask({"kind": MAINTAIN, "jobs": [], "lease": None}, on_pause=self._run_short_jobs)
                self._jobs_since_maintenance = 0
            if idle:
                self._child.stop(why="idle")
                before, self._left_uncompared = self._left_uncompared, self._uncompared()
                self.has_uncompared = 0 < self._left_uncompared != before  # else it got no further
        except ChildEnded as ended:
            log.error("maintenance was interrupted: %s", ended)

    def _bring_graph_up_to_date(self) -> bool:
        """Deliver in slices if it is due, until something else is to be done. Returns whether the child has nothing
        left to do."""
        if self._upkeep is None or not self._graph_is_due():
            return False
        self.is_delivering = True
        try:
            while self.graph_lag:
                before = self.graph_lag
                self.graph_lag = self._child.ask({"kind": DELIVER, "jobs": [], "lease": None})["graph_lag"]
                if self._is_halted or self._jobs.kinds_due():
                    return False
                if self.graph_lag == before:
                    self._upkeep.failed()
                    break
        except ChildEnded:
            self._upkeep.failed()
            raise
        finally:
            self.is_delivering = False
        return True

    def _graph_is_due(self) -> bool:
        idle_seconds = time.monotonic() - self._worked_at
        return self._upkeep is not None and self._upkeep.is_due(self.graph_lag or 0, idle_seconds)

    @property
    def wants_maintenance(self) -> bool:
        """Whether a ``MAINTENANCE`` message would have an effect."""
        return bool(
            self.has_uncompared
            or self._graph_is_due()
            or self._child.is_idle(self._settings.child_idle_seconds)
            or (self._jobs_since_maintenance >= _JOBS_BETWEEN_MAINTENANCE and self._child.is_idle(0))
        )
