"""A decision record's narrative, written from a template: what was talked about when, and what was given up.

First a line that says what was merged, then one line a memory (or somebody's prose about all of them), then one a
conflict. When the record is merged in its turn, its lines are taken over, not nested.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jobs import clock

from ..memory import Memory
from ..text.sections import one_line

MOST_CHARACTERS = 8000  # of the lines about memories: more would not be read, and the memories keep their own words
_LEAST_CHARACTERS = 80  # of one line, however many there are

_HEADER = re.compile(r"Merged from (\d+) memories, \d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?\.(?:\n|\Z)")
_DATED = re.compile(r"\d{4}-\d\d-\d\d: ")
_GIVEN_UP = re.compile(r"\d{4}-\d\d-\d\d: “.*” was given up for “.*”\.", re.DOTALL)
_SENTENCE = re.compile(r"[.!?](?=\s)")


@dataclass(frozen=True, slots=True)
class NarrativeText:
    """A narrative, and what a reader should know about how it came about."""

    text: str
    warnings: tuple[str, ...] = ()


def narrative(
    sources: Sequence[Memory],
    given_up: Sequence[tuple[str, str, str]],
    date_of: Callable[[Memory], str],
    prose: str | None = None,
) -> NarrativeText:
    """The narrative of sources in order of time. ``given_up`` are conflicts: date, earlier text, later text.

    ``prose`` takes the place of the lines about memories.
    """
    lines = [line for memory in sources for line in _lines(memory, _day(date_of(memory)))]
    days = [line[:10] for line in lines]
    if prose is not None:
        lines = [line for line in prose.split("\n") if line.strip() and not _is_ours(line)]
    room = max(_LEAST_CHARACTERS, MOST_CHARACTERS // max(1, len(lines)))
    told = [_cut(line, room) for line in lines]
    settled = [f"{_day(date)}: “{one_line(old)}” was given up for “{one_line(new)}”." for date, old, new in given_up]
    former = [line for memory in sources for line in _settled_before(memory)]
    settled = list(dict.fromkeys([*former, *settled]))
    newest = _that_fit(settled, MOST_CHARACTERS // 2)
    warnings = (
        () if told + newest == lines + settled else ("The narrative is shortened; the memories keep their own words.",)
    )
    days += [_day(date_of(memory)) for memory in sources]
    return NarrativeText("\n".join([_header(sources, min(days), max(days)), *told, *newest]), warnings)


def _is_ours(line: str) -> bool:
    """Whether prose has a line that would be read as one of the template's."""
    return bool(_HEADER.match(line) or _GIVEN_UP.fullmatch(line))


def _header(sources: Sequence[Memory], first: str, last: str) -> str:
    return f"Merged from {sum(map(_count, sources))} memories, {first}{'' if first == last else f' to {last}'}."


def _that_fit(lines: Sequence[str], room: int) -> list[str]:
    """The last lines that have room together."""
    taken = 0
    for number, line in enumerate(reversed(lines)):
        taken += len(line) + 1
        if taken > room:
            return list(lines[len(lines) - number :])
    return list(lines)


def _count(memory: Memory) -> int:
    """How many memories a source stands for: a former record for those that it merged."""
    if memory.kind != "decision_record" or memory.content is None:
        return 1
    header = _HEADER.match(memory.content.context)
    return int(header[1]) if header else max(1, len(memory.sources))


def _day(date: str) -> str:
    return clock.iso(clock.parse(date))[:10]


def _lines(memory: Memory, day: str) -> list[str]:
    """What a memory says of itself, in one line; what a record of this template said, in its lines."""
    context = memory.content.context if memory.content else ""
    if memory.kind == "decision_record" and (header := _HEADER.match(context)):
        lines = [line for line in context[header.end() :].split("\n") if line.strip()]
        return [line if _DATED.match(line) else f"{day}: {line}" for line in lines if not _GIVEN_UP.fullmatch(line)]
    return [f"{day}: {one_line(context)}"] if context.strip() else []


def own_lines(memory: Memory) -> list[str]:
    """What the narrative of a record says, line by line, without the words that those of all records have."""
    context = memory.content.context if memory.content else ""
    header = _HEADER.match(context)
    lines = context[header.end() if header else 0 :].split("\n")
    return [_DATED.sub("", line, count=1) for line in lines if line.strip() and not _GIVEN_UP.fullmatch(line)]


def _settled_before(memory: Memory) -> list[str]:
    context = memory.content.context if memory.content and memory.kind == "decision_record" else ""
    return [line for line in context.split("\n") if _HEADER.match(context) and _GIVEN_UP.fullmatch(line)]


def _cut(line: str, room: int) -> str:
    """The line's sentences that have room, else its words; a line that was cut says so."""
    if len(line) <= room:
        return line
    ends = [found.end() for found in _SENTENCE.finditer(line) if found.end() < room]
    if ends and ends[-1] > room // 2:
        return line[: ends[-1]] + " …"
    return line[: room - 2].rpartition(" ")[0] + " …"
