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


def scrubbed(event: Event, paths: SpoolPaths, ledger: Ledger, apply: Apply) -> Event:
    """Scrub the files that a forget job's result names, and return the outcome without these names.

    An outcome other than success is returned unchanged. Idempotent. Raises OSError.
    """
    if not isinstance(event, lifecycle.Succeeded):
        return event
    result = dict(event.result)
    job_files: dict[str, list[str]] = result.pop(JOB_FILES)
    _end(job_files["doomed"], ledger, apply)
    rejected = [twin for path in _named(paths.rejected, job_files["rejected"]) for twin in _with_reason(path)]
    ledger.scrub([*job_files["jobs"], *job_files["doomed"]], [*rejected, *_named(paths.inbox, job_files["parts"])])
    return lifecycle.Succeeded(result)


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


class ExecutingJobs:
    """The jobs whose operation runs, in memory and in the file. Not thread-safe."""

    def __init__(self, paths: SpoolPaths) -> None:
        self._path = paths.executing
        self._tickets: dict[str, tuple[int, int]] = {}

    def forget(self, records: Iterable[Record]) -> None:
        """Their attempts have ended. Nothing is written: their tickets fit no later attempt."""
        for record in records:
            self._tickets.pop(record.job_id, None)

    def note(self, records: Iterable[Record], *, runs: bool) -> None:
        """Write whether the operation of these jobs runs. Raises OSError."""
        if runs:
            self._tickets |= {record.job_id: record.ticket for record in records}
        else:
            self.forget(records)
        files.replace_without_sync(self._path, encode({"schema_version": 1, "tickets": self._tickets}))


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
        executing = ExecutingJobs(paths)
        self.startable = ledger.startable
        self.due = ledger.due
        self.kinds_due = ledger.kinds_due
        self.apply = ledger.apply
        self.cancel = ledger.cancel
        self.is_committed = ledger.is_committed
        self.note_executing = executing.note
        self.forget_executing = executing.forget

    def read(self, job_id: str) -> bytes:
        """The file in the folder."""
        return spool.read_copy(self._paths, job_id)

    def without_forgotten_texts(self, event: Event, apply: Apply) -> Event:
        """Scrub the files that a forget job's result names."""
        return scrubbed(event, self._paths, self._ledger, apply)

    def lease_number(self) -> int | None:
        """No lease: the worker's lock file keeps others out."""
        return None

    def seconds_ahead(self) -> float:
        """This machine's clock times them."""
        return 0.0
