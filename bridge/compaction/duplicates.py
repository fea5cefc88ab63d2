"""Groups texts that say the same, so that one of them can represent the group; and finds pairs of vectors that are
close to each other, in blocks, since the whole matrix may not fit into memory.

Texts with the same words (except case, spacing and punctuation) are duplicates. So are texts with close embeddings that
differ only in order or form, or in up to two extra words of one of them. A different name, amount, negation, opposite
or replaced word keeps them apart, since merging them would lose what only one of them says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..embedding.embedder import Vectors
from ..text.decision_lines import wording
from . import lexicon
from .conflicts import compare_clauses
from .lexicon import canonical
from .statements import Clause, clauses

_ROWS_PER_BLOCK = 512

# The cosine from which two texts may say the same. With the built-in model, paraphrases of a decision have 0.85 to
# 0.95. So do decisions that differ in one word; the comparison of the words keeps those apart.
SAME_MEANING = 0.88
_DISTINGUISHING = lexicon.CLASS_OF.keys() | lexicon.SELECTING | lexicon.WEAKENING  # an extra one changes the meaning
_MAX_EXTRA = 2  # extra words that one of two texts may have
_NAME = re.compile(r"\S*[\d_./\\#]\S*|\S*[a-z][A-Z]\S*|[A-Z]{2,}\S*")


def similar_pairs(
    vectors: Vectors, rows: Sequence[int], min_cosine: float, max_per_block: int | None = None
) -> Iterator[tuple[float, int, int]]:
    """(cosine, earlier row, later row) of all pairs with at least ``min_cosine``, where the later row is in ``rows``.

    ``vectors`` have length 1, shape (n, d); ``rows`` ascend. ``max_per_block`` keeps only the most similar pairs of
    each 512 rows.
    """
    for start in range(0, len(rows), _ROWS_PER_BLOCK):
        later = np.asarray(rows[start : start + _ROWS_PER_BLOCK])
        cosines = vectors[later] @ vectors[: later[-1]].T
        is_earlier = np.arange(cosines.shape[1]) < later[:, None]
        at, earlier = np.nonzero((cosines >= min_cosine) & is_earlier)
        values = cosines[at, earlier]
        if max_per_block is not None and len(values) > max_per_block:
            best = np.argpartition(-values, max_per_block)[:max_per_block]
            at, earlier, values = at[best], earlier[best], values[best]
        yield from zip(values.tolist(), earlier.tolist(), later[at].tolist(), strict=True)


class _Parsed(NamedTuple):
    """A parsed text. Each is parsed once, since within one subject every text is close to all others."""

    names: frozenset[str]
    clauses: tuple[Clause, ...]


@dataclass(slots=True)
class DuplicateGroup:
    """Texts that say the same, as indexes into the list. ``kept`` is the text that represents the group.

    ``similarity`` is the lowest cosine by which a member was added; None if all have the same words.
    """

    members: list[int]
    kept: int
    similarity: float | None = None


def group_duplicates(
    texts: Sequence[str], vectors: Vectors, yield_control: Callable[[], None] = lambda: None
) -> list[DuplicateGroup]:
    """All texts in groups, sorted by each group's last member. The kept text is the newest, or an older, fuller one.

    ``texts`` are in chronological order; ``vectors`` are their embeddings of length 1, shape (n, d). ``yield_control``
    is called before each text is compared with the others.
    """
    groups: list[DuplicateGroup] = []
    by_words: dict[str, DuplicateGroup] = {}
    group_of: list[DuplicateGroup] = []
    wordings = [wording(text) for text in texts]
    # Exact repetitions are not compared by vectors: a topic may repeat the same text in each of its memories.
    first_of = {words: index for index, words in reversed(list(enumerate(wordings)))}
    similar = _earlier_similar(vectors, sorted(first_of.values()))
    by_text: dict[str, _Parsed] = {}
    parsed: list[_Parsed] = []
    for index, (text, words) in enumerate(zip(texts, wordings, strict=True)):
        yield_control()
        parsed.append(by_text.get(text) or by_text.setdefault(text, _Parsed(_names(text), clauses(text))))
        group, similarity = by_words.get(words), None
        if group is None:
            for cosine, other in similar[index]:
                if group_of[other].kept == other and _say_the_same(parsed[other], parsed[index]):
                    group, similarity = group_of[other], cosine
                    break
        if group is None:
            group = DuplicateGroup([], index)
            groups.append(group)
        group.members.append(index)
        if similarity is not None:
            group.similarity = similarity if group.similarity is None else min(group.similarity, similarity)
        if not _is_fuller(parsed[group.kept], parsed[index]):
            group.kept = index
        by_words[words] = group
        group_of.append(group)
    return sorted(groups, key=lambda group: group.members[-1])


def _earlier_similar(vectors: Vectors, indexes: Sequence[int]) -> dict[int, list[tuple[float, int]]]:
    """For each index, the (cosine, index) of earlier texts with at least ``SAME_MEANING``, the closest first."""
    found: dict[int, list[tuple[float, int]]] = {index: [] for index in indexes}
    for cosine, earlier, later in similar_pairs(vectors, indexes, SAME_MEANING):
        found[later].append((round(cosine, 4), earlier))
    return {index: sorted(pairs, key=lambda pair: (-pair[0], -pair[1])) for index, pairs in found.items()}


def _say_the_same(text: _Parsed, other: _Parsed) -> bool:
    """Whether two close texts differ only in wording, by nothing that distinguishes two decisions."""
    one, two = text.clauses, other.clauses
    if text.names != other.names or compare_clauses(one, two) or compare_clauses(two, one):
        return False
    if [_core(clause) for clause in one] != [_core(clause) for clause in two]:
        return False
    stems, others = _counted(one), _counted(two)
    only, only_other = stems - others, others - stems
    if not _DISTINGUISHING.isdisjoint((*only, *only_other)):
        return False
    if only and only_other:
        return only.keys() | only_other.keys() <= lexicon.DROPPING
    return (only + only_other).total() <= _MAX_EXTRA


def _counted(parts: Sequence[Clause]) -> Counter[str]:
    return Counter(word.stem for clause in parts for word in clause.words)


def _core(clause: Clause) -> tuple[object, ...]:
    sided = {(word.preposition, word.stem) for word in clause.words if word.preposition in lexicon.SIDED_PREPOSITIONS}
    return clause.is_negative, sorted(clause.quantities.values(), key=str), clause.order, sided


def _names(text: str) -> frozenset[str]:
    """Identifiers, numbers, abbreviations and capitalised words, except the first word of the text."""
    words = [word.strip(".,;:!?()[]\"'`") for word in text.split()]
    capitals = {word for word in words[1:] if word[:1].isupper()}
    return frozenset(canonical(word.casefold()) for word in words if _NAME.fullmatch(word) or word in capitals)


def _is_fuller(text: _Parsed, other: _Parsed) -> bool:
    """Whether a text has all meaningful words of the other one, and more."""
    return _counted(text.clauses).keys() > _counted(other.clauses).keys()
