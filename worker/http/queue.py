"""The routes of the queue as a whole: status, activity, rejected files, and control requests to the worker.

``jobs`` has the routes of single jobs.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bridge.graph import installed
from bridge.interface.envelope import SUCCESS
from bridge.search import listing
from jobs import client, clock, record_cache, spool
from jobs.errors import JobError
from jobs.heartbeat import STALE_SECONDS
from jobs.kinds import KIND_NAMES
from jobs.layout import Workspace
from jobs.record_cache import RecordCache
from jobs.rejected_files import rejections

from ..admin import requests
from .bodies import Query, object_of, only
from .executor import RequestExecutor
from .replies import computed_reply, reply_with_etag, route

if TYPE_CHECKING:
    from bridge.memory_shapes import CountsOrError

    from .schema import Activity, Controlled, JobsState, QueueStatus, RejectedFiles

MAX_HOURS = 24 * 366


def routes(executor: RequestExecutor, known: RecordCache) -> list[Route]:
    """The routes ``/v1/status``, ``/v1/activity``, ``/v1/rejected`` and ``/v1/control``. ``known`` is the shared
    record cache."""
    workspace = executor.workspace
    status = _Status(workspace, known)

    async def queue_status(request: Request) -> Response:
        Query(request)
        return await reply_with_etag(executor, request, status.version, status.now)

    async def activity(request: Request) -> Response:
        query = Query(request, "hours", "buckets")
        hours, buckets = query.number("hours", 24, 0.01, MAX_HOURS), query.integer("buckets", 48)
        return await computed_reply(executor, lambda _: _activity(known, hours, buckets))

    async def rejected(request: Request) -> Response:
        limit = Query(request, "limit").integer("limit", 50)

        def find(_: object) -> RejectedFiles:
            rejected, total = rejections(workspace.spool, limit)
            return {**SUCCESS, "files": rejected, "total": total}

        return await computed_reply(executor, find)

    async def control(request: Request) -> Response:
        Query(request)
        asked = only(await object_of(request), "request").get("request")
        verb = next((each for each in get_args(client.ControlVerb) if each == asked), None)
        if verb is None:
            raise JobError("ARGUMENT_INVALID", f"request is one of {', '.join(get_args(client.ControlVerb))}.")

        def ask(_: object) -> Controlled:
            return {**SUCCESS, **requests.ask_worker(workspace, verb)}

        return await computed_reply(executor, ask, waits=True)

    return [
        route("/v1/status", get=queue_status),
        route("/v1/activity", get=activity),
        route("/v1/rejected", get=rejected),
        route("/v1/control", post=control),
    ]


def _activity(known: RecordCache, hours: float, buckets: int) -> Activity:
    known.refresh()
    now, rows = clock.now(), known.rows()
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


_Stamp = tuple[int, int] | None


class _Status:
    """The status of the workspace. Its parts are cached and computed again when their files have changed."""

    def __init__(self, workspace: Workspace, known: RecordCache) -> None:
        self._workspace = workspace
        self._known = known
        self._jobs: tuple[int, JobsState] | None = None
        self._memory: tuple[tuple[_Stamp, ...], CountsOrError] | None = None

    def version(self) -> str:
        """A text that changes when any part of the status may have changed."""
        paths = self._workspace.spool
        beat = _stamp(paths.heartbeat)
        # A worker that hangs changes no file, so its age counts too.
        silent = beat is not None and time.time() - beat[0] / 1e9 > STALE_SECONDS
        parts = (beat, silent, _stamp(paths.inbox), *self._stores())
        return f"{self._known.refresh()}-{hash(parts) & 0xFFFFFFFFFFFFFFFF:x}"

    def now(self) -> QueueStatus:
        """The current status."""
        from ..version import VERSION  # not at the top: the first question would wait for the metadata of packages

        spool_paths = self._workspace.spool
        return {
            **SUCCESS,
            "workspace": str(self._workspace.root),
            "version": VERSION,
            "now": clock.iso(clock.now()),
            "worker": requests.worker_of(self._workspace),
            "jobs": self._of_jobs(),
            "waiting_in_inbox": len(spool.inbox(spool_paths)) if spool_paths.root.is_dir() else 0,
            "kinds": [*KIND_NAMES],
            **self._of_memory(),
            "graph_installed": installed.is_installed(),
        }

    def _of_jobs(self) -> JobsState:
        version = self._known.refresh()
        if self._jobs is None or self._jobs[0] != version:
            rows = self._known.rows()
            jobs: JobsState = {
                "counts": record_cache.counts(rows),
                "causes": record_cache.causes(rows),
                "version": version,
            }
            self._jobs = version, jobs
        return self._jobs[1]

    def _of_memory(self) -> CountsOrError:
        stores = self._stores()
        if self._memory is None or self._memory[0] != stores:
            self._memory = stores, listing.counts_or_error(self._workspace)
        return self._memory[1]

    def _stores(self) -> tuple[_Stamp, ...]:
        path = self._workspace.memory_db
        return _stamp(path), _stamp(path.with_name(path.name + "-wal"))


def _stamp(path: Path) -> _Stamp:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
