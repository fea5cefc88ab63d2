"""The state machine of a job: one table of transitions, and the pure step from one record to the next.

Each state's comment says which part of the worker moves a job in and out, and what a crash does there. Writing the
records is the ledger's and the spool's task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, assert_never

from . import clock
from .errors import JobError, Reaction
from .model import Attempt, Job, Record
from .states import AttemptOutcome, State


@dataclass(frozen=True, slots=True)
class Started:
    """The runner gives the job to the child, in a batch of ``together`` jobs."""

    together: int = 1


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The operation has ended and its change to the memory is committed."""

    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Failed:
    """The attempt ended in an error; the error's reaction decides the next state."""

    error: JobError


@dataclass(frozen=True, slots=True)
class Crashed:
    """The child died while it executed this job alone, or was killed because it used too much memory."""

    code: str = "CHILD_DIED"


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The attempt ended without a fault known to be the job's, so it does not count.

    ``code`` is the error that ended a child which several jobs shared; None after a stop, a reboot, or the
    cancellation of another job in the batch.
    """

    code: str | None = None


@dataclass(frozen=True, slots=True)
class WorkerDied:
    """The worker died while the job's own operation ran and the machine kept running. Counted separately from crashes,
    since the job ran in the child, not in the worker."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A client requested the cancellation. The caller of ``step`` has checked that no change is committed."""


@dataclass(frozen=True, slots=True)
class Expired:
    """``expires_at`` passed before the job could run, and no earlier attempt has committed a change."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A client requested that an ended job runs again, as a new generation."""


Event = Started | Succeeded | Failed | Crashed | Interrupted | WorkerDied | Cancelled | Expired | Replayed

TRANSITIONS: dict[State, dict[type[Event], frozenset[State]]] = {
    # Entered by intake or a replay. A crash leaves it here: recovery enqueues it again.
    "queued": {Started: frozenset({"running"}), Cancelled: frozenset({"cancelled"}), Expired: frozenset({"expired"})},
    # Entered by the runner. A crash leaves it here: recovery ends its attempt.
    "running": {
        Succeeded: frozenset({"succeeded"}),
        Failed: frozenset({"retrying", "failed"}),
        Crashed: frozenset({"retrying", "failed"}),
        Interrupted: frozenset({"queued"}),
        WorkerDied: frozenset({"queued", "failed"}),
        Cancelled: frozenset({"cancelled"}),
    },
    # Entered by the runner, left when next_attempt_at has come. A crash leaves it here.
    "retrying": {Started: frozenset({"running"}), Cancelled: frozenset({"cancelled"}), Expired: frozenset({"expired"})},
    # Terminal states. Only a requested replay moves a job out, and only from failed, cancelled and expired.
    "succeeded": {},
    "failed": {Replayed: frozenset({"queued"})},
    "cancelled": {Replayed: frozenset({"queued"})},
    "expired": {Replayed: frozenset({"queued"})},
    "rejected": {},
}

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
LONGEST_RETRY_AFTER_SECONDS = 3600.0  # the most that a provider's Retry-After can impose

_MERGED_OUTCOMES = frozenset({"waiting", "interrupted", "worker_died"})


@dataclass(frozen=True, slots=True)
class CrashLimits:
    """The number of crashes, or of worker deaths, after which a job fails as POISON."""

    crashes: int = 3
    worker_deaths: int = 10


CRASH_LIMITS = CrashLimits()


class IllegalTransition(Exception):
    """The record's state does not allow the event: a stale message or a late result."""


def decide(job: Job, earlier: Record | None, room: int, free_bytes: int, min_free_bytes: int) -> int | None:
    """The generation of its id as which a valid job is accepted; None if the same job was accepted before.

    Decided from the record with its id (``earlier``) and the free room. ``room``: the number of jobs that may still be
    accepted. Raises JobError: JOB_ID_CONFLICT, BACKLOG_FULL or DISK_FULL.
    """
    if earlier is not None and earlier.state != "rejected":
        if earlier.job_sha256 == job.sha256:
            return None
        raise JobError("JOB_ID_CONFLICT", f"The id {job.job_id!r} belongs to another job, which is {earlier.state}.")
    if room <= 0:
        raise JobError("BACKLOG_FULL")
    if free_bytes < min_free_bytes:
        mib = free_bytes // (1024 * 1024)
        raise JobError("DISK_FULL", f"The disk has {mib} MiB left; {min_free_bytes // (1024 * 1024)} are kept free.")
    return earlier.generation + 1 if earlier else 1


