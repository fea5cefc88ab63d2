"""The blocks of a document. Their texts are plain: they come from memories, and nothing in them is markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


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
