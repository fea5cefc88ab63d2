"""Running jobs: from "look at this job" to an attempt in the child and its outcome in the record."""

from __future__ import annotations

import errno
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from jobs import clock, lifecycle
from jobs.errors import JobError
from jobs.kinds import BATCHED, PREEMPTIBLE, YIELDS
from jobs.layout import SpoolPaths
from jobs.lifecycle import Event
from jobs.model import Record

from ..child.protocol import DELIVER, MAINTAIN, decode
from ..child.supervisor import Child, ChildEnded
from ..log import about, of_job
from . import forget_job_files
from .ledger import Cancellation, Ledger
from .tasks import Tasks, read_tasks

if TYPE_CHECKING:
    from jobs.schema import Progress

log = logging.getLogger(__name__)

MAINTENANCE = "@maintenance"  # a message that is no job id
_WRITE_AGAIN_SECONDS = 1.0
_JOBS_BETWEEN_MAINTENANCE = 200

_CODES = {"died": "CHILD_DIED", "memory": "CHILD_TOO_LARGE", "timeout": "JOB_TIMEOUT"}


@dataclass(frozen=True, slots=True)
class Running:
    """What the child is busy with, for the heartbeat."""

    job_ids: tuple[str, ...]
    kind: str
    started_at: datetime
    progress: Progress | None = None


