"""Lists of memories and topics, and single memories, in the shapes of the answers. Read-only, without numpy."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from jobs.errors import JobError
from jobs.layout import Workspace

from ..memory import FAILURE, Memory
from ..store import similar_ids
from ..store.catalogue import STATUSES
from ..store.opening import reader_of
from ..text.gist import gist
from ..text.memory_json import labels_of
from ..text.template import summary_text
from . import rests, review, standings

if TYPE_CHECKING:
    from ..memory_shapes import (
        CapturedFrom,
        CountsOrError,
        FeedbackGiven,
        InCode,
        MemoryCounts,
        MemoryFeedback,
        MemoryLine,
        MemoryStanding,
        MemoryText,
        PastCompaction,
        SessionLine,
        StaleMemory,
        Topic,
    )
    from ..store.memory_lists import MemoryLists
    from ..store.values import CaptureSource, Compaction, Feedback

TOPIC_WORTH_COMPACTING = 5
STALE_SECONDS = 10.0
_SHOWN_SECONDS = 0.1


def memories(workspace: Workspace, limit: int, topic_id: str | None = None) -> list[MemoryLine]:
    """At most ``limit`` memories with metadata and title, the highest number first."""
    return page(workspace, limit, topic_id=topic_id)[0][:limit]


def page(
    workspace: Workspace,
    limit: int,
    *,
    before: int | None = None,
    **labels: Any,
) -> tuple[list[MemoryLine], int]:
    """The memories with these labels (or ``kind``) and numbers below ``before``, the highest first, and the total
    number of matching memories.

    Returns one more than ``limit`` if there are further ones. Raises JobError: TOPIC_NOT_FOUND.
    """
    with reader_of(workspace).lists() as lists:
        if lists is None:
            return [], 0
        total = lists.count(**labels)
        if not total:
            _require_topic(lists, labels.get("topic_id"))
        found = lists.page(limit + 1, before=before, **labels)
        return lines(found, lists), total


def _require_topic(lists: MemoryLists, topic_id: str | None) -> None:
    """Raises JobError: TOPIC_NOT_FOUND if memories have topics, and none has this one."""
    if topic_id is not None:
        known = [each.topic_id for each in lists.topics()]
        if known and topic_id not in known:
            raise similar_ids.not_found(topic_id, known)


def lines(memories: Sequence[Memory], lists: MemoryLists) -> list[MemoryLine]:
    """Memories in a list, without their whole texts, each with what became of its decisions."""
    known = standings.of_pairs(lists.replacements(standings.DISPUTED))
    return [_line(memory, _standings(memory, known, lists)) for memory in memories]


def lines_of(workspace: Workspace, memories: Sequence[Memory]) -> list[MemoryLine]:
    """As ``lines``, of memories that were read before."""
    with reader_of(workspace).lists() as lists:
        return [] if lists is None else lines(memories, lists)


def _standings(memory: Memory, known: standings.Standings, lists: MemoryLists) -> list[MemoryStanding]:
    return [
        {
            "state": fall.state,
            "statement": standings.words(memory, passage),
            "by": review.statement(by, fall.by[1]),
        }
        for passage, fall in known.falls_of(memory.number).items()
        if (by := lists.memory(fall.by[0])) is not None
    ]


def _line(memory: Memory, fallen: list[MemoryStanding]) -> MemoryLine:
    return {
        "memory_id": memory.id,
        "memory_number": memory.number,
        "memory_type": memory.kind,
        "title": title(memory),
        "excerpt": gist(memory, {e["statement"]: f"{e['state']} by #{e['by']['memory_number']}" for e in fallen}),
        **labels_of(memory.metadata),
        "stored_at": memory.stored_at,
        "standings": fallen,
    }


def stale(workspace: Workspace, limit: int, seconds: float = STALE_SECONDS) -> tuple[list[StaleMemory], int, int]:
    """The memories of which something is not in the code any more, the highest number first: at most ``limit``, how
    many there are, and of how many nothing is certain. ``seconds``: of the processor, in all."""
    with reader_of(workspace).lists() as lists:
        found = [] if lists is None else lists.anchored()
    said = in_code(found, workspace, seconds)
    gone = [each for each in found if each.number in said and said[each.number]["state"] in ("gone", "not_found")]
    shown: list[StaleMemory] = [
        {**line, "in_code": said[line["memory_number"]]} for line in lines_of(workspace, gone[:limit])
    ]
    return shown, len(gone), len(found) - len(said)


def in_code(memories: Sequence[Memory], workspace: Workspace, seconds: float) -> dict[int, InCode]:
    """Number -> what the code says of a memory; it is looked up for so many seconds in all."""
    if not any(memory.metadata.anchors for memory in memories):
        return {}
    from ..anchors import checking  # imported here: most lists do not need it

    return checking.in_code(memories, workspace.root, seconds)


def title(memory: Memory) -> str:
    """The topic, or a legacy text's first line; at most 80 characters."""
    if memory.content is not None:
        return memory.content.topic[:80]
    return next((line.strip() for line in memory.text.splitlines() if line.strip()), "")[:80]


