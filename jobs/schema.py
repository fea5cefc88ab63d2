"""The types of the JSON files that a client reads: mypy checks the code that writes them, and the JSON Schemas are
generated from them.

Import it under TYPE_CHECKING: only the generators need it at run time, since it imports pydantic. The files that a
client writes are in ``payloads``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypeAliasType, TypedDict

from .diagnostics import DIAGNOSTICS, Fix, Group, Level
from .kinds import Kind
from .states import Advice, AttemptOutcome, State
from .subjects import MOST_MEMORIES

Moment = Annotated[
    str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$", json_schema_extra={"format": "date-time"})
]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
JobId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Number = Annotated[int, Field(ge=1)]

WorkerState = Literal["starting", "ready", "draining", "paused", "exiting", "stopped"]
WatcherState = Literal["events", "polling", "failed"]

ErrorCode = TypeAliasType(
    "ErrorCode",
    Annotated[
        str,
        Field(description="Stable: programs may compare it. The codes of this version, or one of a later version."),
    ],
)


class JobError(TypedDict):
    """What went wrong, and what to do next."""

    code: ErrorCode
    message: str
    """What happened this time, for a person. Holds no secrets."""
    remediation: str
    """What a person can do about it."""
    retryable: bool
    """Whether the same job may succeed later without a change."""
    details: NotRequired[dict[str, object]]
    """Values for programs, such as ``fields`` or ``line``. Absent where there are none."""


class Redactions(TypedDict):
    """Likely secrets that were replaced by ``[REDACTED:kind]``."""

    total: Count
    kinds: dict[str, Count]
    """How many of each kind."""


class Attempt(TypedDict):
    """One try at a job. Consecutive equal attempts that do not count are one entry, and so are deaths of the worker."""

    number: Number
    started_at: Moment
    finished_at: Moment | None
    outcome: AttemptOutcome | None
    """Null while the attempt runs. Only ``failed`` counts towards ``max_attempts``; ``crashed`` and ``worker_died`` are
    counted apart."""
    error_code: ErrorCode | None
    """The error. For ``interrupted``: what ended a child that several jobs shared, or null without a fault."""
    repeats: Number
    """How many consecutive attempts this entry represents."""
    together: Number
    """How many jobs shared the child. Only the death of a child that ran a single job is blamed on it."""


class _JobFacts(TypedDict):
    job_id: JobId
    kind: Kind | None
    """Null for a file that could not become a job."""
    state: State
    success: bool | None
    """Null until the job has ended."""
    generation: Number
    """Rises by one when an ended job is run again. Within one generation, ``attempt`` never decreases."""
    attempt: Count
    """The number of the latest attempt; 0 before the first."""
    max_attempts: Number
    priority: int
    submitted_at: Moment | None
    accepted_at: Moment | None
    started_at: Moment | None
    """The start of the first attempt."""
    finished_at: Moment | None
    next_attempt_at: Moment | None
    """A waiting job does not start before this time."""
    elapsed_ms: Count | None
    """From the first start to the end."""
    correlation_id: str | None
    """The job's own, or its id; null in records of earlier versions."""
    error: JobError | None
    """The latest error; null after a success."""


class JobRecord(_JobFacts):
    """The source of truth about a job's state: ``results/<job_id>.json``, always replaced as a whole."""

    schema_version: Literal[1]
    job_sha256: Digest | None
    """The digest of kind and payload as they were sent; null when ``kind`` is."""
    expires_at: Moment | None
    result: Mapping[str, object] | None
    """The result, in the shape of the job's kind; null unless the job succeeded."""
    attempts: list[Attempt]


class _Rejected(TypedDict):
    file: str
    """The name under which it was dropped."""
    kept_as: str
    """Its name in ``rejected/``."""
    rejected_at: Moment
    error: JobError


class RejectionReason(_Rejected):
    """Why a file was moved to ``rejected/``: ``<name>.<n>.reason.json`` beside it."""

    schema_version: Literal[1]
    redactions: Redactions | None
    """Secrets that were removed from the kept file. Null if the file is kept as it was dropped."""
    cut_from: Count | None
    """The size of the dropped file in bytes, if only its beginning is kept. Null if all of it is kept."""


class JobRow(_JobFacts):
    """A job as its record tells it in a row: some of its fields."""

    memory_numbers: Annotated[list[Number], Field(max_length=MOST_MEMORIES)]
    """The first memories that it made or changed."""


class Cause(TypedDict):
    """Why jobs failed, were rejected, expired, or wait for another attempt."""

    state: State
    code: ErrorCode
    count: Number
    kinds: dict[str, Count]
    message: str
    """The message of the newest of these jobs. The other single values are of the same job."""
    messages: dict[str, Count]
    """Their messages with counts, the most frequent first; a few at most."""
    remediation: str
    advice: Advice
    """``wait``: they run again by themselves. ``dismiss``: they would fail again. ``correct``: the files would be
    rejected again as they are."""
    newest: Moment | None
    newest_job_id: JobId


