"""The states of a job, and how an attempt at it may end."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

State = Literal["queued", "running", "retrying", "succeeded", "failed", "cancelled", "expired", "rejected"]
LIVE: tuple[State, ...] = ("queued", "running", "retrying")  # it has not ended
ENDED: tuple[State, ...] = ("succeeded", "failed", "cancelled", "expired", "rejected")
ENDS: frozenset[str] = frozenset(ENDED)
FAILED: tuple[State, ...] = ("failed", "expired", "rejected")  # by themselves: a person stopped the cancelled ones
REPLAYABLE: tuple[State, ...] = ("failed", "expired", "cancelled")  # the worker has a copy that can run again


class JobVerb(NamedTuple):
    """A request about jobs."""

    states: tuple[State, ...]
    """The states of jobs for which it is possible."""
    default: tuple[State, ...]
    """The states that a request selects which names neither jobs nor states."""


VERBS = {
    "cancel": JobVerb(LIVE, LIVE),
    "retry": JobVerb((*REPLAYABLE, "rejected"), FAILED),
    "dismiss": JobVerb(("succeeded", *REPLAYABLE, "rejected"), FAILED),
}

IN_INBOX: Final = "in the inbox"  # shown as the state of a job that no worker has accepted yet: it has no record

AttemptOutcome = Literal["succeeded", "failed", "waiting", "interrupted", "crashed", "worker_died", "cancelled"]

# What to do with jobs that failed or wait: they run again by themselves; run them again; they would fail again; the
# files would be rejected again as they are.
Advice = Literal["wait", "retry", "dismiss", "correct"]
