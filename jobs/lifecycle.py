"""The life of a job as one table, and the pure step from a record to the next.

A state's comment says who moves a job in and out of it, and what a crash does there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, assert_never

from . import clock
from .errors import JobError, Reaction
from .model import Attempt, AttemptOutcome, Job, Record, State


@dataclass(frozen=True, slots=True)
class Started:
    """The runner gives the job to the child, with so many others that there are ``together``."""

    together: int = 1


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The operation is done, with its effect committed."""

    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Failed:
    """The attempt ended in an error; its reaction says what comes next."""

    error: JobError


@dataclass(frozen=True, slots=True)
class Crashed:
    """The child died with this job alone in it, or had to be ended for its size."""

    code: str = "CHILD_DIED"


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The attempt ended for no fault that is known to be the job's: counts for nothing.

    ``code`` says what ended a child that several jobs shared; none for a stop, a reboot, a sibling's cancellation.
    """

    code: str | None = None


@dataclass(frozen=True, slots=True)
class WorkerDied:
    """The worker died during the attempt, and the machine went on. Counted apart: the job ran in the child."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Somebody asked for it. Whoever steps a record has made sure that no effect is committed."""


@dataclass(frozen=True, slots=True)
class Expired:
    """Its time was over before it could run; no effect of an earlier attempt is committed."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """An operator runs an ended job again: a new generation."""


Event = Started | Succeeded | Failed | Crashed | Interrupted | WorkerDied | Cancelled | Expired | Replayed

TRANSITIONS: dict[State, dict[type[Event], frozenset[State]]] = {
    # Entered by intake or a replay. A crash leaves it here: recovery enqueues it again.
    "queued": {
        Started: frozenset({"running"}),
        Cancelled: frozenset({"cancelled"}),
        Expired: frozenset({"expired"}),
    },
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
    "retrying": {
        Started: frozenset({"running"}),
        Cancelled: frozenset({"cancelled"}),
        Expired: frozenset({"expired"}),
    },
    # Ends: nothing moves a job out but an operator's replay, where that makes sense.
    "succeeded": {},
    "failed": {Replayed: frozenset({"queued"})},
    "cancelled": {Replayed: frozenset({"queued"})},
    "expired": {Replayed: frozenset({"queued"})},
    "rejected": {},
}

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
LONGEST_ASKED_PAUSE_SECONDS = 3600.0  # of a provider that says when to come again

_COUNTS_FOR_NOTHING = frozenset({"waiting", "interrupted", "worker_died"})


@dataclass(frozen=True, slots=True)
class Caps:
    """After how many of each a job is taken for what kills: it ends as POISON."""

    crashes: int = 3
    worker_deaths: int = 10


CAPS = Caps()


class IllegalTransition(Exception):
    """An event that the record's state does not allow: a stale message or a late result."""


def accept(job: Job, now: datetime, generation: int = 1) -> Record:
    """The first record of a job."""
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


def refuse(job_id: str, error: JobError, now: datetime, generation: int = 1) -> Record:
    """The record of a file that has a job's name and cannot become one."""
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


def step(record: Record, event: Event, now: datetime, jitter: float = 1.0, caps: Caps = CAPS) -> Record:
    """The record after the event. ``jitter`` in 0..1 scales the pause before the next attempt.

    Raises IllegalTransition when the table has no such arrow.
    """
    targets = TRANSITIONS[record.state].get(type(event))
    if targets is None:
        raise IllegalTransition(f"{record.job_id}: {type(event).__name__} in state {record.state}")
    after = _step(record, event, now, jitter, caps)
    assert after.state in targets, (record.state, event, after.state)
    return after


