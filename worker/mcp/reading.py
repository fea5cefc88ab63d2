"""The tools that read the store or a record without a question: one memory, topics, the newest, what is open, a job.

As in ``questions``, the functions are synchronous. The arguments are checked, and their defaults filled in.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from bridge import trust
from bridge.interface.envelope import SUCCESS
from bridge.search import waiting_jobs
from bridge.text.template import sections
from jobs import client, clock, launch
from jobs.errors import JobError
from jobs.layout import Workspace

from ..calls import memories
from ..calls.call import Scope
from ..wording import cut
from .answer import NOTICE, Answer, compact_json
from .job_answers import job_status as status_of, remedy_of

if TYPE_CHECKING:
    from bridge.memory_shapes import MemoryText

    from .answer_shapes import MemoryPart

PART: Final = 20_000  # characters of a text in one answer


def read(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """A memory with at most ``PART`` characters of its text. Raises JobError: ARGUMENT_INVALID, MEMORY_NOT_FOUND."""
    warnings = opened(workspace)
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


def topics(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The topics with the most active summaries."""
    warnings = _copy(workspace)
    found = memories.topics(Scope(workspace))
    shown = found["topics"][: arguments["limit"]]
    left = cut(len(shown), len(found["topics"]), "limit", ())
    return Answer({**found, "topics": shown, "warnings": [*warnings, *left, *found["warnings"]]})


def recent(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The newest memories. Raises JobError: ARGUMENT_INVALID, TOPIC_NOT_FOUND."""
    warnings = _copy(workspace)
    found = memories.recent(
        Scope(workspace),
        limit=arguments["limit"],
        since=_moment(arguments, "since"),
        topic_id=_topic_id(arguments),
        include_superseded=arguments["include_superseded"],
    )
    return Answer({**found, "warnings": [*warnings, *found["warnings"]]})


def still_open(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The open questions and next steps. Raises JobError: TOPIC_NOT_FOUND."""
    warnings = _copy(workspace)
    found = memories.open_items(Scope(workspace), topic_id=_topic_id(arguments), limit=arguments["limit"])
    return Answer({**found, "warnings": [*warnings, *found["warnings"]]})


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


def opened(workspace: Workspace) -> list[str]:
    """What the answer says of the memory here, once it is known to be this user's. Raises JobError as
    ``trust.settings_of`` and ``following.note``."""
    return [*_copy(workspace), *waiting_jobs.warnings(workspace)]


def _copy(workspace: Workspace) -> list[str]:
    """As ``opened``, in a team: what the copy here may lack."""
    from bridge.search import following

    trust.settings_of(workspace)
    note = following.note(workspace, clock.now())
    return [] if note is None else [note]


def _topic_id(arguments: dict[str, Any]) -> str | None:
    return arguments["topic_id"].lower() if "topic_id" in arguments else None


def _moment(arguments: dict[str, Any], name: str) -> datetime | None:
    if name not in arguments:
        return None
    try:
        return clock.parse(arguments[name])
    except ValueError:
        raise JobError("ARGUMENT_INVALID", f"{name} must be an ISO 8601 time, such as 2026-11-01.") from None
