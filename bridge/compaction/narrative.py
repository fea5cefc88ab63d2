"""A decision record's narrative from a template: the memories by date, and the decisions that were given up.

The first line says what was merged. Then there is one line per memory, or prose about all of them, and then one line
per conflict, which has the decision that holds first, and the reason if somebody gave one. When such a record is merged
again, its lines are reused, not nested.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from jobs import clock

from ..memory import Memory
from ..text.decision_lines import Stated
from ..text.sections import one_line

MAX_CHARACTERS = 8000  # of all lines about memories; longer ones are cut, since the memories keep their own text
_MIN_LINE_CHARACTERS = 80  # to which a line may be cut

_HEADER = re.compile(r"Merged from (\d+) memories, \d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?\.(?:\n|\Z)")
_DATED = re.compile(r"\d{4}-\d\d-\d\d: ")
# The last form is that of former records.
_GIVEN_UP = re.compile(
    r"“.*” \(\d{4}-\d\d-\d\d, #\d+\) (?:replaced|holds, not|and) “.*” \(\d{4}-\d\d-\d\d, #\d+\)"
    r"(?: both hold)?(?:\.|: .+)"
    r"|\d{4}-\d\d-\d\d: “.*” was given up for “.*”\.",
    re.DOTALL,
)
_SENTENCE = re.compile(r"[.!?](?=\s)")


class Settled(NamedTuple):
    """What became of two decisions, as the narrative tells it: the first one replaced the other one, it was kept though
    the other one is newer, or both hold."""

    how: Literal["replaced", "kept", "both"]
    holds: str
    holds_stated: Stated
    other: str
    other_stated: Stated
    reason: str | None = None

    def __str__(self) -> str:
        holds, other = (f"“{one_line(text)}”" for text in (self.holds, self.other))
        verb = {"replaced": "replaced", "kept": "holds, not", "both": "and"}[self.how]
        both = " both hold" if self.how == "both" else ""
        why = f": {one_line(self.reason)}" if self.reason else "."
        return f"{holds} {self.holds_stated} {verb} {other} {self.other_stated}{both}{why}"


def narrative(
    sources: Sequence[Memory],
    settled: Sequence[Settled],
    date_of: Callable[[Memory], str],
    prose: str | None = None,
) -> tuple[str, Sequence[str]]:
    """The narrative of sources in chronological order, and warnings for its reader. ``settled`` are the conflicts;
    ``prose`` replaces the lines about memories."""
    lines = [line for memory in sources for line in _lines(memory, _day(date_of(memory)))]
    days = [line[:10] for line in lines]
    if prose is not None:
        lines = [line for line in prose.split("\n") if line.strip() and not _is_template_line(line)]
    max_characters = max(_MIN_LINE_CHARACTERS, MAX_CHARACTERS // max(1, len(lines)))
    shown = [_cut(line, max_characters) for line in lines]
    former = [line for memory in sources for line in _earlier_conflict_lines(memory)]
    conflict_lines = list(dict.fromkeys([*former, *map(str, settled)]))
    newest = _last_that_fit(conflict_lines, MAX_CHARACTERS // 2)
    is_whole = shown + newest == lines + conflict_lines
    warnings = [] if is_whole else ["The narrative is shortened; the memories keep their own words."]
    days += [_day(date_of(memory)) for memory in sources]
    return "\n".join([_header(sources, min(days), max(days)), *shown, *newest]), warnings


def _is_template_line(line: str) -> bool:
    """Whether a line of prose would be parsed as one of the template's lines."""
    return bool(_HEADER.match(line) or _GIVEN_UP.fullmatch(line))


def _header(sources: Sequence[Memory], first: str, last: str) -> str:
    return f"Merged from {sum(map(_count, sources))} memories, {first}{'' if first == last else f' to {last}'}."


def _last_that_fit(lines: Sequence[str], max_characters: int) -> list[str]:
    """The last lines that fit into ``max_characters`` together."""
    used = 0
    for number, line in enumerate(reversed(lines)):
        used += len(line) + 1
        if used > max_characters:
            return list(lines[len(lines) - number :])
    return list(lines)


def _count(memory: Memory) -> int:
    """How many memories a source represents: an earlier record represents those that it merged."""
    if memory.kind != "decision_record" or memory.content is None:
        return 1
    header = _HEADER.match(memory.content.context)
    return int(header[1]) if header else max(1, len(memory.sources))


def _day(date: str) -> str:
    return clock.iso(clock.parse(date))[:10]


def _lines(memory: Memory, day: str) -> list[str]:
    """The lines about a memory: one with its context; of an earlier record, its lines about memories."""
    context = memory.content.context if memory.content else ""
    if memory.kind == "decision_record" and (header := _HEADER.match(context)):
        lines = [line for line in context[header.end() :].split("\n") if line.strip()]
        return [line if _DATED.match(line) else f"{day}: {line}" for line in lines if not _GIVEN_UP.fullmatch(line)]
    return [f"{day}: {one_line(context)}"] if context.strip() else []


def own_lines(memory: Memory) -> list[str]:
    """The lines of a record's narrative without the template's words: no header, dates or conflicts."""
    context = memory.content.context if memory.content else ""
    header = _HEADER.match(context)
    lines = context[header.end() if header else 0 :].split("\n")
    return [_DATED.sub("", line, count=1) for line in lines if line.strip() and not _GIVEN_UP.fullmatch(line)]


def _earlier_conflict_lines(memory: Memory) -> list[str]:
    context = memory.content.context if memory.content and memory.kind == "decision_record" else ""
    return [line for line in context.split("\n") if _HEADER.match(context) and _GIVEN_UP.fullmatch(line)]


def _cut(line: str, max_characters: int) -> str:
    """The line cut to ``max_characters``, at a sentence if possible, else at a word; a cut line ends in ``…``."""
    if len(line) <= max_characters:
        return line
    ends = [found.end() for found in _SENTENCE.finditer(line) if found.end() < max_characters]
    if ends and ends[-1] > max_characters // 2:
        return line[: ends[-1]] + " …"
    return line[: max_characters - 2].rpartition(" ")[0] + " …"
