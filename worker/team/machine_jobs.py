"""The jobs of a team's workspace that run on the machine where they were dropped: they change no memory."""

from __future__ import annotations

from collections.abc import Iterator

from jobs import kinds
from jobs.errors import JobError
from jobs.layout import SpoolPaths
from jobs.model import Record

from ..scheduling.ledger import Ledger
from ..scheduling.runnable_jobs import LocalJobs
from ..scheduling.tasks import read_job

_MOST = 1_000_000


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
