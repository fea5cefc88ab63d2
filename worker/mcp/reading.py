"""The tools that read: those that answer a question (``memory_context``, ``memory_retrieve`` and ``memory_explain``),
and those about one memory, lists, or a job, whose record an agent gets as one sentence and the few fields that it can
use; and the memories that are about the same as a summary that an agent stores, with those that it may replace.

As all functions of tools, these are synchronous and run in several threads at once. The arguments are checked, and
their defaults filled in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast

from bridge import trust
from bridge.interface.envelope import SUCCESS
from bridge.memory import BY_STATUS, slug
from bridge.search import waiting_jobs
from bridge.text.template import sections
from jobs import client, clock, launch
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.model import Record
from jobs.states import IN_INBOX

from ..calls.call import Scope
from ..wording import counted, cut, cut_context, shortened
from .answer import NOTICE, Answer, compact_json, remedy

if TYPE_CHECKING:
    from bridge.interface.answer_shapes import (
        ContextResponse,
        ExplainResponse,
        Refusal,
        RetrievalHit,
        RetrievalResponse,
    )
    from bridge.memory_shapes import MemoryText
    from bridge.search.reader import Verb

    from .answer_shapes import Found, FoundHit, JobStatus, MemoryPart, SimilarMemory


_KEPT = {
    "ingest": ("memory_number", "memory_id", "memory_type", "topic_id", "status", "duplicate"),
    "set_status": ("memory_number", "memory_id", "topic_id", "status"),
}
_WAITS = {
    IN_INBOX: "The job waits in the inbox",
    "queued": "The job waits for its turn",
    "running": "The job runs",
    "retrying": "The job is tried again",
    "cancelled": "The job was cancelled",
    "expired": "The job expired before it could run",
    "rejected": "The job was rejected",
    "failed": "The job failed",
}

PART: Final = 20_000  # characters of a text in one answer
_MOST_DECISIONS = 20  # of a summary that are compared
_CLEARLY = 0.5  # of the semantic score, from which a memory is about the same matter


def status_of(job_id: str, record: Record | None, *, worker_alive: bool) -> JobStatus:
    """The state of a job; without a record it waits in the inbox."""
    if record is None:
        return {
            "outcome": _waiting(IN_INBOX, worker_alive=worker_alive),
            "worker_alive": worker_alive,
            "job": {"job_id": job_id, "state": IN_INBOX},
        }
    job = record.as_dict()
    if job["error"] is not None:
        job["error"] = {**job["error"], "remediation": remedy_of(record)}
    if record.result is not None:
        job["result"] = _result(record.kind, record.result)
    return {"outcome": _outcome(record, worker_alive=worker_alive), "worker_alive": worker_alive, "job": job}


def remedy_of(record: Record) -> str:
    """What an agent can do about the error of a job."""
    assert record.error is not None
    return remedy(record.error["code"], record.error["remediation"].replace("<job_id>", record.job_id))


def _result(kind: str | None, result: Mapping[str, Any]) -> dict[str, Any]:
    names = _KEPT.get(kind or "", tuple(result))
    return {name: result[name] for name in names if name in result}


def _outcome(record: Record, *, worker_alive: bool) -> str:
    if record.state == "succeeded":
        return _success(record.kind, record.result or {})
    if record.error is not None:
        return f"{_WAITS[record.state]}: {record.error['message']}"
    return _waiting(record.state, worker_alive=worker_alive or record.ended)


def _waiting(state: str, *, worker_alive: bool) -> str:
    return f"{_WAITS[state]}." if worker_alive else f"{_WAITS[state]}; no worker runs now."


def _success(kind: str | None, result: Mapping[str, Any]) -> str:
    match kind:
        case "ingest":
            stored = "It was stored before, as" if result.get("duplicate") else "Stored as"
            topic = f" of topic {result['topic_id']}" if result.get("topic_id") else ""
            replaced = (result.get("redactions") or {}).get("total", 0)
            secrets = f" {counted(replaced, 'likely secret')} had been replaced." if replaced else ""
            return f"{stored} memory #{result['memory_number']}{topic}.{secrets}"
        case "set_status":
            return f"Memory #{result['memory_number']} is {result['status']}."
        case "feedback":
            counts = result["feedback"]
            return f"Memory #{result['memory_number']}: {counts['helpful']} helpful, {counts['wrong']} wrong."
        case "compact" if "decision_record" in result:
            return f"A preview of merging {counted(len(result['summaries']), 'memory')}; nothing was changed."
        case _:
            return "The job succeeded."


def ask(verb: Verb, workspace: Workspace, arguments: dict[str, Any]) -> Any:
    """The envelope of a query, also when it failed."""
    from bridge.search.query_client import ask_for

    return json.loads(ask_for(verb, str(workspace.root), arguments))


def _error(refusal: Refusal) -> JobError:
    """The error in a failed envelope."""
    details = refusal.get("error_details")
    return JobError(refusal["error_code"], refusal["error"], remediation=refusal["remediation"], details=details)


def retrieve(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The hits for a query. Raises the query's JobError when it failed."""
    answer: RetrievalResponse = ask("retrieve", workspace, _as_asked(arguments))
    if not answer["success"]:
        raise _error(answer)
    hits, warnings = answer["results"], answer["warnings"]
    warnings = [*cut(len(hits), answer["total_results"], "limit", warnings), *warnings]
    found: Found = {**answer, "results": [_found(workspace, hit) for hit in hits], "warnings": warnings}
    return Answer(found)


