"""The types of the JSON files that a client reads: mypy checks what writes them, the JSON Schemas are made of them.

Import it under TYPE_CHECKING: only what makes schemas needs it at run time, and pays for pydantic. What a client
writes is in ``payloads``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypeAliasType, TypedDict

from .diagnostics import DIAGNOSTICS, Fix, Group, Level
from .model import AttemptOutcome, Kind, State

Moment = Annotated[
    str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$", json_schema_extra={"format": "date-time"})
]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
JobId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]

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
    """One try at a job. Those that count for nothing are one entry as long as they repeat, and so are deaths of the
    worker."""

    number: Annotated[int, Field(ge=1)]
    started_at: Moment
    finished_at: Moment | None
    outcome: AttemptOutcome | None
    """Null while the attempt runs. Only ``failed`` counts towards ``max_attempts``; ``crashed`` and ``worker_died`` are
    counted apart."""
    error_code: ErrorCode | None
    """The error; of ``interrupted`` what ended a child that several jobs shared, null where nothing is to blame."""
    repeats: Annotated[int, Field(ge=1)]
    """How many attempts in a row this entry stands for."""
    together: Annotated[int, Field(ge=1)]
    """How many jobs shared the child. What ends it says something about a job that was alone in it."""


class JobRecord(TypedDict):
    """The truth about a job's state: ``results/<job_id>.json``, always replaced whole."""

    schema_version: Literal[1]
    job_id: JobId
    kind: Kind | None
    """Null for a file that could not become a job."""
    job_sha256: Digest | None
    """The digest of kind and payload as they were sent; null as ``kind`` is."""
    generation: Annotated[int, Field(ge=1)]
    """Rises by one when a job is run again after its end. Within one, time does not run backwards."""
    state: State
    success: bool | None
    """Null until an end."""
    attempt: Count
    """The number of the latest attempt; 0 before the first."""
    max_attempts: Annotated[int, Field(ge=1)]
    priority: int
    submitted_at: Moment | None
    accepted_at: Moment | None
    started_at: Moment | None
    """The start of the first attempt."""
    finished_at: Moment | None
    next_attempt_at: Moment | None
    """A waiting job does not start before."""
    expires_at: Moment | None
    elapsed_ms: Count | None
    """From the first start to the end."""
    correlation_id: str | None
    """The job's own, or its id; null in records of earlier versions."""
    result: Mapping[str, object] | None
    """What the kind gives back; null unless the job succeeded."""
    error: JobError | None
    """The latest error; null after a success."""
    attempts: list[Attempt]


class RejectionReason(TypedDict):
    """Why a file was moved to ``rejected/``: ``<name>.<n>.reason.json`` beside it."""

    schema_version: Literal[1]
    file: str
    """The name under which it was dropped."""
    kept_as: str
    """The name under which it lies in ``rejected/``."""
    rejected_at: Moment
    error: JobError
    redactions: Redactions | None
    """Secrets that were taken out of what is kept. Null where it lies there as it was dropped."""
    cut_from: Count | None
    """Bytes of the dropped file, where only its beginning is kept. Null where all of it is."""


class JobBrief(TypedDict):
    """A job in a list: some of the fields of its record."""

    job_id: JobId
    kind: Kind | None
    state: State
    success: bool | None
    generation: Annotated[int, Field(ge=1)]
    attempt: Count
    max_attempts: Annotated[int, Field(ge=1)]
    priority: int
    submitted_at: Moment | None
    accepted_at: Moment | None
    started_at: Moment | None
    finished_at: Moment | None
    next_attempt_at: Moment | None
    elapsed_ms: Count | None
    correlation_id: str | None
    error: JobError | None


class Cause(TypedDict):
    """Why jobs failed, were rejected, expired, or wait for another attempt."""

    state: State
    code: ErrorCode
    count: Annotated[int, Field(ge=1)]
    kinds: dict[str, Count]
    message: str
    """Of the newest of these jobs, like what follows."""
    messages: dict[str, Count]
    """What was said of how many of them, the most frequent first; a few at most."""
    remediation: str
    newest: Moment | None
    newest_job_id: JobId


class RejectedFile(TypedDict):
    """A file that could not become a job."""

    file: str
    """Its name in the inbox."""
    kept_as: str
    """Its name in ``rejected/``."""
    rejected_at: Moment
    error: JobError
    size: Count


class Spread(TypedDict):
    """Half of the jobs took no longer than ``p50``, 95 of 100 no longer than ``p95``; in milliseconds."""

    p50: int
    p95: int


