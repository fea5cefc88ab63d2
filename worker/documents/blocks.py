"""The blocks of a document, and their Markdown.

Their texts are plain: they come from memories, and nothing in them becomes a heading, a link, an image, a table or
HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bridge.text.visible import visible


class Heading(NamedTuple):
    """A heading; of level 1, the title of the document."""

    text: str
    level: int = 2


class Paragraph(NamedTuple):
    """A text of one or more lines."""

    text: str


class Note(NamedTuple):
    """A warning of the answer: a sentence, with or without its full stop."""

    text: str


class Items(NamedTuple):
    """A list."""

    lines: Sequence[str]


class Table(NamedTuple):
    """A table. ``options``: ``right``, ``wraps`` and ``optional_columns``, as ``terminal.output.table`` takes them."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    options: Mapping[str, Any]


Block = Heading | Paragraph | Note | Items | Table


def table_of(columns: Sequence[str], rows: Sequence[Sequence[str]], **options: Sequence[str]) -> Table:
    """The table, without the columns that are empty in each row."""
    kept = [index for index in range(len(columns)) if not rows or any(row[index] for row in rows)]
    names = [columns[index] for index in kept]
    known = {option: [name for name in given if name in names] for option, given in options.items()}
    return Table(names, [[row[index] for index in kept] for row in rows], known)


def outcomes(result: Mapping[str, object], first: str, *others: str) -> str:
    """The counts of a result in words, ``3 migrated, 1 failed``: the first one, and the others that are not 0."""
    shown = [name for name in (first, *others) if result[name] or name == first]
    return ", ".join(f"{result[name]} {name.replace('_', ' ')}" for name in shown)


def day(moment: str | None) -> str:
    """The day of a timestamp; empty for None."""
    return (moment or "")[:10]


_MARKS = re.compile(r"[\\`*_{}[\]()#+\-.!|~$:/@]")


def markdown(blocks: Iterable[Block]) -> str:
    """The document, with a line feed at its end."""
    return "\n\n".join(map(_of, blocks)) + "\n"


def escaped(text: str) -> str:
    """The text on one line, with nothing that has a meaning in Markdown, not even a bare address."""
    line = _MARKS.sub(r"\\\g<0>", " ".join(visible(text).split()))
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _of(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {escaped(text)}"
        case Paragraph(text):
            return "  \n".join(map(escaped, text.strip().split("\n")))
        case Note(text):
            return f"> **Check this:** {escaped(text)}"
        case Items(lines):
            return "\n".join(f"- {escaped(line)}" for line in lines)
        case _:
            sides = ["---:" if name in block.options.get("right", ()) else "---" for name in block.columns]
            rows = [map(escaped, block.columns), sides, *(map(escaped, row) for row in block.rows)]
            return "\n".join(map(_row, rows))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
