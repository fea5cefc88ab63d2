"""The implementation of the tools that read the store without a question: one memory, topics, the newest, what is open.

As in ``calls``, the functions are synchronous, and the caller has removed arguments that are ``None``.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from bridge import trust
from bridge.argument_table import EXPLAIN_ARGUMENTS
from bridge.memory import Memory
from bridge.search import waiting_jobs
from bridge.text.gist import gist
from bridge.text.template import sections
from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace

from .answer import NOTICE, Answer
from .schemas import MAX_TOPICS, TOPICS_SHOWN

if TYPE_CHECKING:
    from bridge.memory_shapes import CapturedFrom, MemoryText

    from .answer_shapes import CapturedHere, MemoryWhole, OpenItems, Recent, RecentMemory, TopicLine, Topics

PART: Final = 20_000  # characters of a text in one answer


def read(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """A memory with at most ``PART`` characters of its text. Raises JobError: ARGUMENT_INVALID, MEMORY_NOT_FOUND."""
    warnings = opened(workspace)
    found = memory_of(workspace, arguments)
    text = sections(found["summary_text"])
    start = whole(arguments, "offset", 0, 0, len(text))
    end = start + PART
    answer: MemoryWhole = {
        "notice": NOTICE,
        "memory_number": found["memory_number"],
        "memory_id": found["memory_id"],
        "memory_type": found["memory_type"],
        "title": found["title"],
        "topic_id": found["topic_id"],
        "plan_id": found["plan_id"],
        "session_id": found["session_id"],
        "status": found["status"],
        "created_at": found["created_at"],
        "source_created_at": found["source_created_at"],
        "stored_at": found["stored_at"],
        "sources": found["sources"],
        "hidden": found["hidden"],
        "feedback": found["feedback"]["given"],
        "captured_from": _captured_from(found["captured_from"]),
        "text": text[start:end],
        "total_characters": len(text),
        "next_offset": end if end < len(text) else None,
        "warnings": warnings,
    }
    shown = {name: value for name, value in answer.items() if value is not None and value != [] and value is not False}
    return Answer(answer, shown)


def _captured_from(source: CapturedFrom | None) -> CapturedHere | None:
    if source is None:
        return None
    return {
        "tool": source["tool"],
        "session_id": source["session_id"],
        "first_place": source["first_place"],
        "last_place": source["last_place"],
        "method": source["method"],
    }


def topics(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The topics with the most active summaries. Raises JobError: ARGUMENT_INVALID."""
    from bridge.search import listing

    warnings = opened(workspace)
    limit = whole(arguments, "limit", TOPICS_SHOWN, 1, MAX_TOPICS)
    rows = listing.topics(workspace)
    lines: list[TopicLine] = [
        {
            "topic_id": row["topic_id"],
            "title": row["title"],
            "active": row["active"],
            "decision_records": row["decision_records"],
            "superseded": row["superseded"],
            "drafts": row["drafts"],
            "newest": row["newest"],
            "worth_compacting": row["worth_compacting"],
        }
        for row in rows[:limit]
    ]
    answer: Topics = {"notice": NOTICE, "topics": lines, "total": len(rows), "warnings": warnings}
    return Answer(answer, answer)


def recent(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The newest memories. Raises JobError: ARGUMENT_INVALID."""
    from bridge.search import listing

    warnings = opened(workspace)
    found, total = listing.recent(
        workspace,
        limit_of(arguments),
        since=_moment(arguments, "since"),
        topic_id=_topic_id(arguments),
        include_superseded=arguments.get("include_superseded", False),
    )
    lines = [_line(memory) for memory in found]
    answer: Recent = {"notice": NOTICE, "memories": lines, "total": total, "warnings": warnings}
    return Answer(answer, answer)


def still_open(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The open questions and next steps. Raises JobError: ARGUMENT_INVALID, TOPIC_NOT_FOUND."""
    from bridge.search.open_items import open_items

    warnings = opened(workspace)
    limit = limit_of(arguments)
    items = open_items(workspace, _topic_id(arguments))
    answer: OpenItems = {"notice": NOTICE, "items": items[:limit], "total": len(items), "warnings": warnings}
    return Answer(answer, answer)


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
    return listing.memory(workspace, f"#{whole(arguments, 'memory_number', 0, 1, 2**53)}")


def opened(workspace: Workspace) -> list[str]:
    """What the answer says of the memory here, once it is known to be this user's. Raises JobError as
    ``trust.settings_of`` and ``following.note``."""
    from bridge.search import following

    trust.settings_of(workspace)
    note = following.note(workspace, clock.now())
    return [*([] if note is None else [note]), *waiting_jobs.warnings(workspace)]


def whole(arguments: dict[str, Any], name: str, default: int, least: int, most: int) -> int:
    """An integer argument, or its default. Raises JobError: ARGUMENT_INVALID."""
    value = arguments.get(name, default)
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # JSON has one type of number
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise JobError("ARGUMENT_INVALID", f"{name} must be a whole number of {least} to {most}.")
    return value


def limit_of(arguments: dict[str, Any]) -> int:
    """The argument ``limit`` of a list. Raises JobError: ARGUMENT_INVALID."""
    argument = EXPLAIN_ARGUMENTS["limit"]
    return whole(arguments, "limit", argument.default, *map(int, argument.range))


def _topic_id(arguments: dict[str, Any]) -> str | None:
    return arguments["topic_id"].lower() if "topic_id" in arguments else None


def _moment(arguments: dict[str, Any], name: str) -> datetime | None:
    if name not in arguments:
        return None
    try:
        return clock.parse(arguments[name])
    except ValueError:
        raise JobError("ARGUMENT_INVALID", f"{name} must be an ISO 8601 time, such as 2026-11-01.") from None


def _line(memory: Memory) -> RecentMemory:
    from bridge.search.listing import title

    return {
        "memory_number": memory.number,
        "memory_type": memory.kind,
        "title": title(memory),
        "topic_id": memory.metadata.topic_id,
        "status": memory.metadata.status,
        "date": memory.dated_at,
        "excerpt": gist(memory),
    }
