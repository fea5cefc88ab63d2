"""Jobs as the worker hands them to the child (``copy_of``), and as an operation gets them (``task``)."""

from __future__ import annotations

from typing import Any

from bridge.operations import JobCopy, Task, task_of
from jobs.model import encode
from jobs.parse import parse_copy


def copy_of(
    kind: str,
    payload: dict[str, Any],
    job_id: str = "job",
    *,
    at: str,
    submitted_at: str | None = None,
    **fields: Any,
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
