"""The words of a query in a text: which of them it has, and where, to mark them for a reader.

It compares stems, so ``renews`` has the word ``renew``. The index has a better stemmer; this one only has to please
the eye. ``terms`` has the search terms themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ..pattern import pattern
from .terms import STOP_WORDS, query_terms

_WORD = pattern(r"[^\W_]+")
_IGNORED = STOP_WORDS | {"may", "might", "must", "shall"}
_SCRIPT = pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_ENDING = pattern(r"(?<=\w{3})(?:ing|ies|ied|ed|es|s|e|y)$")
_DOUBLED = pattern(r"([bdgmnprt])\1$")

Span = tuple[int, int]


class QueryWords:
    """The words of one query, without stop words unless it has no others."""

    def __init__(self, query: str) -> None:
        texts = [term.text for term in query_terms(query)]
        words = {word for text in texts for word in _WORD.findall(text)}
        self._stems = {stem(word) for word in words - _IGNORED or words}
        # A script without capitals may have no blanks between words: a text is searched for these as they are.
        self._parts = {text for text in texts if len(text) > 1 and text.upper() == text.lower() and not text.isascii()}

    def share_in(self, text: str) -> float:
        """The share of the query's words that the text has, 0 to 1."""
        if not self._stems:
            return 0.0
        found = {stem(word) for word in _WORD.findall(text)}
        parts = {part for part in self._parts if part in text}
        return sum(stem in found or stem in parts for stem in self._stems) / len(self._stems)

    def spans(self, text: str) -> list[Span]:
        """Where the query's words are in the text: start and end of each, in order, without overlaps."""
        merged: list[Span] = []
        for start, end in sorted(self._found(text)):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return merged

    def _found(self, text: str) -> Iterator[Span]:
        yield from (found.span() for found in _WORD.finditer(text) if stem(found[0]) in self._stems)
        for part in self._parts:
            yield from (found.span() for found in re.finditer(re.escape(part), text))


@lru_cache(4096)
def subject_words(text: str) -> frozenset[str]:
    """The words that say what a text is about, without their endings; pairs of characters in scripts without blanks."""
    found = {stem(word) for word in _WORD.findall(text) if len(word) > 2 and word.lower() not in STOP_WORDS}
    pairs = {run[at : at + 2] for run in _SCRIPT.findall(text) for at in range(len(run) - 1)}
    return frozenset(found | pairs)


def stem(word: str) -> str:
    return _DOUBLED.sub(r"\1", _ENDING.sub("", word.casefold()))
