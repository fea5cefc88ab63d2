"""The life of a job as one table, and the pure step from a record to the next.

A state's comment says who moves a job in and out of it, and what a crash does there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, assert_never

from . import clock
from .errors import JobError, Reaction
from .model import Attempt, AttemptOutcome, Job, Record, State


@dataclass(frozen=True, slots=True)
class Started:
    """The runner gives the job to the child."""


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The operation is done, with its effect committed."""

    result: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Failed:
    """The attempt ended in an error; its reaction says what comes next."""

    error: JobError


@dataclass(frozen=True, slots=True)
class Crashed:
    """The child died with this job alone in it."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The attempt ended for no fault of the job: counts for nothing."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Somebody asked for it, before an effect was committed."""


@dataclass(frozen=True, slots=True)
class Expired:
    """Its time was over before it could run."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """An operator runs an ended job again: a new generation."""


Event = Started | Succeeded | Failed | Crashed | Interrupted | Cancelled | Expired | Replayed

TRANSITIONS: dict[State, dict[type[Event], frozenset[State]]] = {
    # Entered by intake or a replay. A crash leaves it here: recovery enqueues it again.
    "queued": {
        Started: frozenset({"running"}),
        Cancelled: frozenset({"cancelled"}),
        Expired: frozenset({"expired"}),
    },
    # Entered by the runner. A crash leaves it here: recovery interrupts it.
    "running": {
        Succeeded: frozenset({"succeeded"}),
        Failed: frozenset({"retrying", "failed"}),
        Crashed: frozenset({"retrying", "failed"}),
        Interrupted: frozenset({"queued"}),
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

MAX_CRASHES = 3
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0


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
        correlation_id=job.correlation_id,
    )


def refuse(job_id: str, error: JobError, now: datetime, generation: int = 1) -> Record:
    """The record of a file that has a job's name and cannot become one."""
    return Record(
        job_id=job_id,
        kind=None,
        job_sha256=None,
        state="rejected",
        generation=generation,
        finished_at=clock.iso(now),
        error=error.as_dict(),
    )


# Codes of a wait or retry that come after the job's own effect was committed to the store.
_AFTER_THE_EFFECT = frozenset({"GRAPH_UNAVAILABLE", "GRAPH_WRITE_FAILED"})


def is_committed(record: Record) -> bool:
    """Whether the job's effect stands, and only the graph has not been told: too late to cancel or to expire."""
    code = record.error["code"] if record.error else None
    return record.state == "retrying" and record.kind in ("ingest", "set_status") and code in _AFTER_THE_EFFECT


def step(record: Record, event: Event, now: datetime, jitter: float = 1.0) -> Record:
    """The record after the event. ``jitter`` in 0..1 scales the pause before the next attempt.

    Raises IllegalTransition when the table has no such arrow.
    """
    targets = TRANSITIONS[record.state].get(type(event))
    if targets is None or (isinstance(event, Cancelled | Expired) and is_committed(record)):
        raise IllegalTransition(f"{record.job_id}: {type(event).__name__} in state {record.state}")
    after = _step(record, event, now, jitter)
    assert after.state in targets, (record.state, event, after.state)
    return after


def _step(record: Record, event: Event, now: datetime, jitter: float) -> Record:
    at = clock.iso(now)
    match event:
        case Started():
            return replace(
                record,
                state="running",
                attempt=record.attempt + 1,
                started_at=record.started_at or at,
                next_attempt_at=None,
                attempts=(*record.attempts, Attempt(number=record.attempt + 1, started_at=at)),
            )
        case Succeeded(result):
            done = _finish_attempt(record, "succeeded", None, at)
            return replace(_end(done, "succeeded", now), result=result, error=None)
        case Failed(error):
            waits = error.reaction is Reaction.WAIT
            done = _finish_attempt(record, "waiting" if waits else "failed", error.code, at)
            again = waits or (error.reaction is Reaction.RETRY and done.errors < record.max_attempts)
            return _again_or_failed(done, error, again, now, jitter)
        case Crashed():
            done = _finish_attempt(record, "crashed", "CHILD_DIED", at)
            poisonous = done.crashes >= MAX_CRASHES
            return _again_or_failed(done, JobError("POISON" if poisonous else "CHILD_DIED"), not poisonous, now, jitter)
        case Interrupted():
            return replace(_finish_attempt(record, "interrupted", None, at), state="queued", next_attempt_at=None)
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


def _again_or_failed(record: Record, error: JobError, again: bool, now: datetime, jitter: float) -> Record:
    if not again:
        return replace(_end(record, "failed", now), error=error.as_dict())
    pause = pause_seconds(_tries_in_a_row(record), jitter)
    return replace(
        record,
        state="retrying",
        error=error.as_dict(),
        next_attempt_at=clock.iso(now + timedelta(seconds=pause)),
    )


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
    if outcome == "waiting" and earlier and (earlier[-1].outcome, earlier[-1].error_code) == (outcome, code):
        last = replace(last, started_at=earlier[-1].started_at, repeats=earlier[-1].repeats + 1)
        earlier = earlier[:-1]
    return replace(record, attempts=(*earlier, last))


def _end(record: Record, state: State, now: datetime) -> Record:
    begun = record.started_at or record.accepted_at
    elapsed = max(0, round((now - clock.parse(begun)).total_seconds() * 1000)) if begun else None
    return replace(record, state=state, finished_at=clock.iso(now), next_attempt_at=None, elapsed_ms=elapsed)


def is_due(record: Record, now: datetime) -> bool:
    """Whether a waiting job may start."""
    return record.state in ("queued", "retrying") and (
        record.next_attempt_at is None or clock.parse(record.next_attempt_at) <= now
    )


def is_expired(record: Record, now: datetime) -> bool:
    return (
        record.state in ("queued", "retrying")
        and not is_committed(record)
        and record.expires_at is not None
        and clock.parse(record.expires_at) <= now
    )
