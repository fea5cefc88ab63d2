"""The tools that read the store or a record without a question: one memory, lists, a job.

As in ``questions``, the functions are synchronous. The arguments are checked, and their defaults filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from bridge import trust
from bridge.interface.envelope import SUCCESS
from bridge.search import waiting_jobs
from bridge.text.template import sections
from jobs import client, clock, launch
from jobs.errors import JobError
from jobs.layout import Workspace

from ..calls.call import Scope
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


def listed(function: Callable[..., Mapping[str, Any]]) -> Callable[[Workspace, dict[str, Any]], Answer]:
    """The function of a tool that gives the list of a call, which has ``warnings``."""

    def run(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
        note = _copy(workspace)
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