def _step(record: Record, event: Event, now: datetime, jitter: float, caps: Caps) -> Record:
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
            again = waits or (error.reaction is Reaction.RETRY and done.errors < record.max_attempts)
            return _again_or_failed(done, error, again, now, jitter)
        case Crashed(code):
            done = _finish_attempt(record, "crashed", code, at)
            poisonous = done.crashes >= caps.crashes
            return _again_or_failed(done, JobError("POISON" if poisonous else code), not poisonous, now, jitter)
        case Interrupted(code):
            return _wait_anew(_finish_attempt(record, "interrupted", code, at))
        case WorkerDied():
            done = _finish_attempt(record, "worker_died", "WORKER_DIED", at)
            if done.worker_deaths >= caps.worker_deaths:
                return _again_or_failed(done, JobError("POISON"), False, now, jitter)
            return _wait_anew(done)
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
                expires_at=None,  # the operator's word is later than the asker's: else it would expire again
                elapsed_ms=None,
                result=None,
                error=None,
            )
        case _:
            assert_never(event)


def _wait_anew(record: Record) -> Record:
    return replace(record, state="queued", next_attempt_at=None)


def _again_or_failed(record: Record, error: JobError, again: bool, now: datetime, jitter: float) -> Record:
    if not again:
        return replace(_end(record, "failed", now), error=error.as_dict())
    pause = max(pause_seconds(_tries_in_a_row(record), jitter), _asked_pause(error))
    return replace(
        record,
        state="retrying",
        error=error.as_dict(),
        next_attempt_at=clock.iso(now + timedelta(seconds=pause)),
    )


def _asked_pause(error: JobError) -> float:
    """The seconds for which a provider asked, in the error's details."""
    asked = error.details.get("retry_after_seconds", 0)
    return float(min(asked, LONGEST_ASKED_PAUSE_SECONDS)) if isinstance(asked, int | float) else 0.0


def _tries_in_a_row(record: Record) -> int:
    last = record.attempts[-1]
    return last.repeats if last.outcome == "waiting" else record.errors + record.crashes


def pause_seconds(tries: int, jitter: float) -> float:
    """Exponential backoff with full jitter and a cap: jitter * min(cap, first * 2**(tries - 1)).

    The source of "full jitter" is Brooker, Exponential Backoff And Jitter (2015). A floor of a tenth
    keeps a retry from being immediate.
    """
    longest = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** min(tries - 1, 16))
    return max(0.1, jitter) * longest


def _finish_attempt(record: Record, outcome: AttemptOutcome, code: str | None, at: str) -> Record:
    last = replace(record.attempts[-1], finished_at=at, outcome=outcome, error_code=code)
    earlier = record.attempts[:-1]
    if outcome in _COUNTS_FOR_NOTHING and earlier and _alike(earlier[-1], last):
        last = replace(last, started_at=earlier[-1].started_at, repeats=earlier[-1].repeats + 1)
        earlier = earlier[:-1]
    return replace(record, attempts=(*earlier, last))


def _alike(one: Attempt, other: Attempt) -> bool:
    """Whether two attempts are one entry. Beside how many others says nothing, but for a death of the worker, which
    counts of a job that was alone."""
    counted = one.outcome == "worker_died" and (one.together == 1) != (other.together == 1)
    return (one.outcome, one.error_code) == (other.outcome, other.error_code) and not counted


def most_together(record: Record, at_most: int) -> int:
    """How many jobs may share the child with this one, itself included: half as many after what ended a batch, and
    none besides it after what ended a child that it had alone."""
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
    begun = record.started_at or record.accepted_at
    elapsed = max(0, round((now - clock.parse(begun)).total_seconds() * 1000)) if begun else None
    return replace(record, state=state, finished_at=clock.iso(now), next_attempt_at=None, elapsed_ms=elapsed)


def is_due(record: Record, now: datetime) -> bool:
    """Whether a waiting job may start. A pause between attempts ends, too, when the clock was set back since."""
    if record.state not in ("queued", "retrying"):
        return False
    return (
        record.next_attempt_at is None or clock.parse(record.next_attempt_at) <= now or _clock_was_set_back(record, now)
    )


def _clock_was_set_back(record: Record, now: datetime) -> bool:
    paused_at = record.attempts[-1].finished_at if record.state == "retrying" and record.attempts else None
    return paused_at is not None and now < clock.parse(paused_at)


def is_expired(record: Record, now: datetime) -> bool:
    return (
        record.state in ("queued", "retrying")
        and record.expires_at is not None
        and clock.parse(record.expires_at) <= now
    )