class Runner:
    """Looks at jobs one after another, in Huey's consumer thread; ``cancel`` may be called from any."""

    def __init__(
        self,
        paths: SpoolPaths,
        ledger: Ledger,
        child: Child,
        *,
        batch_size: int,
        idle_seconds: float = 300.0,
        slice_seconds: float = 2.0,
        now: Callable[[], datetime] = clock.now,
        changed: Callable[[], None] = lambda: None,
        waits: Callable[[], None] = lambda: None,
    ) -> None:
        """``waits`` is called when a job has to wait again: somebody must put it into the queue when it is due."""
        self._paths = paths
        self._ledger = ledger
        self._child = child
        self._batch_size = batch_size
        self._idle_seconds = idle_seconds
        self._slice_seconds = slice_seconds
        self._now = now
        self._changed = changed
        self._waits = waits
        self._running: list[Running] = []
        self._in_child: set[str] = set()
        self._cancelled: set[str] = set()
        self._lock = threading.Lock()
        self._jobs_since_maintenance = 0
        self.graph_lag: int | None = None
        self.stopping = threading.Event()
        self.paused = threading.Event()

    @property
    def running(self) -> Sequence[Running]:
        """What runs, and last what was let in between."""
        return tuple(self._running)

    def is_stale(self, job_id: str) -> bool:
        """Whether ``look`` would do nothing about the job: it ran with others, ended, or waits for a later time."""
        if job_id == MAINTENANCE:
            return False
        return self._ledger.startable(job_id) is None

    def look(self, job_id: str) -> None:
        """Run the job if it is waiting and due, together with others of its kind where that saves work."""
        if self.stopping.is_set() or self.paused.is_set():
            return
        if job_id == MAINTENANCE:
            self._maintain()
            return
        record = self._ledger.startable(job_id)
        if record is not None:
            self._run_with_others(record)
        if self._child.should_recycle:
            self._child.stop(why="worn")

    def cancel(self, job_id: str) -> Cancellation:
        """End a job whose effect is not committed: at once if it waits, and soon if it runs ("running")."""
        found = self._ledger.cancel(job_id)
        if found == "running":
            with self._lock:
                if job_id not in self._in_child:
                    return found  # between two steps: ask again
                self._cancelled.add(job_id)
            self._child.end("cancelled")
        return found

    # --- choosing ---

    def _run_with_others(self, first: Record, *, between: bool = False) -> None:
        batch = self._without_expired(self._batch(first))
        if not batch:
            return
        tasks = read_tasks(self._paths, batch)
        if tasks.lost:
            started = self._apply({job_id: lifecycle.Started() for job_id in tasks.lost})
            events = {record.job_id: lifecycle.Failed(tasks.lost[record.job_id]) for record in started}
            self._settle(str(first.kind), events, {record.job_id: record.ticket for record in started})
        if tasks.jobs:
            self._run(str(first.kind), tasks, between=between)

    def _batch(self, first: Record) -> list[Record]:
        if first.kind not in BATCHED:
            return [first]
        room = lifecycle.max_batch_size(first, self._batch_size)
        batch = [first]
        for record in self._ledger.due(first.kind, self._batch_size) if room > 1 else ():
            fits = min(room, lifecycle.max_batch_size(record, self._batch_size))
            if record.job_id != first.job_id and len(batch) < fits:
                batch.append(record)
                room = fits
        return batch

    def _without_expired(self, batch: list[Record]) -> list[Record]:
        now = self._now()
        expired = [r for r in batch if lifecycle.is_expired(r, now) and not self._ledger.is_committed(r)]
        if expired:
            self._apply({record.job_id: lifecycle.Expired() for record in expired})
        return [record for record in batch if record not in expired]

    # --- running ---

    def _run(self, kind: str, tasks: Tasks, *, between: bool) -> None:
        together = len(tasks.jobs) + int(between)
        started = self._apply({task["job_id"]: lifecycle.Started(together) for task in tasks.jobs})
        records = {record.job_id: record for record in started}  # some may have been cancelled meanwhile
        if not records:
            return
        self._running.append(Running(tuple(records), kind, self._now()))
        self._changed()
        with self._lock:
            self._in_child |= records.keys()
        events: dict[str, Event]
        try:
            with about(records.values()):
                answer = self._child.ask(
                    {"kind": kind, "jobs": [task for task in tasks.jobs if task["job_id"] in records]},
                    self._progress,
                    timeout_seconds=tasks.timeout_seconds,
                    between=self._yield_control(kind, next(iter(records.values())), between),
                    unwanted=lambda: bool(self._cancelled & records.keys()),
                )
        except ChildEnded as ended:
            events = self._events_after(ended, records)
        except OSError as error:
            log.error("the child could not be started: %s", error)
            failure = JobError("SYSTEM_BUSY", f"The child process could not be started: {error.strerror}.")
            events = {job_id: lifecycle.Failed(failure) for job_id in records}
        except Exception:
            log.exception("the child could not be asked")
            failure = JobError("INTERNAL", "The child process could not be started or asked.")
            events = {job_id: lifecycle.Failed(failure) for job_id in records}
        else:
            events = {job_id: decode(outcome) for job_id, outcome in answer["outcomes"].items()}
            for job_id in records.keys() - events.keys():  # a mistake of ours, which must not go round for ever
                events[job_id] = lifecycle.Failed(
                    JobError("INTERNAL", "The operation left the job without an outcome.")
                )
            self.graph_lag = answer["graph_lag"]
            if kind == "forget":
                events = {job_id: self._scrubbed(event) for job_id, event in events.items()}
        finally:
            with self._lock:
                self._in_child -= records.keys()
                self._cancelled -= records.keys()
            self._running.pop()
        self._jobs_since_maintenance += len(records)
        self._settle(kind, events, {job_id: record.ticket for job_id, record in records.items()})

    def _scrubbed(self, event: Event) -> Event:
        """What the child says of a forgetting, once the jobs' files are scrubbed as well: it does not end before."""
        try:
            return forget_job_files.scrubbed(event, self._paths, self._ledger, self._apply)
        except OSError as error:
            log.error("jobs' files cannot be scrubbed: %s", error)
            return lifecycle.Failed(JobError("DISK_FULL" if error.errno == errno.ENOSPC else "SYSTEM_BUSY"))

    def _events_after(self, ended: ChildEnded, records: Mapping[str, Record]) -> dict[str, Event]:
        """What the end of the child means for each job that it had.

        It says something about a job that was alone in it. A cancelled job whose effect stands ends as it would have.
        """
        why = "stopped" if self.stopping.is_set() else ended.why  # we may have ended it ourselves, to leave at once
        code = _CODES.get(why)
        alone = len(records) == 1 and not ended.between and all(r.attempts[-1].together == 1 for r in records.values())
        after: Event = lifecycle.Interrupted(code)
        if ended.between and why in ("timeout", "cancelled"):
            after = lifecycle.Interrupted()
        elif alone and why == "timeout":
            after = lifecycle.Failed(self._timed_out(next(iter(records.values()))))
        elif alone and code is not None:
            after = lifecycle.Crashed(code)
        with self._lock:
            cancelled = self._cancelled & records.keys()
        events = dict.fromkeys(records, after)
        events |= {
            job_id: lifecycle.Cancelled() for job_id in cancelled if not self._ledger.is_committed(records[job_id])
        }
        return events

    def _timed_out(self, record: Record) -> JobError:
        if not self._ledger.is_committed(record):
            return JobError("JOB_TIMEOUT")
        return JobError(
            "JOB_TIMEOUT",
            "The attempt took longer than the job's timeout_seconds, but its effect is committed: the knowledge graph"
            " alone was not told in time, and is told later.",
        )

    def _settle(self, kind: str, events: Mapping[str, Event], tickets: Mapping[str, tuple[int, int]]) -> None:
        for record in self._apply(events, tickets):
            level = logging.INFO if record.state == "succeeded" else logging.WARNING
            log.log(level, "%s", record.state, extra=of_job(record, code=record.error and record.error["code"]))
            if not record.ended:
                self._waits()
        self._changed()

    def _apply(self, events: Mapping[str, Event], tickets: Mapping[str, tuple[int, int]] | None = None) -> list[Record]:
        """Write the step, again and again while the disk refuses it: a step that is left out would leave the job
        where nobody looks at it again. When the worker stops meanwhile, recovery mends it."""
        while True:
            try:
                return self._ledger.apply(events, tickets)
            except OSError as error:
                log.error("records cannot be written: %s", error)
                if self.stopping.wait(_WRITE_AGAIN_SECONDS):
                    raise

    def _progress(self, progress: Progress) -> None:
        if self._running:
            now = self._running[-1]
            self._running[-1] = Running(now.job_ids, now.kind, now.started_at, progress)
            self._changed()

    # --- long work and short ---

    def _yield_control(self, kind: str, record: Record, is_between: bool) -> Callable[[], object] | None:
        """What to do while long work stands still; None for short work, and for what was let in between itself.

        Long work that ended its child before is not trusted with others beside it.
        """
        if is_between or kind not in YIELDS:
            return None
        return self._run_short_jobs if lifecycle.max_batch_size(record, 2) > 1 else self._heed_stop

    def _heed_stop(self) -> bool:
        """When the worker stops, long work is resumed by the next one."""
        if self.stopping.is_set():
            self._child.end("stopped")
            return True
        return False

    def _run_short_jobs(self) -> None:
        """Run what is short and due, for about as long as a slice of the long work took."""
        began = time.monotonic()
        while not self.paused.is_set() and time.monotonic() - began < self._slice_seconds:
            if self._heed_stop():
                return
            heads = [self._ledger.due(kind, 1) for kind in self._ledger.kinds_due() if kind not in PREEMPTIBLE]
            fit = [r for head in heads for r in head if lifecycle.max_batch_size(r, 2) > 1]
            if not fit:
                return
            self._run_with_others(fit[0], between=True)
            if self._child.pid is None:
                return

    def _maintain(self) -> None:
        """With nothing else to do: pay the graph what it is owed, compact what only grows, give back an idle child."""
        if self._ledger.kinds_due():
            return
        try:
            if self.graph_lag:
                self.graph_lag = self._child.ask({"kind": DELIVER, "jobs": []}, between=self._run_short_jobs)[
                    "graph_lag"
                ]
            idle = self._child.is_idle(self._idle_seconds)
            if self._child.pid is not None and self._jobs_since_maintenance >= (
                1 if idle else _JOBS_BETWEEN_MAINTENANCE
            ):
                self._child.ask({"kind": MAINTAIN, "jobs": []}, between=self._run_short_jobs)
                self._jobs_since_maintenance = 0
            if idle:
                self._child.stop(why="idle")
        except ChildEnded as ended:
            log.error("maintenance was cut off: %s", ended)

    @property
    def wants_maintenance(self) -> bool:
        """Whether a look at ``MAINTENANCE`` would find something to do."""
        return bool(
            self.graph_lag
            or self._child.is_idle(self._idle_seconds)
            or (self._jobs_since_maintenance >= _JOBS_BETWEEN_MAINTENANCE and self._child.is_idle(0))
        )
