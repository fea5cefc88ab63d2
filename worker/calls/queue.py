"""The queue as a whole: status, activity, rejected files, and requests to the worker. ``jobs`` has single jobs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, get_args

from bridge.interface.envelope import SUCCESS
from jobs import client, clock, record_cache
from jobs.rejected_files import rejections

from ..admin import requests
from .call import Scope

if TYPE_CHECKING:
    from .shapes import Activity, Controlled, QueueStatus, RejectedFiles

MAX_HOURS = 24 * 366
REQUESTS: tuple[client.ControlVerb, ...] = get_args(client.ControlVerb)


def activity(scope: Scope, *, hours: float, buckets: int) -> Activity:
    """The jobs that ended in the last ``hours``, in equal spans."""
    scope.records.refresh()
    now, rows = clock.now(), scope.records.rows()
    width = timedelta(hours=hours) / buckets
    end = now + (datetime.min.replace(tzinfo=UTC) - now) % width  # so that spans begin at full minutes or hours
    spans = record_cache.activity(rows, end, hours, buckets)
    return {
        **SUCCESS,
        "from": spans[0]["at"],
        "to": clock.iso(end),
        "bucket_seconds": width.total_seconds(),
        "buckets": spans,
        "scheduled": record_cache.scheduled(rows, now),
    }


def rejected(scope: Scope, *, limit: int) -> RejectedFiles:
    """The files that could not become jobs, the newest first."""
    rejected, total = rejections(scope.workspace.spool, limit)
    return {**SUCCESS, "files": rejected, "total": total}


def control(scope: Scope, *, request: client.ControlVerb) -> Controlled:
    """Ask the worker for something that is about no single job."""
    return {**SUCCESS, **requests.ask_worker(scope.workspace, request)}


def status(scope: Scope) -> QueueStatus:
    """The status of the workspace."""
    return scope.queue.now()


def status_version(scope: Scope) -> str:
    """A text that changes when any part of the status may have changed."""
    return scope.queue.version()
