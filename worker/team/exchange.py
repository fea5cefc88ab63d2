"""The exchange of jobs with the team's database: posts what was dropped here, and writes the records that come back;
and the jobs that run on the machine where they were dropped, since they change no memory.

A job stays in this machine's folder until its end is known here, so it is posted again after anything that may have
lost it: a restart, or a database that was restored from a backup. Posting twice is posting once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

from bridge.team import server_clock
from bridge.team.membership import Membership
from bridge.team.protocol import Team
from bridge.team.shared_jobs import Report
from jobs import clock, kinds, lifecycle
from jobs.errors import JobError
from jobs.layout import SpoolPaths
from jobs.model import Job, Record, encode

from ..log import of_job
from ..scheduling.ledger import Cancellation, Ledger
from ..scheduling.runnable_jobs import LocalJobs
from ..scheduling.tasks import read_job

log = logging.getLogger(__name__)

_TOGETHER = 64
_MOST_BYTES = 4 * 1024 * 1024  # of the jobs of a request, unless one alone is larger
_POST_AGAIN_SECONDS = 60.0
_REFUSALS = ("ARGUMENT_INVALID", "HTTP_TOO_LARGE")  # of what was sent: it would be refused again

_MOST = 1_000_000


class Exchange:
    """The exchange of one workspace. One thread may use ``run``, and any all else."""

    def __init__(
        self, paths: SpoolPaths, ledger: Ledger, team: Team, membership: Membership, stays: Callable[[Record], bool]
    ) -> None:
        """``stays``: whether a job runs on this machine, and is not posted."""
        self._paths = paths
        self._ledger = ledger
        self._team = team
        self._membership = membership
        self._stays = stays
        self.unattached: dict[str, Record] = {}  # jobs that are posted once what they need is attached, by id
        self._posted: dict[str, int] = {}  # job id -> generation
        self._post_all_at = 0.0
        self._ahead: timedelta | None = None  # of the server's clock; None if it is to be asked again

    def run(self) -> None:
        """Post what is new. Raises JobError as ``Team``, and OSError."""
        live = self._shared()
        if time.monotonic() >= self._post_all_at:
            self._posted.clear()
            self._ahead = None
            self._post_all_at = time.monotonic() + _POST_AGAIN_SECONDS
        new = [record for record in live if self._posted.get(record.job_id) != record.generation]
        for start in range(0, len(new), _TOGETHER):
            self._read_and_post(new[start : start + _TOGETHER])
        self._posted = {record.job_id: record.generation for record in live if record.job_id in self._posted}

    def _shared(self) -> list[Record]:
        return [record for record in self._ledger.live() if not self._stays(record)]

    def _read_and_post(self, records: list[Record]) -> None:
        jobs: list[tuple[Job, Record]] = []
        size = 0
        if self._ahead is None:
            self._ahead = server_clock.ahead(self._team)
            if abs(self._ahead) >= server_clock.DIFFERS:
                log.warning(
                    "this machine's clock differs by %.0f s from the team's: its jobs get the team's time",
                    self._ahead.total_seconds(),
                )
        for record in records:
            try:
                job = read_job(self._paths, record.job_id)
            except JobError as error:
                self.refuse(record, error)
                continue
            except OSError as error:
                log.error("copy unreadable, not posted yet: %s", error, extra=of_job(record))
                self._posted[record.job_id] = record.generation  # until all are posted again
                continue
            job_size = len(encode(job.as_dict()))
            if jobs and size + job_size > _MOST_BYTES:
                self._post(jobs)
                jobs, size = [], 0
            jobs.append(_timed(job, record, self._ahead))
            size += job_size
        if jobs:
            self._post(jobs)

    def _post(self, jobs: list[tuple[Job, Record]]) -> None:
        try:
            told = self._team.post(self._membership.workspace_id, self._membership.node, jobs)
        except JobError as error:
            if error.code not in _REFUSALS:
                raise
            if len(jobs) == 1:
                self.refuse(jobs[0][1], error)
            else:  # the others are not refused with it
                for each in jobs:
                    self._post([each])
            return
        for _, record in jobs:
            self._posted[record.job_id] = record.generation
            if told[record.job_id] == "other":
                said = f"The id {record.job_id!r} belongs to another job of the team."
                self.refuse(record, JobError("JOB_ID_CONFLICT", said))
            elif told[record.job_id] == "unattached":
                self.unattached[record.job_id] = record

    def post_again(self, record: Record) -> None:
        """Post the job the next time: what it needs is attached."""
        self._posted.pop(record.job_id, None)

    def refuse(self, record: Record, error: JobError) -> None:
        """End a job that cannot be posted."""
        self._ledger.apply({record.job_id: lifecycle.Started()})
        self._ledger.apply({record.job_id: lifecycle.Failed(error)})

    def reports(self) -> list[Report]:
        """What has changed of the jobs of this machine, or a part of it. Raises JobError as ``Team``."""
        if not self._shared():
            return []
        try:
            return self._team.reports(self._membership.node, self._membership.workspace_id)
        except JobError as error:
            if error.code == "TEAM_NOT_SHARED":  # jobs may wait before this machine has shared the workspace
                return []
            raise

    def write(self, reports: list[Report]) -> None:
        """Write the records that came back. Raises JobError as ``Team``, and OSError."""
        for report in reports:
            self._ledger.mirror(report.record)
        if reports:
            self._team.acknowledge(self._membership.node, self._membership.workspace_id, reports)

    def cancel(self, job_id: str) -> Cancellation:
        """Cancel a job of this machine, wherever it waits or runs; "running" while that is not known yet."""
        record = self._ledger.get(job_id)
        if record is None:
            return "ended"
        try:
            found = self._team.cancel(self._membership.workspace_id, job_id)
        except JobError as error:
            if error.code == "TEAM_NOT_SHARED":
                return self._ledger.cancel(job_id)
            log.warning("the cancellation waits: %s", error.code, extra=of_job(record))
            return "running"
        if found == "ended" and job_id not in self._posted:
            return self._ledger.cancel(job_id)
        return "running" if found in ("cancelled", "ended") else found


def _timed(job: Job, record: Record, ahead: timedelta) -> tuple[Job, Record]:
    """A job that was submitted, and a record that was made here, by a clock that is so far ahead of this machine's: a
    memory without a date of its own gets the one of its submission."""
    submitted_at = _later(job.submitted_at, ahead)
    was_made_here = record.generation == 1 and not record.attempts
    accepted_at = _later(record.accepted_at, ahead) if was_made_here else record.accepted_at
    timed = replace(record, submitted_at=submitted_at, accepted_at=accepted_at)
    return replace(job, submitted_at=submitted_at), timed


def _later(moment: str | None, by: timedelta) -> str | None:
    return moment if moment is None or not by else clock.iso(clock.parse(moment) + by)


class MachineJobs(LocalJobs):
    """``RunnableJobs``: of this machine's folder those that stay here. Thread-safe."""

    def __init__(self, paths: SpoolPaths, ledger: Ledger) -> None:
        super().__init__(paths, ledger)
        self._known: dict[str, bool] = {}  # of live jobs, whether they stay
        self.startable = self._startable
        self.due = self._due
        self.kinds_due = self._kinds_due

    def stays(self, record: Record) -> bool:
        """Whether a live job runs here. A job that cannot be read now is posted, which reports it."""
        found = self._known.get(record.job_id)
        if found is None:
            try:
                job = read_job(self._paths, record.job_id)
            except (OSError, JobError):
                return False
            found = self._known[record.job_id] = kinds.stays(job.kind, job.payload)
        return found

    def next(self) -> str | None:
        """The id of the job that starts next; None if none is due."""
        for job_id in [each for each in list(self._known) if self._ledger.get(each) is None]:
            self._known.pop(job_id, None)
        return next((record.job_id for kind in self._kinds_due() for record in self._due(kind, 1)), None)

    def _startable(self, job_id: str) -> Record | None:
        record = self._ledger.startable(job_id)
        return record if record is not None and self.stays(record) else None

    def _due(self, kind: str, limit: int) -> list[Record]:
        return list(self._staying(kind))[:limit]

    def _kinds_due(self) -> list[str]:
        return [kind for kind in self._ledger.kinds_due() if next(self._staying(kind), None) is not None]

    def _staying(self, kind: str) -> Iterator[Record]:
        rule = kinds.BY_NAME[kind].stays
        return filter(self.stays, self._ledger.due(kind, _MOST)) if rule else iter(())
