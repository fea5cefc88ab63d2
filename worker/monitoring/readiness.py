"""Whether this workspace's worker can do its work now, and if not, why."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from bridge.store.reading import reader_of
from jobs import clock, files, launch
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace

if TYPE_CHECKING:
    from jobs.schema import Heartbeat

STALE_SECONDS = 30.0  # of a heartbeat; it is written every two


def heartbeat_of(paths: SpoolPaths) -> Heartbeat | None:
    """What the worker last said of itself; None where that cannot be read."""
    try:
        heartbeat: Any = json.loads(files.read_own(paths.heartbeat, 1024 * 1024))
    except (OSError, ValueError, JobError):
        return None
    return cast("Heartbeat", heartbeat) if isinstance(heartbeat, dict) else None


def age_seconds(heartbeat: Heartbeat | None, now: datetime) -> float | None:
    """How old a heartbeat is, never below 0; None where it does not say."""
    try:
        return max(0.0, (now - clock.parse(heartbeat["heartbeat_at"])).total_seconds()) if heartbeat else None
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def is_at_work(workspace: Workspace, heartbeat: Heartbeat | None, now: datetime) -> bool:
    """Whether a worker holds the lock and has shown lately that it goes on."""
    age = age_seconds(heartbeat, now)
    return launch.is_alive(workspace) and age is not None and age < STALE_SECONDS


def require(workspace: Workspace, now: datetime) -> None:
    """Raises NOT_READY where the worker does not work or the store cannot be read."""
    heartbeat = heartbeat_of(workspace.spool)
    if not launch.is_alive(workspace):
        raise JobError("NOT_READY", "No worker works on this workspace.", details={"reason": "worker"})
    if not is_at_work(workspace, heartbeat, now):
        age = age_seconds(heartbeat, now)
        since = "has said nothing yet" if age is None else f"has said nothing for {age:.0f} s"
        raise JobError("NOT_READY", f"The worker lives, but {since}.", details={"reason": "heartbeat"})
    try:
        reader_of(workspace).require_readable()
    except JobError as error:
        message = f"The memory store cannot be read ({error.code}): {error.message}"
        raise JobError("NOT_READY", message, details={"reason": "store"}) from error
