"""The lease of a workspace that this worker holds, and its jobs as the runner needs them: records in the database.

While it holds no lease, no job is due, and what an attempt ends with is ignored: another worker has the job.
"""

from __future__ import annotations

import errno
import logging
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta

from bridge.team import server_clock
from bridge.team.leases import Lease
from bridge.team.postgres_team import PostgresTeam
from bridge.team.shared_jobs import SharedJob
from jobs import clock, lifecycle
from jobs.errors import JobError
from jobs.kinds import NEEDS_GRAPH
from jobs.lifecycle import CrashLimits, Event
from jobs.model import Record, encode
from jobs.scrub import JOB_FILES

from ..log import of_job
from ..scheduling.ledger import Cancellation, Tickets
from ..scheduling.runnable_jobs import Apply

log = logging.getLogger(__name__)

_LOOKED_AT = 256  # waiting jobs, the first in their order
_FRESH_SECONDS = 1.0  # for which that list is used
_LONGEST_RENEWAL_SECONDS = 5.0
_SERVICES_DISK_FULL = JobError(  # who reads it has another disk
    "DISK_FULL",
    "The disk of the team's service has too little free space.",
    remediation="Tell an operator, who frees some there. The job waits, and continues automatically.",
)


class TeamJobs:
    """Thread-safe. At most one lease at a time: one thread holds it, and another one renews it."""

    def __init__(
        self,
        team: PostgresTeam,
        node: str,
        crash_limits: CrashLimits,
        stepped: Callable[[Record], None] = lambda _: None,
        count_loss: Callable[[], None] = lambda: None,
    ) -> None:
        """``stepped`` is called with each record that was written, and ``count_loss`` once for each lease that was
        lost, whatever found it."""
        self._team = team
        self._node = node
        self._crash_limits = crash_limits
        self._stepped = stepped
        self._count_loss = count_loss
        self.left_jobs = False  # whether jobs waited when the last lease was given up
        self.hides_graph = False  # whether ``kinds_due`` leaves out those that need the graph
        self._lock = threading.RLock()
        self._lease: Lease | None = None
        self._renewed_at = 0.0
        self._jobs: dict[str, SharedJob] = {}
        self._records: dict[str, Record] = {}
        self._read_at = 0.0
        self._ahead = timedelta()  # of the server's clock

    # --- the lease ---

    @contextmanager
    def holding(self, lease: Lease) -> Iterator[None]:
        """Run the lease's jobs in the block. Then the lease is given up, so that another worker need not wait.

        Raises JobError as ``hold``.
        """
        self.left_jobs = False
        self._renewed_at = time.monotonic()
        self.hold(lease)
        try:
            yield
        finally:
            if self.let_go() is None:
                self._count_loss()
            else:
                self.left_jobs = self._team.release(lease)

    def renew_if_due(self, seconds: float) -> bool:
        """Renew the lease, if there is one, for so many seconds, every third of them. Returns False when another
        worker has taken over. Raises JobError as ``Team``."""
        lease = self._lease
        if lease is None or time.monotonic() - self._renewed_at < min(_LONGEST_RENEWAL_SECONDS, seconds / 3):
            return True
        if self._team.renew(lease, seconds):
            self._renewed_at = time.monotonic()
        elif self._lease == lease:
            log.warning("another worker has taken over the workspace: the running job is ended here")
            self.let_go()
            return False
        return True

    def hold(self, lease: Lease) -> None:
        """Run the jobs of this lease from now on. Jobs that a worker left running wait again, or end as poison.

        Raises JobError: TEAM_LEASE_LOST and as ``Team``.
        """
        self._ahead = server_clock.ahead(self._team)
        left = self._team.running(lease)
        if left:
            died = [self._step(record, lifecycle.WorkerDied()) for record in left]
            self._team.write(lease, died)
            for record in died:
                log.warning("its worker died or was cut off: %s", record.state, extra=of_job(record))
                self._stepped(record)
        with self._lock:
            self._lease = lease
            self._jobs, self._records, self._read_at = {}, {}, 0.0

    def let_go(self) -> Lease | None:
        """Hold no lease from now on. Returns the former one."""
        with self._lock:
            former, self._lease = self._lease, None
            self._jobs, self._records = {}, {}
        return former

    def lease_number(self) -> int | None:
        """The number of the lease; -1 without one, which every commit refuses."""
        lease = self._lease
        return -1 if lease is None else lease.number

    def now(self) -> datetime:
        """The time of the database's server."""
        return clock.now() + self._ahead

    def seconds_ahead(self) -> float:
        """How far the server's clock is ahead of this machine's."""
        return self._ahead.total_seconds()

    # --- reading ---

    def next(self) -> str | None:
        """The id of the job that starts next; None if none is due."""
        found = self._due()
        return found[0].job_id if found else None

    def startable(self, job_id: str) -> Record | None:
        """The job's record if it may start now."""
        return next((record for record in self._due() if record.job_id == job_id), None)

    def due(self, kind: str, limit: int) -> list[Record]:
        """The jobs of a kind that may start now, in their order of starting."""
        return [record for record in self._due() if record.kind == kind][:limit]

    def kinds_due(self) -> list[str]:
        """The kinds with a job that may start now, in the order of their first jobs."""
        kinds = dict.fromkeys(str(record.kind) for record in self._due())
        return [kind for kind in kinds if not (self.hides_graph and kind in NEEDS_GRAPH)]

    def read(self, job_id: str) -> bytes:
        """The job as it was posted. Raises JobError: JOB_NOT_FOUND."""
        shared = self._jobs[job_id]
        if shared.job is None:
            raise JobError("JOB_NOT_FOUND")
        return encode(shared.job)

    def is_committed(self, record: Record) -> bool:
        """Whether the job's change is committed; True if that cannot be read, so that the job runs to its end."""
        if record.attempt == 0 and record.generation == 1:
            return False
        lease = self._lease
        try:
            return lease is None or self._team.is_committed(lease.workspace_id, record)
        except JobError as error:
            log.error("whether it has taken effect cannot be read: %s", error, extra=of_job(record))
            return True

    def _due(self) -> list[Record]:
        with self._lock:
            is_fresh = time.monotonic() - self._read_at < _FRESH_SECONDS
            if self._lease is None:
                return []
            if not is_fresh or not self._waiting():
                self._look(self._lease)
            return self._waiting()

    def _waiting(self) -> list[Record]:
        records = (self._records[job_id] for job_id in self._jobs)
        return [record for record in records if record.state in ("queued", "retrying")]

    def _look(self, lease: Lease) -> None:
        try:
            found = self._team.due(lease, self._node, _LOOKED_AT)
        except JobError as error:
            log.warning("the team's jobs cannot be read: %s", error.code)
            return
        running = {job_id: self._jobs[job_id] for job_id in self._jobs if self._records[job_id].state == "running"}
        self._jobs = running | {shared.record.job_id: shared for shared in found}
        self._records = {job_id: self._records[job_id] for job_id in running} | {
            shared.record.job_id: shared.record for shared in found
        }
        self._read_at = time.monotonic()

    # --- stepping ---

    def apply(self, events: Mapping[str, Event], tickets: Tickets | None = None) -> list[Record]:
        """Step records, and write them all or none. Returns the new ones; none after the lease was lost.

        Raises OSError while the database cannot be reached, so that the caller tries again.
        """
        with self._lock:
            lease = self._lease
            stepped = []
            for job_id, event in events.items():
                record = self._records.get(job_id)
                if lease is None or record is None or record.ticket != (tickets or {}).get(job_id, record.ticket):
                    log.warning("ignored %s of an abandoned attempt of %s", type(event).__name__, job_id)
                    continue
                try:
                    stepped.append(self._step(record, event))
                except lifecycle.IllegalTransition:
                    continue
            if lease is None or not stepped:
                return []
            try:
                self._team.write(lease, stepped)
            except JobError as error:
                if error.code == "TEAM_LEASE_LOST":
                    log.warning("another worker has taken over the workspace: what was done here does not count")
                    self.let_go()
                    return []
                raise OSError(errno.EAGAIN, f"the team's database: {error.code}") from error
            for record in stepped:
                self._records[record.job_id] = record
                self._stepped(record)
                if record.state != "running":
                    self._read_at = 0.0  # a job that waits again may be due later, or behind others
                if record.ended:
                    self._jobs.pop(record.job_id, None)
            return stepped

    def _step(self, record: Record, event: Event) -> Record:
        if isinstance(event, lifecycle.Failed) and event.error.code == _SERVICES_DISK_FULL.code:
            event = lifecycle.Failed(_SERVICES_DISK_FULL)
        return lifecycle.step(record, event, self.now(), random.random(), self._crash_limits)

    def cancel(self, job_id: str) -> Cancellation:
        """Cancel a job of the lease's workspace: at once if it waits; "running" asks its worker, perhaps this one."""
        lease = self._lease
        if lease is None:
            return "ended"
        return self._team.cancel(lease.workspace_id, job_id)

    def cancel_requests(self) -> list[str]:
        """The ids of the running jobs that somebody asked to cancel. Raises JobError."""
        lease = self._lease
        if lease is None:
            return []
        return self._team.cancel_requests(lease)

    # --- what only local jobs need ---

    def note_executing(self, records: Iterable[Record], *, runs: bool) -> None:
        """Nothing: a death is noted by the worker that takes over."""

    def forget_executing(self, records: Iterable[Record]) -> None:
        """Nothing."""

    def without_forgotten_texts(self, event: Event, apply: Apply) -> Event:
        """The outcome of a forget job, after all ended jobs of the workspace have lost their texts in the database."""
        if not isinstance(event, lifecycle.Succeeded) or self._lease is None:
            return event
        try:
            self._team.forget_texts(self._lease)
        except JobError as error:
            raise OSError(errno.EAGAIN, f"the team's database: {error.code}") from error
        return lifecycle.Succeeded({name: value for name, value in event.result.items() if name != JOB_FILES})
