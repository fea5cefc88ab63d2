"""A new job as a person or a program sends it: its id and its version may be absent."""

from __future__ import annotations

from typing import Any

from jobs.ids import new_job_id
from jobs.model import SCHEMA_VERSION


def add_defaults(job: dict[str, Any]) -> None:
    """Add a new ``job_id`` and the present ``schema_version`` where they are absent, in either spelling."""
    if job.keys().isdisjoint(("job_id", "jobId")):
        job["job_id"] = new_job_id()
    if job.keys().isdisjoint(("schema_version", "schemaVersion")):
        job["schema_version"] = SCHEMA_VERSION
