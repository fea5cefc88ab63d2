"""Lists of memories and topics, and one memory whole, as answers show them. Read-only, without cognee and numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from jobs.errors import JobError
from jobs.layout import Workspace

from ..memory import Memory
from ..store.reading import reader_of
from ..text.memory_json import labels_of
from .hits import summary_text

if TYPE_CHECKING:
    from ..memory_shapes import CountsOrError, MemoryCounts, MemoryLine, MemoryText, Topic

TOPIC_WORTH_COMPACTING = 5


def memories(workspace: Workspace, limit: int, topic_id: str | None = None) -> list[MemoryLine]:
    """The newest memories first: metadata and title."""
    return page(workspace, limit, topic_id=topic_id)[0][:limit]


def page(
    workspace: Workspace,
    limit: int,
    *,
    before: int | None = None,
    topic_id: str | None = None,
    status: str | None = None,
    kind: str | None = None,
) -> tuple[list[MemoryLine], int]:
    """The newest memories first, of numbers below ``before``, and how many there are of any number.

    One more than ``limit`` says that the list goes on.
    """
    with reader_of(workspace).lists() as lists:
        if lists is None:
            return [], 0
        total = lists.count(topic_id=topic_id, status=status, kind=kind)
        found = lists.page(limit + 1, before=before, topic_id=topic_id, status=status, kind=kind)
    return [_line(memory) for memory in found], total


def _line(memory: Memory) -> MemoryLine:
    return {
        "memory_id": memory.id,
        "memory_number": memory.number,
        "memory_type": memory.kind,
        "title": title(memory),
        **labels_of(memory.metadata),
        "stored_at": memory.stored_at,
    }


def title(memory: Memory) -> str:
    """The topic, or a legacy text's first line; at most 80 characters."""
    if memory.content is not None:
        return memory.content.topic[:80]
    return next((line.strip() for line in memory.text.splitlines() if line.strip()), "")[:80]


def memory(workspace: Workspace, wanted: str) -> MemoryText:
    """One memory by id or number, with its text. Raises MEMORY_NOT_FOUND."""
    number = _number(wanted)
    with reader_of(workspace).lists() as lists:
        entry = None if lists is None else lists.entry(wanted if number is None else number)
    if entry is None:
        raise JobError("MEMORY_NOT_FOUND", f"There is no memory {wanted!r} in {workspace.root}.")
    return {
        **_line(entry.memory),
        "summary_text": summary_text(entry.memory),
        "sources": list(entry.memory.sources),
        "hidden": entry.hidden,
        "migrated_from": entry.migrated_from,
        "migrated_to": list(entry.migrated_to),
    }


def titles(workspace: Workspace, memory_ids: Sequence[str], topic_id: str | None) -> list[str]:
    """Number and title of these memories, or of all of a topic, hidden ones as well, and of what goes along when they
    are forgotten: originals of what was converted, and what became of originals. Unknown ids are left out."""
    with reader_of(workspace).lists() as lists:
        found = [] if lists is None else lists.related(memory_ids, topic_id)
    return [f"#{memory.number} {title(memory)}" for memory in found]


def id_of(workspace: Workspace, wanted: str) -> str:
    """The id of the memory that has this number; what is no number is taken for an id. Raises MEMORY_NOT_FOUND."""
    return wanted if _number(wanted) is None else str(memory(workspace, wanted)["memory_id"])


_MOST_DIGITS = 18  # of a number that a memory may have


def _number(wanted: str) -> int | None:
    """A memory's number as people write it, 12 or #12; None for what is none. 0 is a number that no memory has."""
    digits = wanted.removeprefix("#")
    if not digits.isdigit():
        return None
    return int(digits) if digits.isascii() and len(digits) <= _MOST_DIGITS else 0


def topics(workspace: Workspace) -> list[Topic]:
    """Topics by number of active summaries; five or more are worth compacting.

    ``memories`` counts all of a topic. Size and age are of what a compaction would merge: the active summaries and the
    former record.
    """
    with reader_of(workspace).lists() as lists:
        found = [] if lists is None else lists.topics()
    return [
        {
            "topic_id": topic.topic_id,
            "memories": topic.memories,
            "active": topic.active,
            "decision_records": topic.decision_records,
            "drafts": topic.drafts,
            "superseded": topic.superseded,
            "characters": topic.characters,
            "oldest": topic.oldest,
            "newest": topic.newest,
            "worth_compacting": topic.active >= TOPIC_WORTH_COMPACTING,
        }
        for topic in found
    ]


def counts(workspace: Workspace) -> MemoryCounts:
    """How many memories there are of each kind, and how many changes the graph is owed."""
    with reader_of(workspace).lists() as lists:
        if lists is None:
            return {"memories": 0, "graph_lag": 0}
        kinds = lists.kinds()
        lag = lists.outbox_entries()
        return cast("MemoryCounts", {"memories": sum(kinds.values()), **kinds, "graph_lag": lag})


def counts_or_error(workspace: Workspace) -> CountsOrError:
    """``memory``: ``counts``; or null, and in ``memory_error`` why: a store that cannot be read keeps nobody from
    seeing the queue."""
    try:
        return {"memory": counts(workspace), "memory_error": None}
    except JobError as error:
        return {"memory": None, "memory_error": error.as_dict()}
