"""The implementation of the MCP tools: run a query, drop a job, read a record.

The functions are synchronous and run in several threads at once. The caller has removed arguments that are ``None``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from bridge import trust
from bridge.interface.submission import submit
from jobs import client, launch
from jobs.errors import JobError
from jobs.ids import new_job_id
from jobs.layout import Workspace
from jobs.model import Record, job_digest

from .schemas import INBOX, LONGEST_WAIT_SECONDS, PREVIEW_WAIT_SECONDS

if TYPE_CHECKING:
    from bridge.interface.answer_shapes import ContextResponse, ExplainResponse, Refusal, RetrievalResponse
    from bridge.search.reader import Verb


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a call. ``value`` matches the tool's output schema; ``text`` is for clients that show text."""

    value: Mapping[str, Any]
    text: str
    is_error: bool = False


# --- queries ---


def _ask(verb: Verb, workspace: Workspace, arguments: dict[str, Any]) -> Any:
    """The envelope of a query, also when it failed."""
    from bridge.search.query_client import ask_for

    return json.loads(ask_for(verb, str(workspace.root), arguments))


# The fields of a hit in the text for clients that show text.
_SHOWN_OF_HIT: Final = (
    "memory_number", "memory_id", "memory_type", "topic", "topic_id", "status", "source_created_at", "created_at",
    "score", "summary_text",
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
    shown = {
        "results": [{name: hit[name] for name in _SHOWN_OF_HIT} for hit in answer["results"]],
        "total_results": answer["total_results"],
        "warnings": answer["warnings"],
    }
    return Answer(answer, _json(shown))


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
    return Answer(shown, _json(shown), is_error=wrong)


def context(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The context block for a query; the text is the block, with the warnings below it.

    Raises the query's JobError when it failed.
    """
    answer: ContextResponse = _ask("context", workspace, arguments)
    if not answer["success"]:
        raise _error(answer)
    text = answer["context"] or "No memory of this workspace fits the question."
    return Answer(answer, "\n".join([text, *(f"Note: {warning}." for warning in answer["warnings"])]))


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
    return Answer(shown, _json(shown))


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
    """The record of a job, optionally after waiting for its end. A timeout is no error: the current state is returned.

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
    waiting = {**Record(job_id, None, None, "queued").as_dict(), "state": INBOX}
    shown = {**(record.as_dict() if record is not None else waiting), "worker_alive": launch.is_alive(workspace)}
    return Answer(shown, _json(shown))


def compact_preview(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """Submit a preview and wait for it. A preview changes no memory.

    On a timeout, ``preview`` is None and the client reads the result with ``job_status``. Raises the job's JobError
    when it failed.
    """
    settings = trust.settings_of(workspace)
    seconds, job_id = _seconds(arguments, default=PREVIEW_WAIT_SECONDS), new_job_id()
    payload = {"topic_id": arguments["topic_id"], "preview": True}
    shown: dict[str, Any]
    try:
        done: Mapping[str, Any] = submit(
            workspace, settings, "compact", payload,
            job_id=job_id, wait=True, wait_seconds=seconds, submitted_by="mcp",
        )  # fmt: skip
        shown = {"job_id": job_id, "state": done["state"], "preview": done["result"]}
    except JobError as error:
        if error.code != "WAIT_TIMEOUT":
            raise _with_job(error, job_id) from None
        record = client.status(workspace.spool, job_id)
        shown = {"job_id": job_id, "state": record.state if record else INBOX, "preview": None}
    return Answer(shown, _json(shown))


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


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
