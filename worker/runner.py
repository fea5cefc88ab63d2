"""Running jobs: from "look at this job" to an attempt in the child and its outcome in the record."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs import clock, lifecycle, spool
from jobs.errors import JobError
from jobs.layout import Spool
from jobs.model import Record
from jobs.parse import parse_job

from .child import Child, ChildDied
from .child_main import PAY, decode
from .ledger import Ledger

log = logging.getLogger(__name__)

BATCHED = frozenset({"ingest"})
MAINTENANCE = "@maintenance"  # a message that is no job id
_WRITE_AGAIN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Running:
    """What the child is busy with, for the heartbeat."""

    job_id: str
    kind: str
    started_at: datetime
    jobs: int
    progress: dict[str, Any] | None = None


class Runner:
    """Looks at jobs one after another, in Huey's consumer thread."""

    def __init__(
        self,
        place: Spool,
        ledger: Ledger,
        child: Child,
        *,
        batch_size: int,
        idle_seconds: float = 300.0,
        enqueue: Callable[[str, int], None] = lambda job_id, priority: None,
        now: Callable[[], datetime] = clock.now,
        changed: Callable[[], None] = lambda: None,
        delayed: Callable[[], None] = lambda: None,
    ) -> None:
        """``delayed`` is called when a job has to wait for its next attempt: somebody must look at the clock."""
        self._place = place
        self._ledger = ledger
        self._child = child
        self._batch_size = batch_size
        self._enqueue = enqueue
        self._now = now
        self._changed = changed
        self._delayed = delayed
        self._idle_seconds = idle_seconds
        self._suspects: dict[str, int] = {}
        self._running: Running | None = None
        self.graph_lag: int | None = None
        self.stopping = threading.Event()

    @property
    def running(self) -> Running | None:
        return self._running

    def look(self, job_id: str) -> None:
        """Run the job if it is waiting and due, together with others of its kind where that saves work."""
        if job_id == MAINTENANCE:
            self._maintain()
            return
        record = self._ledger.get(job_id)
        if record is None or self.stopping.is_set() or not lifecycle.is_due(record, self._now()):
            return
        batch = self._batch(record)
        expired = {r.job_id: lifecycle.Expired() for r in batch if lifecycle.is_expired(r, self._now())}
        if expired:
            self._apply(dict(expired))
            batch = [r for r in batch if r.job_id not in expired]
        tasks = self._tasks(batch)
        if tasks:
            self._run(str(record.kind), tasks)

    def _maintain(self) -> None:
        """With nothing else to do: pay the graph what it is owed, or give back a child that was idle for long."""
        if self.stopping.is_set() or any(lifecycle.is_due(r, self._now()) for r in self._ledger.live()):
            return
        if self.graph_lag:
            try:
                self.graph_lag = self._child.ask({"kind": PAY, "jobs": []})["graph_lag"]
            except ChildDied as error:
                log.error("the graph could not be brought up to date: %s", error)
        elif self._child.is_idle(self._idle_seconds):
            self._child.stop()

    def _batch(self, first: Record) -> list[Record]:
        """The jobs to run together."""
        if first.kind not in BATCHED:
            return [first]
        limit = self._most_together(first)
        others = [r for r in self._ledger.due(first.kind, self._batch_size) if r.job_id != first.job_id]
        alike = [r for r in others if self._most_together(r) >= limit]
        return [first, *alike[: limit - 1]]

    def _most_together(self, record: Record) -> int:
        """How many may run with a job: half as many after the crash of a batch, none after a crash of its own."""
        return 1 if record.crashes else self._suspects.get(record.job_id, self._batch_size)

    def _tasks(self, batch: list[Record]) -> list[dict[str, Any]]:
        """What the child is told of each job. A copy that cannot be read fails its job alone."""
        tasks, lost = [], {}
        for record in batch:
            try:
                data = spool.read_copy(self._place, record.job_id, spool.RECORD_LIMIT)
                job = parse_job(record.job_id, data, test_jobs=True)
            except (OSError, JobError) as error:
                log.error("job_id=%s copy unreadable: %s", record.job_id, error)
                lost[record.job_id] = JobError(
                    "JOB_NOT_FOUND",
                    "The worker's copy of the job cannot be read.",
                    remediation="Submit the job anew.",
                )
                continue
            tasks.append(
                {
                    "job_id": record.job_id,
                    "sha256": job.sha256,
                    "payload": job.payload,
                    "submitted_at": job.submitted_at,
                    "accepted_at": record.accepted_at,
                }
            )
        if lost:
            self._apply({job_id: lifecycle.Started() for job_id in lost})
            self._apply({job_id: lifecycle.Failed(error) for job_id, error in lost.items()})
        return tasks

    def _run(self, kind: str, tasks: list[dict[str, Any]]) -> None:
        started = self._apply({task["job_id"]: lifecycle.Started() for task in tasks})
        ids = [record.job_id for record in started]
        tasks = [task for task in tasks if task["job_id"] in ids]  # some may have been cancelled meanwhile
        if not tasks:
            return
        self._set_running(Running(tasks[0]["job_id"], kind, self._now(), len(tasks)))
        events: dict[str, lifecycle.Event]
        try:
            answer = self._child.ask({"kind": kind, "jobs": tasks}, self._progress)
        except ChildDied:
            events = self._after_crash(ids)
        except Exception:
            log.exception("the child could not be asked")
            failure = JobError("INTERNAL", "The child process could not be started or asked.")
            events = {job_id: lifecycle.Failed(failure) for job_id in ids}
        else:
            events = {job_id: decode(outcome) for job_id, outcome in answer["outcomes"].items()}
            events |= {job_id: lifecycle.Interrupted() for job_id in ids if job_id not in events}
            self.graph_lag = answer["graph_lag"]
        for job_id in ids:
            if not isinstance(events[job_id], lifecycle.Interrupted):
                self._suspects.pop(job_id, None)
        for record in self._apply(events):
            level = logging.INFO if record.state == "succeeded" else logging.WARNING
            code = record.error["code"] if record.error else "-"
            log.log(level, "%s job_id=%s kind=%s code=%s", record.state, record.job_id, kind, code)
            if record.state == "queued":
                self._enqueue(record.job_id, record.priority)
            elif record.state == "retrying":
                self._delayed()
        self._set_running(None)

    def _apply(self, events: dict[str, lifecycle.Event]) -> list[Record]:
        """Write the step, again and again while the disk refuses it: a step that is left out would leave the job
        where nobody looks at it again. When the worker stops meanwhile, recovery mends it."""
        while True:
            try:
                return self._ledger.apply(events)
            except OSError as error:
                log.error("records cannot be written: %s", error)
                if self.stopping.wait(_WRITE_AGAIN_SECONDS):
                    raise

    def _after_crash(self, ids: list[str]) -> dict[str, lifecycle.Event]:
        """A crash of one job alone counts; a crash of a batch proves nothing about its members."""
        if self.stopping.is_set():  # we may have killed it ourselves, to leave at once
            return {job_id: lifecycle.Interrupted() for job_id in ids}
        if len(ids) == 1:
            return {job_id: lifecycle.Crashed() for job_id in ids}
        half = max(1, len(ids) // 2)
        self._suspects |= dict.fromkeys(ids, half)
        return {job_id: lifecycle.Interrupted() for job_id in ids}

    def _progress(self, progress: dict[str, Any]) -> None:
        running = self._running
        if running is not None:
            self._set_running(Running(running.job_id, running.kind, running.started_at, running.jobs, progress))

    def _set_running(self, running: Running | None) -> None:
        self._running = running
        self._changed()
