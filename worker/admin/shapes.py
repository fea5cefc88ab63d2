"""The types of the answers about the queue and its jobs; mypy checks the code that builds them.

Import it under TYPE_CHECKING, as ``bridge.interface.answer_shapes``.
"""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from bridge.memory_shapes import CountsOrError
from jobs.client import ControlVerb
from jobs.diagnostics import Level
from jobs.schema import (
    Cause,
    Count,
    ErrorCode,
    FoundTrouble,
    Heartbeat,
    InFlight,
    JobError,
    JobId,
    JobRecord,
    JobRow,
    Moment,
    Progress,
    Share,
)
from jobs.states import Advice


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


class ListedJob(JobRow):
    """A job in a list."""

    subject: str | None
    """What it is about, in a line: a topic, the first words of a text, a question. Null if nothing tells, and once its
    texts were removed."""


class JobDetails(TypedDict):
    """One job in detail."""

    job: JobRecord | WaitingJob
    subject: str | None
    """What it is about, as in a list."""
    advice: Advice | None
    """What to do about its error; null without one."""
    asked: dict[str, object] | None
    """The job file as the worker keeps it; null when it was removed."""
    in_flight: InFlight | None
    """The progress of a running job; null for a job that runs in another job's batch."""
    markdown: NotRequired[str | None]
    """If asked for: what it did, or as a preview would do, in Markdown. Only of ``capture``, ``compact``, ``migrate``;
    not of an undo."""


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


class AddedModel(TypedDict):
    """The answer of ``cognee-memory model add``."""

    model: str
    identity: str
    folder: str
    dimensions: Count
    query_prefix: str
    """What is put before a question; it comes from the model's folder, or is that of its family."""
    text_prefix: str
    removed: Share
    """How much was removed of what all vectors of the model share, 0..1."""
    memories: Count
    """How many memories of the workspace it was calibrated on."""
    sentences: Count
    """How many sentences of the program it was calibrated on."""


class ModelQuality(TypedDict):
    """How well a model found the marked memories."""

    model: str
    reranker: str | None
    first: Count
    """How many marked memories were the first hit."""
    first_five: Count
    ranks: list[int | None]
    """The rank of each question's memory; null if it was not among the first five."""


class ModelComparison(TypedDict):
    """The answer of ``cognee-memory model compare``."""

    questions: list[str]
    """The questions of feedback that a memory helped, in the order of ``ranks``."""
    models: list[ModelQuality]


class AskedWorker(TypedDict):
    """The outcome of a request about no single job."""

    request: ControlVerb
    obeyed: bool
    worker: WorkerStatus


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


class TeamCopy(TypedDict):
    """The copy of a workspace on a machine."""

    node: str
    behind: Count
    """The changes that it has not applied."""
    forgets: Count
    """The changes since which copies of forgotten texts may be left there."""
    forgotten: Count
    """The memories that were forgotten since then."""
    version: str
    """Of the program there."""
    seen_at: Moment
    is_silent: bool
    """Whether it was not seen for more than 7 days."""
    label: str | None
    """Of its machine's token; null for a machine that has the database's address."""
    has_access: bool
    """False where its token has ended, or its person may not see the workspace any more."""


class TeamJobs(TypedDict):
    """The number of the jobs of all machines, by state."""

    waiting: Count
    running: Count
    ended: Count
    failed: Count
    """Of the ended ones."""


class TeamWorkspace(TypedDict):
    """A workspace of a team."""

    workspace_id: str
    name: str
    changes: Count
    """The number of its last change."""
    lease_owner: str | None
    """The machine whose worker runs its jobs now."""
    lease_until: Moment | None
    jobs: TeamJobs
    idle_seconds: float | None
    """For how long a job could have started and no worker held the lease; null if none waits, or one holds it."""
    retrying: dict[str, Count]
    """The waiting jobs that the service tries again, by the code of the error that they met."""


class TeamFailedJob(TypedDict):
    """A failed job of any machine. It has no texts."""

    job_id: JobId
    kind: str
    asked_by: str
    """The machine on which it was dropped."""
    error_code: str | None
    failed_at: Moment


class TeamRow(TypedDict):
    """A row of the team that this copy could not apply. It has no texts."""

    table: str
    key: str
    """As JSON, cut."""
    why: str


class TeamStatus(TypedDict):
    """The team of a workspace, as its database and this machine see it."""

    address: str
    node: str
    """This machine."""
    error: JobError | None
    """Why the team is not reached; null if it is. Then the fields of the team are null or empty."""
    workspace: TeamWorkspace | None
    has_copy: bool
    """False on a machine that leaves a large workspace's copy to the gateway."""
    position: Count | None
    """The last change that the copy here has applied; null before it has any."""
    behind: Count | None
    """The changes that it has not applied; null while that is unknown."""
    current_at: Moment | None
    """When the copy here was last known to have all changes."""
    clock_ahead_seconds: float | None
    """How far the team's clock is ahead of this machine's; null while the team is not reached."""
    token_ends_at: Moment | None
    """When this machine's token ends; null if it does not, without a token, and while the team is not reached."""
    set_aside: list[TeamRow]
    """What the copy here leaves out, the first ones of many."""
    copies: list[TeamCopy]
    failed_jobs: list[TeamFailedJob]
    """The last ones, at most 50."""


class StatusFields(CountsOrError):
    """The answer of ``cognee-memory status`` without the advice."""

    workspace: str
    version: str
    now: str
    worker: WorkerStatus
    paused: bool
    jobs: JobsOverview
    waiting_in_inbox: Count
    rejected_files: Count
    graph_installed: bool
    """Whether the knowledge graph is installed here: ``ask``, ``graph``, ``cognify`` and ``migrate`` need it."""
    disk: Disk
    team_copy_at: str | None
    """In a team: when this machine's copy was last known to have all changes; null without one."""
    team_problem: JobError | None
    """Why the worker did not reach the team at its last try; null if it did, and without a team."""


class Overview(StatusFields):
    """The answer of ``cognee-memory status``."""

    advice: list[str]
    """What to do next, most urgent first."""


class DoctorReport(TypedDict):
    """The findings of ``doctor``."""

    ok: bool
    """Whether no finding is an error."""
    counts: dict[Level, Count]
    """The number of findings of each level."""
    findings: list[FoundTrouble]
    """The worst first."""
    took_ms: Count
