"""A decision as a line of a decision record: its words, when and in which memory they were last stated, and whether a
later decision replaced them.

    [Later] The Starter plan costs 19 EUR (2026-07-29, #16) supersedes The Starter plan costs 29 EUR (2026-05-01, #3)
    Invoices are sent by mail (2026-05-12, #5)
    [Earlier] The Starter plan costs 29 EUR (2026-05-01, #3)

The words are written without the stop at their end. Lines without a date are read too: records had none at first.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ..memory import Content, Memory
from ..pattern import pattern

EARLIER, LATER, SUPERSEDES, AND = "[Earlier] ", "[Later] ", " supersedes ", "; "

_STATED = r" \((\d{4}-\d\d-\d\d), #(\d{1,18})\)"
_ANYWHERE, _AT_END = pattern(_STATED), pattern(_STATED + r"\Z")
_STOP = pattern(r"(?<![.\s])\.\Z")


class Stated(NamedTuple):
    """When and where a decision was last stated: a day, ISO 8601, and a memory's number."""

    day: str
    number: int

    def __str__(self) -> str:
        return f"({self.day}, #{self.number})"


class DecisionLine(NamedTuple):
    """A line without its marks. ``supersedes`` are the words of the decisions that this one replaced directly;
    ``stated`` is None in a line without a date."""

    text: str
    stated: Stated | None = None
    is_earlier: bool = False
    supersedes: tuple[str, ...] = ()


def wording(text: str) -> str:
    """The words of a decision for exact comparison: case-folded, single blanks, no punctuation at the end."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(" .!;,")


def digest(text: str) -> str:
    """The SHA-256 by which a decision is known in whatever memory states it, also in a record's line."""
    from hashlib import sha256  # not at the top: it loads OpenSSL, which a question does not need

    return sha256(wording(text).encode()).hexdigest()


def with_source(text: str, stated: Stated) -> str:
    """The words of a decision, with the date and number of the memory that stated them."""
    return f"{_STOP.sub('', text)} {stated}"


def mark_later(line: str, superseded: Iterable[str]) -> str:
    """The line of a decision that replaced others. Both have their sources already."""
    return f"{LATER}{line}{SUPERSEDES}{AND.join(superseded)}"


def read(lines: Sequence[str]) -> list[DecisionLine]:
    """The decisions of a list, in its order. A line without marks is a decision as it stands."""
    earlier = (line.removeprefix(EARLIER) for line in lines if line.startswith(EARLIER))
    longest_first = sorted(earlier, key=len, reverse=True)  # one may end like another
    return [_read(line, longest_first) for line in lines]


def _read(line: str, earlier: Sequence[str]) -> DecisionLine:
    if line.startswith(EARLIER) and line != EARLIER:
        return _with_stated(line.removeprefix(EARLIER))._replace(is_earlier=True)
    if not line.startswith(LATER):
        return _with_stated(line)
    body = line.removeprefix(LATER)
    superseded: list[str] = []
    while found := next((each for each in earlier if body.endswith((AND + each, SUPERSEDES + each))), None):
        superseded.insert(0, _with_stated(found).text)
        is_first = body.endswith(SUPERSEDES + found)
        body = body.removesuffix(found).removesuffix(SUPERSEDES if is_first else AND)
        if is_first:
            return _with_stated(body)._replace(supersedes=tuple(superseded))
    body = line.removeprefix(LATER)
    return _with_stated(body.rpartition(SUPERSEDES)[0] or body)


def _with_stated(text: str) -> DecisionLine:
    found = _AT_END.search(text)
    if found is None or found.start() == 0:
        return DecisionLine(text)
    return DecisionLine(text[: found.start()], Stated(found[1], int(found[2])))


def current_first(lines: Sequence[str]) -> list[str]:
    """The lines with those that hold first; records of earlier versions have them by date alone."""
    return sorted(lines, key=lambda line: line.startswith(EARLIER))


def renumbered(content: Content, number_of: Callable[[int], int]) -> Content:
    """A record's content with other numbers of memories, as in a store where the former ones were taken."""

    def other(found: re.Match[str]) -> str:
        return f" {Stated(found[1], number_of(int(found[2])))}"

    context, *decisions = (_ANYWHERE.sub(other, text) for text in (content.context, *content.decisions))
    return content._replace(context=context, decisions=tuple(decisions))


def searched(memory: Memory) -> Content | None:
    """The content as it is searched: a record's without the dates and numbers, which are no words of a decision."""
    if memory.content is None or memory.kind != "decision_record":
        return memory.content
    return memory.content._replace(decisions=tuple(_ANYWHERE.sub("", line) for line in memory.content.decisions))
