"""What a standing does in an answer: the factors that follow, and what is said of it.

A memory with several decisions answers by the one whose meaning is nearest to the question. If that one was replaced,
the memory's status multiplier falls, and the memory with the statement that holds inherits its relevance: it answers
the same question, perhaps in other words. If the two may only contradict each other, the newer one inherits as well and
the older one falls a little, so that it stands below. All this follows from the stored pairs, whatever the other hits
are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .ranking import Factors, Inherited, Ranking, rescored
from .standings import words

if TYPE_CHECKING:
    from ..embedding.embedder import Vector
    from ..interface.answer_shapes import RelatedStatement, Standing
    from ..memory import Memory
    from .catalogue import Catalogue
    from .snapshot import Snapshot
    from .standings import Fall, Standings


_AFTER_TOPIC = 2  # passages: the whole text and the topic come first
# A sentence of the context that repeats the decision is about as near to the question. What is nearer says more, and
# the memory answers by it.
_REPEATED = 0.1


def falls(known: Standings, snapshot: Snapshot, vector: Vector, candidates: Catalogue) -> dict[int, Fall]:
    """Number -> its fall, of those of the candidates that answer by a statement which fell."""
    fallen = {number: known.falls_of(number) for number in candidates.number.tolist()}
    some = candidates.take([at for at, each in enumerate(fallen.values()) if each])
    found: dict[int, Fall] = {}
    for number, cosines in zip(some.number.tolist(), snapshot.cosines_of(vector, some), strict=True):
        at = known.statements[number]
        if at[-1] >= len(cosines):
            continue
        nearest = max(at, key=lambda passage: cosines[passage])
        if nearest in fallen[number] and cosines[nearest] >= max(cosines[_AFTER_TOPIC:]) - _REPEATED:
            found[number] = fallen[number][nearest]
    return found


def applied(
    scored: Sequence[tuple[Memory, Factors]], falls: dict[int, Fall], ranking: Ranking
) -> list[tuple[Memory, Factors]]:
    """The memories with the factors that follow from the falls among them."""
    by_number = {memory.number: factors for memory, factors in scored}
    heirs: dict[int, list[Fall]] = {}
    for number, fall in falls.items():
        if number in by_number:
            heirs.setdefault(fall.by[0], []).append(fall)
    found = []
    for memory, factors in scored:
        replaces = heirs.get(memory.number, [])
        best = max(replaces, key=lambda fall: by_number[fall.statement[0]].query_match.semantic_score, default=None)
        own = falls.get(memory.number)
        if best is not None:
            relevance = by_number[best.statement[0]].query_match
            if relevance.semantic_score > factors.query_match.semantic_score:
                inherited = Inherited(best.statement[0], factors.query_match)
                factors, own = rescored(factors, ranking, query_match=relevance, inherited=inherited), None
        if own is not None:
            factors = rescored(factors, ranking, state=own.state)
        found.append((memory, replace(factors, fall=own, replaces=tuple(replaces))))
    return found


def described(snapshot: Snapshot, scored: Sequence[tuple[Memory, Factors]]) -> dict[int, Standing]:
    """Number -> what an answer says of its standing, for the memories of which there is something to say."""
    involved = [pair for pair in scored if pair[1].fall is not None or pair[1].replaces]
    others = {fall.statement[0] for _, factors in involved for fall in factors.replaces}
    others |= {factors.fall.by[0] for _, factors in involved if factors.fall is not None}
    known = {memory.number: memory for memory in snapshot.memories(sorted(others))}
    known |= {memory.number: memory for memory, _ in involved}
    return {memory.number: _described(memory, factors, known) for memory, factors in involved}


def answering(factors: Factors) -> int:
    """The passage of the decision by which a memory answers: what fell, or what replaced an older one. One of them has
    to be there."""
    fall = factors.fall
    return (factors.replaces[0].by if fall is None else fall.statement)[1]


def _described(memory: Memory, factors: Factors, known: Mapping[int, Memory]) -> Standing:
    fall = factors.fall
    since = None if fall is None else _later(memory.dated_at, known[fall.by[0]].dated_at)
    return {
        "state": "holds" if fall is None else fall.state,
        "statement": words(memory, answering(factors)),
        "by": None if fall is None else _related(known[fall.by[0]], fall.by[1]),
        "since": since,
        "confidence": None if fall is None else fall.confidence,
        "cause": None if fall is None else fall.cause,
        "replaces": [_related(known[each.statement[0]], each.statement[1]) for each in factors.replaces],
        "inherited_from": None if factors.inherited is None else factors.inherited.number,
    }


def _related(memory: Memory, passage: int) -> RelatedStatement:
    return {
        "memory_id": memory.id,
        "memory_number": memory.number,
        "statement": words(memory, passage),
        "dated_at": memory.dated_at,
    }


def _later(fell: str | None, by: str | None) -> str | None:
    """When a statement fell. By a verdict, the earlier of two may hold: then it is when the other was said."""
    return by if fell is None or by is None else max(fell, by)
