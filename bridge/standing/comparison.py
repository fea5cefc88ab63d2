"""Compares memories with those that were compared before them, and stores which statements may be replaced.

A memory is compared once, after it is stored, in the order of the numbers. Each of its statements meets the nearest
ones of other memories, wherever they are; one of the same topic counts as nearer. So the cost of a memory does not grow
with the store, apart from one multiplication with the vectors. Which of two is the newer is said by their dates alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..search.standings import DISPUTED, REPLACED
from ..store.protocol import Store
from . import judge
from .statements import digest, statements

NEAREST = 10  # statements that each new one is compared with
SAME_TOPIC_NEARER = 0.15  # in cosine
TOPICS_ALIKE = 0.5  # the cosine of two topics; "Keep 4 entries" says nothing of a matter with another name
_TOGETHER = 16  # memories of one slice

_Other = tuple[int, int, int, str | None, float]


def compare_some(store: Store) -> bool:
    """Compare the next memories that were not compared yet. Returns whether any were left to compare.

    Raises JobError as the embedder does.
    """
    if store.model_changed or store.is_rebuilding:
        return False
    store.replacements.use(judge.IDENTITY)
    numbers = store.replacements.uncompared(_TOGETHER)
    if not numbers:
        return False
    memories = {memory.number: memory for memory in store.after(numbers[0] - 1, numbers[-1] - numbers[0] + 1)}
    for number in numbers:
        memory = memories.get(number)
        own = {} if memory is None else statements(memory)
        digests = {passage: digest(words) for passage, words in own.items()}
        store.replacements.note({number: digests}, [] if memory is None else _pairs(store, number, own))
    return True


def _pairs(store: Store, number: int, own: dict[int, str]) -> list[tuple[int, int, int, int, float]]:
    """What may be replaced among the memory's statements and those of the memories that were compared before it."""
    others = store.replacements.statements() if own else []
    if not others:
        return []
    first, topic_id, dated = store.replacements.place(number)
    rows = store.passage_rows()
    places = np.array([row[2] for row in others])
    found: list[tuple[int, int, int, int, float]] = []
    texts: dict[int, dict[int, str]] = {number: own}
    same = np.array([topic_id is not None and row[3] == topic_id for row in others])
    for passage in own:
        cosines = (rows @ rows[first + passage])[places]
        nearest = np.argsort(-(cosines + SAME_TOPIC_NEARER * same), kind="stable")[:NEAREST]
        near = [others[at] for at in nearest.tolist()]
        _read_texts(store, near, texts)
        ordered = [_ordered((number, passage, dated), (other[0], other[1], other[4])) for other in near]
        pairs = [(texts[old[0]][old[1]], texts[new[0]][new[1]]) for old, new in ordered]
        judged = judge.replaces(pairs, store.embed)
        for at, ((old, new), probability) in enumerate(zip(ordered, judged, strict=True)):
            other = near[at]
            alike = other[3] == topic_id or float(rows[other[2] - other[1] + 1] @ rows[first + 1]) >= TOPICS_ALIKE
            if not alike:  # the same words of another matter
                continue
            if other[3] != topic_id or old[2] == new[2]:  # perhaps another matter; or nobody knows which is the newer
                probability = min(probability, REPLACED - 0.01)
            if probability >= DISPUTED:
                found.append((old[0], old[1], new[0], new[1], probability))
    return found


def _ordered(one: tuple[int, int, float], other: tuple[int, int, float]) -> tuple[tuple[int, int, float], ...]:
    """The two, the older first; of the same date, the lower number."""
    return tuple(sorted((one, other), key=lambda each: (each[2], each[0], each[1])))


def _read_texts(store: Store, others: Sequence[_Other], texts: dict[int, dict[int, str]]) -> None:
    for number in {other[0] for other in others} - texts.keys():
        texts[number] = {}
        for memory in store.after(number - 1, 1):
            if memory.number == number:
                texts[number] = statements(memory)
