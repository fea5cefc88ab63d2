"""An excerpt: the sentences of a segment that carry it, within a budget of characters.

Sentences are taken one by one, each time the one that adds most for its length. What a sentence adds is measured twice:
the words that no chosen sentence has yet, and how much nearer the other sentences are to the nearest chosen one
(facility location, as in Lin and Bilmes, 2011). The words find names and details, the vectors find the subject; each
alone finds fewer answers, as the benchmark ``capture_quality`` shows. Both know no language.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..compaction.lexicon import stem
from ..text.terms import STOP_WORDS
from .segment import Embed
from .sentences import Sentence

BUDGET = 1600  # characters; what this is worth, docs/benchmarks-tried.md says
MOST_COMPARED = 400  # sentences, since each is compared with each
_LEAST_CHARACTERS = 25
_LENGTH_POWER = 0.9  # how much a sentence's length counts against it
_PERSON_WEIGHT = 1.25  # of what the person says, beside the assistant: requests are short, and say what it is about
_WORD = re.compile(r"[^\W_]+")

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The chosen sentences in their order, and how well they cover all: the mean similarity to the nearest of them."""

    sentences: tuple[Sentence, ...] = ()
    coverage: float = 0.0


def excerpt(found: Sequence[Sentence], embed: Embed, budget: int = BUDGET) -> Excerpt:
    """The excerpt of sentences. All of them, if they fit."""
    candidates = _candidates(found)
    if not candidates:
        return Excerpt(tuple(found[:1]), 0.5 if found else 0.0)
    if sum(len(sentence.text) + 1 for sentence in candidates) <= budget:
        return Excerpt(tuple(candidates), 1.0)
    similar = _similarities(embed([sentence.text for sentence in candidates]))
    words = _Words([_words(sentence.text) for sentence in candidates])
    lengths = np.array([len(sentence.text) + 1 for sentence in candidates], np.float64)
    weights = np.array([_PERSON_WEIGHT if sentence.speaker == "user" else 1.0 for sentence in candidates])
    nearest = np.zeros(len(candidates), np.float32)
    chosen: list[int] = []
    left = float(budget)
    while True:
        gains = np.maximum(similar - nearest, 0).mean(axis=1) + words.gains()
        gains = np.where(lengths <= left, gains * weights / lengths**_LENGTH_POWER, -1.0)
        gains[chosen] = -1.0
        best = int(gains.argmax())
        if gains[best] <= 0:
            break
        chosen.append(best)
        left -= lengths[best]
        nearest = np.maximum(nearest, similar[best])
        words.take(best)
    return Excerpt(tuple(candidates[place] for place in sorted(chosen)), float(nearest.mean()))


def _candidates(found: Sequence[Sentence]) -> list[Sentence]:
    """The sentences to choose from, without repetitions. Of too many: the person's, and those that end a turn."""
    unique = list({sentence.text.lower(): sentence for sentence in reversed(found)}.values())[::-1]
    unique = [sentence for sentence in unique if _length(sentence.text) >= _LEAST_CHARACTERS]
    if len(unique) <= MOST_COMPARED:
        return unique
    ranked = sorted(unique, key=lambda one: (one.speaker != "user", min(one.order, one.remaining)))[:MOST_COMPARED]
    return sorted(ranked, key=lambda one: (one.turn, one.order))


def _length(text: str) -> int:
    """The length as if in a Latin script: a character of a script without blanks says as much as three letters."""
    return len(text) + 2 * sum(character > "\u2e80" for character in text)


def _similarities(vectors: Floats) -> Floats:
    similar: Floats = np.maximum(vectors @ vectors.T, 0)
    return similar


class _Words:
    """The words of the sentences that no chosen sentence has, with weights that grow with their number."""

    def __init__(self, sentences: Sequence[frozenset[str]]) -> None:
        self._sentences = sentences
        counts = Counter(word for words in sentences for word in words)
        self._left = {word: math.log1p(count) for word, count in counts.items()}
        self._total = sum(self._left.values()) or 1.0

    def gains(self) -> NDArray[np.float64]:
        left = self._left
        return np.array([sum(left.get(word, 0.0) for word in words) for words in self._sentences]) / self._total

    def take(self, chosen: int) -> None:
        for word in self._sentences[chosen]:
            self._left.pop(word, None)


def _words(text: str) -> frozenset[str]:
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(stem(word) for word in words if len(word) > 2 and word not in STOP_WORDS)
