"""What a standing does in an answer: the factors that follow, and what is said of it.

A memory with several decisions answers by the one whose meaning is nearest to the question. If that one was replaced,
the memory's status multiplier falls, and the memory with the statement that holds inherits its relevance: it answers
the same question, perhaps in other words. If the two may only contradict each other, the newer one inherits as well and
the older one falls a little, so that it stands below. All this follows from the stored pairs, whatever the other hits
are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal

from ..pattern import pattern
from ..text.passages import whole_text
from .ranking import Factors, Inherited, Ranking, Relevance, Scored, rescored
from .standings import POSSIBLE, related, words

if TYPE_CHECKING:
    from ..embedding.embedder import Vector
    from ..interface.answer_shapes import Standing
    from ..memory import Memory
    from .catalogue import Catalogue
    from .question import Question
    from .snapshot import Snapshot
    from .standings import Fall, Standings, State


_AFTER_TOPIC = 2  # passages: the whole text and the topic come first
# In cosine. A sentence of the context that repeats the decision is about as near to the question; what is nearer says
# more. And of two statements that are about as near, both answer it.
_AS_NEAR = 0.15
_NEAR = 0.25  # what is farther answers nothing
_NEAR_OF_PAST = 0.3  # a question about the past is put to each statement of a memory, so one is near by chance
_SAME = 0.8  # what is nearer says the question again
# By how much a newer statement that may contradict the older one may be farther from the question, to answer it too:
# with POSSIBLE, and so much more for each unit of the probability above it. Chosen on decisions that changed and on
# stores where nothing did: docs/benchmarks-tried.md.
_FARTHER = 0.05
_FARTHER_IF_SURE = 1.5
_AS_RELEVANT = 0.75  # or how relevant its memory has to be, as a share of the older one's: with POSSIBLE
_WORD = pattern(r"\w[\w-]*")
_NAME = pattern(r"(?<=\s)[A-Z][\w-]*")  # a capital that does not begin the question


def falls(
    known: Standings, snapshot: Snapshot, question: Question, vector: Vector, candidates: Catalogue
) -> dict[int, Fall]:
    """Number -> its fall, of those of the candidates that answer by a statement which fell, or which may have fallen
    and has a newer one that answers as well. A question about the past asks also for what fell when the candidates
    were said."""
    numbers, asks_past = set(candidates.number.tolist()), question.asks_past
    if asks_past:
        numbers |= known.older_than(numbers)
    older = snapshot.cosines(vector, known.statements.keys() & numbers)
    fallen: dict[int, list[Fall]] = {}
    for number, own in older.items():
        statements = known.statements[number]
        if statements[-1] < len(own):
            answering = statements if asks_past else [max(statements, key=own.__getitem__)]
            likely = (known.likely_falls((number, passage)) for passage in answering)
            fallen[number] = [fall for found in likely for fall in (found if asks_past else found[:1])]
    newer = snapshot.cosines(vector, {fall.by[0] for falls in fallen.values() for fall in falls})

    @cache
    def relevance() -> dict[int, float]:
        involved = snapshot.catalogue.of({*newer, *(number for number, falls in fallen.items() if falls)})
        words = snapshot.lexical(question.query).of(involved.number)
        found = snapshot.relevance(vector, involved, words)
        return {number: each.semantic_score for number, each in zip(involved.number.tolist(), found, strict=True)}

    def answers(fall: Fall, own: Sequence[float], others: Sequence[float]) -> bool:
        return _is_answered(fall, own, others, asks_past=asks_past) or (
            not asks_past and _may_be_answered(fall, own) and _is_as_relevant(fall, relevance())
        )

    names = set(_NAME.findall(question.query))
    found: dict[int, Fall] = {}
    for number, falls in fallen.items():
        by = {fall: newer[fall.by[0]] for fall in falls if fall.by[1] < len(newer.get(fall.by[0], ()))}
        answered = [fall for fall in by if answers(fall, older[number], by[fall])]
        if names and any(fall.state != "replaced" for fall in answered):
            answered = _of_named(snapshot, names, answered)
        if answered:
            found[number] = max(answered, key=lambda fall: by[fall][fall.by[1]])
    return found


def _of_named(snapshot: Snapshot, names: set[str], falls: Sequence[Fall]) -> list[Fall]:
    """Without the less sure ones whose older statement has a name of the question and the newer memory has not: that is
    about another thing of its kind."""
    numbers = {number for fall in falls for number, _ in (fall.statement, fall.by)}
    read = {memory.number: memory for memory in snapshot.memories(sorted(numbers))}
    found = []
    for fall in falls:
        named = names & set(_WORD.findall(words(read[fall.statement[0]], fall.statement[1])))
        if fall.state == "replaced" or named <= set(_WORD.findall(whole_text(read[fall.by[0]]))):
            found.append(fall)
    return found


def _is_answered(fall: Fall, older: Sequence[float], newer: Sequence[float], *, asks_past: bool) -> bool:
    """Whether a question with these cosines to the passages of two memories is answered by the statement that fell,
    and by the one that holds as well. A question about the past names either of them."""
    own, other = older[fall.statement[1]], newer[fall.by[1]]
    most, others = max([own, *older[_AFTER_TOPIC:]]), max([other, *newer[_AFTER_TOPIC:]])
    if fall.state != "replaced":
        farther = _FARTHER + _FARTHER_IF_SURE * (fall.confidence - POSSIBLE)
        near = _NEAR_OF_PAST if asks_past else _NEAR
        names = other >= own - farther and _may_be_answered(fall, older, near)
    elif most >= _SAME:  # a sentence that says the question again answers nothing
        names = True
    else:  # a sentence that both memories have says nothing of which one holds
        names = own >= most - _AS_NEAR or others >= most - _AS_NEAR
    return names or (asks_past and other >= others - _AS_NEAR and own >= other - _AS_NEAR)


def _may_be_answered(fall: Fall, older: Sequence[float], near: float = _NEAR) -> bool:
    """Whether the older memory answers by a statement of which it is not sure that it fell."""
    own = older[fall.statement[1]]
    return fall.state != "replaced" and own >= max(near, max([own, *older[_AFTER_TOPIC:]]) - _AS_NEAR)


def _is_as_relevant(fall: Fall, relevance: Mapping[int, float]) -> bool:
    """Whether the memory of the newer statement is nearly as relevant, the less so the surer it is."""
    share = _AS_RELEVANT - (fall.confidence - POSSIBLE)
    return relevance[fall.by[0]] >= share * relevance[fall.statement[0]]


def applied(
    scored: Sequence[Scored], falls: dict[int, Fall], ranking: Ranking, *, asks_past: bool = False
) -> list[Scored]:
    """The memories with the factors that follow from the falls among them: what holds answers first, and for a question
    about the past what fell."""
    by_number = {memory.number: factors for memory, factors in scored}
    replaces: dict[int, list[Fall]] = {}
    first: dict[int, list[int]] = {}  # what answers first -> what stands below it
    below: dict[int, State | Literal["later"]] = {}
    for number, fall in falls.items():
        if number in by_number:
            replaces.setdefault(fall.by[0], []).append(fall)
            if asks_past and fall.by[0] in falls:  # it is an answer itself
                continue
            one, other = (number, fall.by[0]) if asks_past else (fall.by[0], number)
            first.setdefault(one, []).append(other)
            below[other] = "later" if asks_past else fall.state
    found = []
    for memory, factors in scored:
        donor, relevance = _inherited(memory.number, by_number, first)
        if donor is not None:
            inherited = Inherited(donor, factors.query_match)
            factors = rescored(factors, ranking, query_match=relevance, inherited=inherited)
        if memory.number in below:
            factors = rescored(factors, ranking, state=below[memory.number], inherited=factors.inherited)
        own = falls.get(memory.number)
        found.append((memory, factors._replace(fall=own, replaces=tuple(replaces.get(memory.number, ())))))
    return found


def _inherited(
    number: int,
    by_number: Mapping[int, Factors],
    first: Mapping[int, Sequence[int]],
    seen: frozenset[int] = frozenset(),
) -> tuple[int | None, Relevance]:
    """The memory below this one from which it has its relevance, and that: the highest of those below it, and of those
    below these. None where its own is the highest."""
    donor, relevance = None, by_number[number].query_match
    for other in first.get(number, ()):
        if other in by_number and other not in seen:
            _, others = _inherited(other, by_number, first, seen | {number})
            if others.semantic_score > relevance.semantic_score:
                donor, relevance = other, others
    return donor, relevance


def described(snapshot: Snapshot, scored: Sequence[Scored]) -> dict[int, Standing]:
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
        "by": None if fall is None else related(known[fall.by[0]], fall.by[1]),
        "since": since,
        "confidence": None if fall is None else fall.confidence,
        "cause": None if fall is None else fall.cause,
        "replaces": [
            {**related(known[each.statement[0]], each.statement[1]), "state": each.state} for each in factors.replaces
        ],
        "inherited_from": None if factors.inherited is None else factors.inherited.number,
    }


def _later(fell: str | None, by: str | None) -> str | None:
    """When a statement fell. By a verdict, the earlier of two may hold: then it is when the other was said."""
    return by if fell is None or by is None else max(fell, by)
