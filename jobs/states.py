"""The states of a job, and how an attempt at it may end."""

from __future__ import annotations

from typing import Final, Literal

State = Literal["queued", "running", "retrying", "succeeded", "failed", "cancelled", "expired", "rejected"]
LIVE: tuple[State, ...] = ("queued", "running", "retrying")  # it has not ended
ENDS: frozenset[str] = frozenset({"succeeded", "failed", "cancelled", "expired", "rejected"})

IN_INBOX: Final = "in the inbox"  # shown as the state of a job that no worker has accepted yet: it has no record

AttemptOutcome = Literal["succeeded", "failed", "waiting", "interrupted", "crashed", "worker_died", "cancelled"]

# What to do with jobs that failed or wait: they run again by themselves; run them again; they would fail again; the
# files would be rejected again as they are.
Advice = Literal["wait", "retry", "dismiss", "correct"]
