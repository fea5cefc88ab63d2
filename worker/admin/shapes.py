"""The types of what is answered about the queue as a whole: mypy checks what builds them.

Import it under TYPE_CHECKING, as ``bridge.interface.answer_shapes``.
"""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from bridge.memory_shapes import MemoryCounts
from jobs.schema import Cause, Count, ErrorCode, Heartbeat, JobError, JobId


class WorkerState(TypedDict):
    alive: bool
    """Whether a worker holds the lock of the workspace."""
    heartbeat: Heartbeat | None
    """What it, or the last one, said of itself."""


class Skipped(TypedDict):
    job_id: str
    error_code: ErrorCode
    error: str
    remediation: str


class AskedJob(TypedDict):
    """What became of a request about a job."""

    job_id: JobId
    requested: bool
    """False where there was no need: it had ended."""
    obeyed: bool
    """Whether the worker has read the request. If not, it stays and is obeyed later."""
    state: str
    """The job's now; ``dismissed`` for one that was taken off the list."""


class AskedWorker(TypedDict):
    """What became of a request about no single job."""

    request: Literal["pause", "resume", "drain", "prune"]
    obeyed: bool
    worker: WorkerState


class InboxFile(TypedDict):
    """A file that waits to become a job."""

    file: str
    at: float
    """Its time of change, in seconds since the epoch."""


class JobsOverview(TypedDict):
    """The jobs as a whole."""

    counts: dict[str, Count]
    """Jobs by state. States without any are absent."""
    causes: list[Cause]
    oldest_waiting_seconds: float | None
    """For how long the job has waited that came first of those that wait."""


class Disk(TypedDict):
    """Room on the disk of the workspace."""

    free_bytes: Count
    min_free_bytes: Count
    """With less than that, new jobs are rejected."""


class Standing(TypedDict):
    """What ``cognee-memory status`` tells, without the advice."""

    workspace: str
    version: str
    now: str
    worker: WorkerState
    paused: bool
    jobs: JobsOverview
    waiting_in_inbox: Count
    rejected_files: Count
    memory: MemoryCounts | None
    """Null where the store cannot be read: ``memory_error`` says why."""
    memory_error: JobError | None
    disk: Disk


class Overview(Standing):
    """What ``cognee-memory status`` tells."""

    advice: list[str]
    """What to do next, the most urgent first."""
