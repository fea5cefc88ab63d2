"""The implementation of the MCP tools that run a query, drop a job or read a record; ``reading`` has the others.

The functions are synchronous and run in several threads at once. The caller has removed arguments that are ``None``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any

from bridge import trust
from bridge.interface.submission import submit
from bridge.job_targets import require
from bridge.memory import BY_STATUS, slug
from bridge.text.template import sections
from jobs import client, launch
from jobs.check import check
from jobs.errors import JobError
from jobs.ids import new_job_id
from jobs.layout import Workspace
from jobs.model import Record, job_digest
from jobs.payloads import PAYLOADS
from jobs.states import IN_INBOX

from ..wording import cut, shortened
from .answer import NOTICE, Answer, compact_json
from .job_answers import job_status as status_of
from .reading import limit_of, memory_of, opened, whole
from .schemas import LONGEST_WAIT_SECONDS, PREVIEW_WAIT_SECONDS, STATUS_WAIT_SECONDS

if TYPE_CHECKING:
    from bridge.interface.answer_shapes import (
        ContextResponse,
        ExplainResponse,
        Refusal,
        RelatedStatement,
        RetrievalHit,
        RetrievalResponse,
    )
    from bridge.memory_shapes import FeedbackCounts
    from bridge.search.reader import Verb
    from bridge.settings import Settings

    from .answer_shapes import (
        Accepted,
        FoundMemory,
        GivenFeedback,
        MarkedOutdated,
        PairLine,
        Previewed,
        Recalled,
        Resolved,
        Retrieved,
        SimilarMemory,
    )


# --- queries ---


def _ask(verb: Verb, workspace: Workspace, arguments: dict[str, Any]) -> Any:
    """The envelope of a query, also when it failed."""
    from bridge.search.query_client import ask_for

    return json.loads(ask_for(verb, str(workspace.root), arguments))


def _error(refusal: Refusal) -> JobError:
    """The error in a failed envelope."""
    details = refusal.get("error_details")
    return JobError(refusal["error_code"], refusal["error"], remediation=refusal["remediation"], details=details)


def retrieve(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The hits for a query. Raises the query's JobError when it failed."""
    answer: RetrievalResponse = _ask("retrieve", workspace, _as_asked(arguments))
    if not answer["success"]:
        raise _error(answer)
    hits, warnings = answer["results"], answer["warnings"]
    found: Retrieved = {
        "notice": NOTICE,
        "results": [_with_replacement(workspace, _found(hit)) for hit in hits],
        "total": answer["total_results"],
        "warnings": [*cut(len(hits), answer["total_results"], "limit", warnings), *warnings],
    }
    return Answer(found, found)


