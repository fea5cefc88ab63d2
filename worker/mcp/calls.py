"""The implementation of the MCP tools that run a query, drop a job or read a record; ``reading`` has the others.

The functions are synchronous and run in several threads at once. The caller has removed arguments that are ``None``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from bridge import trust
from bridge.interface.submission import submit
from bridge.job_targets import require
from bridge.text.template import readable
from jobs import client, launch
from jobs.check import check
from jobs.errors import JobError
from jobs.ids import new_job_id
from jobs.layout import Workspace
from jobs.model import Record, job_digest
from jobs.payloads import PAYLOADS
from jobs.states import IN_INBOX

from ..wording import cut
from .answer import NOTICE, Answer, compact_json
from .job_answers import job_status as status_of
from .reading import memory_of
from .schemas import LONGEST_WAIT_SECONDS, PREVIEW_WAIT_SECONDS, STATUS_WAIT_SECONDS

if TYPE_CHECKING:
    from bridge.interface.answer_shapes import ContextResponse, ExplainResponse, Refusal, RetrievalResponse
    from bridge.memory_shapes import FeedbackCounts
    from bridge.search.reader import Verb
    from bridge.settings import Settings

    from .answer_shapes import GivenFeedback, MarkedOutdated


# --- queries ---


def _ask(verb: Verb, workspace: Workspace, arguments: dict[str, Any]) -> Any:
    """The envelope of a query, also when it failed."""
    from bridge.search.query_client import ask_for

    return json.loads(ask_for(verb, str(workspace.root), arguments))


# The fields of a hit in the text for clients that show text.
_SHOWN_OF_HIT: Final = (
    "memory_number", "memory_id", "memory_type", "topic", "topic_id", "status", "source_created_at", "created_at",
    "score", "fit", "summary_text",
)  # fmt: skip


def _error(refusal: Refusal) -> JobError:
    """The error in a failed envelope."""
    details = refusal.get("error_details")
    return JobError(refusal["error_code"], refusal["error"], remediation=refusal["remediation"], details=details)


def retrieve(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The hits for a query. The text has a part of their fields. Raises the query's JobError when it failed."""
    answer: RetrievalResponse = _ask("retrieve", workspace, arguments)
    if not answer["success"]:
        raise _error(answer)
    for hit in answer["results"]:
        hit["summary_text"] = hit["text"] = readable(hit["summary_text"])
    warnings = answer["warnings"]
    shown = {
        "notice": NOTICE,
        "results": [
            {name: hit[name] for name in _SHOWN_OF_HIT if hit.get(name) is not None} for hit in answer["results"]
        ],
        "total_results": answer["total_results"],
        "warnings": [*cut(len(answer["results"]), answer["total_results"], "max_results", warnings), *warnings],
    }
    return Answer({"notice": NOTICE, **answer}, shown)