def _as_asked(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a query, as its contract names them."""
    return {"max_results" if name == "limit" else name: value for name, value in arguments.items()}


def _found(workspace: Workspace, hit: RetrievalHit) -> FoundHit:
    """The hit without what its text says beside it, and with what replaced it, if somebody said so."""
    from bridge.search import listing

    found = cast("FoundHit", {**hit, "summary_text": sections(hit["summary_text"])})
    if hit["status"] == "Superseded" and hit.get("feedback", {}).get("wrong"):
        with suppress(JobError):  # it was forgotten meanwhile
            given = listing.memory(workspace, f"#{hit['memory_number']}")["feedback"]["given"]
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
    answer: ExplainResponse = ask("explain", workspace, asked)
    if not answer["success"] and not answer["errors"]:
        raise _error(answer)
    shown: dict[str, Any] = {name: answer[name] for name in ("items", "missing_ids", "errors", "metadata")}
    if isinstance(asked.get("ids"), list):
        shown["items"] = [item for item in shown["items"] if item["id"] in asked["ids"]]
        shown["metadata"] = shown["metadata"] | {"returned_items_count": len(shown["items"])}
    wrong = not answer["items"] and any(error["code"] != "NOT_FOUND" for error in answer["errors"])
    return Answer(shown, is_error=wrong)


def context(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The context block for a query; the text is the block, with the warnings below it.

    Raises the query's JobError when it failed.
    """
    answer: ContextResponse = ask("context", workspace, _as_asked(arguments))
    if not answer["success"]:
        raise _error(answer)
    answer["warnings"] = [*cut_context(answer, "limit"), *answer["warnings"]]
    text = answer["context"] or "No memory of this workspace fits the question."
    return Answer(answer, "\n".join([text, *(f"Note: {warning}." for warning in answer["warnings"])]))


def read(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """A memory with at most ``PART`` characters of its text. Raises JobError: ARGUMENT_INVALID, MEMORY_NOT_FOUND."""
    warnings = warnings_of(workspace)
    memory = memory_of(workspace, arguments)
    text, start = sections(memory["summary_text"]), arguments["offset"]
    if start > len(text):
        raise JobError("ARGUMENT_INVALID", f"offset must be a whole number of 0 to {len(text)}.")
    end = start + PART
    part: MemoryPart = {
        **SUCCESS,
        "memory": {**memory, "summary_text": text[start:end]},
        "total_characters": len(text),
        "next_offset": end if end < len(text) else None,
        "warnings": warnings,
    }
    return Answer(part)


def listed(function: Callable[..., Mapping[str, Any]]) -> Callable[[Workspace, dict[str, Any]], Answer]:
    """The function of a tool that gives the list of a call, which has ``warnings``."""

    def run(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
        note = _copy_warnings(workspace)
        found = function(Scope(workspace), **arguments)
        return Answer({**found, "warnings": [*note, *found["warnings"]]})

    return run


def job_status(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The state of a job, optionally after waiting for its end. A timeout is no error: the current state is returned.

    Raises JobError: JOB_NOT_FOUND.
    """
    trust.settings_of(workspace)
    job_id, seconds = arguments["job_id"], arguments["wait_seconds"]
    try:
        record = client.wait(workspace.spool, job_id, seconds) if seconds else client.status(workspace.spool, job_id)
    except JobError as error:
        if error.code not in ("WAIT_TIMEOUT", "WORKER_NOT_RUNNING"):
            raise
        record = client.status(workspace.spool, job_id)
    status = status_of(job_id, record, worker_alive=launch.is_alive(workspace))
    lines = [status["outcome"]]
    if record is not None and record.error is not None:
        lines.append(f"What to do: {remedy_of(record)}")
    if record is not None and record.kind == "compact" and record.result is not None:
        lines += [NOTICE, compact_json(record.result)]
    return Answer(status, "\n".join(lines))


def memory_of(workspace: Workspace, arguments: dict[str, Any]) -> MemoryText:
    """The memory that ``memory_number`` or ``memory_id`` names. Raises JobError: ARGUMENT_INVALID, MEMORY_NOT_FOUND."""
    from bridge.search import listing

    trust.settings_of(workspace)
    if ("memory_number" in arguments) == ("memory_id" in arguments):
        raise JobError(
            "ARGUMENT_INVALID",
            "Exactly one of memory_number and memory_id must be given.",
            remediation="The numbers are in the answers of memory_retrieve and memory_recent.",
        )
    if "memory_id" in arguments:
        return listing.memory(workspace, arguments["memory_id"])
    return listing.memory(workspace, f"#{arguments['memory_number']}")


def warnings_of(workspace: Workspace) -> list[str]:
    """The warnings of an answer: what the copy of a team's memory may lack here, and jobs that wait. Raises JobError as
    ``trust.settings_of``, also for a workspace that is not this user's, and as ``following.note``."""
    return [*_copy_warnings(workspace), *waiting_jobs.warnings(workspace)]


def _copy_warnings(workspace: Workspace) -> list[str]:
    """What the copy of a team's memory may lack here. Raises JobError as ``warnings_of``."""
    from bridge.search import following

    trust.settings_of(workspace)
    note = following.note(workspace, clock.now())
    return [] if note is None else [note]


def similar_memories(workspace: Workspace, summary: Mapping[str, Any] | None) -> list[SimilarMemory]:
    """At most 3 memories that clearly are about what a summary decides, or finds out. None if they cannot be searched:
    what was sent is stored all the same."""
    if summary is None or summary.get("status") == "Draft":
        return []
    said = summary.get("decisions") or [summary["context"]]
    query = " ".join([summary["topic"], *said])[:1000]
    answer: RetrievalResponse = ask("retrieve", workspace, {"query": query, "max_results": 3, "best_passages": True})
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
    from bridge.standing.comparison import SAME_OF_TWO_TOPICS, TOPICS_ALIKE

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
        if is_same or (is_alike and cosine(each, new) >= SAME_OF_TWO_TOPICS)
    ]
    found = judge.by_rules(pairs, lambda texts: vectors[[row[text] for text in texts]])
    return list(dict.fromkeys(each for (each, _), sure in zip(pairs, found, strict=True) if sure >= DISPUTED))
