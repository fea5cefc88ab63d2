"""The files that a job names, and that another machine which ran the job would take for its own."""

from __future__ import annotations

from .errors import JobError
from .kinds import FILES
from .model import Job


def named_in(job: Job) -> list[str]:
    """The paths; empty for a job that any machine of a team may run, or that only its own machine runs."""
    return [path for name in FILES.get(job.kind, ()) for path in job.payload.get(name) or ()]


def require_none(job: Job) -> None:
    """Raises JobError: ARGUMENT_INVALID for a job that names such files."""
    if named_in(job):
        message = (
            "A job of a team may not name files: they would be read on the machine that runs it. Nothing was read."
        )
        raise JobError("ARGUMENT_INVALID", message, remediation="Give the texts instead of the paths.")
