"""The types of the answers about the queue and its jobs; mypy checks the code that builds them.

Import it under TYPE_CHECKING, as ``bridge.interface.answer_shapes``.
"""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from bridge.memory_shapes import MemoryCounts
from jobs.schema import Cause, Count, ErrorCode, Heartbeat, InFlight, JobError, JobId, JobRecord, Progress


class WorkerStatus(TypedDict):
    alive: bool
    """Whether a worker holds the lock of the workspace."""
    heartbeat: Heartbeat | None
    """The heartbeat of this worker, or of the last one."""


class Skipped(TypedDict):
    job_id: str
    error_code: ErrorCode
    error: str
    remediation: str


class AskedJob(TypedDict):
    """The outcome of a request about a job."""

    job_id: JobId
    requested: bool
    """False when no request was needed, because the job had ended."""
    obeyed: bool
    """Whether the worker has handled the request. If not, the request stays, and is handled later."""
    state: str
    """The job's state now; ``dismissed`` for a job that was removed from the list."""


class WaitingJob(TypedDict):
    """A job that no worker has accepted yet."""

    job_id: JobId
    state: Literal["in the inbox"]


class JobDetails(TypedDict):
    """One job in detail."""

    job: JobRecord | WaitingJob
    asked: dict[str, object] | None
    """The job file as the worker keeps it; null when it was removed."""
    in_flight: InFlight | None
    """The progress of a running job; null for a job that runs in another job's batch."""


class ModelRow(TypedDict):
    """An embedding model that runs on this machine."""

    name: str
    identity: str
    """As a store records it: provider, model and dimensions."""
    languages: str
    licence: str
    size_mb: Count
    download_mb: Count
    query_ms: Count
    """The usual time of embedding a question, in milliseconds, on one processor of a small server."""
    installed: bool
    configured: bool


class ModelList(TypedDict):
    """The answer of ``cognee-memory model list``."""

    models: list[ModelRow]
    configured: str
    """The identity of the configured model."""


class ModelStatus(TypedDict):
    """The answer of ``cognee-memory model status``."""

    configured: str
    store: str | None
    """The identity of the model of the store's vectors; null without a store."""
    state: Literal["ready", "earlier"]
    """``earlier``: answers come from the store's earlier model until a rebuild has ended."""
    job_id: JobId | None
    """The rebuild that waits or runs."""
    progress: Progress | None


class AskedWorker(TypedDict):
    """The outcome of a request about no single job."""

    request: Literal["pause", "resume", "drain", "prune"]
    obeyed: bool
    worker: WorkerStatus


class InboxFile(TypedDict):
    """A file that waits to become a job."""

    file: str
    at: float
    """Its modification time, in seconds since 1970."""


class JobsOverview(TypedDict):
    """The jobs as a whole."""

    counts: dict[str, Count]
    """The number of jobs by state. States without jobs are absent."""
    causes: list[Cause]
    oldest_waiting_seconds: float | None
    """How long the oldest waiting job has waited."""


class Disk(TypedDict):
    """Room on the disk of the workspace."""

    free_bytes: Count
    min_free_bytes: Count
    """With less free space, new jobs are rejected."""


class StatusFields(TypedDict):
    """The answer of ``cognee-memory status`` without the advice."""

    workspace: str
    version: str
    now: str
    worker: WorkerStatus
    paused: bool
    jobs: JobsOverview
    waiting_in_inbox: Count
    rejected_files: Count
    memory: MemoryCounts | None
    """Null when the store cannot be read; ``memory_error`` has the reason."""
    memory_error: JobError | None
    disk: Disk
    team_copy_at: str | None
    """In a team: when this machine's copy was last known to have all changes; null without one."""


class Overview(StatusFields):
    """The answer of ``cognee-memory status``."""

    advice: list[str]
    """What to do next, most urgent first."""
