"""The types of the HTTP replies other than query answers. mypy checks the routes against them, and ``tools.openapi``
builds the OpenAPI document from them.

Import it under TYPE_CHECKING, like ``bridge.interface.answer_shapes``: building the models takes time.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from bridge.interface.answer_shapes import FittingNotes as FittingNotes, Success
from bridge.memory_shapes import MemoryCounts, MemoryLine, MemoryText, OpenItem, PastCompaction, ReviewedPair, Topic
from jobs.kinds import Kind
from jobs.schema import Bucket, Cause, Count, Digest, JobError, JobId, Moment, RejectedFile, Scheduled

from ..admin.shapes import AskedJob, AskedWorker, DoctorReport, JobDetails, ListedJob, Skipped, TeamStatus, WorkerStatus


class Health(Success):
    status: Literal["alive", "ready"]


class Findings(Success, DoctorReport):
    pass


class Session(Success):
    """The token, for a browser that has sent a ticket."""

    token: str
    workspace: str


class SettingRow(TypedDict):
    """A setting with its value and its source. The value of a secret is never in it."""

    name: str
    variable: str
    value: str
    source: str
    help: str


class SettingsTable(Success):
    settings: list[SettingRow]


class OfTeam(Success):
    """The workspace's team."""

    team: TeamStatus | None
    """Null for a workspace that belongs to no team."""


# --- the queue ---


class JobsState(TypedDict):
    counts: dict[str, Count]
    """The number of jobs by state. States without jobs are absent."""
    causes: list[Cause]
    """The most frequent first."""
    version: Count
    """It changes when any job changes."""


class QueueStatus(Success):
    """The workspace's status."""

    workspace: str
    version: str
    """The version of the program."""
    now: Moment
    worker: WorkerStatus
    jobs: JobsState
    waiting_in_inbox: Count
    kinds: list[Kind]
    """All kinds of jobs."""
    memory: MemoryCounts | None
    """Null when the store cannot be read; ``memory_error`` has the reason."""
    memory_error: JobError | None
    graph_installed: bool
    """Whether ``ask``, ``graph``, ``cognify`` and ``migrate`` have the knowledge graph that they need."""


class JobsPage(Success):
    """The newest jobs first."""

    jobs: list[ListedJob]
    total: Count
    """How many jobs match, on all pages."""
    next: str | None
    """The value of ``after`` for the next page; null on the last page."""
    version: Count


class WholeJob(Success, JobDetails):
    """One job in detail."""


class Submitted(Success):
    """A job that was dropped. It survives a power cut."""

    job_id: JobId
    job_sha256: Digest
    kind: Kind


class Asked(Success, AskedJob):
    """The outcome of a request about a job."""


class ManyAsked(Success):
    """The outcome of a request about several jobs."""

    job_ids: list[JobId]
    """The jobs for which a request was made."""
    requested: Count
    obeyed: Count
    skipped: list[Skipped]


class RejectedFiles(Success):
    """The newest first."""

    files: list[RejectedFile]
    total: Count


class Controlled(Success, AskedWorker):
    pass


_Since = TypedDict("_Since", {"from": Moment})  # a keyword of Python


class Activity(Success, _Since):
    to: Moment
    bucket_seconds: Annotated[float, Field(gt=0)]
    buckets: list[Bucket]
    """The oldest first. The last one has not ended yet: each begins at a full multiple of its width."""
    scheduled: list[Scheduled]
    """The waiting jobs that start later, the next hour first."""


# --- memories ---


class MemoriesPage(Success):
    """The newest memories first."""

    memories: list[MemoryLine]
    total: Count
    next: str | None
    """The value of ``after`` for the next page; null on the last page."""
    warnings: list[str]


class WholeMemory(Success):
    memory: MemoryText


class OpenItems(Success):
    """The open questions and next steps, topic by topic: the topic with the newest first, in it the newest first."""

    items: list[OpenItem]
    total: Count
    warnings: list[str]


class Topics(Success):
    topics: list[Topic]
    warnings: list[str]


class Review(Success):
    """The pairs of decisions that may contradict each other; with ``all`` also what was replaced or settled."""

    pairs: list[ReviewedPair]


class History(Success):
    """The last compactions, newest first."""

    compactions: list[PastCompaction]
