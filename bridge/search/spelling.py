"""Misspelt words of a question, and the words of the memories that are meant.

A word is taken for misspelt if no memory has it, it is no common English word, and a word of the memories is near: it
begins with the same letter and is one edit away, or two for a word of eight letters or more. An edit is a letter too
much, one that is missing, a wrong one, or two neighbours in the wrong order. Of several words the nearest is meant,
then the one that more memories have. docs/benchmarks.md has what this gains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..store.reader import StoreSnapshot
    from ..text.terms import Term

LETTERS = range(5, 25)  # of a word that is corrected; a shorter one is near to too many
TWO_EDITS = 8
MOST_WORDS = 8  # of a question; a pasted log has many unknown ones
_LONGEST_ENDING = 5  # that the stemmer removes: administration


def candidates(query: str, unknown: Iterable[Term]) -> list[str]:
    """The words of the question that may be misspelt, in lower case, among the terms that no memory has."""
    return [term.text for term in unknown if _is_plain(term.text) and _places(term.text).search(query)][:MOST_WORDS]


def replaced(query: str, meant: Mapping[str, str]) -> str:
    """The question with the words that are meant."""
    for word, other in meant.items():
        query = _places(word).sub(other, query)
    return query


def _is_plain(word: str) -> bool:
    return len(word) in LETTERS and word.isascii() and word.isalpha() and word.islower()


def _places(word: str) -> re.Pattern[str]:
    """Where the word stands by itself: not in an identifier, a path or code."""
    return re.compile(rf"(?<![\w@#$./\\:`-]){word}(?![\w@#/\\`]|[.:-]\w)", re.IGNORECASE)


def nearest(word: str, store: StoreSnapshot) -> str | None:
    """The word of the memories that is meant by one that none has; None if no word is near. Raises FullTextDamaged."""
    most = 2 if len(word) >= TWO_EDITS else 1
    near = []
    for stem, having in store.stems(word[0]):
        if not -most <= len(word) - len(stem) <= _LONGEST_ENDING + most or not stem.isalpha():
            continue
        beginning = stem.removesuffix("i")  # written for y
        if not _lacks_more(word, beginning, most) and (least := min(_distances(beginning, word))) <= most:
            near.append((least, -having, stem))
    best: tuple[int, int, str] | None = None
    for least, rank, stem in sorted(near):
        if best is not None and least > best[0]:
            break
        for other in store.words_of(stem):
            if abs(len(other) - len(word)) <= most and (edits := _distances(word, other)[-1]) <= most:
                best = min(best or (edits, rank, other), (edits, rank, other))
    return None if best is None else best[2]


def _lacks_more(word: str, other: str, most: int) -> bool:
    """Whether the word lacks more letters of the other one: a quick look before edits are counted."""
    for letter in other:
        if letter in word:
            word = word.replace(letter, "", 1)
        else:
            most -= 1
    return most < 0


def _distances(word: str, other: str) -> list[int]:
    """How many edits make of the word each beginning of the other word, the last one the whole: the optimal string
    alignment."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        earlier, before, row = before, row, [i]
        for j, wanted in enumerate(other, 1):
            edits = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == wanted:
                edits = min(edits, earlier[j - 2] + 1)
            row.append(edits)
    return row
