"""A job's record as an agent reads it: one sentence, and the few fields that it can use. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jobs.model import Record
from jobs.states import IN_INBOX

from ..wording import counted
from .remedies import remedy

if TYPE_CHECKING:
    from .answer_shapes import JobProblem, JobStatus

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
    problem = None if record is None or record.error is None else _problem(record)
    return {
        "job_id": job_id,
        "kind": None if record is None else record.kind,
        "state": IN_INBOX if record is None else record.state,
        "success": None if record is None else record.success,
        "outcome": _outcome(record, problem, worker_alive=worker_alive),
        "worker_alive": worker_alive,
        "result": None if record is None or record.result is None else _result(record.kind, record.result),
        "error": problem,
    }


def _problem(record: Record) -> JobProblem:
    error = record.error
    assert error is not None
    advice = remedy(error["code"], error["remediation"].replace("<job_id>", record.job_id))
    return {"code": error["code"], "message": error["message"], "remediation": advice}


def _result(kind: str | None, result: Mapping[str, Any]) -> dict[str, Any]:
    names = _KEPT.get(kind or "", tuple(result))
    return {name: result[name] for name in names if name in result}


def _outcome(record: Record | None, problem: JobProblem | None, *, worker_alive: bool) -> str:
    if record is not None and record.state == "succeeded":
        return _success(record.kind, record.result or {})
    said = _WAITS[IN_INBOX if record is None else record.state]
    if problem is not None:
        return f"{said}: {problem['message']}"
    return f"{said}." if worker_alive or (record is not None and record.ended) else f"{said}; no worker runs now."


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
