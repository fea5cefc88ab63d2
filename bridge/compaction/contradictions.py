"""Decisions of several memories as statements, and the conflicts between them, each with an id to speak of it."""

from __future__ import annotations

from hashlib import sha256
from typing import Literal, NamedTuple

from jobs import clock

from ..memory import Memory
from ..text.decision_lines import Stated, wording
from .conflicts import ConflictKind

JudgedBy = Literal["rules", "llm", "judge", "said"]


def date_of(memory: Memory) -> str:
    """The date of a memory's content, ISO 8601: ``Memory.dated_at``, else the time of storing."""
    return memory.dated_at or memory.stored_at


class Statement(NamedTuple):
    """One list entry of a source: its text without marks, and what the marks of an earlier record said.

    ``stated_before``: when and where that record's sources stated it. ``held``: where it is a decision that holds, each
    a memory's id and the digest of the words there; it is empty for one that a record calls earlier.
    """

    text: str
    memory: Memory
    is_superseded: bool = False
    supersedes: tuple[str, ...] = ()
    stated_before: Stated | None = None
    held: frozenset[tuple[str, str]] = frozenset()

    @property
    def stated(self) -> Stated:
        """When and where it was last stated."""
        return self.stated_before or Stated(clock.iso(clock.parse(date_of(self.memory)))[:10], self.memory.number)

    @property
    def held_in(self) -> frozenset[str]:
        """The ids of the memories that have it as a decision that holds."""
        return frozenset(memory_id for memory_id, _ in self.held)

    def is_beside(self, other: Statement) -> bool:
        """Whether one memory has both as decisions that hold, so nobody took the one for the other's successor."""
        return self.memory.id == other.memory.id or not self.held_in.isdisjoint(other.held_in)


class Conflict(NamedTuple):
    """Two decisions of different memories that cannot both hold; no decision in between replaced the earlier one.

    ``judged_by``: the rules here, a language model, the judge that compared the memories when they were stored, or
    somebody who said it, perhaps with a ``reason``. Only then the one that fell, ``earlier``, may be the newer one.
    """

    kind: ConflictKind | Literal["replacement"]
    confidence: float
    earlier: Statement
    later: Statement
    judged_by: JudgedBy = "rules"
    reason: str | None = None

    @property
    def id(self) -> str:
        """Its id, which depends on the words of the two statements alone."""
        return conflict_id(self.earlier.text, self.later.text)


def conflict_id(one: str, other: str) -> str:
    """The id of a pair of statements: 8 hex digits of a SHA-256, equal in either order and on every machine."""
    words = sorted(map(wording, (one, other)))
    return sha256("\0".join(words).encode()).hexdigest()[:8]