def memory(workspace: Workspace, wanted: str) -> MemoryText:
    """One memory by id or number, with its text. Raises JobError: MEMORY_NOT_FOUND when there is none."""
    number = _number(wanted)
    with reader_of(workspace).lists() as lists:
        entry = None if lists is None else lists.entry(wanted if number is None else number)
        if lists is None or entry is None:
            raise JobError("MEMORY_NOT_FOUND", f"There is no memory {wanted!r} in {workspace.root}.")
        found, source = entry.memory, lists.captures.source(entry.memory.id)
        return {
            **lines([found], lists)[0],
            "summary_text": summary_text(found),
            "sources": list(found.sources),
            "hidden": entry.hidden,
            "migrated_from": entry.migrated_from,
            "migrated_to": list(entry.migrated_to),
            "captured_from": None if source is None else _captured_from(source),
            "feedback": _feedback(lists.feedback(found.id)),
            "rests_on": rests.of_memory(found, lists.replacements(standings.DISPUTED), lists.memory),
            "in_code": in_code([found], workspace, _SHOWN_SECONDS).get(found.number),
        }


def _captured_from(source: CaptureSource) -> CapturedFrom:
    return {
        "tool": source.tool,
        "session_id": source.session_id,
        "path": source.path,
        "first_place": source.first_place,
        "last_place": source.last_place,
        "method": source.method,
        "confidence": source.confidence,
        "captured_at": source.captured_at,
        "evidence": [{"section": section, "index": index, "place": place} for section, index, place in source.evidence],
    }


def _feedback(given: Sequence[Feedback]) -> MemoryFeedback:
    shown: list[FeedbackGiven] = [
        {"by": one.by, "verdict": one.verdict, "at": one.at, "query": one.query, "note": one.note}
        for one in given
        if one.verdict != "withdrawn"
    ]
    verdicts = [one["verdict"] for one in shown]
    return {"helpful": verdicts.count("helpful"), "wrong": verdicts.count("wrong"), "given": shown}


def topic_id_of(workspace: Workspace, wanted: str) -> str:
    """The id of the topic with this title, if no topic has it as its id; any other text is returned as an id.

    A topic's title is that of its newest memory; case is ignored. An unreadable store counts as empty, since the
    command itself reports it. Raises JobError: ARGUMENT_INVALID when several topics have the title.
    """
    titled: list[str] = []
    with suppress(JobError):
        found = topics(workspace)
        if wanted.lower() in [topic["topic_id"] for topic in found]:
            return wanted.lower()
        named = wanted.strip()[:80].casefold()
        titled = [topic["topic_id"] for topic in found if topic["title"].casefold() == named]
    if len(titled) > 1:
        message = f"{len(titled)} topics have the title {wanted!r}: {', '.join(titled[:5])}."
        raise JobError("ARGUMENT_INVALID", message, remediation="Name one of these ids.")
    return titled[0] if titled else wanted


def recent(
    workspace: Workspace,
    limit: int,
    *,
    since: datetime | None = None,
    topic_id: str | None = None,
    include_superseded: bool = False,
    among: Collection[int] | None = None,
) -> tuple[list[Memory], int]:
    """The memories with the latest dates (``Memory.dated_at``), the latest first, and how many there are in all.

    ``among``: only memories with these numbers. ``since`` is inclusive. Drafts are left out. Memories without a date
    come last, and not at all with ``since``. Raises JobError: TOPIC_NOT_FOUND.
    """
    snapshot = reader_of(workspace).snapshot()
    if snapshot is None:
        return [], 0
    hidden = {STATUSES.index("Draft"), *([] if include_superseded else [STATUSES.index("Superseded")])}
    least = float("-inf") if since is None else since.timestamp()
    with closing(snapshot):
        of_topic = None if topic_id is None else set(snapshot.numbers(topic_id=topic_id))
        if topic_id is not None and not of_topic and (known := snapshot.topic_ids()):
            raise similar_ids.not_found(topic_id, known)
        dated = [
            (float("-inf") if when is None else when, number)
            for number, _, _, _, status, _, when in snapshot.catalogue()
            if status not in hidden
            and (of_topic is None or number in of_topic)
            and (among is None or number in among)
            and (since is None or (when is not None and when >= least))
        ]
        order = [number for _, number in heapq.nlargest(limit, dated)]
        found = {memory.number: memory for memory in snapshot.memories(order)}
    return [found[number] for number in order], len(dated)


