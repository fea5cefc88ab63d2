"""Turning what a person or a script says into a dropped job, and seeing to it that a worker runs it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs import client, launch
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.model import Record

from .. import trust
from ..settings import Settings
from . import envelope

if TYPE_CHECKING:
    from .answer_shapes import EndedSubmission, Submission


def submit(
    workspace: Workspace,
    settings: Settings,
    kind: str,
    payload: dict[str, Any],
    *,
    start: bool = True,
    wait_seconds: float | None = None,
    wait: bool = False,
    seen: Callable[[Record | None], None] | None = None,
    **fields: Any,
) -> Submission:
    """Drop a job, then look for a worker and start one if none lives: in this order no job is stranded.

    Returns the envelope with the job's id; when ``wait``, an ``EndedSubmission``. Then ``seen`` is called with each
    state of it that was read (default: the reasons why it waits are said on stderr). Raises ARGUMENT_INVALID, and
    what ``client.submit`` and ``launch.start`` raise.
    """
    from jobs.check import check  # pydantic: only those who submit pay for it
    from jobs.payloads import PAYLOADS

    if kind in PAYLOADS:
        check(PAYLOADS[kind], payload, "payload")
    correlation_id = fields.get("correlation_id")
    if correlation_id is not None and not 1 <= len(correlation_id) <= 256:
        raise JobError("ARGUMENT_INVALID", "A correlation id has 1 to 256 characters.")
    trust.require_trusted(workspace, settings.config_folder)
    dropped = client.submit(workspace.spool, kind, payload, **fields)
    started = launch.start(workspace, leave_when_idle=True) if start else False
    submission: Submission = {
        **envelope.SUCCESS,
        "job_id": dropped.job_id,
        "job_sha256": dropped.sha256,
        "kind": kind,
        "correlation_id": correlation_id or dropped.job_id,
        "worker_started": started,
    }
    if not wait:
        return submission
    try:
        record = client.wait(workspace.spool, dropped.job_id, wait_seconds, seen=seen or Notes())
    except KeyboardInterrupt:  # who waits goes; what was asked for stays asked for
        print(f"The job goes on. Look again: cognee-memory jobs show {dropped.job_id}.", file=sys.stderr)  # noqa: T201
        raise
    if record.job_sha256 not in (None, dropped.sha256):
        raise JobError(
            "JOB_ID_CONFLICT",
            f"The id {record.job_id!r} belongs to another job, which is {record.state}.",
            details={"job_id": record.job_id},
        )
    require_success(record)
    ended: EndedSubmission = {
        **submission,
        "state": record.state,
        "result": record.result,
        "elapsed_ms": record.elapsed_ms,
    }
    return ended


def require_success(record: Record) -> None:
    """Raise what an ended job failed with, unless it succeeded."""
    if record.state == "succeeded":
        return
    error = record.error or JobError("CANCELLED").as_dict()
    raise JobError(
        error["code"],
        error["message"],
        remediation=error.get("remediation", ""),
        details={**error.get("details", {}), "job_id": record.job_id, "state": record.state},
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201


class Notes:
    """Tells a person who waits why the job does: each reason once, on stderr."""

    def __init__(self, say: Callable[[str], None] = _say) -> None:
        self._say = say
        self._told: set[str] = set()

    def __call__(self, record: Record | None) -> None:
        error = record.error if record is not None and record.state == "retrying" else None
        if error is not None and error["code"] not in self._told:
            self._told.add(error["code"])
            self._say(f"The job waits: {error['message']} {error['remediation']}")


def payload_of(given: argparse.Namespace) -> dict[str, Any]:
    """The payload of an ingest job from a parsed command line. Raises ARGUMENT_INVALID."""
    names = ("summary", "summary_json", "user_message", "assistant_message", "importance", "timestamp",
             "topic_id", "session_id", "plan_id", "status")  # fmt: skip
    return ingest_payload(**{name: getattr(given, name) for name in names})


def ingest_payload(
    *,
    summary: bool = False,
    summary_json: str | None = None,
    user_message: str | None = None,
    assistant_message: str | None = None,
    importance: str | float | None = None,
    timestamp: str | None = None,
    topic_id: str | None = None,
    session_id: str | None = None,
    plan_id: str | None = None,
    status: str | None = None,
) -> dict[str, Any]:
    """The payload of an ingest job from a command line's arguments. Raises ARGUMENT_INVALID."""
    labels = {"topic_id": topic_id, "session_id": session_id, "plan_id": plan_id, "status": status}
    given = {name: value for name, value in labels.items() if value is not None}
    if summary_json is not None:
        found = read_json_argument(summary_json)
        return {"summary": found | given}
    if summary:
        text = assistant_message or user_message
        if not text:
            raise JobError("ARGUMENT_INVALID", "With --summary the assistant message must hold the summary's text.")
        return {"summary_text": text, **given}
    if given:
        raise JobError("ARGUMENT_INVALID", f"--{next(iter(given)).replace('_', '-')} goes with --summary.")
    if not user_message or not assistant_message:
        raise JobError("ARGUMENT_INVALID", "A conversation needs the user's and the assistant's message.")
    conversation: dict[str, Any] = {"user_message": user_message, "assistant_message": assistant_message}
    if importance is not None:
        try:
            conversation["importance"] = float(importance)
        except ValueError:
            raise JobError("ARGUMENT_INVALID", f"importance must be a number of 0 to 1, not {importance!r}.") from None
    if timestamp is not None:
        conversation["timestamp"] = timestamp
    return {"conversation": conversation}


def read_json_argument(text: str) -> dict[str, Any]:
    """A JSON object given as text, as a file's path, or as ``-`` for standard input."""
    try:
        if text == "-":
            source = sys.stdin.buffer.read().decode()
        elif text.lstrip().startswith("{"):
            source = text
        else:
            source = Path(text).read_text("utf-8")
        value = json.loads(source)
    except (OSError, ValueError) as error:
        raise JobError("ARGUMENT_INVALID", f"The JSON cannot be read: {error}.") from None
    if not isinstance(value, dict):
        raise JobError("ARGUMENT_INVALID", "The JSON must be an object.")
    return value
