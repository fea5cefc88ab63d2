"""Prints text for people: lines and tables, with colours on a terminal and plain in a pipe.

Colours follow NO_COLOR and TERM and never carry information of their own. Invisible and control characters in memories
and jobs are removed (``bridge.text.visible``) before they reach a terminal or a pipe.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from bridge.text.visible import visible
from jobs.errors import JobError

from ..wording import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

STYLES = {
    "queued": "blue",
    "running": "cyan",
    "retrying": "yellow",
    "succeeded": "green",
    "failed": "bold red",
    "rejected": "bold red",
    "expired": "magenta",
    "cancelled": "dim",
    "ready": "green",
    "paused": "yellow",
    "draining": "yellow",
    "exiting": "yellow",
}
_COLOURED = ("state", "outcome")
_MOST_SHOWN = 20  # lines
_COMFORT = 30  # the width in columns that a wrapped cell should have

Envelope = Mapping[str, Any]  # the answer of a command: a Success with its own fields, or a Refusal
Part = str | tuple[str, str]  # a text, or a text and its style


def console(*, stderr: bool = False) -> Console:
    """A rich console without markup, emoji and highlighting."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


def on_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout.isatty()


def columns() -> int | None:
    """The width of the terminal; None in a pipe, where the width is not limited."""
    return console().width if on_terminal() else None


def clean(text: str) -> str:
    """The text without what a person does not see, and without what the terminal would obey."""
    return visible(text)


def say(*parts: Part) -> None:
    """Print a line on stdout."""
    if on_terminal() and any(isinstance(part, tuple) for part in parts):
        console().print(styled(*parts))
    else:
        print(clean(plain(parts)))  # noqa: T201


def styled(*parts: Part) -> Text:
    """The parts as rich text, cleaned."""
    from rich.text import Text

    return Text.assemble(*(clean(p) if isinstance(p, str) else (clean(p[0]), p[1]) for p in parts))


def plain(parts: Sequence[Part]) -> str:
    """The text of the parts, without styles."""
    return "".join(part if isinstance(part, str) else part[0] for part in parts)


def state(word: str) -> Part:
    """A state with its colour."""
    return (word, STYLES[word]) if word in STYLES else word


def hint(text: str) -> None:
    """Print a line on stderr for a waiting user; only on a terminal."""
    if sys.stderr.isatty():
        print(clean(text), file=sys.stderr, flush=True)  # noqa: T201


def warn(text: str) -> None:
    """Print a line on stderr, on a terminal or not."""
    if sys.stderr.isatty():
        console(stderr=True).print(styled(text))
    else:
        print(clean(text), file=sys.stderr)  # noqa: T201


def table(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[str] = (),
    wraps: Sequence[str] = (),
    optional_columns: Sequence[str] = (),
) -> None:
    """Print a table.

    On a narrow terminal the ``optional_columns`` are omitted in their order, and cells of the columns in ``wraps``
    wrap. In a pipe every row is one line, with all columns, two spaces apart.
    """
    rows = [[clean(cell).replace("\n", " ") for cell in row] for row in rows]
    if not on_terminal():
        widths = [max(map(_cells, cells)) for cells in zip(names, *rows, strict=True)]
        for row in (names, *rows):
            cells = zip(names, row, widths, strict=True)
            print("  ".join(_padded(cell, width, name in right) for name, cell, width in cells).rstrip())  # noqa: T201
        return
    screen = console()
    screen.print(fitted(screen, names, rows, right=right, wraps=wraps, optional_columns=optional_columns))


def fitted(
    screen: Console,
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[str] = (),
    wraps: Sequence[str] = (),
    optional_columns: Sequence[str] = (),
) -> Table:
    """The table as it fits the screen."""
    natural = [max(map(_cells, cells)) for cells in zip(names, *rows, strict=True)]
    widths = {index: min(width, _COMFORT) if names[index] in wraps else width for index, width in enumerate(natural)}
    for name in optional_columns:
        if sum(widths.values()) + 2 * len(widths) <= screen.width:
            break
        widths.pop(list(names).index(name))
    return _table([names[p] for p in widths], [[row[p] for p in widths] for row in rows], right, wraps)


def _table(names: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str], wraps: Sequence[str]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), collapse_padding=True)
    for name in names:
        side: Literal["left", "right"] = "right" if name in right else "left"
        made.add_column(name, justify=side, no_wrap=name not in wraps, overflow="fold" if name in wraps else "ellipsis")
    for row in rows:
        cells = [Text(c, STYLES.get(c, "") if name in _COLOURED else "") for name, c in zip(names, row, strict=True)]
        made.add_row(*cells)
    return made


def _cells(text: str) -> int:
    """The width of a text in terminal columns."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _padded(cell: str, width: int, right: bool) -> str:
    gap = " " * (width - _cells(cell))
    return gap + cell if right else cell + gap


Value = str | Sequence[Part]


def facts(pairs: Sequence[tuple[str, Value]], indent: int = 0) -> None:
    """Print names and values, one line each. A value may consist of parts; empty values are omitted."""
    shown = [(name, [value] if isinstance(value, str) else value) for name, value in pairs if value]
    width = max((len(name) for name, _ in shown), default=0) + 2
    if not on_terminal():
        for name, parts in shown:
            say(" " * indent, name.ljust(width), *parts)
        return
    from rich.padding import Padding
    from rich.table import Table

    made = Table.grid(padding=(0, 2, 0, 0))
    made.add_column(no_wrap=True, style="dim", min_width=width - 2)
    made.add_column(overflow="fold")
    for name, parts in shown:
        made.add_row(name, styled(*parts))
    console().print(Padding(made, (0, 0, 0, indent)))


def agrees(lines: Sequence[str], noun: str, question: str) -> bool:
    """Ask the user a question about the lines, on stderr because stdout has the answer. Returns whether the user
    agreed."""
    shown = [*lines[:_MOST_SHOWN], *([f"… and {len(lines) - _MOST_SHOWN} more"] if len(lines) > _MOST_SHOWN else [])]
    for line in shown:
        warn(f"  {line}")
    asked = f"{counted(len(lines), noun)}. {question} [yes/no] "
    print(asked, end="", file=sys.stderr, flush=True)  # noqa: T201
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def confirm(as_json: bool, lines: Sequence[str], noun: str, question: str, unconfirmed: str) -> None:
    """Ask as ``agrees``. Raises JobError: NOT_CONFIRMED with ``unconfirmed`` when the user declines or cannot be
    asked."""
    is_person = not as_json and sys.stdin.isatty() and sys.stderr.isatty()
    if not (is_person and agrees(lines, noun, question)):
        raise JobError("NOT_CONFIRMED", unconfirmed)


def notes(warnings: Sequence[str]) -> None:
    """Print the warnings of an answer, one line each."""
    for warning in warnings:
        say(f"Note: {warning.rstrip('.')}.")
