"""The shapes of what is answered over HTTP beside the answers to questions, to make the OpenAPI document of.

Nothing at run time imports this. What is answered comes from the modules of the routes; a test compares it with what
stands here.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bridge.interface.answer_shapes import Number, Share
from bridge.memory import MemoryKind, Status
from jobs.kinds import Kind
from jobs.model import State
from jobs.schema import Count, Digest, ErrorCode, Heartbeat, InFlight, JobError, JobId, JobRecord, Moment, Shape


class Success(Shape):
    """What every answer begins with that is no error."""

    success: Literal[True]


class Refusal(Shape):
    """Why nothing was done."""

    success: Literal[False]
    error: str
    error_code: ErrorCode
    remediation: str
    error_details: dict[str, object] = {}
    """Values for programs. Absent where there are none."""


class Health(Success):
    status: Literal["alive", "ready"]


class Finding(Shape):
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


class SettingRow(Shape):
    """A setting as it stands. A secret's value is never in it."""

    name: str
    variable: str
    value: str
    source: str
    help: str


class SettingsTable(Success):
    settings: list[SettingRow]


# --- the queue ---


class WorkerState(Shape):
    alive: bool
    """Whether a worker holds the lock of the workspace."""
    heartbeat: Heartbeat | None
    """What it, or the last one, said of itself."""


class Cause(Shape):
    """Why jobs failed, were rejected, expired, or wait for another attempt."""

    state: State
    code: ErrorCode
    count: Number
    kinds: dict[str, Count]
    message: str
    """Of the newest of these jobs, like what follows."""
    messages: dict[str, Count]
    """What was said of how many of them, the most frequent first; a few at most."""
    remediation: str
    newest: Moment | None
    newest_job_id: JobId


class JobsState(Shape):
    counts: dict[str, Count]
    """Jobs by state. States without any are absent."""
    causes: list[Cause]
    """The most frequent first."""
    version: Count
    """Another one once any job has changed."""


class MemoryCounts(Shape):
    memories: Count
    summary: Count = 0
    decision_record: Count = 0
    legacy: Count = 0
    graph_lag: Count
    """How many changes the knowledge graph has not been told yet."""


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


class JobBrief(Shape):
    """A job in a list: some of the fields of its record."""

    job_id: JobId
    kind: Kind | None
    state: State
    success: bool | None
    generation: Number
    attempt: Count
    max_attempts: Number
    priority: int
    submitted_at: Moment | None
    accepted_at: Moment | None
    started_at: Moment | None
    finished_at: Moment | None
    next_attempt_at: Moment | None
    elapsed_ms: Count | None
    correlation_id: str | None
    error: JobError | None


class JobsPage(Success):
    """The newest jobs first."""

    jobs: list[JobBrief]
    total: Count
    """How many jobs match, on all pages."""
    next: str | None
    """What ``after`` has to be for the next page; null on the last."""
    version: Count


class WaitingJob(Shape):
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


class Asked(Success):
    """What became of a request about a job."""

    job_id: JobId
    requested: bool
    """False where there was no need: it had ended."""
    obeyed: bool
    """Whether the worker has read the request. If not, it stays and is obeyed later."""
    state: str
    """The job's now; ``dismissed`` for one that was taken off the list."""


class Skipped(Shape):
    job_id: str
    error_code: ErrorCode
    error: str
    remediation: str


class ManyAsked(Success):
    """What became of a request about several jobs."""

    job_ids: list[JobId]
    """Those for which the worker was asked."""
    requested: Count
    obeyed: Count
    skipped: list[Skipped]


class RejectedFile(Shape):
    """A file that could not become a job."""

    file: str
    """Its name in the inbox."""
    kept_as: str
    """Its name in ``rejected/``."""
    rejected_at: Moment
    error: JobError
    size: Count


class RejectedFiles(Success):
    """The newest first."""

    files: list[RejectedFile]
    total: Count


class Controlled(Success):
    request: Literal["pause", "resume", "drain", "prune"]
    obeyed: bool
    worker: WorkerState


class Spread(Shape):
    """Half of the jobs took no longer than ``p50``, 95 of 100 no longer than ``p95``; in milliseconds."""

    p50: int
    p95: int


class Bucket(Shape):
    """What ended in a span of time."""

    at: Moment
    """Its start."""
    ended: dict[str, Count]
    """By state."""
    waited_ms: Spread | None
    """From being accepted to the first start, without jobs that were run again; null where there is none."""
    took_ms: Spread | None


class Activity(Success):
    from_: Annotated[Moment, Field(alias="from")]
    to: Moment
    bucket_seconds: Annotated[float, Field(gt=0)]
    buckets: list[Bucket]
    """The oldest first."""


# --- memories ---


class MemoryLine(Shape):
    """A memory in a list."""

    memory_id: str
    memory_number: Number
    memory_type: MemoryKind
    title: str
    topic_id: str | None
    session_id: str | None
    plan_id: str | None
    status: Status | None
    created_at: Moment | None
    updated_at: Moment | None
    source_created_at: Moment | None
    importance: Share | None
    stored_at: Moment


class MemoriesPage(Success):
    """The newest memories first."""

    memories: list[MemoryLine]
    total: Count
    next: str | None
    """What ``after`` has to be for the next page; null on the last."""


class MemoryText(MemoryLine):
    summary_text: str
    sources: list[str]
    """The ids of the memories that a decision record merged."""
    hidden: bool
    """Whether it is kept as the original of a converted one, and not found."""
    migrated_from: str | None
    migrated_to: list[str]


class WholeMemory(Success):
    memory: MemoryText


class Topic(Shape):
    topic_id: str
    memories: Count
    active: Count
    decision_records: Count
    drafts: Count
    superseded: Count
    characters: Count
    """Of what a compaction would merge, like the two times."""
    oldest: Moment | None
    newest: Moment | None
    worth_compacting: bool


class Topics(Success):
    topics: list[Topic]


class PastCompaction(Shape):
    decision_record_id: str
    memory_number: Number | None
    topic_id: str
    applied_at: Moment
    job_id: str
    preview_digest: str
    superseded: list[str]
    conflicts: list[dict[str, object]]
    narrative_source: str
    restored_at: Moment | None
    restored: list[str]
    skipped: list[dict[str, object]]


class History(Success):
    """The last compactions, the newest first."""

    compactions: list[PastCompaction]