def accept(job: Job, now: datetime, generation: int = 1) -> Record:
    """The first record of an accepted job: state ``queued``."""
    return Record(
        job_id=job.job_id,
        kind=job.kind,
        job_sha256=job.sha256,
        state="queued",
        generation=generation,
        max_attempts=job.max_attempts,
        priority=job.priority,
        submitted_at=job.submitted_at,
        accepted_at=clock.iso(now),
        next_attempt_at=job.not_before,
        expires_at=job.expires_at,
        correlation_id=job.correlation_id or job.job_id,
    )


def reject(job_id: str, error: JobError, now: datetime, generation: int = 1) -> Record:
    """The record of a file that is named like a job but cannot become one: state ``rejected``."""
    return Record(
        job_id=job_id,
        correlation_id=job_id,
        kind=None,
        job_sha256=None,
        state="rejected",
        generation=generation,
        finished_at=clock.iso(now),
        error=error.as_dict(),
    )


def step(
    record: Record, event: Event, now: datetime, jitter: float = 1.0, crash_limits: CrashLimits = CRASH_LIMITS
) -> Record:
    """The record after the event. ``jitter`` in 0..1 scales the pause before the next attempt.

    Raises IllegalTransition when the table does not allow the event in the record's state.
    """
    targets = TRANSITIONS[record.state].get(type(event))
    if targets is None:
        raise IllegalTransition(f"{record.job_id}: {type(event).__name__} in state {record.state}")
    after = _step(record, event, now, jitter, crash_limits)
    assert after.state in targets, (record.state, event, after.state)
    return after


def _step(record: Record, event: Event, now: datetime, jitter: float, crash_limits: CrashLimits) -> Record:
    at = clock.iso(now)
    match event:
        case Started(together):
            attempt = Attempt(number=record.attempt + 1, started_at=at, together=together)
            return replace(
                record,
                state="running",
                attempt=record.attempt + 1,
                started_at=record.started_at or at,
                next_attempt_at=None,
                attempts=(*record.attempts, attempt),
            )
        case Succeeded(result):
            done = _finish_attempt(record, "succeeded", None, at)
            return replace(_end(done, "succeeded", now), result=result, error=None)
        case Failed(error):
            waits = error.reaction is Reaction.WAIT
            done = _finish_attempt(record, "waiting" if waits else "failed", error.code, at)
            retries = waits or (error.reaction is Reaction.RETRY and done.errors < record.max_attempts)
            return _retry_or_fail(done, error, retries, now, jitter)
        case Crashed(code):
            done = _finish_attempt(record, "crashed", code, at)
            poisonous = done.crashes >= crash_limits.crashes
            error = _poison(done.crashes, "the process that executed it") if poisonous else JobError(code)
            return _retry_or_fail(done, error, not poisonous, now, jitter)
        case Interrupted(code):
            return _requeue(_finish_attempt(record, "interrupted", code, at))
        case WorkerDied():
            done = _finish_attempt(record, "worker_died", "WORKER_DIED", at)
            if done.worker_deaths >= crash_limits.worker_deaths:
                return _retry_or_fail(done, _poison(done.worker_deaths, "the worker"), False, now, jitter)
            return _requeue(done)
        case Cancelled():
            done = _finish_attempt(record, "cancelled", None, at) if record.state == "running" else record
            return _end(done, "cancelled", now)
        case Expired():
            return replace(_end(record, "expired", now), error=JobError("EXPIRED").as_dict())
        case Replayed():
            return replace(
                record,
                state="queued",
                generation=record.generation + 1,
                attempt=0,
                attempts=(),
                started_at=None,
                finished_at=None,
                next_attempt_at=None,
                expires_at=None,  # else the job would expire again at once; the replay is the later request
                elapsed_ms=None,
                result=None,
                error=None,
            )
        case _:
            assert_never(event)


def _poison(deaths: int, what_died: str) -> JobError:
    times = "once" if deaths == 1 else f"{deaths} times"
    return JobError("POISON", f"While this job alone was executed, {what_died} ended unexpectedly {times}.")


def _requeue(record: Record) -> Record:
    return replace(record, state="queued", next_attempt_at=None)