class Bucket(TypedDict):
    """What ended in a span of time."""

    at: Moment
    """Its start."""
    ended: dict[str, Count]
    """By state."""
    waited_ms: Spread | None
    """From being accepted to the first start, without jobs that were run again; null where there is none."""
    took_ms: Spread | None


class ControlRequest(TypedDict):
    """A request to the worker: ``control/cancel-<job_id>.json``, ``control/retry-<job_id>.json``,
    ``control/dismiss-<job_id>.json``; about no single job: ``control/pause.json``, ``resume.json``, ``drain.json``,
    ``prune.json``."""

    requested_at: NotRequired[Moment | None]
    job_id: NotRequired[JobId | None]
    """The job that the file's name says; the name is what counts."""
    generation: NotRequired[Annotated[int, Field(ge=1)] | None]
    """The generation that is meant. A request for another one is ignored; null means whichever there is."""


class Progress(TypedDict):
    """How far a running job has come."""

    done: Count
    total: Count
    message: str


class InFlight(TypedDict):
    """What the worker is busy with."""

    job_id: JobId
    """The first of the jobs that run together."""
    kind: Kind
    jobs: Annotated[int, Field(ge=1)]
    """How many jobs run together."""
    seconds: Seconds
    progress: Progress | None


class Counts(TypedDict):
    """Jobs by state: those that have not ended, and those that ended since the worker's start, where any did."""

    queued: Count
    running: Count
    retrying: Count
    succeeded: NotRequired[Count]
    failed: NotRequired[Count]
    cancelled: NotRequired[Count]
    expired: NotRequired[Count]


class ChildProcess(TypedDict):
    """The process in which jobs run."""

    pid: Annotated[int, Field(ge=1)]
    memory_bytes: Count | None
    """Resident memory; null where it has just ended."""


class Http(TypedDict):
    """Where the worker answers over HTTP."""

    url: str | None
    """Null while it cannot listen: ``problem`` says why."""
    token_file: str
    serving: bool
    """Whether a process is there with the model loaded; else the first request waits until one has started."""
    server: ChildProcess | None
    """The process that answers; null while there is none: it is started by a request, and given back when idle."""
    problem: str | None


class Heartbeat(TypedDict):
    """How the worker is: ``worker/heartbeat.json``. Whether it lives is decided by the lock, not by this file."""

    schema_version: Literal[1]
    worker_id: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    pid: Annotated[int, Field(ge=1)]
    boot_id: str | None
    """Tells one run of the machine from the next, where the system says it."""
    version: str
    workspace: str
    embedder: str
    """Provider, model and dimensions: vectors of equal ones may be compared."""
    llm_configured: bool
    http: Http | None
    """Null where it is switched off."""
    started_at: Moment
    state: Literal["starting", "ready", "draining", "paused", "exiting", "stopped"]
    heartbeat_at: Moment
    uptime_seconds: Seconds
    counts: Counts
    oldest_waiting_seconds: float | None
    in_flight: Annotated[list[InFlight], Field(max_length=2)]
    """What runs. While long work stands aside for a shorter job, that one comes last."""
    graph_lag: Count | None
    """How many changes the knowledge graph has not been told yet; null while that is not known."""
    child: ChildProcess | None
    """Null while there is none: it is given back when it is idle."""
    watcher: Literal["events", "polling", "failed"]
    """How drops are noticed. ``failed``: events were wanted and are not to be had; it is polled meanwhile."""


class WorkerFacts(TypedDict):
    """What of a heartbeat stays the same as long as the worker lives, beside who it is."""

    version: str
    workspace: str
    embedder: str
    llm_configured: bool


class WorkerActivity(TypedDict):
    """What of a heartbeat is looked up at each beat."""

    counts: Counts
    oldest_waiting_seconds: float | None
    in_flight: list[InFlight]
    graph_lag: int | None
    child: ChildProcess | None
    watcher: Literal["events", "polling", "failed"]
    http: Http | None


class FoundTrouble(TypedDict):
    """What a check found."""

    code: Annotated[str, Field(json_schema_extra={"enum": sorted(DIAGNOSTICS)})]
    level: Level
    group: Group
    """What it is about."""
    subject: str
    message: str
    """What was found this time. No words of memories."""
    remedy: str
    """What to do about it."""
    fix: Fix | None
    """What `cognee-memory doctor --fix` would do about it."""
    count: Count
    memory_ids: Annotated[list[str], Field(max_length=20)]
    """Some of the memories that are concerned."""
