"""Readiness: whether the workspace's worker can do its work now, and if not, why."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from bridge.store.opening import reader_of
from jobs import heartbeat as heartbeat_file, launch
from jobs.errors import JobError
from jobs.layout import Workspace

if TYPE_CHECKING:
    from jobs.schema import Heartbeat


def is_at_work(workspace: Workspace, heartbeat: Heartbeat | None, now: datetime) -> bool:
    """Whether a worker holds the lock and its heartbeat ``heartbeat`` is fresh."""
    age = heartbeat_file.age_seconds(heartbeat, now)
    return launch.is_alive(workspace) and age is not None and age < heartbeat_file.STALE_SECONDS


def require(workspace: Workspace, now: datetime) -> None:
    """Raises JobError: NOT_READY when no worker runs, its heartbeat is stale, or the store cannot be read."""
    heartbeat = heartbeat_file.read(workspace.spool)
    if not launch.is_alive(workspace):
        raise JobError("NOT_READY", "No worker works on this workspace.", details={"reason": "worker"})
    if not is_at_work(workspace, heartbeat, now):
        age = heartbeat_file.age_seconds(heartbeat, now)
        shown = "it has written no heartbeat yet" if age is None else f"its heartbeat is {age:.0f} s old"
        raise JobError("NOT_READY", f"The worker runs, but {shown}.", details={"reason": "heartbeat"})
    try:
        reader_of(workspace).require_readable()
    except JobError as error:
        message = f"The memory store cannot be read ({error.code}): {error.message}"
        raise JobError("NOT_READY", message, details={"reason": "store"}) from error
