"""The types of the HTTP replies other than query answers. mypy checks the routes against them, and ``tools.openapi``
builds the OpenAPI document from them.

Import it under TYPE_CHECKING, like ``bridge.interface.answer_shapes``: building the models takes time.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from bridge.interface.answer_shapes import Success
from bridge.memory_shapes import MemoryCounts, MemoryLine, MemoryText, PastCompaction, Topic
from jobs.kinds import Kind
from jobs.schema import (
    Bucket,
    Cause,
    Count,
    Digest,
    InFlight,
    JobBrief,
    JobError,
    JobId,
    JobRecord,
    Moment,
    RejectedFile,
)

from ..admin.shapes import AskedJob, AskedWorker, Skipped, WorkerState


class Health(Success):
    status: Literal["alive", "ready"]


class Finding(TypedDict):
    """Something that was looked at."""

    code: str
    level: Literal["ok", "note", "warning", "error"]
    subject: str
    message: str
    remedy: str | None
    fix: str | None
    """What ``cognee-memory doctor --fix`` would do; null where that is a person's."""


class Findings(Success):
    ok: bool
    """Whether nothing is wrong."""
    counts: dict[str, Count]
    """By level."""
    findings: list[Finding]
    took_ms: Count


class Session(Success):
    """The token, for who has shown a ticket."""

    token: str
    workspace: str


class SettingRow(TypedDict):
    """A setting as it stands. A secret's value is never in it."""

    name: str
    variable: str
    value: str
    source: str
    help: str


class SettingsTable(Success):
    settings: list[SettingRow]


# --- the queue ---


class JobsState(TypedDict):
    counts: dict[str, Count]
    """Jobs by state. States without any are absent."""
    causes: list[Cause]
    """The most frequent first."""
    version: Count
    """Another one once any job has changed."""


class QueueStatus(Success):
    """How the workspace stands."""

    workspace: str
    version: str
    """Of the program."""
    now: Moment
    worker: WorkerState
    jobs: JobsState
    waiting_in_inbox: Count
    kinds: list[Kind]
    """All kinds of jobs."""
    memory: MemoryCounts | None
    """Null where the store cannot be read: ``memory_error`` says why."""
    memory_error: JobError | None


class JobsPage(Success):
    """The newest jobs first."""

    jobs: list[JobBrief]
    total: Count
    """How many jobs match, on all pages."""
    next: str | None
    """What ``after`` has to be for the next page; null on the last."""
    version: Count


class WaitingJob(TypedDict):
    """A job that no worker has seen yet."""

    job_id: JobId
    state: Literal["in the inbox"]


class WholeJob(Success):
    job: JobRecord | WaitingJob
    asked: dict[str, object] | None
    """The job file as the worker keeps it; null where it is gone."""
    in_flight: InFlight | None
    """How far it is, where it runs and leads what runs."""


class Submitted(Success):
    """A job that is dropped, and would survive a power cut."""

    job_id: JobId
    job_sha256: Digest
    kind: Kind


class Asked(Success, AskedJob):
    """What became of a request about a job."""


class ManyAsked(Success):
    """What became of a request about several jobs."""

    job_ids: list[JobId]
    """Those for which the worker was asked."""
    requested: Count
    obeyed: Count
    skipped: list[Skipped]


class RejectedFiles(Success):
    """The newest first."""

    files: list[RejectedFile]
    total: Count


class Controlled(Success, AskedWorker):
    pass


_Since = TypedDict("_Since", {"from": Moment})  # a word of Python's own


class Activity(Success, _Since):
    to: Moment
    bucket_seconds: Annotated[float, Field(gt=0)]
    buckets: list[Bucket]
    """The oldest first."""


# --- memories ---


class MemoriesPage(Success):
    """The newest memories first."""

    memories: list[MemoryLine]
    total: Count
    next: str | None
    """What ``after`` has to be for the next page; null on the last."""


class WholeMemory(Success):
    memory: MemoryText


class Topics(Success):
    topics: list[Topic]


class History(Success):
    """The last compactions, the newest first."""

    compactions: list[PastCompaction]
