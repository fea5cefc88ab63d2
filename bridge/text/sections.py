"""Writes and reads the body of a section: paragraphs, a list or a time scope, as lines of text.

Only ``\\n`` separates lines; NEL and U+2028 are ordinary characters. For a normalised value, the reader returns
exactly what the writer was given. Headings and the order of sections belong to ``template``.

A body line that looks like structure (a heading, the start or a line of the metadata block, a template comment) is
escaped with a backslash before it; a line that already starts with such a backslash gets one more. All other
backslashes are unchanged, so that paths and regular expressions stay readable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from jobs import clock

from ..memory import ITEM_SECTIONS, Content, References, TimeScope
from ..pattern import pattern
from . import references

_STRUCTURE = (
    r"(?:#(?:#|\s|\Z)"
    r"|\s*\*\*Metadata:\*\*"
    r"|\s*<!--\s*(?:Decision Record )?Template\b"
    r"|\s*(?:- )?(?:Topic ID|Session ID|Plan ID|Status|Created|Updated|Source Created):)"
)
_TO_ESCAPE = pattern(r"\\*" + _STRUCTURE)
_ESCAPED = pattern(r"\\+" + _STRUCTURE)
_BOUND = pattern(r"\s*- (Start|End|Turn Count):(.*)", re.DOTALL)
_COUNT = pattern(r"[0-9]{1,9}")
_EMPTY_ITEMS = frozenset(["", "none", "n/a"])


def newlines(text: str) -> str:
    """The text with ``\\n`` for every line end, also those of Windows and of old Macs."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def one_line(text: str) -> str:
    """The text on a single line: each run of white space becomes one blank."""
    return " ".join(text.split())


def shorten(text: str, max_characters: int = 120) -> str:
    """The text on a single line, cut to ``max_characters``; a cut text ends in ``…``."""
    line = one_line(text)
    return line if len(line) <= max_characters else line[: max_characters - 1] + "…"