def history(workspace: Workspace, limit: int, topic_id: str | None = None) -> list[PastCompaction]:
    """The last ``limit`` compactions, the newest first. Raises JobError: TOPIC_NOT_FOUND."""
    with reader_of(workspace).lists() as lists:
        found = [] if lists is None else lists.history(limit, topic_id)
        if lists is not None and not found:
            _require_topic(lists, topic_id)
        merged = list({source.memory_id for made, _ in found for source in made.sources})
        known = lists.related(merged, None) if lists is not None and merged else []
    numbers = {memory.id: memory.number for memory in known}
    return [_past(made, number, numbers) for made, number in found]


def _past(made: Compaction, number: int | None, numbers: Mapping[str, int]) -> PastCompaction:
    came = made.restored
    merged = [source.memory_id for source in made.sources]
    return {
        "decision_record_id": made.record_id,
        "memory_number": number,
        "topic_id": made.topic_id,
        "applied_at": made.applied_at,
        "job_id": made.effect.job_id,
        "preview_digest": made.preview_digest,
        "superseded": merged,
        "superseded_numbers": {each: numbers[each] for each in merged if each in numbers},
        "conflicts": [dict(conflict) for conflict in made.conflicts],
        "narrative_source": made.narrative_source,
        "restored_at": came.at if came else None,
        "restored": list(came.restored) if came else [],
        "skipped": [{"memory_id": each.memory_id, "reason": each.reason} for each in came.skipped] if came else [],
    }


def captured_sessions(workspace: Workspace) -> list[SessionLine]:
    """The captured sessions, the last captured first, with the memories that still exist."""
    with reader_of(workspace).lists() as lists:
        found = [] if lists is None else lists.captures.sessions()
        ids = {} if lists is None else {each: lists.captures.memories_of(each.tool, each.session_id) for each in found}
    return [
        {
            "tool": each.tool,
            "session_id": each.session_id,
            "path": each.path,
            "state": each.state,
            "captured_at": each.captured_at,
            "memories": len(ids[each]),
            "memory_ids": ids[each],
        }
        for each in found
    ]


def titles(workspace: Workspace, memory_ids: Sequence[str], topic_id: str | None) -> list[str]:
    """Number and title of all memories that are forgotten with these ids or this topic.

    These include hidden memories, the originals of converted memories, and the memories converted from originals.
    Unknown ids are left out.
    """
    with reader_of(workspace).lists() as lists:
        related = [] if lists is None else lists.related(memory_ids, topic_id)
    return [f"#{memory.number} {title(memory)}" for memory in related]


def id_of(workspace: Workspace, wanted: str) -> str:
    """The id of the memory with this number; any other text is returned as an id.

    Raises JobError: MEMORY_NOT_FOUND when no memory has the number.
    """
    return wanted if _number(wanted) is None else str(memory(workspace, wanted)["memory_id"])


_MOST_DIGITS = 18  # of a memory's number, so that it fits an SQLite integer


def _number(wanted: str) -> int | None:
    """A memory's number from 12 or #12; None for any other text; 0, which no memory has, if it is out of range."""
    digits = wanted.removeprefix("#")
    if not digits.isdigit():
        return None
    return int(digits) if digits.isascii() and len(digits) <= _MOST_DIGITS else 0


def topics(workspace: Workspace) -> list[Topic]:
    """The topics by number of active summaries; from five on, a topic is worth compacting.

    ``title`` is that of a topic's newest memory, or the id of the failures' topic. ``memories`` counts all memories of
    a topic. Size and dates cover what a compaction would merge: the active summaries and the former record.
    """
    with reader_of(workspace).lists() as lists:
        rows = [] if lists is None else [(each, lists.page(1, topic_id=each.topic_id)) for each in lists.topics()]
        disputed = Counter[str]() if lists is None else review.contradictions(lists)
    found = [
        {
            "title": "".join(topic.topic_id if FAILURE in each.metadata.tags else title(each) for each in newest),
            **topic._asdict(),
            "worth_compacting": topic.active >= TOPIC_WORTH_COMPACTING,
            "contradictions": disputed[topic.topic_id],
        }
        for topic, newest in rows
    ]
    return cast("list[Topic]", found)


def counts(workspace: Workspace) -> MemoryCounts:
    """The number of memories of each kind, and how far behind comparison and graph are."""
    with reader_of(workspace).lists() as lists:
        if lists is None:
            return {"memories": 0, "uncompared": 0, "graph_lag": 0, "has_graph": False}
        kinds = lists.kinds()
        lag = lists.graph_lag()
        behind = {"uncompared": lists.uncompared(), "graph_lag": lag.changes, "has_graph": lag.has_graph}
        return cast("MemoryCounts", {"memories": sum(kinds.values()), **kinds, **behind})


def counts_or_error(workspace: Workspace) -> CountsOrError:
    """``memory``: the ``counts``; or null, with the error in ``memory_error``.

    It does not raise JobError, so that the queue can be shown even if the store cannot be read.
    """
    try:
        return {"memory": counts(workspace), "memory_error": None}
    except JobError as error:
        return {"memory": None, "memory_error": error.as_dict()}
