"""The live records, in memory and on disk: the only writer of records while the worker runs.

Each change is stepped through the lifecycle's table and written durably before anybody sees it. Changes
made together share one sync.
"""

from __future__ import annotations

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
from jobs.lifecycle import CAPS, Caps, Event
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
    """Thread-safe. ``changed`` is called after each change, without the lock."""

    def __init__(
        self,
        paths: SpoolPaths,
        live: Iterable[Record],
        now: Callable[[], datetime] = clock.now,
        jitter: Callable[[], float] = random.random,
        changed: Callable[[], None] = lambda: None,
        stepped: Callable[[Record | None, Record], None] = lambda before, after: None,
        stands: Callable[[Record], bool] = lambda record: False,
        caps: Caps = CAPS,
    ) -> None:
        """``stands`` says whether a job's effect is committed: then it is too late to cancel it or to let it expire.
        ``stepped`` is told each record that was written, and the one before it, which is None for a job that was not
        live here."""
        self._paths = paths
        self._live: dict[str, Record] = {}
        self._waiting = Waiting()
        self._now = now
        self._jitter = jitter
        self._changed = changed
        self._stepped = stepped
        self._stands = stands
        self._caps = caps
        self._lock = threading.Lock()  # of what is in memory; never held while the disk is written
        self._stepping = threading.RLock()  # one step of a job after another, from its record to its record
        self._counts: Counter[str] = Counter()
        self._ended: Counter[str] = Counter()
        for record in live:
            self._keep(record)

    # --- looking ---

    def get(self, job_id: str) -> Record | None:
        """The record of a job that has not ended."""
        with self._lock:
            return self._live.get(job_id)

    def find(self, job_id: str) -> Record | None:
        """The record of any job. Raises ValueError for a damaged one."""
        return self.get(job_id) or spool.read_record(self._paths, job_id)

    def live(self) -> list[Record]:
        with self._lock:
            return list(self._live.values())

    def count(self) -> int:
        with self._lock:
            return len(self._live)

    def counts(self) -> Counts:
        """Jobs by state: the live ones now, the ended ones since this worker's start."""
        with self._lock:
            counts: dict[str, int] = {**dict.fromkeys(LIVE, 0), **self._counts, **self._ended}
        return cast("Counts", counts)

    def oldest_waiting(self) -> str | None:
        """When the job was accepted that has waited longest."""
        with self._lock:
            return self._waiting.oldest()

    def due(self, kind: str, limit: int) -> list[Record]:
        """Waiting jobs of a kind that may start now, in the order in which they would."""
        with self._lock:
            return self._waiting.due(kind, limit, self._now())

    def kinds_due(self) -> list[str]:
        """The kinds of which a job may start now, in the order of their first jobs."""
        with self._lock:
            return self._waiting.kinds_due(self._now())

    def startable(self, job_id: str) -> Record | None:
        """The job's record if it may start now. One that may not yet is announced anew when it may: whoever asks was
        told too early, for the clock was set back since."""
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
        """How long nothing becomes due."""
        with self._lock:
            due = self._waiting.next_due()
        return at_most if due is None else max(0.0, min(at_most, (due - self._now()).total_seconds()))

    # --- changing ---

    def accept(self, accepted: Sequence[tuple[Job, Record]], read: Mapping[str, os.stat_result] | None = None) -> None:
        """Make jobs ours. When the disk refuses half-way, those whose records were written are live all the same."""
        try:
            spool.accept(self._paths, accepted, read)
        except BaseException:
            accepted = [pair for pair in accepted if self._is_written(pair[1])]
            raise
        finally:
            for _, record in accepted:
                self._keep(record)
        self._changed()

    def _is_written(self, record: Record) -> bool:
        try:
            return spool.read_record(self._paths, record.job_id) == record
        except (OSError, ValueError, JobError):
            return False

    def adopt(self, record: Record) -> None:
        """Take up a live record that lies on the disk and that nobody here knew of."""
        self._keep(record)
        self._changed()

    def rewrite(self, job_ids: Iterable[str]) -> None:
        """Write the records of live jobs as they are: somebody has removed them."""
        with self._stepping:
            live = [record for job_id in job_ids if (record := self.get(job_id)) is not None]
            spool.write_records(self._paths, live)

    def apply(self, events: Mapping[str, Event], tickets: Tickets | None = None) -> list[Record]:
        """Step records of live jobs; a job that the event does not fit is left out of the answer.

        ``tickets`` has the generation and attempt that each event is of: one of a dead attempt is refused.
        """
        with self._stepping:
            stepped = self._step(events, tickets or {})
        self._changed()
        return stepped

    def cancel(self, job_id: str) -> Cancellation:
        """End a waiting job as cancelled; else say why not."""
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
        """Whether the job's effect is committed. Before the very first attempt nobody has to look.

        A store that cannot say leaves the job to its end.
        """
        if record.attempt == 0 and record.generation == 1:
            return False
        try:
            return self._stands(record)
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
                log.warning("late: %s of a dead attempt refused", type(event).__name__, extra=about)
                continue
            try:
                stepped.append(lifecycle.step(record, event, now, self._jitter(), self._caps))
            except lifecycle.IllegalTransition:
                continue
        if stepped:
            try:
                with steps.fault_point("record.start" if stepped[0].state == "running" else "record.end"):
                    spool.write_records(self._paths, stepped)
            except OSError:
                for record in stepped:
                    if record.ended and self._is_written(record):
                        self._keep(record)  # askers see an end: it must be one
                raise
        for record in stepped:
            self._keep(record)
        return stepped

    def _keep(self, record: Record) -> None:
        """The state in memory follows what was written."""
        with self._lock:
            before = self._live.pop(record.job_id, None)
            if before is not None:
                self._counts[before.state] -= 1
            self._waiting.discard(record.job_id)
            if record.ended:
                self._ended[record.state] += 1
            else:
                self._live[record.job_id] = record
                self._counts[record.state] += 1
                if record.state != "running":
                    self._waiting.put(record, self._now())
        self._stepped(before, record)
        if record.ended:
            try:
                spool.retire_copy(self._paths, record.job_id, keep=keeps_copy(record))
            except OSError as error:  # the record says it already; recovery puts the copy away
                log.error("copy not put away: %s", error, extra=of_job(record))

    def scrub(self, job_ids: Iterable[str], others: Sequence[Path]) -> None:
        """Take the texts out of those of the jobs that have ended, and remove the other files."""
        with self._stepping:
            found, damaged = [], []
            for job_id in job_ids:
                try:
                    record = self.find(job_id)
                except (ValueError, JobError):
                    damaged.append(job_id)  # nobody can say what of it is a text
                    continue
                if record is not None and record.ended:
                    found.append(record)
            spool.scrub(self._paths, found, damaged, others)

    def dismiss(self, record: Record) -> None:
        """Remove an ended job before its time: its copy, a rejected one's files, and its record last."""
        with self._stepping:
            # Without a record, a copy in ``active/`` would be taken for a job.
            spool.retire_copy(self._paths, record.job_id)
            for path in files_of(self._paths, record.job_id):
                files.remove(path)
            spool.prune(self._paths, [record.job_id])
        self._changed()

    def replay(self, job_id: str) -> Record:
        """Begin a new generation of an ended job. Raises JOB_NOT_FOUND, ARGUMENT_INVALID."""
        with self._stepping:
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
                raise JobError("JOB_NOT_FOUND", f"The copy of job {job_id} was removed; submit it anew.") from None
            with steps.fault_point("record.replay"):
                spool.write_records(self._paths, [again])
            self._keep(again)
        self._changed()
        return again
