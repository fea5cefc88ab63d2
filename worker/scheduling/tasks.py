"""Requests to the child: the copies of jobs, and which of them run together."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobs import spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths
from jobs.model import Job, Record
from jobs.parse import copy_envelope, parse_copy

from ..log import of_job

if TYPE_CHECKING:
    from bridge.operations import JobCopy
    from jobs.payloads import JobFile

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tasks:
    """Jobs of one kind for one request.

    ``timeout_seconds``: the shortest timeout, or None. ``lost``: job id -> error for jobs with an unreadable copy.
    """

    jobs: list[JobCopy]
    timeout_seconds: float | None
    lost: dict[str, JobError]


def read_job(paths: SpoolPaths, job_id: str) -> Job:
    """The worker's copy of a job. Raises JobError, and OSError."""
    return parse_copy(job_id, spool.read_copy(paths, job_id))


def read_tasks(read: Callable[[str], bytes], batch: Sequence[Record]) -> Tasks:
    """Read the copies of a batch's jobs by their ids. An unreadable one fails only its own job.

    A slow job runs alone: it is left out, or, if it is the first, all others are.
    """
    tasks: list[JobCopy] = []
    timeouts: list[float] = []
    lost: dict[str, JobError] = {}
    for record in batch:
        try:
            copy = read(record.job_id)
            file = copy_envelope(record.job_id, copy)
        except (OSError, JobError) as error:
            log.error("copy unreadable: %s", error, extra=of_job(record))
            lost[record.job_id] = _why_lost(error)
            continue
        if _runs_alone(file):
            if tasks:
                continue
            return Tasks([_task(copy, record)], file.timeout_seconds, lost)
        tasks.append(_task(copy, record))
        if file.timeout_seconds is not None:
            timeouts.append(file.timeout_seconds)
    return Tasks(tasks, min(timeouts, default=None), lost)


def _why_lost(error: OSError | JobError) -> JobError:
    """SYSTEM_BUSY for passing errors, such as too many open files, so that the job is retried; else JOB_NOT_FOUND."""
    if isinstance(error, OSError) and not isinstance(error, FileNotFoundError):
        return JobError("SYSTEM_BUSY", f"The worker's copy of the job cannot be read now: {error.strerror}.")
    return JobError(
        "JOB_NOT_FOUND", "The worker's copy of the job cannot be read.", remediation="Submit the job again."
    )


def _runs_alone(file: JobFile) -> bool:
    return file.kind == "noop" and bool(file.payload.get("sleep_ms"))


def _task(copy: bytes, record: Record) -> JobCopy:
    return {
        "job_id": record.job_id,
        "copy": copy.decode(),
        "accepted_at": record.accepted_at or "",
        "correlation_id": record.correlation_id,
    }
