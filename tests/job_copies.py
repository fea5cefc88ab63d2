"""Jobs as the worker hands them to the child (``copy_of``), as an operation gets them (``task``), and what becomes of
one (``outcome``, which ``done`` and ``refused`` read)."""

from datetime import datetime
from typing import Any

from bridge.graph.open_stores import Stores
from bridge.operations import JobCopy, Task, run, task_of
from bridge.slices import Progress, ignore_progress
from jobs import clock
from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded
from jobs.model import encode
from jobs.parse import parse_copy


def copy_of(
    kind: str, payload: dict[str, Any], job_id: str = "job", *, at: str, submitted_at: str | None = None, **fields: Any
) -> JobCopy:
    """``at``: when it was accepted. ``fields``: what the copy says besides."""
    file = {"schema_version": 1, "job_id": job_id, "kind": kind, "payload": payload, "submitted_at": submitted_at}
    return {"job_id": job_id, "copy": encode(file | fields).decode(), "accepted_at": at, "correlation_id": job_id}


def task(
    kind: str, payload: dict[str, Any], job_id: str = "job", *, at: str, submitted_at: str | None = None
) -> Task[Any]:
    """The task of that copy."""
    copy = copy_of(kind, payload, job_id, at=at, submitted_at=submitted_at)["copy"]
    return task_of(parse_copy(job_id, copy.encode()), at)


def outcome(
    stores: Stores,
    kind: str,
    payload: dict[str, Any],
    job_id: str = "job",
    *,
    at: str,
    now: datetime | None = None,
    progress: Progress = ignore_progress,
    **fields: Any,
) -> Succeeded | Failed:
    """What becomes of a job that was accepted at ``at`` and runs ``now``, or then."""
    job = copy_of(kind, payload, job_id, at=at, **{"submitted_at": at, **fields})
    return run(kind, [job], stores, now or clock.parse(at), progress)[job_id]


def done(outcome: Succeeded | Failed) -> dict[str, Any]:
    """The result of a job that succeeded."""
    assert isinstance(outcome, Succeeded), outcome
    return dict(outcome.result)


def refused(outcome: Succeeded | Failed) -> JobError:
    """The error of a job that failed."""
    assert isinstance(outcome, Failed), outcome
    return outcome.error
