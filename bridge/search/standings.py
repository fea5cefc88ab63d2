"""Which statements hold: the pairs of one state of the store, read once, and what became of each statement.

A statement was replaced or is disputed by another one, as far as that was said by then. ``standing_effects`` has what
it means for a score. Pure, and without numpy, which the notes at the start of a session must not load.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..text.passages import decisions, passages

if TYPE_CHECKING:
    from ..interface.answer_shapes import RelatedStatement
    from ..memory import Memory
    from ..store.catalogue import Replacement

REPLACED = 0.85
"""From this probability on, the newer statement replaces the older one."""
DISPUTED = 0.7
"""From this one on, the two may contradict each other."""
POSSIBLE = 0.5
"""From this one on, they may where a question is answered by both. Only an answer says so."""

FEW_UNCOMPARED = 10
"""Up to so many memories, a running worker compares in a moment, and a warning would be noise."""

State = Literal["replaced", "disputed"]
Statement = tuple[int, int]  # a memory's number and the index of its passage


def is_doubtful(pair: Replacement) -> bool:
    """Whether a pair that was found is less than certain, and more than nothing."""
    return POSSIBLE <= pair.probability < REPLACED


class Fall(NamedTuple):
    """The statement of an older memory that answers the question, and what replaced it or contradicts it: of a chain,
    the last one."""

    state: State
    statement: Statement
    by: Statement
    since: float
    confidence: float
    cause: Literal["judge", "said"]


class _Pairs(NamedTuple):
    best: Mapping[Statement, Replacement] = MappingProxyType({})
    """The most probable replacement of each older statement, from DISPUTED on."""
    possible: Mapping[Statement, Sequence[Replacement]] = MappingProxyType({})
    """The most probable one of each other older statement, unless the newer one is likelier to replace another; then
    less probable ones."""
    statements: Mapping[int, list[int]] = MappingProxyType({})
    """Number of an older memory -> the passages of all its statements."""


class Standings(_Pairs):
    """The pairs of one state of the store. Empty in a store where nothing was replaced."""

    def at(self, moment: float) -> Standings:
        """As they were known at that moment, in seconds since 1970."""
        if self._newest <= moment:
            return self
        best = {of: pair for of, pair in self.best.items() if pair.since <= moment}
        known = {of: pairs for of, pairs in self.possible.items() if pairs[0].since <= moment}
        possible = {of: [pair for pair in pairs if pair.since <= moment] for of, pairs in known.items()}
        return self._replace(best=best, possible=possible)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found or said."""
        return not self.best and not self.possible

    @cached_property
    def _newest(self) -> float:
        return max((pair.since for pair in self._pairs), default=0.0)

    @cached_property
    def _pairs(self) -> list[Replacement]:
        return [*self.best.values(), *chain.from_iterable(self.possible.values())]

    def fall(self, statement: Statement) -> Fall | None:
        """What became of a statement; None if it holds."""
        pair = self.best.get(statement)
        return None if pair is None else self._fall(pair)

    def likely_falls(self, statement: Statement) -> list[Fall]:
        """What became of a statement; else what may have become of it where a newer one answers the question too, the
        likeliest first."""
        pair = self.best.get(statement)
        return [self._fall(each) for each in (self.possible.get(statement, ()) if pair is None else (pair,))]

    def _fall(self, pair: Replacement) -> Fall:
        state: State = "replaced" if pair.probability >= REPLACED else "disputed"
        statement = (pair.older, pair.older_passage)
        by, seen = (pair.newer, pair.newer_passage), {statement}
        while (further := self.best.get(by)) is not None and further.probability >= REPLACED and by not in seen:
            seen.add(by)
            by = (further.newer, further.newer_passage)
        return Fall(state, statement, by, pair.since, pair.probability, "judge" if pair.said is None else "said")

    def falls_of(self, number: int) -> dict[int, Fall]:
        """Passage -> its fall, of the statements of a memory that do not hold any more or are disputed."""
        passages_of = self.statements.get(number, ())
        return {passage: fall for passage in passages_of if (fall := self.fall((number, passage))) is not None}

    def older_than(self, numbers: Collection[int]) -> set[int]:
        """The memories with a statement that one of these memories may have replaced, at last or on the way."""
        return set().union(*(self._older[number] for number in self._older.keys() & numbers))

    @cached_property
    def _older(self) -> dict[int, set[int]]:
        found: dict[int, set[int]] = {}
        for fall in map(self._fall, self._pairs):
            found.setdefault(fall.by[0], set()).add(fall.statement[0])
        return found


def read(pairs: Sequence[Replacement], statements: Sequence[Statement]) -> Standings:
    """The standings from the rows of a snapshot."""
    ordered = sorted(pairs, key=_weight)  # so the likeliest pair of a statement is the last one that is set
    likeliest = {(pair.older, pair.older_passage): pair for pair in ordered}
    most = {(pair.newer, pair.newer_passage): pair.probability for pair in ordered}
    best = {statement: pair for statement, pair in likeliest.items() if pair.probability >= DISPUTED}
    possible: dict[Statement, list[Replacement]] = {}
    for pair in reversed(ordered):
        statement = (pair.older, pair.older_passage)
        is_next = statement in possible or likeliest[statement] is pair
        least = max(POSSIBLE, most[pair.newer, pair.newer_passage])
        if is_next and least <= pair.probability < DISPUTED:
            possible.setdefault(statement, []).append(pair)
    of: dict[int, list[int]] = {}
    for number, passage in statements:
        of.setdefault(number, []).append(passage)
    return Standings(best, possible, of)


def of_pairs(pairs: Sequence[Replacement]) -> Standings:
    """The standings from pairs alone."""
    return read(pairs, sorted({(pair.older, pair.older_passage) for pair in pairs}))


def _weight(pair: Replacement) -> tuple[float, bool, float, int, int]:
    """What somebody said, who is sure, counts more than what was found."""
    return pair.probability, pair.said is not None, pair.since, pair.newer, pair.newer_passage


def words(memory: Memory, passage: int) -> str:
    """The words of a statement."""
    found = decisions(memory).get(passage)
    return memory.text if found is None else found.text


def related(memory: Memory, passage: int) -> RelatedStatement:
    """A statement as the answers about another memory show it."""
    return {
        "memory_id": memory.id,
        "memory_number": memory.number,
        "statement": words(memory, passage),
        "dated_at": memory.dated_at,
    }


def line(memory: Memory, passage: int) -> str:
    """A statement as its memory has it: a line of a record with its marks, date and number."""
    found = passages(memory)
    return found[passage].shown or found[passage].text if passage < len(found) else memory.text


def remarks(
    known: Standings,
    memory: Memory,
    read_memories: Callable[[list[int]], Sequence[Memory]],
    answered: Fall | None = None,
) -> dict[str, str]:
    """A decision, as its memory has it -> what became of it, if it does not hold any more or is disputed.

    ``read_memories`` gives the memories with these numbers, in any order. ``answered``: a fall that an answer found.
    """
    falls = [*known.falls_of(memory.number).values(), *(() if answered is None else (answered,))]
    others = {other.number: other for other in read_memories(sorted({fall.by[0] for fall in falls}))} if falls else {}
    found: dict[str, str] = {}
    for fall in falls:
        other = others.get(fall.by[0])
        if other is not None:
            day = f", {other.dated_at[:10]}" if other.dated_at else ""
            found[line(memory, fall.statement[1])] = f"{fall.state} by #{other.number}{day}"
    return found
