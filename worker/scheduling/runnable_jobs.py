"""What the runner asks of the jobs that it runs: those of this machine's folder, or of a team's workspace.

Of this machine's jobs it also keeps the file that names those whose own operation runs now, so that a worker's death is
counted against no other job. The file is written without a sync: it must survive a kill of the worker, but after a
power cut no death is counted anyway. And it removes the texts of forgotten memories from jobs' files, since only the
worker writes records.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from jobs import files, lifecycle, spool, state_file
from jobs.errors import JobError
from jobs.layout import SpoolPaths
from jobs.lifecycle import Event
from jobs.model import Record, encode
from jobs.scrub import JOB_FILES, name_digest

from .ledger import Cancellation, Ledger, Tickets


class Apply(Protocol):
    """As ``Ledger.apply``."""

    def __call__(self, events: Mapping[str, Event], tickets: Tickets | None = None) -> list[Record]: ...


def _end(job_ids_to_fail: Collection[str], ledger: Ledger, apply: Apply) -> None:
    """Fail the waiting jobs that would store a forgotten text again."""
    waiting = [
        job_id for job_id in job_ids_to_fail if (record := ledger.get(job_id)) is not None and record.state != "running"
    ]
    started = apply({job_id: lifecycle.Started() for job_id in waiting})
    failure = lifecycle.Failed(JobError("MEMORY_FORGOTTEN"))
    apply({record.job_id: failure for record in started}, {record.job_id: record.ticket for record in started})


def _named(folder: Path, digests: Collection[str]) -> list[Path]:
    """The files in a folder whose names have these digests."""
    wanted = frozenset(digests)
    return [path for path in folder.iterdir() if name_digest(path.name) in wanted] if wanted else []


def _with_reason(path: Path) -> tuple[Path, Path]:
    """The paths of a rejected file and of its reason file, from either of them."""
    stem = path.name.removesuffix(".json").removesuffix(".reason")
    return path.with_name(f"{stem}.json"), path.with_name(f"{stem}.reason.json")


_MOST_BYTES = 1024 * 1024


def read_executing(paths: SpoolPaths) -> dict[str, tuple[int, int]]:
    """Job id -> ticket (generation and attempt) of the jobs whose operation ran when the worker ended. Empty if the
    file is missing or cannot be read, so that no death is counted in doubt."""
    return state_file.read(paths.executing, _tickets, absent={}, damaged={}, limit=_MOST_BYTES)


def _tickets(content: Any) -> dict[str, tuple[int, int]]:
    found = content["tickets"].items()
    return {str(job_id): (int(generation), int(attempt)) for job_id, (generation, attempt) in found}


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
        self._executing: dict[str, tuple[int, int]] = {}  # the tickets of the jobs whose operation runs
        self.startable = ledger.startable
        self.due = ledger.due
        self.kinds_due = ledger.kinds_due
        self.apply = ledger.apply
        self.cancel = ledger.cancel
        self.is_committed = ledger.is_committed

    def read(self, job_id: str) -> bytes:
        """The file in the folder."""
        return spool.read_copy(self._paths, job_id)

    def forget_executing(self, records: Iterable[Record]) -> None:
        """Nothing is written: their tickets fit no later attempt."""
        for record in records:
            self._executing.pop(record.job_id, None)

    def note_executing(self, records: Iterable[Record], *, runs: bool) -> None:
        """Write which operations run."""
        if runs:
            self._executing |= {record.job_id: record.ticket for record in records}
        else:
            self.forget_executing(records)
        files.replace_without_sync(self._paths.executing, encode({"schema_version": 1, "tickets": self._executing}))

    def without_forgotten_texts(self, event: Event, apply: Apply) -> Event:
        """Scrub the files that a forget job's result names, and leave these names out. An outcome other than success
        is returned unchanged. Idempotent."""
        if not isinstance(event, lifecycle.Succeeded):
            return event
        result = dict(event.result)
        job_files: dict[str, list[str]] = result.pop(JOB_FILES)
        _end(job_files["doomed"], self._ledger, apply)
        rejected = _named(self._paths.rejected, job_files["rejected"])
        others = [twin for path in rejected for twin in _with_reason(path)]
        others += _named(self._paths.inbox, job_files["parts"])
        self._ledger.scrub([*job_files["jobs"], *job_files["doomed"]], others)
        return lifecycle.Succeeded(result)

    def lease_number(self) -> int | None:
        """No lease: the worker's lock file keeps others out."""
        return None

    def seconds_ahead(self) -> float:
        """This machine's clock times them."""
        return 0.0
