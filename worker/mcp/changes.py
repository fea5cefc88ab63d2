"""The tools that submit a job: ``memory_ingest``, ``memory_mark_outdated``, ``memory_resolve``, ``memory_feedback`` and
``memory_compact_preview``.

As in ``reading``, the functions are synchronous. The arguments are checked, and their defaults filled in.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any

from bridge import trust
from bridge.interface.submission import submit
from bridge.operations.refusals import require_accepted
from jobs import client
from jobs.check import check
from jobs.errors import JobError
from jobs.ids import new_job_id
from jobs.layout import Workspace
from jobs.model import Record, job_digest
from jobs.payloads import PAYLOADS
from jobs.states import IN_INBOX

from ..calls import memories
from ..calls.call import Scope
from ..wording import cut
from .answer import Answer
from .reading import memory_of, similar_memories, warnings_of

if TYPE_CHECKING:
    from .answer_shapes import Accepted, Asked

_PREVIEW_WAIT_SECONDS = 20
_CHANGE_WAIT_SECONDS = 10

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
    similar = similar_memories(workspace, arguments.get("summary"))  # before it is stored, and found itself
    with _submitting:
        former = _record(workspace, job_id) if job_id is not None else None
        if former is not None and former.job_sha256 not in (None, job_digest("ingest", arguments)):
            raise JobError("JOB_ID_CONFLICT", f"The id {job_id!r} belongs to another job, which is {former.state}.")
        job_id = job_id or new_job_id()
        waits = client.dropped_digest(workspace.spool, job_id) is not None
        try:
            submit(workspace, settings, "ingest", arguments, job_id=job_id, submitted_by="mcp")
        except JobError as error:
            raise _with_job(error, job_id) from None
    duplicate = waits or (former is not None and former.job_sha256 is not None)
    accepted: Accepted = {"job_id": job_id, "duplicate": duplicate, "similar": similar}
    return Answer(accepted)


def _record(workspace: Workspace, job_id: str) -> Record | None:
    try:
        return client.status(workspace.spool, job_id)
    except JobError:
        return None


def mark_outdated(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """Set a summary to Superseded, and wait for it. A memory that is Superseded already needs no job.

    Raises JobError before a job is submitted: MEMORY_NOT_FOUND, ARGUMENT_INVALID for a memory that has no status to
    set. Raises the job's JobError when it failed.
    """
    memory = memory_of(workspace, arguments)
    number = memory["memory_number"]
    payload: dict[str, Any] = {"memory_id": memory["memory_id"], "status": "Superseded"}
    other = arguments.get("replaced_by")
    if other is not None:
        payload["replaced_by"] = memory_of(workspace, {"memory_number": other})["memory_id"]
        if other == number:
            raise JobError("ARGUMENT_INVALID", f"Memory #{number} cannot replace itself. Nothing was changed.")
    asked: Asked = {"job_id": None, "state": "succeeded", "result": None}
    if memory["status"] != "Superseded" or other is not None:
        asked = _run(workspace, "set_status", payload, arguments)
    by = "" if other is None else f", replaced by #{other}"
    said = f"is Superseded now{by}" if asked["job_id"] else "was Superseded before"
    return Answer(asked, _sentence(asked, f"Memory #{number} {said}", f"Memory #{number} will be Superseded"))


def resolve(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """List the disputed pairs; with ``pair`` and ``verdict``, say which of the two holds, and wait for it.

    Raises JobError before a job is submitted: ARGUMENT_INVALID, MEMORY_NOT_FOUND. Raises the job's JobError when it
    failed.
    """
    from bridge.search import review

    warnings = warnings_of(workspace)
    given = {name: arguments[name] for name in ("verdict", "reason") if name in arguments}
    if given.get("verdict", "list") == "list":
        given.pop("verdict", None)
    if "pair" not in arguments and not given:
        found = memories.review(Scope(workspace), all=False)["pairs"]
        shown = found[: arguments["limit"]]
        return Answer({"pairs": shown, "warnings": [*cut(len(shown), len(found), "limit", warnings), *warnings]})
    if "pair" not in arguments or "verdict" not in given:
        raise JobError(
            "ARGUMENT_INVALID",
            "pair and verdict belong together. Nothing was changed.",
            remediation="Give both to settle a pair, or neither to list what is disputed.",
        )
    payload = given | review.job_sides(*review.sides(workspace, arguments["pair"])) | {"by": "agent"}
    asked = _run(workspace, "resolve", payload, arguments)
    settled = None if asked["result"] is None else review.pair(workspace, arguments["pair"])
    if settled is not None and review.is_overruled(settled, given["verdict"]):
        warnings.append("Somebody else settled the pair differently at the same time, and that counts: list the pairs.")
    return Answer({**asked, "warnings": warnings})


def feedback(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """Record whether a memory helped, and wait for it.

    Raises JobError before a job is submitted: MEMORY_NOT_FOUND, ARGUMENT_INVALID. Raises the job's JobError when it
    failed.
    """
    memory = memory_of(workspace, arguments)
    given = {name: arguments[name] for name in ("verdict", "query", "note") if name in arguments}
    payload = given | {"memory_id": memory["memory_id"], "by": arguments.get("by", "agent")}
    asked = _run(workspace, "feedback", payload, arguments)
    counts = (asked["result"] or {}).get("feedback", {})
    said = "is recorded: {helpful} helpful, {wrong} wrong".format(**counts) if counts else ""
    about = f"The feedback on memory #{memory['memory_number']}"
    return Answer(asked, _sentence(asked, f"{about} {said}", f"{about} will be recorded"))


def compact_preview(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """Submit a preview and wait for it. A preview changes no memory.

    On a timeout, ``result`` is None and the client reads it with ``job_status``. Raises JobError before a job is
    submitted: TOPIC_NOT_FOUND, NOTHING_TO_COMPACT. Raises the job's JobError when it failed.
    """
    payload = {"topic_id": arguments["topic_id"], "preview": True}
    if arguments.get("keep_both"):
        payload["keep_both"] = arguments["keep_both"]
    return Answer(_run(workspace, "compact", payload, arguments, seconds=_PREVIEW_WAIT_SECONDS))


def _run(
    workspace: Workspace,
    kind: str,
    payload: dict[str, Any],
    arguments: Mapping[str, Any],
    seconds: float = _CHANGE_WAIT_SECONDS,
) -> Asked:
    """Submit a job and wait for it, ``seconds`` at most, or ``wait_seconds`` of the arguments.

    Raises JobError: that with which the job would fail, before it is submitted; and that of the job when it failed.
    """
    settings = trust.settings_of(workspace)
    require_accepted(workspace, check(PAYLOADS[kind], payload))
    job_id = new_job_id()
    seconds = arguments.get("wait_seconds", seconds)
    try:
        done: Mapping[str, Any] = submit(
            workspace, settings, kind, payload, job_id=job_id, wait=True, wait_seconds=seconds, submitted_by="mcp"
        )
    except JobError as error:
        if error.code != "WAIT_TIMEOUT":
            raise _with_job(error, job_id) from None
        record = client.status(workspace.spool, job_id)
        return {"job_id": job_id, "state": record.state if record else IN_INBOX, "result": None}
    return {"job_id": job_id, "state": done["state"], "result": done["result"]}


def _sentence(asked: Asked, done: str, waits: str) -> str:
    if asked["state"] == "succeeded":
        return f"{done}."
    return f"{waits}: job {asked['job_id']} is {asked['state']}. Ask memory_job_status later."


def _with_job(error: JobError, job_id: str) -> JobError:
    """The error with the job's id when only the worker's start failed: the job is stored, and the next worker runs
    it."""
    if error.code not in ("WORKER_START_FAILED", "WORKER_NOT_RUNNING"):
        return error
    return error.with_message(f"Job {job_id} is safe, but no worker runs it. {error.message}", job_id=job_id)
