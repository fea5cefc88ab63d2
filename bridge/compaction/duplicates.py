"""Which of several texts say the same, so that one of them will do.

The same words (but for case, spacing and punctuation) are the same. So are texts that an embedding finds close and that
say it in other order or form, or one of them with a word more: a name, an amount, a denial, an opposite or one word in
another's place keeps them apart, since a merger loses what only one of them says.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..embedding.embedder import Vectors
from . import lexicon
from .conflicts import between_clauses
from .statements import Clause, canonical, clauses

# The cosine from which two texts may say the same. With the built-in model paraphrases of a decision have 0.85 to 0.95;
# so have decisions that differ in one word, and these the wording keeps apart.
SAME_MEANING = 0.88

_TELLING = lexicon.CLASS_OF.keys() | lexicon.SELECTING | lexicon.WEAKENING  # one of these more says something else
_MOST_MORE = 2  # words that one of two texts may have beside those of the other
_ROWS = 1000  # compared with all at once
_NAME = re.compile(r"\S*[\d_./\\#]\S*|\S*[a-z][A-Z]\S*|[A-Z]{2,}\S*")


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A text as it is compared with others, taken apart once: in a topic of one subject each is near all the others."""

    names: frozenset[str]
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Texts that say the same, by their places in the list. ``kept`` is the one whose words stand for all.

    ``similarity`` is the lowest cosine by which a member came in; None where all have the same words.
    """

    members: tuple[int, ...]
    kept: int
    similarity: float | None


def group(texts: Sequence[str], vectors: Vectors, pulse: Callable[[], None] = lambda: None) -> list[Group]:
    """The texts in groups, ordered by each group's last member. The newest wording is kept, or a fuller one.

    ``texts`` are in order of time; ``vectors`` are their embeddings, of length 1, shape (n, d). ``pulse`` is called
    before each text is compared with the others.
    """
    groups: list[tuple[list[int], int, float | None]] = []
    by_words: dict[str, int] = {}
    group_of: list[int] = []
    wordings = [wording(text) for text in texts]
    # What repeats the words of another is compared with nothing: a topic may say the same in each of its memories.
    near = _near(vectors, sorted({words: place for place, words in reversed(list(enumerate(wordings)))}.values()))
    by_text: dict[str, _Parsed] = {}
    parsed: list[_Parsed] = []
    for place, (text, words) in enumerate(zip(texts, wordings, strict=True)):
        pulse()
        parsed.append(by_text.get(text) or by_text.setdefault(text, _Parsed(_names(text), clauses(text))))
        found, similarity = by_words.get(words), None
        if found is None:
            for cosine, other in near[place]:
                if groups[group_of[other]][1] == other and _may_be_one(parsed[other], parsed[place]):
                    found, similarity = group_of[other], cosine
                    break
        if found is None:
            found = len(groups)
            groups.append(([], place, None))
        members, kept, lowest = groups[found]
        members.append(place)
        if similarity is not None:
            lowest = similarity if lowest is None else min(lowest, similarity)
        groups[found] = (members, kept if _is_fuller(parsed[kept], parsed[place]) else place, lowest)
        by_words[words] = found
        group_of.append(found)
    found_groups = [Group(tuple(members), kept, lowest) for members, kept, lowest in groups]
    return sorted(found_groups, key=lambda each: each.members[-1])


def wording(text: str) -> str:
    """What two texts with the same words have in common: no case, one blank between words, no full stop."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(" .!;,")


def _near(vectors: Vectors, places: Sequence[int]) -> dict[int, list[tuple[float, int]]]:
    """For each of the places the earlier rows that are as close as the threshold, the closest first."""
    found: dict[int, list[tuple[float, int]]] = {place: [] for place in places}
    for start in range(0, len(places), _ROWS):
        part = places[start : start + _ROWS]
        cosines = vectors[part] @ vectors.T
        for row, other in zip(*np.nonzero(cosines >= SAME_MEANING), strict=True):
            if other < part[row]:
                found[part[row]].append((round(float(cosines[row, other]), 4), int(other)))
    return {place: sorted(each, key=lambda pair: (-pair[0], -pair[1])) for place, each in found.items()}


def _may_be_one(text: _Parsed, other: _Parsed) -> bool:
    """Whether no more than the words differ: nothing that tells two decisions apart."""
    one, two = text.clauses, other.clauses
    if text.names != other.names or between_clauses(one, two) or between_clauses(two, one):
        return False
    if [_core(clause) for clause in one] != [_core(clause) for clause in two]:
        return False
    stems, others = _counted(one), _counted(two)
    only, only_other = stems - others, others - stems
    if not _TELLING.isdisjoint((*only, *only_other)):
        return False
    if only and only_other:
        return only.keys() | only_other.keys() <= lexicon.DROPPING
    return (only + only_other).total() <= _MOST_MORE


def _counted(parts: Sequence[Clause]) -> Counter[str]:
    return Counter(word.stem for clause in parts for word in clause.words)


def _core(clause: Clause) -> tuple[object, ...]:
    sided = {(word.preposition, word.stem) for word in clause.words if word.preposition in lexicon.SIDED}
    return clause.is_negative, sorted(clause.quantities.values(), key=str), clause.order, sided


def _stems(parts: Sequence[Clause]) -> frozenset[str]:
    return frozenset(stem for clause in parts for stem in clause.stems)


def _names(text: str) -> frozenset[str]:
    """Identifiers, numbers and abbreviations, and words with a capital, but for the one that begins the sentence."""
    words = [word.strip(".,;:!?()[]\"'`") for word in text.split()]
    capitals = {word for word in words[1:] if word[:1].isupper()}
    return frozenset(canonical(word.casefold()) for word in words if _NAME.fullmatch(word) or word in capitals)


def _is_fuller(text: _Parsed, other: _Parsed) -> bool:
    """Whether a text has every word that carries meaning in the other one, and more."""
    return _stems(text.clauses) > _stems(other.clauses)
