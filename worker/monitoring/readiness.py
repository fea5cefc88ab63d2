"""Readiness: whether the workspace's worker can do its work now, and if not, why."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from bridge.store.opening import reader_of
from jobs import heartbeat, launch
from jobs.errors import JobError
from jobs.layout import Workspace

if TYPE_CHECKING:
    from jobs.schema import Heartbeat


def is_at_work(workspace: Workspace, said: Heartbeat | None, now: datetime) -> bool:
    """Whether a worker holds the lock and its heartbeat ``said`` is fresh."""
    age = heartbeat.age_seconds(said, now)
    return launch.is_alive(workspace) and age is not None and age < heartbeat.STALE_SECONDS


def require(workspace: Workspace, now: datetime) -> None:
    """Raises JobError: NOT_READY when no worker runs, its heartbeat is stale, or the store cannot be read."""
    beat = heartbeat.read(workspace.spool)
    if not launch.is_alive(workspace):
        raise JobError("NOT_READY", "No worker works on this workspace.", details={"reason": "worker"})
    if not is_at_work(workspace, beat, now):
        age = heartbeat.age_seconds(beat, now)
        since = "has said nothing yet" if age is None else f"has said nothing for {age:.0f} s"
        raise JobError("NOT_READY", f"The worker lives, but {since}.", details={"reason": "heartbeat"})
    try:
        reader_of(workspace).require_readable()
    except JobError as error:
        message = f"The memory store cannot be read ({error.code}): {error.message}"
        raise JobError("NOT_READY", message, details={"reason": "store"}) from error
