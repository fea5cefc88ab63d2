"""A job's record as an agent reads it: one sentence, and the few fields that it can use. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jobs.model import Record
from jobs.states import IN_INBOX

from ..wording import counted
from .answer import remedy

if TYPE_CHECKING:
    from .answer_shapes import JobStatus

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


def job_status(job_id: str, record: Record | None, *, worker_alive: bool) -> JobStatus:
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
