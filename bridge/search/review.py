"""The pairs of decisions that may contradict each other, for a person who settles them. Read-only, without numpy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from jobs.errors import JobError
from jobs.layout import Workspace

from ..memory import Memory
from ..store.opening import reader_of
from .standings import DISPUTED, REPLACED, words

if TYPE_CHECKING:
    from ..memory_shapes import ReviewedPair, ReviewedStatement
    from ..store.protocol_reading import MemoryLists, Replacement


def pairs(workspace: Workspace, *, all_of_them: bool = False) -> list[ReviewedPair]:
    """What is disputed, by the numbers of the memories; with ``all_of_them`` also what was replaced or settled.

    A pair is named by the numbers of its memories: ``1/2``, the further ones of the same two ``1/2/2`` and so on. The
    names do not change when a pair is settled.
    """
    with reader_of(workspace).lists() as lists:
        found = [] if lists is None else _all(lists)
    return [each for each in found if all_of_them or each["state"] == "disputed"]


def pair(workspace: Workspace, name: str) -> ReviewedPair:
    """The pair of this name. Raises JobError: ARGUMENT_INVALID if there is none."""
    wanted = name.replace("#", "").removesuffix("/1") if name.count("/") == 2 else name.replace("#", "")
    for each in pairs(workspace, all_of_them=True):
        if each["pair"] == wanted:
            return each
    raise JobError(
        "ARGUMENT_INVALID", f"There is no pair {name!r}. Nothing was changed. To see them: cognee-memory review --all"
    )


def contradictions(lists: MemoryLists) -> Counter[str]:
    """Topic -> how many disputed pairs have a decision of it."""
    disputed = [row for row in lists.replacements() if DISPUTED <= row.probability < REPLACED]
    memories = _memories(lists, disputed)
    found: Counter[str] = Counter()
    for row in disputed:
        topics = {memories[number].metadata.topic_id for number in (row.older, row.newer)}
        found.update(topic for topic in topics if topic is not None)
    return found


def _all(lists: MemoryLists) -> list[ReviewedPair]:
    rows = [row for row in lists.replacements() if row.said is not None or row.probability >= DISPUTED]
    memories = _memories(lists, rows)
    seen: Counter[tuple[int, int]] = Counter()
    found = []
    for row in sorted(rows, key=_place):
        low, high = sorted((row.older, row.newer))
        seen[low, high] += 1
        count = seen[low, high]
        found.append(_shown(row, f"{low}/{high}" + (f"/{count}" if count > 1 else ""), memories))
    return found


def _memories(lists: MemoryLists, rows: Sequence[Replacement]) -> dict[int, Memory]:
    numbers = {number for row in rows for number in (row.older, row.newer)}
    return {number: entry.memory for number in numbers if (entry := lists.entry(number)) is not None}


def _place(row: Replacement) -> tuple[tuple[int, int], tuple[int, int]]:
    """The same whichever of the two fell."""
    low, high = sorted(((row.older, row.older_passage), (row.newer, row.newer_passage)))
    return low, high


def _shown(row: Replacement, name: str, memories: Mapping[int, Memory]) -> ReviewedPair:
    state: Literal["replaced", "disputed", "both"] = "disputed"
    if row.said is not None and not row.probability:
        state = "both"
    elif row.probability >= REPLACED:
        state = "replaced"
    one, other = (memories[row.older], row.older_passage), (memories[row.newer], row.newer_passage)
    older, newer = sorted((one, other), key=lambda each: (each[0].dated_at or "", each[0].number, each[1]))
    holds: Literal["newer", "older", "both"] | None = "both" if state == "both" else None
    if state == "replaced":
        holds = "newer" if newer == other else "older"
    return {
        "pair": name,
        "state": state,
        "holds": holds,
        "older": _statement(*older),
        "newer": _statement(*newer),
        "confidence": row.probability,
        "cause": "judge" if row.said is None else "said",
        "by": None if row.said is None else row.said.by,
        "at": None if row.said is None else row.said.at,
        "reason": None if row.said is None else row.said.reason,
    }


def _statement(memory: Memory, passage: int) -> ReviewedStatement:
    return {
        "memory_id": memory.id,
        "memory_number": memory.number,
        "statement": words(memory, passage),
        "dated_at": memory.dated_at,
        "topic_id": memory.metadata.topic_id,
    }