def shortened(text: str, most: int) -> str:
    """The text, at most so many characters, cut at a word."""
    if len(text) <= most:
        return text
    stop = max(text.rfind(" ", most // 2, most), text.rfind("/", most // 2, most))
    return f"{text[: stop if stop > 0 else most - 1].rstrip(' ,;:.')}…"


def normalise_time(text: str) -> str | None:
    """A timestamp as ISO 8601 in UTC with ``Z``; None for an invalid one."""
    try:
        time = clock.parse(text)
    except ValueError:
        return None
    return clock.iso(time) if time.year >= 1000 else None  # earlier years do not have four digits


def write_text(text: str) -> list[str]:
    """The escaped lines of a text; none for an empty one."""
    return [_escape(line) for line in text.split("\n")] if text else []


def read_text(lines: Iterable[str]) -> str:
    """The text of escaped lines, stripped."""
    return "\n".join(_unescape(line) for line in lines).strip()


def write_items(items: Iterable[str]) -> list[str]:
    """A list with a ``- `` line for each item. Further lines of an item are indented by two blanks unless empty."""
    lines = []
    for item in items:
        first, *further = item.split("\n")
        lines.append(f"- {_escape(first)}")
        lines += [f"  {_escape(line)}" if line else "" for line in further]
    return lines


def read_items(lines: Iterable[str]) -> tuple[str, ...]:
    """The items of a list. A line without ``- `` or indent continues the item right above it, or else is an item."""
    items: list[list[str]] = []
    blanks: list[str] = []
    for line in lines:
        if not line.strip():
            blanks.append(line.removeprefix("  "))
        elif items and line.startswith("  "):
            items[-1] += [*blanks, _unescape(line[2:])]
            blanks = []
        elif line.startswith("- ") or line.rstrip() == "-":
            items.append([_unescape(line[2:])])
            blanks = []
        elif items and not blanks:
            items[-1].append(_unescape(line.strip()))
        else:
            items.append([_unescape(line.strip())])
            blanks = []
    return tidy_items("\n".join(item) for item in items)


def write_scope(scope: TimeScope) -> list[str]:
    """Three lines for the bounds if one of them is known, then the free text."""
    lines = []
    if (scope.start, scope.end, scope.turn_count) != (None, None, None):
        turns = None if scope.turn_count is None else str(scope.turn_count)
        for name, value in (("Start", scope.start), ("End", scope.end), ("Turn Count", turns)):
            lines.append(f"- {name}: {one_line(value or '') or 'N/A'}")
    return lines + write_text(scope.text)


def read_scope(lines: Iterable[str]) -> TimeScope:
    """The time scope in the lines: the first valid line for each bound; all other lines are free text."""
    times: dict[str, str] = {}
    turns: int | None = None
    free_text = []
    for line in lines:
        bound = _BOUND.fullmatch(line)
        name, value = (bound[1], bound[2].strip()) if bound else ("", "")
        if bound and value.lower() in _EMPTY_ITEMS:
            continue
        if name == "Turn Count" and turns is None and _COUNT.fullmatch(value):
            turns = int(value)
        elif name in ("Start", "End") and name not in times and (at := normalise_time(value)):
            times[name] = at
        else:
            free_text.append(line)
    text = read_text(free_text)
    text = "" if text.lower() in _EMPTY_ITEMS else text
    return TimeScope(text, times.get("Start"), times.get("End"), turns)


def scope_text(scope: TimeScope) -> str:
    """A time scope as one readable text: bounds and turns on the first line, then the free text."""
    bounds = " – ".join(one_line(bound) for bound in (scope.start, scope.end) if bound)
    turns = "" if scope.turn_count is None else f"{scope.turn_count} turns"
    known = ", ".join(part for part in (bounds, turns) if part)
    return "\n".join(part for part in (known, scope.text) if part)


def tidy_items(items: Iterable[str]) -> tuple[str, ...]:
    """The items, stripped, without empty ones (``None`` and ``N/A`` count as empty)."""
    tidied = (newlines(item).strip() for item in items)
    return tuple(item for item in tidied if item.lower() not in _EMPTY_ITEMS)


def normalise(content: Content) -> Content:
    """Content in the form that is stored; writing and reading it gives an equal value.

    The topic is one line. Texts and items are stripped, with ``\\n`` between lines; empty items are dropped. The
    scope's times are in UTC; an invalid bound becomes free text, and a bound in the free text becomes a bound.
    """
    refs, scope = content.references, content.time_scope
    return content._replace(
        topic=one_line(content.topic),
        context=newlines(content.context).strip(),
        references=References(*map(tidy_items, (refs.files, refs.plans, refs.branches, refs.issues))),
        time_scope=read_scope(write_scope(scope._replace(text=newlines(scope.text).strip()))),
        **{name: tidy_items(getattr(content, name)) for name in ITEM_SECTIONS},
    )


def content_of(topic: str, sections: dict[str, list[str]]) -> Content:
    """Normalised content from its sections: field name of ``Content`` -> lines."""
    return normalise(
        Content(
            topic=topic,
            context=read_text(sections.get("context", ())),
            references=references.split(read_items(sections.get("references", ()))),
            time_scope=read_scope(sections.get("time_scope", ())),
            **{name: read_items(sections.get(name, ())) for name in ITEM_SECTIONS},
        )
    )


def lines_of(content: Content) -> dict[str, list[str]]:
    """The sections of normalised content: field name of ``Content`` -> lines."""
    return {
        "context": write_text(content.context),
        **{name: write_items(getattr(content, name)) for name in ITEM_SECTIONS},
        "references": write_items(references.flatten(content.references)),
        "time_scope": write_scope(content.time_scope),
    }


def _escape(line: str) -> str:
    return f"\\{line}" if _TO_ESCAPE.match(line) else line


def _unescape(line: str) -> str:
    return line[1:] if _ESCAPED.match(line) else line
