"""Words for exact search: what is indexed of a text, and what is asked for in a query.

Developers remember identifiers: ``parseJobFile``, ``max_job_bytes``, ``src/app/main.py``, ``E1042``. They are
found whole (as a phrase) and in part (by their words).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_WORD = re.compile(r"[^\W_]+")
_CHUNK = re.compile(r"\S+")

# Words that say nothing about a subject; a query of nothing else keeps them.
STOP_WORDS = frozenset(
    "a about after all also am an and any are as at be because been before being between both but by can could"
    " did do does doing for from had has have having he her here him his how i if in into is it its just me more"
    " most my no not of on or other our out over own said same she should so some such than that the their them"
    " then there these they this those through to too under until up us very was we were what when where which"
    " while who whom why will with would you your".split()
)


def indexed(text: str) -> str:
    """The text with the words of its camelCase identifiers added, for the full-text index."""
    extra = []
    for word in _WORD.findall(text):
        parts = _HUMP.split(word)
        if len(parts) > 1:
            extra.extend(parts)
    return f"{text}\n{' '.join(extra)}" if extra else text


@dataclass(frozen=True, slots=True)
class Term:
    """Words that must stand side by side, in lower case. One word is the usual case."""

    words: tuple[str, ...]

    @property
    def match(self) -> str:
        """The term in FTS5's query language."""
        return '"' + " ".join(self.words) + '"'


def query_terms(query: str) -> list[Term]:
    """What to look for, each once, in order: words, and compound identifiers as phrases beside their parts."""
    found: dict[Term, None] = {}
    for chunk in _CHUNK.findall(query):
        words = _WORD.findall(chunk)
        if len(words) > 1:
            found[Term(tuple(word.lower() for word in words))] = None
        for word in words:
            found[Term((word.lower(),))] = None
            parts = _HUMP.split(word)
            if len(parts) > 1:
                for part in parts:
                    found[Term((part.lower(),))] = None
    telling = [term for term in found if term.words[0] not in STOP_WORDS or len(term.words) > 1]
    return telling or list(found)
