"""Compares memories with those that were compared before them, and stores which statements may be replaced.

A memory is compared once, after it is stored, in the order of the numbers. Each of its statements meets the nearest
ones of other memories whose topics are the same or alike. So the judge's work for a memory does not grow with the
store; what grows is one multiplication with the vectors. Which of two is the newer is said by their dates alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..embedding.embedder import Vectors
from ..search.standings import POSSIBLE, REPLACED
from ..text.decision_lines import digest
from ..text.passages import statements, topic_passage
from . import judge

if TYPE_CHECKING:
    from ..memory import Memory
    from ..store.store import Store

NEAREST = 5  # statements that each new one is compared with
SAME_TOPIC_NEARER = 0.15  # in cosine
TOPICS_ALIKE = 0.5  # the cosine of two topics; "Keep 4 entries" says nothing of a matter with another name
SAME_OF_TWO_TOPICS = 0.8  # the cosine of two statements of such topics
_TOGETHER = 64  # memories for which the other statements are read once

_Statement = tuple[int, int, int, str | None, float]  # number, passage, row, topic, date
_Pair = tuple[int, int, int, int, float]


def compare_some(store: Store, go_on: Callable[[], bool] = lambda: True) -> bool:
    """Compare the next memories that were not compared yet, while ``go_on`` says so before each. Returns whether there
    may be more.

    Raises JobError as the embedder does.
    """
    if store.model_changed or store.is_rebuilding:
        return False
    store.replacements.use(judge.IDENTITY)
    numbers = store.replacements.uncompared(_TOGETHER)
    if not numbers:
        return False
    others, rows = store.replacements.statements(), store.passage_rows()
    compared: dict[int, dict[int, str]] = {}
    found: list[_Pair] = []
    try:
        for number in numbers:
            if not go_on():
                break
            memory = _visible(store, number)
            own = statements(memory) if memory else {}
            first, topic_id, dated = store.replacements.place(number)
            mine = [(number, passage, first + passage, topic_id, dated) for passage in own]
            if memory and others:
                found += [pair for each in mine for pair in _pairs(store, rows, memory, each, others)]
            compared[number] = {passage: digest(words) for passage, words in own.items()}
            others += mine
    finally:
        store.replacements.note(compared, found)
    return True


def _visible(store: Store, number: int) -> Memory | None:
    return next((each for each in store.after(number - 1, 1) if each.number == number), None)


def _pairs(
    store: Store, rows: Vectors, memory: Memory, mine: _Statement, others: Sequence[_Statement]
) -> Iterator[_Pair]:
    """What may be replaced of a statement of a memory and its nearest ones."""
    near = _nearest(rows, mine, others)
    involved = [memory, *filter(None, (_visible(store, number) for number in {other[0] for other in near}))]
    topics = {each.number: topic_passage(each) for each in involved}
    near = [other for other in near if other[0] in topics]
    alike = {other[:2] for other in near if _may_be_same_matter(rows, mine, other, topics)}
    ordered = [sorted((mine, other), key=_age) for other in near]
    said = {(each.number, passage): text for each in involved for passage, text in statements(each).items()}
    probabilities = judge.replaces([(said[old[:2]], said[new[:2]]) for old, new in ordered], store.embed)
    for (old, new), probability in zip(ordered, probabilities, strict=True):
        found = min(probability, _most(old, new, is_alike=old[:2] in alike or new[:2] in alike))
        if found >= POSSIBLE:
            yield (*old[:2], *new[:2], found)


def _most(old: _Statement, new: _Statement, *, is_alike: bool) -> float:
    """The highest probability that the topics of two statements allow."""
    if not is_alike:  # perhaps another matter
        return judge.LIKELY
    return 1.0 if _is_same_topic(old, new) else REPLACED - 0.01


def _age(one: _Statement) -> float:
    """The sort key: the older first."""
    return one[4]


def _nearest(rows: Vectors, mine: _Statement, others: Sequence[_Statement]) -> list[_Statement]:
    """The nearest of the other statements that are of another date, the nearest first. Of the same date, nobody knows
    which is the newer."""
    others = [other for other in others if other[4] != mine[4]]
    nearness = (rows @ rows[mine[2]])[[other[2] for other in others]]
    nearness += SAME_TOPIC_NEARER * np.array([_is_same_topic(mine, other) for other in others])
    return [others[at] for at in np.argsort(-nearness, kind="stable")[:NEAREST].tolist()]


def _is_same_topic(one: _Statement, other: _Statement) -> bool:
    return one[3] is not None and one[3] == other[3]


def _may_be_same_matter(rows: Vectors, one: _Statement, other: _Statement, topic_of: dict[int, int]) -> bool:
    """Whether two statements may contradict each other whatever was asked. ``topic_of``: number -> its passage."""
    topics = rows[[each[2] - each[1] + topic_of[each[0]] for each in (one, other)]]
    are_their_own = all(topic_of[each[0]] == each[1] for each in (one, other))  # notes of one sentence, without a topic
    return (
        are_their_own
        or _is_same_topic(one, other)
        or (float(rows[one[2]] @ rows[other[2]]) >= SAME_OF_TWO_TOPICS and float(topics[0] @ topics[1]) >= TOPICS_ALIKE)
    )
