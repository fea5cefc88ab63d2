"""The pairs of decisions that may contradict each other, for a person who settles them. Read-only, without numpy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from jobs.errors import JobError
from jobs.layout import Workspace

from ..memory import Memory
from ..store.opening import reader_of
from ..text.decision_lines import read, searched
from ..text.passages import decisions
from . import rests
from .standings import DISPUTED, POSSIBLE, REPLACED, related

if TYPE_CHECKING:
    from ..memory_shapes import ReviewedPair, ReviewedStatement
    from ..store.catalogue import Replacement
    from ..store.memory_lists import MemoryLists


def pairs(workspace: Workspace, *, all_of_them: bool = False, least: float = DISPUTED) -> list[ReviewedPair]:
    """What is disputed, by the numbers of the memories; with ``all_of_them`` also what was replaced or settled.

    A pair is named by the numbers of its memories: ``1/2``, the further ones of the same two ``1/2/2`` and so on. The
    names do not change when a pair is settled. ``least``: from which probability on.
    """
    with reader_of(workspace).lists() as lists:
        found = [] if lists is None else _all(lists, least)
    return [each for each in found if all_of_them or each["state"] == "disputed"]


def pair(workspace: Workspace, name: str) -> ReviewedPair | None:
    """The pair of this name, or of these two decisions; None where nobody and nothing paired them. What only answers
    call disputed has a name if it is the only pair of its memories.

    Two decisions are named as ``12.2/14.1``: the second one of memory #12 and the first one of #14. Raises JobError:
    ARGUMENT_INVALID, MEMORY_NOT_FOUND, as ``sides``.
    """
    named = name.replace("#", "")
    found = pairs(workspace, all_of_them=True)
    if "." in named:
        wanted = sides(workspace, named)
        return next((each for each in found if (each["older"], each["newer"]) == wanted), None)
    named = named.removesuffix("/1") if named.count("/") == 2 else named
    listed = next((each for each in found if each["pair"] == named), None)
    if listed is not None or named.count("/") != 1:
        return listed
    found = pairs(workspace, all_of_them=True, least=POSSIBLE)
    possible = [each for each in found if f"{each['pair']}/".startswith(f"{named}/")]
    return possible[0] if len(possible) == 1 else None


def is_overruled(settled: ReviewedPair, verdict: str) -> bool:
    """Whether another verdict counts than this one, which was just given. ``settled``: the pair as it is now."""
    return verdict != (settled["holds"] if settled["cause"] == "said" else "undecided")


def sides(workspace: Workspace, name: str) -> tuple[ReviewedStatement, ReviewedStatement]:
    """The older and the newer decision of a pair, by its name or theirs, also where nothing paired them.

    Raises JobError: ARGUMENT_INVALID if there is no such pair or decision, MEMORY_NOT_FOUND.
    """
    if "." not in name:
        found = pair(workspace, name)
        if found is None:
            raise JobError(
                "ARGUMENT_INVALID",
                f"There is no pair {name[:80]!r}. Nothing was changed.",
                remediation="To see them: cognee-memory review --all. Two decisions that are no pair:"
                " cognee-memory review 12.2 14.1 newer",
            )
        return found["older"], found["newer"]
    named = _DECISIONS.fullmatch(name.replace("#", ""))
    if named is None:
        raise JobError(
            "ARGUMENT_INVALID",
            f"{name[:80]!r} does not name two decisions, as 12.2/14.1 does: the second one of memory #12 and the first"
            " one of #14. Nothing was changed.",
        )
    numbers = [int(each) for each in named.groups()]
    if numbers[0] == numbers[2]:
        raise JobError("ARGUMENT_INVALID", f"Both are decisions of memory #{numbers[0]}. Nothing was changed.")
    with reader_of(workspace).lists() as lists:
        one, other = _decision(lists, *numbers[:2]), _decision(lists, *numbers[2:])
    older, newer = sorted((one, other), key=_age)
    return statement(*older), statement(*newer)


def resting(workspace: Workspace, settled: ReviewedPair) -> list[tuple[int, str]]:
    """What may rest on the decision of a pair that was replaced: the memory's number, and what it says.

    Only memories that have a name which was given up are read: to find them takes 12 to 22 ms in 10,000 memories.
    """
    if settled["state"] != "replaced":
        return []
    fell, holds = settled["older"], settled["newer"]
    if settled["holds"] == "older":
        fell, holds = holds, fell
    names = rests.given_up(fell["statement"], holds["statement"])
    with reader_of(workspace).lists() as lists:
        if lists is None or not names:
            return []
        numbers = fell["memory_number"], holds["memory_number"]
        pairs = [row for row in lists.replacements() if (row.older, row.newer) == numbers]
        letters = max((name.split()[-1][:_LETTERS] for name in names), key=len)
        return [
            (memory.number, found["text"])
            for memory in lists.mentioning(letters)
            for found in rests.of_memory(memory, pairs, lists.memory)
            if found["statement"] == fell["statement"]
        ]


def job_sides(older: ReviewedStatement, newer: ReviewedStatement) -> dict[str, dict[str, str]]:
    """``older`` and ``newer`` of the payload of a ``resolve`` job."""
    return {
        side: {"memory_id": each["memory_id"], "statement": each["statement"]}
        for side, each in (("older", older), ("newer", newer))
    }


_LETTERS = 4  # of a stem, so that all forms of its word have them
_DECISIONS = re.compile(r"([0-9]{1,15})\.([0-9]{1,15})/([0-9]{1,15})\.([0-9]{1,15})", re.ASCII)


def _decision(lists: MemoryLists | None, number: int, count: int) -> tuple[Memory, int]:
    """A memory and the passage of its decision number ``count``, as its text lists them. Raises JobError."""
    memory = None if lists is None else lists.memory(number)
    if memory is None:
        raise JobError("MEMORY_NOT_FOUND", f"There is no memory #{number}. Nothing was changed.")
    content = searched(memory)
    lines = [] if content is None else read(content.decisions)
    wanted = lines[count - 1] if 1 <= count <= len(lines) else None
    for passage, decision in decisions(memory).items():
        if decision == wanted and not decision.is_earlier:
            return memory, passage
    why = f"it has {len(lines)}" if wanted is None else "that line is one of earlier times, or a repeated one"
    raise JobError(
        "ARGUMENT_INVALID",
        f"Memory #{number} has no decision {number}.{count}: {why}. Nothing was changed.",
        remediation=f"To see its decisions: cognee-memory memories show {number}",
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


def _all(lists: MemoryLists, least: float) -> list[ReviewedPair]:
    rows = [row for row in lists.replacements() if row.said is not None or row.probability >= least]
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
    found = lists.memories({number for row in rows for number in (row.older, row.newer)})
    return {memory.number: memory for memory in found}


def _place(row: Replacement) -> tuple[tuple[int, int], tuple[int, int]]:
    """The same whichever of the two fell."""
    low, high = sorted(((row.older, row.older_passage), (row.newer, row.newer_passage)))
    return low, high


def _shown(row: Replacement, name: str, memories: Mapping[int, Memory]) -> ReviewedPair:
    state: Literal["replaced", "disputed", "both", "suspended"] = "disputed"
    if row.said is not None and not row.probability:
        state = "suspended" if row.said.is_suspended else "both"
    elif row.probability >= REPLACED:
        state = "replaced"
    one, other = (memories[row.older], row.older_passage), (memories[row.newer], row.newer_passage)
    older, newer = sorted((one, other), key=_age)
    holds: Literal["newer", "older", "both"] | None = "both" if state == "both" else None
    if state in ("replaced", "suspended"):
        holds = "newer" if newer == other else "older"
    return {
        "pair": name,
        "state": state,
        "holds": holds,
        "older": statement(*older),
        "newer": statement(*newer),
        "confidence": row.probability,
        "cause": "judge" if row.said is None else "said",
        "by": None if row.said is None else row.said.by,
        "at": None if row.said is None else row.said.at,
        "reason": None if row.said is None else row.said.reason,
    }


def _age(side: tuple[Memory, int]) -> tuple[str, int, int]:
    memory, passage = side
    return memory.dated_at or "", memory.number, passage


def statement(memory: Memory, passage: int) -> ReviewedStatement:
    return {**related(memory, passage), "topic_id": memory.metadata.topic_id}
