"""What the runner asks of the jobs that it runs: those of this machine's folder, or of a team's workspace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from jobs import spool
from jobs.layout import SpoolPaths
from jobs.lifecycle import Event
from jobs.model import Record

from . import forget_job_files
from .executing import ExecutingJobs
from .forget_job_files import Apply
from .ledger import Cancellation, Ledger, Tickets


class RunnableJobs(Protocol):
    """The jobs that wait, and the steps of their records. The first six methods are as ``Ledger`` has them."""

    def startable(self, job_id: str) -> Record | None: ...
    def due(self, kind: str, limit: int) -> list[Record]: ...
    def kinds_due(self) -> list[str]: ...
    def apply(self, events: Mapping[str, Event], tickets: Tickets | None = None) -> list[Record]: ...
    def cancel(self, job_id: str) -> Cancellation: ...
    def is_committed(self, record: Record) -> bool: ...

    def read(self, job_id: str) -> bytes:
        """The worker's copy of the job. Raises JobError and OSError."""

    def note_executing(self, records: Iterable[Record], *, runs: bool) -> None:
        """Note for recovery whether the jobs' own operation runs. Raises OSError."""

    def forget_executing(self, records: Iterable[Record]) -> None:
        """Their attempts have ended."""

    def without_forgotten_texts(self, event: Event, apply: Apply) -> Event:
        """The outcome of a forget job, after other jobs have lost the forgotten texts. Raises OSError."""

    def lease_number(self) -> int | None:
        """The number of the lease under which the child commits; None without a team."""

    def seconds_ahead(self) -> float:
        """How far the clock by which the jobs are timed is ahead of this machine's."""


class LocalJobs:
    """The jobs of this machine's folder."""

    def __init__(self, paths: SpoolPaths, ledger: Ledger) -> None:
        self._paths = paths
        self._ledger = ledger
        self._executing = ExecutingJobs(paths)
        self.startable = ledger.startable
        self.due = ledger.due
        self.kinds_due = ledger.kinds_due
        self.apply = ledger.apply
        self.cancel = ledger.cancel
        self.is_committed = ledger.is_committed
        self.forget_executing = self._executing.forget

    def read(self, job_id: str) -> bytes:
        """The file in the folder."""
        return spool.read_copy(self._paths, job_id, spool.RECORD_LIMIT)

    def note_executing(self, records: Iterable[Record], *, runs: bool) -> None:
        """Write it into the file that recovery reads."""
        (self._executing.add if runs else self._executing.remove)(records)

    def without_forgotten_texts(self, event: Event, apply: Apply) -> Event:
        """Scrub the files that a forget job's result names."""
        return forget_job_files.scrubbed(event, self._paths, self._ledger, apply)

    def lease_number(self) -> int | None:
        """No lease: the worker's lock file keeps others out."""
        return None

    def seconds_ahead(self) -> float:
        """This machine's clock times them."""
        return 0.0
