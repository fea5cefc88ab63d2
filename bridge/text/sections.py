"""What stands under a heading: paragraphs, a list, a time scope, as lines of text and back.

Only ``\\n`` splits lines; NEL and U+2028 are characters like any other. Every writer returns lines that its
reader turns into the same value again, provided that the value is normalised.

A body line that could be taken for structure (a heading, the start of the metadata block or a line of it, a
template comment) is written with a backslash before it; a line that has such a backslash of its own gets one
more. All other backslashes stand for themselves, so that paths and regular expressions stay readable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from jobs import clock

from ..memory import Content, References, TimeScope
from . import references

_STRUCTURE = (
    r"(?:#(?:#|\s|\Z)"
    r"|\s*\*\*Metadata:\*\*"
    r"|\s*<!--\s*(?:Decision Record )?Template\b"
    r"|\s*(?:- )?(?:Topic ID|Session ID|Plan ID|Status|Created|Updated|Source Created):)"
)
_TO_ESCAPE = re.compile(r"\\*" + _STRUCTURE)
_ESCAPED = re.compile(r"\\+" + _STRUCTURE)
_BOUND = re.compile(r"\s*- (Start|End|Turn Count):(.*)", re.DOTALL)
_COUNT = re.compile(r"[0-9]{1,9}")
_EMPTY_ITEMS = frozenset(["", "none", "n/a"])


def newlines(text: str) -> str:
    """The text with each line end of Windows and of old Macs as ``\\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def one_line(text: str) -> str:
    """The text in a single line: every run of white space becomes one blank."""
    return " ".join(text.split())


def moment(text: str) -> str | None:
    """A timestamp as ISO 8601 in UTC with ``Z``; None for what is none."""
    try:
        found = clock.parse(text)
    except ValueError:
        return None
    return clock.iso(found) if found.year >= 1000 else None  # earlier years are not written with four digits


def write_text(text: str) -> list[str]:
    return [_escape(line) for line in text.split("\n")] if text else []


def read_text(lines: Iterable[str]) -> str:
    return "\n".join(_unescape(line) for line in lines).strip()


def write_items(items: Iterable[str]) -> list[str]:
    """One ``- `` line an item; its further lines are indented by two blanks, empty ones stay empty."""
    found = []
    for item in items:
        first, *rest = item.split("\n")
        found.append(f"- {_escape(first)}")
        found += [f"  {_escape(line)}" if line else "" for line in rest]
    return found


def read_items(lines: Iterable[str]) -> tuple[str, ...]:
    """The items of a list. A loose line is kept: right below an item it continues it, else it is an item."""
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
    """Three lines for the bounds when one of them is known, then the free text."""
    found = []
    if (scope.start, scope.end, scope.turn_count) != (None, None, None):
        turns = None if scope.turn_count is None else str(scope.turn_count)
        for name, value in (("Start", scope.start), ("End", scope.end), ("Turn Count", turns)):
            found.append(f"- {name}: {one_line(value or '') or 'N/A'}")
    return found + write_text(scope.text)


def read_scope(lines: Iterable[str]) -> TimeScope:
    """The bounds among the lines, the first of each that can be read; every other line is free text."""
    times: dict[str, str] = {}
    turns: int | None = None
    rest = []
    for line in lines:
        bound = _BOUND.fullmatch(line)
        name, value = (bound[1], bound[2].strip()) if bound else ("", "")
        if bound and value.lower() in _EMPTY_ITEMS:
            continue
        if name == "Turn Count" and turns is None and _COUNT.fullmatch(value):
            turns = int(value)
        elif name in ("Start", "End") and name not in times and (at := moment(value)):
            times[name] = at
        else:
            rest.append(line)
    text = read_text(rest)
    text = "" if text.lower() in _EMPTY_ITEMS else text
    return TimeScope(text, times.get("Start"), times.get("End"), turns)


def scope_text(scope: TimeScope) -> str:
    """A time scope in one text for people."""
    bounds = " – ".join(one_line(bound) for bound in (scope.start, scope.end) if bound)
    turns = "" if scope.turn_count is None else f"{scope.turn_count} turns"
    known = ", ".join(part for part in (bounds, turns) if part)
    return "\n".join(part for part in (known, scope.text) if part)


def tidy_items(items: Iterable[str]) -> tuple[str, ...]:
    """Items without blanks around them; an item that says nothing (empty, ``None``, ``N/A``) is none."""
    tidied = (newlines(item).strip() for item in items)
    return tuple(item for item in tidied if item.lower() not in _EMPTY_ITEMS)


def normalise(content: Content) -> Content:
    """The form in which content is stored: writing and reading it gives exactly the same again.

    The topic is one line. Texts and items have no blanks around them, and ``\\n`` between lines; empty items
    go. The scope's times are UTC; a bound that cannot be read is free text, and one written as text a bound.
    """
    refs, scope = content.references, content.time_scope
    return replace(
        content,
        topic=one_line(content.topic),
        context=newlines(content.context).strip(),
        decisions=tidy_items(content.decisions),
        rationale=tidy_items(content.rationale),
        open_questions=tidy_items(content.open_questions),
        next_steps=tidy_items(content.next_steps),
        references=References(*map(tidy_items, (refs.files, refs.plans, refs.branches, refs.issues))),
        time_scope=read_scope(write_scope(replace(scope, text=newlines(scope.text).strip()))),
    )


def content_of(topic: str, sections: dict[str, list[str]]) -> Content:
    """Normalised content from the lines of its sections, by the names of its fields."""
    return normalise(
        Content(
            topic=topic,
            context=read_text(sections.get("context", ())),
            decisions=read_items(sections.get("decisions", ())),
            rationale=read_items(sections.get("rationale", ())),
            open_questions=read_items(sections.get("open_questions", ())),
            next_steps=read_items(sections.get("next_steps", ())),
            references=references.split(read_items(sections.get("references", ()))),
            time_scope=read_scope(sections.get("time_scope", ())),
        )
    )


def lines_of(content: Content) -> dict[str, list[str]]:
    """The lines of each section of normalised content, by the names of its fields."""
    return {
        "context": write_text(content.context),
        "decisions": write_items(content.decisions),
        "rationale": write_items(content.rationale),
        "open_questions": write_items(content.open_questions),
        "next_steps": write_items(content.next_steps),
        "references": write_items(references.flatten(content.references)),
        "time_scope": write_scope(content.time_scope),
    }


def _escape(line: str) -> str:
    return f"\\{line}" if _TO_ESCAPE.match(line) else line


def _unescape(line: str) -> str:
    return line[1:] if _ESCAPED.match(line) else line
