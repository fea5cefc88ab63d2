"""The queue: its status, activity, rejected files, and requests to the worker; and listing, showing, submitting,
cancelling, retrying and dismissing jobs.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from bridge.graph import installed
from bridge.interface.envelope import SUCCESS
from bridge.search import listing
from bridge.settings import Settings
from bridge.store.opening import require_model
from jobs import client, clock, launch, record_cache, spool
from jobs.errors import JobError
from jobs.heartbeat import STALE_SECONDS
from jobs.ids import is_job_id
from jobs.kinds import BY_NAME, KIND_NAMES
from jobs.layout import Workspace
from jobs.model import encode
from jobs.plain_files import stamp
from jobs.rejected_files import rejections
from jobs.states import State

from ..admin import requests, selection
from ..admin.job_details import add_defaults, job_details
from .call import Scope

if TYPE_CHECKING:
    from bridge.memory_shapes import CountsOrError

    from .shapes import (
        Activity,
        Asked,
        Controlled,
        JobsPage,
        ManyAsked,
        QueueStatus,
        RejectedFiles,
        Submitted,
        WholeJob,
    )


MAX_HOURS = 24 * 366
MAX_IDS = 1000
CORRELATION_ID = "[!-~]{1,256}"


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
    from ..version import VERSION  # not at the top: the first question would wait for the metadata of packages

    workspace, version = scope.workspace, scope.records.refresh()
    rows = scope.records.rows()
    return {
        **SUCCESS,
        "workspace": str(workspace.root),
        "version": VERSION,
        "now": clock.iso(clock.now()),
        "worker": requests.worker_of(workspace),
        "jobs": {"counts": record_cache.counts(rows), "causes": record_cache.causes(rows), "version": version},
        "waiting_in_inbox": len(spool.inbox(workspace.spool)) if workspace.spool.root.is_dir() else 0,
        "kinds": [*KIND_NAMES],
        **_of_memory(scope),
        "graph_installed": installed.is_installed(),
    }


def status_version(scope: Scope) -> str:
    """A text that changes when any part of the status may have changed."""
    paths = scope.workspace.spool
    beat = stamp(paths.heartbeat)
    # A worker that hangs changes no file, so its age counts too.
    silent = beat is not None and time.time() - beat[0] / 1e9 > STALE_SECONDS
    parts = (beat, silent, stamp(paths.inbox), *_stores(scope.workspace))
    return f"{scope.records.refresh()}-{hash(parts) & 0xFFFFFFFFFFFFFFFF:x}"


def _of_memory(scope: Scope) -> CountsOrError:
    """The counts of the memory, read again when its files have changed."""
    stores = _stores(scope.workspace)
    if scope.counted is None or scope.counted[0] != stores:
        scope.counted = stores, listing.counts_or_error(scope.workspace)
    return scope.counted[1]


def _stores(workspace: Workspace) -> tuple[tuple[int, int] | None, ...]:
    path = workspace.memory_db
    return stamp(path), stamp(path.with_name(path.name + "-wal"))


def jobs(
    scope: Scope,
    *,
    state: tuple[str, ...],
    kind: str | None,
    error: str | None,
    contains: str | None,
    limit: int,
    after: str | None,
) -> JobsPage:
    """A page of jobs, the newest first."""
    version = scope.records.refresh()  # before the rows: a client that has newer rows only asks once more
    rows = record_cache.matching(scope.records.rows(), states=state, kind=kind, error=error, contains=contains)
    page = record_cache.page(rows, limit, after)
    return {
        **SUCCESS,
        "jobs": scope.subjects.listed(page.jobs),
        "total": page.total,
        "next": page.next,
        "version": version,
    }


def jobs_version(scope: Scope) -> str:
    """A text that changes when a job has changed."""
    return str(scope.records.refresh())


def job(scope: Scope, *, job_id: str, markdown: bool) -> WholeJob:
    """One job in detail. Raises JobError: JOB_NOT_FOUND."""
    return {**SUCCESS, **job_details(scope.workspace, _valid(job_id), in_markdown=markdown)}


def _valid(job_id: str) -> str:
    """Raises JobError: JOB_NOT_FOUND for what is no id, so that it never becomes part of a file path."""
    if not is_job_id(job_id):
        raise JobError("JOB_NOT_FOUND", f"{job_id[:80]!r} is no job id.")
    return job_id


# --- a new job ---


def submit(scope: Scope, settings: Settings, body: bytes, correlation_id: str | None) -> Submitted:
    """Validate a job as the worker will, so that the client sees errors at once; then drop it.

    ``body``: the job as JSON; ``correlation_id``: where it has none. Raises JobError: ARGUMENT_INVALID for a wrong
    ``correlation_id``, every error of the intake, and as ``require_accepted`` and ``opening.require_model``.
    """
    workspace = scope.workspace
    if correlation_id is not None and not re.fullmatch(CORRELATION_ID, correlation_id):
        raise JobError("ARGUMENT_INVALID", "X-Correlation-Id has 1 to 256 visible ASCII characters.")
    from bridge.interface.submission import require_acceptable
    from bridge.operations.refusals import require_accepted
    from jobs.check import check  # pydantic takes time to import, so only when a job is submitted
    from jobs.parse import read_json
    from jobs.payloads import JobFile

    value = read_json(body)
    if not isinstance(value, dict):
        raise JobError("JOB_INVALID", "The body holds JSON, but not an object.")
    add_defaults(value)
    if correlation_id is not None and value.keys().isdisjoint(("correlation_id", "correlationId")):
        value["correlation_id"] = correlation_id
    name = str(value.get("job_id", value.get("jobId")))
    job = require_acceptable(workspace, settings, name, encode(value))
    if spool.read_record(workspace.spool, name) is None:  # the same job again is answered as before
        require_accepted(workspace, job.payload)
        if BY_NAME[job.kind].stores:
            require_model(workspace, settings.embedding)
    fields = check(JobFile, value).model_dump(
        exclude_none=True, exclude={"schema_version", "job_id", "kind", "payload"}
    )
    dropped = client.submit(workspace.spool, job.kind, job.sent, job_id=name, **{"submitted_by": "http", **fields})
    launch.start(workspace, leave_when_idle=True)  # the running worker may be about to exit
    return {**SUCCESS, "job_id": dropped.job_id, "job_sha256": dropped.sha256, "kind": job.kind}


# --- cancel, retry and dismiss ---


def one(scope: Scope, *, verb: str, job_id: str) -> Asked:
    """Make a request about one job."""
    outcome = requests.ask(scope.workspace, verb, [_valid(job_id)], requests.REQUEST_SECONDS)
    for _, error in outcome.skipped:
        raise error
    return {**SUCCESS, **outcome.jobs[0]}


def many(
    scope: Scope, *, verb: str, job_ids: Any = None, state: State | None = None, kind: str | None = None,
    error: str | None = None,
) -> ManyAsked:  # fmt: skip
    """Make a request about the jobs that are named, or that match the filters. Raises JobError: ARGUMENT_INVALID for no
    selection or two, and for a wrong list of ids."""
    filters: dict[str, Any] = {"states": (state,) if state else (), "kind": kind, "error": error}
    if job_ids is None and not any(filters.values()):
        raise JobError("ARGUMENT_INVALID", "Name the jobs: by job_ids, or by state, kind or error.")
    if job_ids is None:
        scope.records.refresh()
        job_ids = selection.selected_for(verb, scope.records.rows(), **filters)
    elif any(filters.values()) or not isinstance(job_ids, list) or not 1 <= len(job_ids) <= MAX_IDS:
        raise JobError("ARGUMENT_INVALID", f"job_ids is a list of 1 to {MAX_IDS} ids, without another selection.")
    elif not all(isinstance(each, str) and 1 <= len(each) <= 255 for each in job_ids):
        raise JobError("ARGUMENT_INVALID", "job_ids is a list of texts.")
    outcome = requests.ask(scope.workspace, verb, job_ids, requests.REQUEST_SECONDS)
    asked = [each for each in outcome.jobs if each["requested"]]
    return {
        **SUCCESS,
        "job_ids": [each["job_id"] for each in asked],
        "requested": len(asked),
        "obeyed": sum(1 for each in asked if each["obeyed"]),
        "skipped": outcome.shown_skipped(),
    }
