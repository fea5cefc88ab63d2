"""The routes of jobs: list, show, submit, cancel, retry and dismiss.

``queue`` has the routes of the queue as a whole.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bridge.interface.envelope import SUCCESS
from bridge.job_targets import require
from bridge.settings import Settings
from bridge.store.opening import require_model
from jobs import client, launch, record_cache, spool
from jobs.errors import ERRORS, JobError
from jobs.ids import is_job_id
from jobs.kinds import BY_NAME, KIND_NAMES
from jobs.layout import SpoolPaths, Workspace
from jobs.model import encode
from jobs.record_cache import RecordCache
from jobs.states import ENDS, LIVE, State

from ..admin import requests, selection
from ..admin.job_details import job_details
from ..admin.job_subjects import JobSubjects
from ..admin.new_job import add_defaults
from ..admin.selection import RETRIABLE
from .bodies import Query, bytes_of, object_of, only
from .executor import RequestExecutor
from .replies import computed_reply, refusal, reply_with_etag, route

if TYPE_CHECKING:
    from jobs.schema import JobBrief as JobRow

    from .schema import Asked, JobsPage, ManyAsked, Submitted, WholeJob

CANCEL_SECONDS = 5.0
MAX_IDS = 1000
CANCELLABLE = LIVE
DISMISSIBLE: tuple[State, ...] = ("succeeded", *RETRIABLE)

Many = Callable[[Workspace, Sequence[str], float], requests.Outcome]
Select = Callable[..., list[str]]  # as ``selection.selected``


def routes(executor: RequestExecutor, known: RecordCache) -> list[Route]:
    """The routes below ``/v1/jobs``. ``known`` is the shared record cache."""
    workspace = executor.workspace
    subjects = JobSubjects(workspace.spool)

    async def listed(request: Request) -> Response:
        query = Query(request, "state", "kind", "error", "contains", "limit", "after")
        wanted: dict[str, Any] = {
            "states": query.choices("state", get_args(State)),
            "kind": query.choice("kind", KIND_NAMES),
            "error": query.choice("error", tuple(ERRORS)),
            "contains": query.text("contains", 256),
        }
        limit, after = query.integer("limit", 50), query.text("after")

        def find() -> JobsPage:
            version = known.refresh()  # before the rows: a client that has newer rows only asks once more
            page = record_cache.page(record_cache.matching(known.rows(), **wanted), limit, after)
            jobs = subjects.listed(page.jobs)
            return {**SUCCESS, "jobs": jobs, "total": page.total, "next": page.next, "version": version}

        asked = sha256(query.canonical.encode()).hexdigest()[:16]
        return await reply_with_etag(executor, request, lambda: f"{known.refresh()}-{asked}", find)

    async def shown(request: Request) -> Response:
        Query(request)
        job_id = _job_id(request)
        return await computed_reply(executor, lambda _: _job_details(workspace, job_id))

    async def submitted(request: Request) -> Response:
        Query(request)
        body = await bytes_of(request)
        correlation_id = request.headers.get("x-correlation-id")
        if correlation_id is not None and not re.fullmatch("[!-~]{1,256}", correlation_id):
            raise JobError("ARGUMENT_INVALID", "X-Correlation-Id has 1 to 256 visible ASCII characters.")
        return await computed_reply(
            executor, lambda settings: _drop(workspace, settings, known, body, correlation_id), status=202
        )

    def one(ask: Many) -> Callable[[Request], Any]:
        async def asked(request: Request) -> Response:
            Query(request)
            job_id = _job_id(request)
            only(await object_of(request))
            try:
                return await computed_reply(
                    executor, lambda _: _single_reply(ask(workspace, [job_id], CANCEL_SECONDS)), waits=True
                )
            except JobError as error:
                response = refusal(error)
                if response.status_code in (400, 422):  # the job's state is the problem, not the request
                    response.status_code = 409
                return response

        return asked

    def many(
        ask: Many, states: tuple[State, ...], default: Sequence[str], select: Select = selection.selected
    ) -> Callable[[Request], Any]:
        async def asked(request: Request) -> Response:
            Query(request)
            choose = _selector(await object_of(request), states, default, select)

            def do(_: Settings) -> ManyAsked:
                known.refresh()
                return _batch_reply(ask(workspace, choose(known.rows()), CANCEL_SECONDS))

            return await computed_reply(executor, do, waits=True)

        return asked

    return [
        route("/v1/jobs", get=listed, post=submitted),
        route("/v1/jobs/cancel", post=many(requests.cancel_many, CANCELLABLE, CANCELLABLE)),
        route(
            "/v1/jobs/retry",
            post=many(requests.retry_many, RETRIABLE, selection.RETRIED_BY_DEFAULT, selection.selected_to_run),
        ),
        route("/v1/jobs/dismiss", post=many(requests.dismiss_many, DISMISSIBLE, selection.RETRIED_BY_DEFAULT)),
        route("/v1/jobs/{job_id}", get=shown),
        route("/v1/jobs/{job_id}/cancel", post=one(requests.cancel_many)),
        route("/v1/jobs/{job_id}/retry", post=one(requests.retry_many)),
        route("/v1/jobs/{job_id}/dismiss", post=one(requests.dismiss_many)),
    ]


def _job_id(request: Request) -> str:
    """The job id in the path. Raises JobError: JOB_NOT_FOUND when it is malformed, so it never becomes part of a
    file path."""
    job_id = str(request.path_params["job_id"])
    if not is_job_id(job_id):
        raise JobError("JOB_NOT_FOUND", f"{job_id[:80]!r} is no job id.")
    return job_id


# --- one job ---


def _job_details(workspace: Workspace, job_id: str) -> WholeJob:
    return {**SUCCESS, **job_details(workspace, job_id)}


# --- a new job ---


def _drop(
    workspace: Workspace, settings: Settings, known: RecordCache, body: bytes, correlation_id: str | None
) -> Submitted:
    """Validate a job as the worker will, so that the client sees errors at once; then drop it.

    Raises JobError: every error of the intake, and as ``job_targets.require`` and ``opening.require_model``.
    """
    from jobs.check import check  # pydantic takes time to import, so only when a job is submitted
    from jobs.parse import parse_job, read_json
    from jobs.payloads import JobFile

    value = read_json(body)
    if not isinstance(value, dict):
        raise JobError("JOB_INVALID", "The body holds JSON, but not an object.")
    add_defaults(value)
    if correlation_id is not None and value.keys().isdisjoint(("correlation_id", "correlationId")):
        value["correlation_id"] = correlation_id
    data = encode(value)
    if len(data) > settings.max_job_bytes:
        raise JobError("FILE_TOO_LARGE")
    name = str(value.get("job_id", value.get("jobId")))
    job = parse_job(name, data, max_attempts=settings.max_attempts, test_jobs=settings.test_jobs)
    _check_room(workspace.spool, settings, known, job)
    if spool.read_record(workspace.spool, name) is None:  # the same job again is answered as before
        require(workspace, job.kind, job.payload)
        if BY_NAME[job.kind].stores:
            require_model(workspace, settings.embedding)
    fields = check(JobFile, value).model_dump(
        exclude_none=True, exclude={"schema_version", "job_id", "kind", "payload"}
    )
    dropped = client.submit(workspace.spool, job.kind, job.sent, job_id=name, **{"submitted_by": "http", **fields})
    launch.start(workspace, leave_when_idle=True)  # the running worker may be about to exit
    return {**SUCCESS, "job_id": dropped.job_id, "job_sha256": dropped.sha256, "kind": job.kind}


def _check_room(spool_paths: SpoolPaths, settings: Settings, known: RecordCache, job: Any) -> None:
    """The checks of the intake that do not concern the job's form.

    Raises JobError: METADATA_BROKEN, JOB_ID_CONFLICT, BACKLOG_FULL, DISK_FULL.
    """
    from bridge.text.template import parse

    from ..inbox.intake import Reject, decide

    if job.kind == "ingest" and "summary_text" in job.payload:
        parse(job.payload["summary_text"])
    try:
        earlier = spool.read_record(spool_paths, job.job_id)
    except ValueError as error:
        raise JobError("JOB_ID_CONFLICT", f"The record under the id {job.job_id!r} is damaged.") from error
    known.refresh()
    waiting = sum(1 for brief in known.rows() if brief["state"] not in ENDS)
    free = shutil.disk_usage(spool_paths.root).free
    verdict = decide(job, earlier, settings.max_active_jobs - waiting, free, settings.min_free_bytes)
    if isinstance(verdict, Reject):
        raise verdict.error


# --- cancel, retry and dismiss ---


def _single_reply(outcome: requests.Outcome) -> Asked:
    """The reply about the only job of a request. Raises the job's own JobError when it was skipped."""
    for skipped in outcome.skipped:
        raise skipped.error
    return {**SUCCESS, **outcome.jobs[0].as_dict()}