class RejectedFile(_Rejected):
    """A file that could not become a job."""

    size: Count


class Spread(TypedDict):
    """Half of the jobs took no longer than ``p50``, 95 of 100 no longer than ``p95``; in milliseconds."""

    p50: int
    p95: int


class Bucket(TypedDict):
    """The jobs that ended in a span of time."""

    at: Moment
    """Its start."""
    ended: dict[str, Count]
    """By state."""
    waited_ms: Spread | None
    """From acceptance to the first start, without jobs that were run again; null if there are none."""
    took_ms: Spread | None


class Scheduled(TypedDict):
    """The waiting jobs that start in an hour to come."""

    at: Moment
    """The hour's start."""
    kinds: dict[str, Count]
    """How many, by kind."""


class ControlRequest(TypedDict):
    """A request to the worker. About one job: ``control/cancel-<job_id>.json``, ``control/retry-<job_id>.json``,
    ``control/dismiss-<job_id>.json``. About no single job: ``control/pause.json``, ``resume.json``, ``drain.json``,
    ``prune.json``."""

    requested_at: NotRequired[Moment | None]
    job_id: NotRequired[JobId | None]
    """The job id in the file's name. The worker uses the name, not this field."""
    generation: NotRequired[Number | None]
    """The generation that the request is about. The worker ignores a request for another one; null means any."""


class Progress(TypedDict):
    """The progress of a running job."""

    done: Count
    total: Count
    message: str


class InFlight(TypedDict):
    """A running job or batch."""

    job_id: JobId
    """The first of the jobs that run together."""
    kind: Kind
    jobs: Number
    """How many jobs run together."""
    seconds: Seconds
    progress: Progress | None


class Counts(TypedDict):
    """The number of jobs by state: all that have not ended, and those that ended since the worker's start, if any."""

    queued: Count
    running: Count
    retrying: Count
    succeeded: NotRequired[Count]
    failed: NotRequired[Count]
    cancelled: NotRequired[Count]
    expired: NotRequired[Count]


class ChildProcess(TypedDict):
    """The process in which jobs run."""

    pid: Number
    memory_bytes: Count | None
    """Resident memory in bytes; null if the process has just ended."""


class Http(TypedDict):
    """The worker's HTTP interface."""

    url: str | None
    """Null while the worker cannot listen; ``problem`` says why."""
    token_file: str
    serving: bool
    """Whether a server process runs with the model loaded; otherwise the first request waits until one has started."""
    server: ChildProcess | None
    """The server process; null while there is none. A request starts it, and it is stopped when idle."""
    problem: str | None


class WorkerInTeam(TypedDict):
    """How a worker stands to the team of its workspace."""

    problem: ErrorCode | None
    """Why the team was not reached at the last try; null while it is reached, and before the first try has ended."""


class WorkerFacts(TypedDict):
    """The fields of a heartbeat that stay the same while the worker runs."""

    version: str
    workspace: str
    embedder: str
    """Provider, model and dimensions. Vectors may be compared only if these are equal."""
    llm_configured: bool


class WorkerActivity(TypedDict):
    """The fields of a heartbeat that are read at each beat."""

    counts: Counts
    oldest_waiting_seconds: float | None
    in_flight: Annotated[list[InFlight], Field(max_length=2)]
    """What runs now. While a long job yields to a short one, the short one comes last."""
    graph_lag: Count | None
    """How many changes the knowledge graph lacks, all memories if there is none; null while the number is unknown."""
    child: ChildProcess | None
    """Null while there is none: it is stopped when idle."""
    watcher: WatcherState
    """How the worker notices drops. ``failed``: events are not available, so the worker polls."""
    team: WorkerInTeam | None
    """Null for a workspace of this machine alone."""
    http: Http | None
    """Null if HTTP is switched off."""


class Heartbeat(WorkerFacts, WorkerActivity):
    """The worker's state: ``worker/heartbeat.json``. Whether the worker runs is decided by its lock, not this file."""

    schema_version: Literal[1]
    worker_id: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    pid: Number
    boot_id: str | None
    """Identifies the current boot of the machine; null if the system does not provide it."""
    started_at: Moment
    state: WorkerState
    heartbeat_at: Moment
    uptime_seconds: Seconds


class FoundTrouble(TypedDict):
    """What a check found."""

    code: Annotated[str, Field(json_schema_extra={"enum": sorted(DIAGNOSTICS)})]
    level: Level
    group: Group
    """What it is about."""
    subject: str
    message: str
    """What was found. Contains no text of memories."""
    remedy: str
    """What to do about it."""
    fix: Fix | None
    """What `cognee-memory doctor --fix` would do about it."""
    count: Count
    memory_ids: Annotated[list[str], Field(max_length=20)]
    """Some of the memories that it is about."""