def _retry_or_fail(record: Record, error: JobError, retries: bool, now: datetime, jitter: float) -> Record:
    if not retries:
        return replace(_end(record, "failed", now), error=error.as_dict())
    pause = max(pause_seconds(_consecutive_tries(record), jitter), _retry_after_seconds(error))
    return replace(
        record, state="retrying", error=error.as_dict(), next_attempt_at=clock.iso(now + timedelta(seconds=pause))
    )


def _retry_after_seconds(error: JobError) -> float:
    """The pause in seconds that a provider requested (Retry-After), from the error's details; 0 without one."""
    requested = error.details.get("retry_after_seconds", 0)
    return float(min(requested, LONGEST_RETRY_AFTER_SECONDS)) if isinstance(requested, int | float) else 0.0


def _consecutive_tries(record: Record) -> int:
    """The exponent of the backoff: repeats of the same wait, or all errors and crashes."""
    last = record.attempts[-1]
    return last.repeats if last.outcome == "waiting" else record.errors + record.crashes


def pause_seconds(tries: int, jitter: float) -> float:
    """The pause before the next attempt, in seconds: exponential backoff with full jitter.

    "Full jitter" is from Brooker, Exponential Backoff And Jitter (2015). A floor of a tenth for ``jitter`` prevents
    immediate retries.
    """
    return max(0.1, jitter) * backoff_seconds(tries, FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS)


def backoff_seconds(tries: int, first: float, longest: float) -> float:
    """Exponential backoff, in seconds: ``first`` after the first try, doubled after each further one, at most
    ``longest``."""
    return min(longest, first * 2.0 ** min(tries - 1, 16))


def _finish_attempt(record: Record, outcome: AttemptOutcome, code: str | None, at: str) -> Record:
    last = replace(record.attempts[-1], finished_at=at, outcome=outcome, error_code=code)
    earlier = record.attempts[:-1]
    if outcome in _MERGED_OUTCOMES and earlier and _can_merge(earlier[-1], last):
        last = replace(last, started_at=earlier[-1].started_at, repeats=earlier[-1].repeats + 1)
        earlier = earlier[:-1]
    return replace(record, attempts=(*earlier, last))


def _can_merge(one: Attempt, other: Attempt) -> bool:
    """Whether two attempts can share one entry: equal outcome and code. Worker deaths merge only if both attempts ran
    alone or both in a batch, since only those of a job that ran alone count."""
    counts_differently = one.outcome == "worker_died" and (one.together == 1) != (other.together == 1)
    return (one.outcome, one.error_code) == (other.outcome, other.error_code) and not counts_differently


def max_batch_size(record: Record, at_most: int) -> int:
    """The largest batch, up to ``at_most``, in which this job may run; the job itself counts.

    After an error that ended a batch: half of that batch. After a crash, a worker death, or a timeout of the job alone:
    1.
    """
    if (
        record.crashes
        or record.worker_deaths
        or any(a.error_code == "JOB_TIMEOUT" for a in record.attempts if a.together == 1)
    ):
        return 1
    last = record.attempts[-1] if record.attempts else None
    if last is not None and last.outcome in ("interrupted", "worker_died") and last.error_code is not None:
        return max(1, min(at_most, last.together // 2))
    return at_most


def _end(record: Record, state: State, now: datetime) -> Record:
    start = record.started_at or record.accepted_at
    elapsed = max(0, round((now - clock.parse(start)).total_seconds() * 1000)) if start else None
    return replace(record, state=state, finished_at=clock.iso(now), next_attempt_at=None, elapsed_ms=elapsed)


def is_due(record: Record, now: datetime) -> bool:
    """Whether a waiting job may start. A pause between attempts also ends when the clock was set back during it."""
    if record.state not in ("queued", "retrying"):
        return False
    return (
        record.next_attempt_at is None or clock.parse(record.next_attempt_at) <= now or _clock_was_set_back(record, now)
    )


def _clock_was_set_back(record: Record, now: datetime) -> bool:
    paused_at = record.attempts[-1].finished_at if record.state == "retrying" and record.attempts else None
    return paused_at is not None and now < clock.parse(paused_at)


def is_expired(record: Record, now: datetime) -> bool:
    """Whether a waiting job's ``expires_at`` has passed."""
    return (
        record.state in ("queued", "retrying")
        and record.expires_at is not None
        and clock.parse(record.expires_at) <= now
    )