def _as_asked(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a query, as its contract names them."""
    return {"max_results" if name == "limit" else name: value for name, value in arguments.items()}


def _found(hit: RetrievalHit) -> FoundMemory:
    found: FoundMemory = {
        "memory_number": hit["memory_number"],
        "memory_type": hit["memory_type"],
        "topic": hit["topic"],
        "topic_id": hit["topic_id"],
        "status": hit["status"],
        "date": hit["source_created_at"] or hit["created_at"],
        "score": round(hit["score"], 3),
        "text": sections(hit["summary_text"]),
    }
    if "fit" in hit:
        found["fit"] = hit["fit"]
    if "feedback" in hit:
        found["feedback"] = hit["feedback"]
    standing = hit.get("standing")
    if standing is not None:
        if standing["by"] is not None:
            found["replaced"] = f"{standing['state']} by {_related(standing['by'])}"
        if standing["replaces"]:
            found["replaces"] = [_related(each) for each in standing["replaces"]]
    return found


def _related(statement: RelatedStatement) -> str:
    """A decision of another memory, with its number and day."""
    day = f", {statement['dated_at'][:10]}" if statement["dated_at"] else ""
    return f"#{statement['memory_number']}{day}: {statement['statement']}"


def _with_replacement(workspace: Workspace, found: FoundMemory) -> FoundMemory:
    """The memory with what replaced it, if somebody said so."""
    from bridge.search import listing

    if found["status"] == "Superseded" and found.get("feedback", {}).get("wrong"):
        with suppress(JobError):  # it was forgotten meanwhile
            given = listing.memory(workspace, f"#{found['memory_number']}")["feedback"]["given"]
            for one in given:
                if one["by"] == BY_STATUS and one["note"]:
                    found["replaced"] = one["note"]
    return found


def explain(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The contract's envelope without ``success``; with numbers, the items of these alone.

    A request error stays in the envelope and sets ``is_error``, because the model can correct it. Raises JobError for
    all other failures.
    """
    asked = {"ids" if name == "memory_numbers" else name: value for name, value in arguments.items()}
    answer: ExplainResponse = _ask("explain", workspace, asked)
    if not answer["success"] and not answer["errors"]:
        raise _error(answer)
    shown: dict[str, Any] = {name: answer[name] for name in ("items", "missing_ids", "errors", "metadata")}
    if isinstance(asked.get("ids"), list):
        shown["items"] = [item for item in shown["items"] if item["id"] in asked["ids"]]
        shown["metadata"] = shown["metadata"] | {"returned_items_count": len(shown["items"])}
    wrong = not answer["items"] and any(error["code"] != "NOT_FOUND" for error in answer["errors"])
    return Answer(shown, shown, is_error=wrong)


def context(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The context block for a query; the text is the block, with the warnings below it.

    Raises the query's JobError when it failed.
    """
    answer: ContextResponse = _ask("context", workspace, _as_asked(arguments))
    if not answer["success"]:
        raise _error(answer)
    listed = "order" in answer["ranking"]  # a block leaves out what a question does not need, a list does not
    warnings = answer["warnings"]
    left = cut(len(answer["memories"]), answer["considered"], "limit", warnings) if listed else []
    recalled: Recalled = {
        "context": answer["context"],
        "memory_numbers": [memory["memory_number"] for memory in answer["memories"]],
        "total_tokens": answer["total_tokens"],
        "budget": answer["budget"],
        "warnings": [*left, *warnings],
    }
    text = answer["context"] or "No memory of this workspace fits the question."
    return Answer(recalled, "\n".join([text, *(f"Note: {warning}." for warning in recalled["warnings"])]))


# --- jobs ---

_MOST_DECISIONS = 20  # of a summary that are compared
_CLEARLY = 0.5  # of the semantic score, from which a memory is about the same matter

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
    similar = _similar(workspace, arguments.get("summary"))  # before it is stored, and found itself
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
    answer = {"notice": NOTICE, **accepted} if similar else accepted
    return Answer(answer, answer)


def _similar(workspace: Workspace, summary: Mapping[str, Any] | None) -> list[SimilarMemory]:
    """At most 3 memories that clearly are about what a summary decides, or finds out. None if they cannot be searched:
    what was sent is stored all the same."""
    if summary is None or summary.get("status") == "Draft":
        return []
    said = summary.get("decisions") or [summary["context"]]
    query = " ".join([summary["topic"], *said])[:1000]
    answer: RetrievalResponse = _ask("retrieve", workspace, {"query": query, "max_results": 3, "best_passages": True})
    similar: list[SimilarMemory] = []
    for hit in answer["results"] if answer["success"] else ():
        passages = hit.get("best_passages") or []
        otherwise: list[str] = []
        with suppress(JobError):
            otherwise = _replaced(workspace, summary, hit, passages)
        if not passages or "fit" in hit or not (otherwise or hit["semantic_score"] >= _CLEARLY):
            continue
        similar.append(
            {
                "memory_number": hit["memory_number"],
                "date": hit["source_created_at"] or hit["created_at"],
                "says": shortened([*otherwise, *passages][0], 200),
                "says_otherwise": bool(otherwise),
            }
        )
    return similar


def _replaced(
    workspace: Workspace, summary: Mapping[str, Any], hit: RetrievalHit, passages: Sequence[str]
) -> list[str]:
    """Those of the passages that the decisions of a summary may replace: by the rules, and within the bounds, by which
    the store compares them once they are stored. Raises JobError as ``memory_of`` and the embedder do."""
    from bridge.search.query_client import embed
    from bridge.search.standings import DISPUTED
    from bridge.standing import judge
    from bridge.standing.comparison import NEARLY_THE_SAME, TOPICS_ALIKE

    said = list(summary.get("decisions") or ())[:_MOST_DECISIONS]
    if not said or not passages:
        return []
    topics = [summary["topic"], memory_of(workspace, {"memory_number": hit["memory_number"]})["title"]]
    texts = list(dict.fromkeys([*topics, *said, *passages]))
    vectors = embed(workspace, trust.settings_of(workspace), texts)
    row = {text: index for index, text in enumerate(texts)}

    def cosine(one: str, other: str) -> float:
        return float(vectors[row[one]] @ vectors[row[other]])

    is_same = hit["topic_id"] == (summary.get("topic_id") or slug(summary["topic"]))
    is_alike = cosine(*topics) >= TOPICS_ALIKE
    pairs = [
        (each, new)
        for each in passages
        for new in said
        if is_same or (is_alike and cosine(each, new) >= NEARLY_THE_SAME)
    ]
    found = judge.by_rules(pairs, lambda texts: vectors[[row[text] for text in texts]])
    return list(dict.fromkeys(each for (each, _), sure in zip(pairs, found, strict=True) if sure >= DISPUTED))


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
    payload: dict[str, Any] = {"memory_id": memory_id, "status": "Superseded"}
    if "replaced_by" in arguments:
        other = whole(arguments, "replaced_by", 0, 1, 2**53)
        payload["replaced_by"] = memory_of(workspace, {"memory_number": other})["memory_id"]
        if other == number:
            raise JobError("ARGUMENT_INVALID", f"Memory #{number} cannot replace itself. Nothing was changed.")
    job_id, state = None, "succeeded"
    if memory["status"] != "Superseded" or "replaced_by" in payload:
        job_id, done = _run(workspace, settings, "set_status", payload, seconds)
        state = done["state"]
    has_ended = state == "succeeded"
    answer: MarkedOutdated = {
        "memory_number": number,
        "status_before": memory["status"],
        "replaced_by": arguments.get("replaced_by"),
        "changed": job_id is not None if has_ended else None,
        "job_id": job_id,
        "state": state,
    }
    by = f", replaced by #{arguments['replaced_by']}" if "replaced_by" in arguments else ""
    said = f"is Superseded now{by}" if job_id else "was Superseded before"
    waits = f"will be Superseded: job {job_id} is {state}. Ask memory_job_status later"
    return Answer(answer, f"Memory #{number} {said if has_ended else waits}.")


def resolve(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """List the disputed pairs; with ``pair`` and ``verdict``, say which of the two holds, and wait for it.

    Raises JobError before a job is submitted: ARGUMENT_INVALID, MEMORY_NOT_FOUND. Raises the job's JobError when it
    failed.
    """
    from bridge.search import review

    warnings = opened(workspace)
    limit = limit_of(arguments)
    seconds = _seconds(arguments, default=STATUS_WAIT_SECONDS)
    given = {name: arguments[name] for name in ("verdict", "reason") if name in arguments}
    if "pair" not in arguments and not given:
        found = review.pairs(workspace)
        lines = [_pair_line(each["pair"], each["older"], each["newer"]) for each in found[:limit]]
        warnings = [*cut(len(lines), len(found), "limit", warnings), *warnings]
        listed: Resolved = {
            "notice": NOTICE,
            "pairs": lines,
            "job_id": None,
            "state": "succeeded",
            "warnings": warnings,
        }
        return Answer(listed, listed)
    if not {"pair", "verdict"} <= arguments.keys():
        raise JobError(
            "ARGUMENT_INVALID",
            "pair and verdict belong together. Nothing was changed.",
            remediation="Give both to settle a pair, or neither to list what is disputed.",
        )
    older, newer = review.sides(workspace, arguments["pair"])
    payload = given | review.job_sides(older, newer) | {"by": "agent"}
    require(workspace, "resolve", check(PAYLOADS["resolve"], payload).model_dump())
    job_id, done = _run(workspace, trust.settings_of(workspace), "resolve", payload, seconds)
    settled: Resolved = {
        "notice": NOTICE,
        "pairs": [_pair_line(arguments["pair"], older, newer)],
        "job_id": job_id,
        "state": done["state"],
        "warnings": warnings,
    }
    return Answer(settled, settled)


def _pair_line(name: str, older: RelatedStatement, newer: RelatedStatement) -> PairLine:
    return {"pair": name, "newer": _related(newer), "older": _related(older)}


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
    previewed: Previewed = {"notice": NOTICE, "job_id": job_id, "state": done["state"], "preview": done["result"]}
    return Answer(previewed, previewed)


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