def _batch_reply(outcome: requests.Outcome) -> ManyAsked:
    asked = [each for each in outcome.jobs if each.requested]
    return {
        **SUCCESS,
        "job_ids": [each.job_id for each in asked],
        "requested": len(asked),
        "obeyed": sum(1 for each in asked if each.obeyed),
        "skipped": [skipped.as_dict() for skipped in outcome.skipped],
    }


def _selector(
    given: dict[str, Any], states: tuple[State, ...], default: Sequence[str], select: Select
) -> Callable[[list[JobRow]], Sequence[str]]:
    """Returns the function that selects the job ids: those in ``job_ids``, or the jobs that match the filters.

    Raises JobError: ARGUMENT_INVALID when neither is given or a value is wrong.
    """
    only(given, "job_ids", "state", "kind", "error")
    if "job_ids" in given:
        ids = given["job_ids"]
        if len(given) > 1 or not isinstance(ids, list) or not 1 <= len(ids) <= MAX_IDS:
            raise JobError("ARGUMENT_INVALID", f"job_ids is a list of 1 to {MAX_IDS} ids, without another selection.")
        if not all(isinstance(each, str) and 1 <= len(each) <= 255 for each in ids):
            raise JobError("ARGUMENT_INVALID", "job_ids is a list of texts.")
        return lambda _: ids
    if not given:
        raise JobError("ARGUMENT_INVALID", "Name the jobs: by job_ids, or by state, kind or error.")
    for name, words in (("state", states), ("kind", KIND_NAMES), ("error", tuple(ERRORS))):
        if name in given and given[name] not in words:
            raise JobError("ARGUMENT_INVALID", f"{name} is one of {', '.join(words)}.")
    wanted = (given["state"],) if "state" in given else ()
    return lambda rows: select(rows, default, states=wanted, kind=given.get("kind"), error=given.get("error"))
