"""What the child is told of jobs: their copies, read and checked, and which of them may run together."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jobs import spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths
from jobs.model import Job, Record
from jobs.parse import parse_copy

from ..log import of_job

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tasks:
    """Jobs of one kind for one request, with the shortest of their timeouts; and those whose copy cannot be read."""

    jobs: list[dict[str, Any]]
    timeout_seconds: float | None
    lost: dict[str, JobError]


def read_tasks(paths: SpoolPaths, batch: Sequence[Record]) -> Tasks:
    """Read the copies. One that cannot be read fails its job alone; one that is better run alone is left out."""
    tasks: list[dict[str, Any]] = []
    timeouts: list[float] = []
    lost: dict[str, JobError] = {}
    for record in batch:
        try:
            data = spool.read_copy(paths, record.job_id, spool.RECORD_LIMIT)
            job = parse_copy(record.job_id, data)
        except (OSError, JobError) as error:
            log.error("copy unreadable: %s", error, extra=of_job(record))
            lost[record.job_id] = _why_lost(error)
            continue
        if _takes_its_time(job):
            if tasks:
                continue
            return Tasks([_task(job, record)], job.timeout_seconds, lost)
        tasks.append(_task(job, record))
        if job.timeout_seconds is not None:
            timeouts.append(job.timeout_seconds)
    return Tasks(tasks, min(timeouts, default=None), lost)


def _why_lost(error: OSError | JobError) -> JobError:
    """Too many open files, a device error, somebody who has it open: that passes, and must not cost a job its life."""
    if isinstance(error, OSError) and not isinstance(error, FileNotFoundError):
        return JobError("SYSTEM_BUSY", f"The worker's copy of the job cannot be read now: {error.strerror}.")
    return JobError("JOB_NOT_FOUND", "The worker's copy of the job cannot be read.", remediation="Submit the job anew.")


def _takes_its_time(job: Job) -> bool:
    return job.kind == "noop" and bool(job.payload.get("sleep_ms"))


def _task(job: Job, record: Record) -> dict[str, Any]:
    return {
        "job_id": record.job_id,
        "sha256": job.sha256,
        "payload": job.payload,
        "submitted_at": job.submitted_at,
        "accepted_at": record.accepted_at,
        "correlation_id": record.correlation_id,
        "redactions": job.redactions,
    }
