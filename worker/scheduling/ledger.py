"""The ledger of live records, in memory and on disk: the only writer of records while the worker runs.

Each change is a step of ``jobs.lifecycle``, and is written durably before it becomes visible in memory. Changes made
together share one sync.
"""

from __future__ import annotations

import errno
import logging
import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from bridge.privacy.log_lines import fields
from jobs import clock, files, lifecycle, spool, steps
from jobs.errors import JobError
from jobs.layout import SpoolPaths
from jobs.lifecycle import CRASH_LIMITS, CrashLimits, Event
from jobs.model import Job, Record
from jobs.rejected_files import files_of
from jobs.scrub import keeps_copy
from jobs.states import LIVE

from ..log import of_job
from .waiting import Waiting

if TYPE_CHECKING:
    from jobs.schema import Counts

log = logging.getLogger(__name__)

Tickets = Mapping[str, tuple[int, int]]
Cancellation = Literal["cancelled", "running", "too late", "ended"]


class Ledger:
    """The live records. Thread-safe. ``changed`` is called after each change, without the lock."""

    def __init__(
        self,
        paths: SpoolPaths,
        live: Iterable[Record],
        now: Callable[[], datetime] = clock.now,
        jitter: Callable[[], float] = random.random,
        changed: Callable[[], None] = lambda: None,
        stepped: Callable[[Record | None, Record], None] = lambda before, after: None,
        has_committed: Callable[[Record], bool] = lambda record: False,
        crash_limits: CrashLimits = CRASH_LIMITS,
        holds_lock: Callable[[], bool] = lambda: True,
    ) -> None:
        """``live``: the records from recovery. ``has_committed``: whether a job's change is committed; then the job can
        neither be cancelled nor expire. ``stepped`` is called with the former record, which is None for a job that was
        not live here, and with each written one. ``holds_lock``: whether this worker still has the workspace's lock;
        without it, every method that changes files raises OSError, since another worker may write them."""
        self._paths = paths
        self._live: dict[str, Record] = {}
        self._waiting = Waiting()
        self._now = now
        self._jitter = jitter
        self._changed = changed
        self._stepped = stepped
        self._has_committed = has_committed
        self._crash_limits = crash_limits
        self._holds_lock = holds_lock
        self._lock = threading.Lock()  # guards the state in memory; never held while the disk is written
        self._stepping = threading.RLock()  # allows one step at a time, from reading a record to writing the next
        self._ended: Counter[str] = Counter()
        for record in live:
            self._keep(record)

    # --- reading ---

    def get(self, job_id: str) -> Record | None:
        """The record of a live job; None for any other."""
        with self._lock:
            return self._live.get(job_id)

    def find(self, job_id: str) -> Record | None:
        """The record of any job, ended ones from the disk; None without one. Raises as
        ``spool.read_record``."""
        return self.get(job_id) or spool.read_record(self._paths, job_id)

    def find_as_seen(self, job_id: str) -> Record | None:
        """As ``find``, but not behind what clients have seen: they can read a record before its step is done."""
        with self._stepping:
            return self.find(job_id)

    def live(self) -> list[Record]:
        """The records of all live jobs."""
        with self._lock:
            return list(self._live.values())

    def count(self) -> int:
        """The number of live jobs."""
        with self._lock:
            return len(self._live)

    def counts(self) -> Counts:
        """The number of jobs by state: live ones now, ended ones since this worker's start."""
        with self._lock:
            live: Counter[str] = Counter(record.state for record in self._live.values())
            counts: dict[str, int] = {**dict.fromkeys(LIVE, 0), **live, **self._ended}
        return cast("Counts", counts)

    def ended_jobs(self) -> int:
        """The number of jobs that have ended since this worker's start."""
        with self._lock:
            return self._ended.total()

    def oldest_waiting(self) -> str | None:
        """The timestamp since which the oldest waiting job has waited; None without one."""
        with self._lock:
            return self._waiting.oldest()

    def due(self, kind: str, limit: int) -> list[Record]:
        """At most ``limit`` jobs of a kind that may start now, in their order of starting."""
        with self._lock:
            return self._waiting.due(kind, limit, self._now())

    def kinds_due(self) -> list[str]:
        """The kinds with a job that may start now, in the order of their first jobs."""
        with self._lock:
            return self._waiting.kinds_due(self._now())

    def startable(self, job_id: str) -> Record | None:
        """The job's record if it may start now; otherwise None.

        A job that is not due yet, because the clock was set back after its announcement, will be announced again.
        """
        with self._lock:
            record, now = self._live.get(job_id), self._now()
            if record is None or record.state == "running":
                return None
            if not lifecycle.is_due(record, now):
                self._waiting.put(record, now)
                return None
            return record

    def take_announced(self) -> list[Record]:
        """The waiting jobs that have become due since the last call."""
        with self._lock:
            return self._waiting.take_announced(self._now())

    def seconds_to_next(self, at_most: float) -> float:
        """The seconds until the next job becomes due, between 0 and ``at_most``."""
        with self._lock:
            due = self._waiting.next_due()
        return at_most if due is None else max(0.0, min(at_most, (due - self._now()).total_seconds()))

    # --- changing ---

    def accept(self, accepted: Sequence[tuple[Job, Record]], read: Mapping[str, os.stat_result] | None = None) -> None:
        """Accept jobs: write their copies and records, and remove the dropped files.

        If that fails half-way with an exception, the jobs whose records were written are live. Raises OSError.
        """
        self._require_lock()
        try:
            spool.accept(self._paths, accepted, read)
        except BaseException:
            accepted = [pair for pair in accepted if self._is_written(pair[1])]
            raise
        finally:
            for _, record in accepted:
                self._keep(record)
        self._changed()

    def _require_lock(self) -> None:
        """Raises OSError when the worker's lock file was removed: another worker may have started and recovered the
        jobs, so a write from here would replace its records."""
        if not self._holds_lock():
            raise OSError(errno.ENOLCK, "the worker's lock file was removed, so another worker may own the records")

    def _is_written(self, record: Record) -> bool:
        try:
            return spool.read_record(self._paths, record.job_id) == record
        except (OSError, ValueError, JobError):
            return False

    def adopt(self, record: Record) -> None:
        """Add a live record that recovery found on the disk."""
        self._keep(record)
        self._changed()

    def mirror(self, record: Record) -> None:
        """In a team: write the record of a job as the team's database has it, unless a later generation is here.

        Raises OSError.
        """
        with self._stepping:
            self._require_lock()
            here = self.get(record.job_id)
            if here is None or here.generation > record.generation:
                return
            with steps.fault_point("team.record"):
                spool.write_records(self._paths, [record])
            self._keep(record)
        self._changed()

    def rewrite(self, job_ids: Iterable[str]) -> None:
        """Write the records of live jobs again, after their files were removed. Raises OSError."""
        with self._stepping:
            self._require_lock()
            live = [record for job_id in job_ids if (record := self.get(job_id)) is not None]
            spool.write_records(self._paths, live)

    def apply(self, events: Mapping[str, Event], tickets: Tickets | None = None) -> list[Record]:
        """Step the records of live jobs and return the new ones, without the jobs whose state does not allow the event.

        ``tickets``: job id -> generation and attempt of the event; an event of an earlier attempt is refused. Raises
        OSError when the records cannot be written.
        """
        with self._stepping:
            stepped = self._step(events, tickets or {})
        self._changed()
        return stepped

    def cancel(self, job_id: str) -> Cancellation:
        """Cancel a waiting job; otherwise return why it cannot be cancelled. Raises OSError."""
        with self._stepping:
            record = self.get(job_id)
            if record is None:
                return "ended"
            if self.is_committed(record):
                return "too late"
            if record.state == "running":
                return "running"
            done = self._step({job_id: lifecycle.Cancelled()}, {})
        self._changed()
        return "cancelled" if done else "too late"

    def is_committed(self, record: Record) -> bool:
        """Whether the job's change is committed; True if the store cannot be read, so that the job runs to its end."""
        if record.attempt == 0 and record.generation == 1:
            return False  # it has never run; a job whose record was lost has a later generation
        try:
            return self._has_committed(record)
        except Exception as error:
            log.error("whether it has taken effect cannot be read: %s", error, extra=of_job(record))
            return True

    def _step(self, events: Mapping[str, Event], tickets: Tickets) -> list[Record]:
        now = self._now()
        stepped = []
        for job_id, event in events.items():
            record = self.get(job_id)
            if record is None or record.ticket != tickets.get(job_id, record.ticket):
                about = fields(job_id=job_id) if record is None else of_job(record)
                log.warning("ignored %s of an abandoned attempt", type(event).__name__, extra=about)
                continue
            try:
                stepped.append(lifecycle.step(record, event, now, self._jitter(), self._crash_limits))
            except lifecycle.IllegalTransition:
                continue
        if stepped:
            self._require_lock()
            try:
                with steps.fault_point("record.start" if stepped[0].state == "running" else "record.end"):
                    spool.write_records(self._paths, stepped)
            except OSError:
                for record in stepped:
                    if record.ended and self._is_written(record):
                        self._keep(record)  # clients can already read this end, so it must hold
                raise
        for record in stepped:
            self._keep(record)
        return stepped

    def _keep(self, record: Record) -> None:
        """Update the state in memory after a record was written."""
        with self._lock:
            before = self._live.pop(record.job_id, None)
            self._waiting.discard(record.job_id)
            if record.ended:
                self._ended[record.state] += 1
            else:
                self._live[record.job_id] = record
                if record.state != "running":
                    self._waiting.put(record, self._now())
        self._stepped(before, record)
        if record.ended:
            try:
                spool.retire_copy(self._paths, record.job_id, keep=keeps_copy(record))
            except OSError as error:  # the record is written; recovery will move the copy
                log.error("copy not moved to ended/: %s", error, extra=of_job(record))

    def scrub(self, job_ids: Iterable[str], others: Sequence[Path]) -> None:
        """Remove the texts from the files of these jobs, if they have ended, and remove the files ``others``.

        Raises OSError.
        """
        with self._stepping:
            self._require_lock()
            ended, damaged = [], []
            for job_id in job_ids:
                try:
                    record = self.find(job_id)
                except (ValueError, JobError):
                    damaged.append(job_id)  # its texts cannot be located
                    continue
                if record is not None and record.ended:
                    ended.append(record)
            spool.scrub(self._paths, ended, damaged, others)

    def dismiss(self, record: Record) -> None:
        """Remove an ended job before its retention ends: its copy, the files of a rejected job, and last its record.

        Raises OSError.
        """
        with self._stepping:
            self._require_lock()
            # Without a record, recovery would accept a copy in ``active/`` as a job.
            spool.retire_copy(self._paths, record.job_id)
            for path in files_of(self._paths, record.job_id):
                files.remove(path)
            spool.prune(self._paths, [record.job_id])
        self._changed()

    def replay(self, job_id: str) -> Record:
        """Start a new generation of an ended job. Returns its new record.

        Raises JobError: JOB_NOT_FOUND when the record or the copy is missing, ARGUMENT_INVALID when the job's state
        allows no replay. Raises OSError.
        """
        with self._stepping:
            self._require_lock()
            record = self.find(job_id)
            if record is None:
                raise JobError("JOB_NOT_FOUND", f"There is no record of job {job_id!r}.")
            try:
                again = lifecycle.step(record, lifecycle.Replayed(), self._now())
                spool.reopen(self._paths, job_id)
            except lifecycle.IllegalTransition:
                raise JobError(
                    "ARGUMENT_INVALID",
                    f"Job {job_id} is {record.state}; only failed, cancelled and expired jobs run again.",
                ) from None
            except FileNotFoundError:
                raise JobError("JOB_NOT_FOUND", f"The copy of job {job_id} was removed; submit it again.") from None
            with steps.fault_point("record.replay"):
                spool.write_records(self._paths, [again])
            self._keep(again)
        self._changed()
        return again