def explain(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The contract's envelope without ``success``.

    A request error stays in the envelope and sets ``is_error``, because the model can correct it. Raises JobError for
    all other failures.
    """
    answer: ExplainResponse = _ask("explain", workspace, arguments)
    if not answer["success"] and not answer["errors"]:
        raise _error(answer)
    shown = {name: answer[name] for name in ("items", "missing_ids", "errors", "metadata")}
    wrong = not answer["items"] and any(error["code"] != "NOT_FOUND" for error in answer["errors"])
    return Answer(shown, shown, is_error=wrong)


def context(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The context block for a query; the text is the block, with the warnings below it.

    Raises the query's JobError when it failed.
    """
    answer: ContextResponse = _ask("context", workspace, arguments)
    if not answer["success"]:
        raise _error(answer)
    text = answer["context"] or "No memory of this workspace fits the question."
    listed = "order" in answer["ranking"]  # a block leaves out what a question does not need, a list does not
    warnings = answer["warnings"]
    left = cut(len(answer["memories"]), answer["considered"], "max_results", warnings) if listed else []
    return Answer(answer, "\n".join([text, *(f"Note: {warning}." for warning in [*left, *warnings])]))


# --- jobs ---

# Two threads must not write the file of one job id at the same time.
_submitting = Lock()


def ingest(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """Drop an ingest job. ``duplicate`` is true when the same job was dropped before.

    Raises JobError: ARGUMENT_INVALID when there is not exactly one content, JOB_ID_CONFLICT when the id belongs to
    another job; also as ``submit``.
    """
    job_id = arguments.pop("job_id", None)
    if len(arguments) != 1:
        raise JobError(
            "ARGUMENT_INVALID",
            "Exactly one of summary and conversation must be given.",
            remediation="Give a summary of what was decided, or a conversation to keep word for word.",
        )
    settings = trust.settings_of(workspace)
    check(PAYLOADS["ingest"], arguments)  # here, so that an error names the fields as the tool does
    with _submitting:
        former = _record(workspace, job_id) if job_id is not None else None
        if former is not None and former.job_sha256 not in (None, job_digest("ingest", arguments)):
            raise JobError("JOB_ID_CONFLICT", f"The id {job_id!r} belongs to another job, which is {former.state}.")
        job_id = job_id or new_job_id()
        waits = client.dropped_digest(workspace.spool, job_id) is not None
        try:
            submission = submit(workspace, settings, "ingest", arguments, job_id=job_id, submitted_by="mcp")
        except JobError as error:
            raise _with_job(error, job_id) from None
    duplicate = waits or (former is not None and former.job_sha256 is not None)
    shown = {**{name: value for name, value in submission.items() if name != "success"}, "duplicate": duplicate}
    return Answer(shown, shown)


def _with_job(error: JobError, job_id: str) -> JobError:
    """The error with the job's id when only the worker's start failed: the job is stored, and the next worker runs
    it."""
    if error.code not in ("WORKER_START_FAILED", "WORKER_NOT_RUNNING"):
        return error
    return JobError(
        error.code,
        f"Job {job_id} is safe, but no worker runs it. {error.message}",
        remediation=error.remediation,
        details=error.details | {"job_id": job_id},
    )


def job_status(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The state of a job, optionally after waiting for its end. A timeout is no error: the current state is returned.

    Raises JobError: JOB_NOT_FOUND, ARGUMENT_INVALID.
    """
    trust.settings_of(workspace)
    job_id, seconds = arguments["job_id"], _seconds(arguments, default=0)
    try:
        record = client.wait(workspace.spool, job_id, seconds) if seconds else client.status(workspace.spool, job_id)
    except JobError as error:
        if error.code not in ("WAIT_TIMEOUT", "WORKER_NOT_RUNNING"):
            raise
        record = client.status(workspace.spool, job_id)
    status = status_of(job_id, record, worker_alive=launch.is_alive(workspace))
    lines = [status["outcome"]]
    if status["error"] is not None:
        lines.append(f"What to do: {status['error']['remediation']}")
    if status["kind"] == "compact" and status["result"] is not None:
        lines += [NOTICE, compact_json(status["result"])]
    return Answer(status, "\n".join(lines))


def mark_outdated(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """Set a summary to Superseded, and wait for it. A memory that is Superseded already needs no job.

    Raises JobError before a job is submitted: MEMORY_NOT_FOUND, ARGUMENT_INVALID for a memory that has no status to
    set. Raises the job's JobError when it failed.
    """
    settings = trust.settings_of(workspace)
    seconds = _seconds(arguments, default=STATUS_WAIT_SECONDS)
    memory = memory_of(workspace, arguments)
    number, memory_id = memory["memory_number"], memory["memory_id"]
    if memory["memory_type"] != "summary":
        what = "has no status" if memory["memory_type"] == "legacy" else "is a decision record"
        raise JobError(
            "ARGUMENT_INVALID",
            f"Memory #{number} {what}: only a summary can be marked as outdated. Nothing was changed.",
            remediation="Store what holds now with memory_ingest: a newer memory outweighs an older one. To remove this"
            " one, the user can forget it.",
        )
    job_id, state = None, "succeeded"
    if memory["status"] != "Superseded":
        job_id, done = _run(
            workspace, settings, "set_status", {"memory_id": memory_id, "status": "Superseded"}, seconds
        )
        state = done["state"]
    has_ended = state == "succeeded"
    answer: MarkedOutdated = {
        "memory_number": number,
        "memory_id": memory_id,
        "status_before": memory["status"],
        "changed": job_id is not None if has_ended else None,
        "job_id": job_id,
        "state": state,
    }
    said = "is Superseded now" if job_id else "was Superseded before"
    waits = f"will be Superseded: job {job_id} is {state}. Ask memory_job_status later"
    return Answer(answer, f"Memory #{number} {said if has_ended else waits}.")


def feedback(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """Record whether a memory helped, and wait for it.

    Raises JobError before a job is submitted: MEMORY_NOT_FOUND, ARGUMENT_INVALID. Raises the job's JobError when it
    failed.
    """
    settings = trust.settings_of(workspace)
    seconds = _seconds(arguments, default=STATUS_WAIT_SECONDS)
    memory = memory_of(workspace, arguments)
    number, memory_id = memory["memory_number"], memory["memory_id"]
    given = {name: arguments[name] for name in ("verdict", "query", "note") if name in arguments}
    payload: dict[str, Any] = given | {"memory_id": memory_id, "by": arguments.get("by", "agent")}
    require(workspace, "feedback", check(PAYLOADS["feedback"], payload).model_dump())
    job_id, done = _run(workspace, settings, "feedback", payload, seconds)
    result = done["result"]
    counts: FeedbackCounts | None = None if result is None else result["feedback"]
    answer: GivenFeedback = {
        "memory_number": number,
        "memory_id": memory_id,
        "verdict": given["verdict"],
        "feedback": counts,
        "job_id": job_id,
        "state": done["state"],
    }
    waits = f"will be recorded: job {job_id} is {done['state']}. Ask memory_job_status later"
    said = waits if counts is None else f"is recorded: {counts['helpful']} helpful, {counts['wrong']} wrong"
    return Answer(answer, f"The feedback on memory #{number} {said}.")


def compact_preview(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """Submit a preview and wait for it. A preview changes no memory.

    On a timeout, ``preview`` is None and the client reads the result with ``job_status``. Raises JobError before a job
    is submitted: TOPIC_NOT_FOUND, NOTHING_TO_COMPACT. Raises the job's JobError when it failed.
    """
    settings = trust.settings_of(workspace)
    seconds = _seconds(arguments, default=PREVIEW_WAIT_SECONDS)
    payload = {"topic_id": arguments["topic_id"], "preview": True}
    if arguments.get("keep_both"):
        payload["keep_both"] = arguments["keep_both"]
    require(workspace, "compact", check(PAYLOADS["compact"], payload).model_dump())
    job_id, done = _run(workspace, settings, "compact", payload, seconds)
    shown = {"notice": NOTICE, "job_id": job_id, "state": done["state"], "preview": done["result"]}
    return Answer(shown, shown)


def _run(
    workspace: Workspace, settings: Settings, kind: str, payload: dict[str, Any], seconds: float
) -> tuple[str, Mapping[str, Any]]:
    """Submit a job and wait for it. Returns its id, and its ``state`` and ``result``, which is None on a timeout.

    Raises the job's JobError when it failed.
    """
    job_id = new_job_id()
    try:
        done: Mapping[str, Any] = submit(
            workspace, settings, kind, payload, job_id=job_id, wait=True, wait_seconds=seconds, submitted_by="mcp"
        )
    except JobError as error:
        if error.code != "WAIT_TIMEOUT":
            raise _with_job(error, job_id) from None
        record = client.status(workspace.spool, job_id)
        return job_id, {"state": record.state if record else IN_INBOX, "result": None}
    return job_id, done


def _record(workspace: Workspace, job_id: str) -> Record | None:
    try:
        return client.status(workspace.spool, job_id)
    except JobError:
        return None


def _seconds(arguments: dict[str, Any], default: float) -> float:
    value = arguments.get("wait_seconds", default)
    number = not isinstance(value, bool) and isinstance(value, (int, float)) and math.isfinite(value)
    if not number or not 0 <= value <= LONGEST_WAIT_SECONDS:
        raise JobError(
            "ARGUMENT_INVALID",
            f"wait_seconds must be a number of 0 to {LONGEST_WAIT_SECONDS}.",
            remediation="Wait for less, and ask memory_job_status again.",
        )
    return float(value)
