"""Prints text for people: lines and tables, with colours on a terminal and plain in a pipe.

Colours and bold letters follow NO_COLOR and TERM and never carry information of their own. Invisible and control
characters in memories and jobs are removed (``bridge.text.visible``) before they reach a terminal or a pipe.
"""

from __future__ import annotations

import argparse
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from bridge.text.visible import visible
from jobs.errors import JobError

from ..wording import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from ..documents import Block

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
_GAP = 2  # blanks between two columns of a table
_INDENT = " " * 4  # before a text below a row

Envelope = Mapping[str, Any]  # the answer of a command: a Success with its own fields, or a Refusal
Part = str | tuple[str, str]  # a text, or a text and its style


def console(*, stderr: bool = False) -> Console:
    """A rich console without markup, emoji and highlighting; with NO_COLOR also without bold and dim letters."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, color_system=color_system())


def color_system() -> Literal["auto"] | None:
    """What a rich console may send: None for no styles at all, as NO_COLOR wishes it."""
    from rich.console import Console

    return None if Console().no_color else "auto"


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


def warn(text: str) -> None:
    """Print a line on stderr, on a terminal or not, after what stands on stdout already."""
    print(end="", flush=True)  # noqa: T201
    if sys.stderr.isatty():
        console(stderr=True).print(styled(text))
    else:
        print(clean(text), file=sys.stderr)  # noqa: T201


class Layout(TypedDict, total=False):
    """How a table fits its place, by the names of its columns.

    On a narrow terminal the ``optional_columns`` are omitted in their order, until each column in ``wraps`` has
    ``comfort`` columns of the terminal; its cells wrap. In a pipe every row is one line, with all columns, two spaces
    apart.
    """

    right: Sequence[str]
    wraps: Sequence[str]
    optional_columns: Sequence[str]
    comfort: int


def table(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    below: Sequence[Sequence[Part]] = (),
    **layout: Unpack[Layout],
) -> None:
    """Print a table. ``below`` has a text for each row, which is printed below it, indented."""
    rows = [[clean(cell).replace("\n", " ") for cell in row] for row in rows]
    if not on_terminal():
        widths = _natural(names, rows)
        for number, row in enumerate((names, *rows)):
            cells = zip(names, row, widths, strict=True)
            line = (_padded(cell, width, name in layout.get("right", ())) for name, cell, width in cells)
            print("  ".join(line).rstrip())  # noqa: T201
            if number and below and (text := clean(plain(below[number - 1]))):
                print("\n".join(f"{_INDENT}{line}".rstrip() for line in text.split("\n")))  # noqa: T201
        return
    screen = console()
    if not below:
        screen.print(fitted(screen, names, rows, **layout))
        return
    from rich.padding import Padding

    names, rows = _kept(screen.width, names, rows, layout)
    fixed = _fixed(screen.width, names, rows, layout.get("wraps", ()))
    screen.print(_table(names, [], layout, fixed))
    for row, parts in zip(rows, below, strict=True):
        screen.print(_table(names, [row], layout, fixed, show_header=False))
        if plain(parts):
            screen.print(Padding(styled(*parts), (0, 0, 0, len(_INDENT)), expand=False))


def table_of(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], **layout: Unpack[Layout]) -> None:
    """Print a table of fields; ``columns``: the name of each column, and its field. What is absent has an empty
    cell."""
    table(list(columns), [[str(row[field] or "") for field in columns.values()] for row in rows], **layout)


def fitted(screen: Console, names: Sequence[str], rows: Sequence[Sequence[str]], **layout: Unpack[Layout]) -> Table:
    """The table as it fits the screen."""
    return _table(*_kept(screen.width, names, rows, layout), layout)


def _natural(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """The width of each column, so that nothing wraps."""
    return [max(map(_cells, cells)) for cells in zip(names, *rows, strict=True)]


def _kept(
    width: int, names: Sequence[str], rows: Sequence[Sequence[str]], layout: Layout
) -> tuple[list[str], list[list[str]]]:
    """The columns that are shown on a screen of that width, and their cells."""
    comfort, wraps = layout.get("comfort", _COMFORT), layout.get("wraps", ())
    natural = enumerate(_natural(names, rows))
    widths = {index: min(wide, comfort) if names[index] in wraps else wide for index, wide in natural}
    for name in layout.get("optional_columns", ()):
        if sum(widths.values()) + _GAP * (len(widths) - 1) <= width:
            break
        widths.pop(list(names).index(name))
    return [names[index] for index in widths], [[row[index] for index in widths] for row in rows]


def _fixed(width: int, names: Sequence[str], rows: Sequence[Sequence[str]], wraps: Sequence[str]) -> list[int]:
    """The width of each column when the columns in ``wraps`` share what the others leave, the first ones first."""
    widths = _natural(names, rows)
    wrapping = [index for index, name in enumerate(names) if name in wraps]
    left = width - sum(widths) - _GAP * (len(widths) - 1) + sum(widths[index] for index in wrapping)
    for place, index in enumerate(wrapping):
        widths[index] = max(min(widths[index], left // (len(wrapping) - place)), 1)
        left -= widths[index]
    return widths


def _table(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    layout: Layout,
    fixed: Sequence[int] | None = None,
    *,
    show_header: bool = True,
) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        collapse_padding=True,
        show_header=show_header,
    )
    wraps = layout.get("wraps", ())
    for index, name in enumerate(names):
        side: Literal["left", "right"] = "right" if name in layout.get("right", ()) else "left"
        made.add_column(
            name,
            justify=side,
            no_wrap=name not in wraps,
            overflow="fold" if name in wraps else "ellipsis",
            width=fixed[index] if fixed else None,
        )
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


def show_blocks(blocks: Iterable[Block]) -> None:
    """Print blocks of a document."""
    from ..documents import Heading, Items, Note, Paragraph

    for block in blocks:
        match block:
            case Heading(text, level):
                say(*([("\n" + text, "bold")] if level == 2 else [f"{text}:"]))
            case Paragraph(text) | Note(text):
                for line in text.splitlines():
                    say(line)
            case Items(lines):
                for line in lines:
                    say(f"  - {line}")
            case _:
                table(block.columns, block.rows, **block.options)


def show(args: argparse.Namespace, answer: Envelope) -> None:
    """Print an answer, or the document that it has. An error goes to stderr with its remedy."""
    view = getattr(args, "show", fields)
    if answer.get("markdown"):
        say(answer["markdown"].rstrip("\n"))
    elif answer["success"] or "findings" in answer:  # the error below summarises the findings
        view(answer)
    if not answer["success"]:
        _failed(answer)
    if not answer["success"] and ("skipped" in answer or "ended" in answer):  # the command succeeded in part
        view(answer)


def _failed(answer: Envelope) -> None:
    warn(f"{answer['error_code']}: {answer['error']}")
    if answer["remediation"]:
        job_id = answer.get("error_details", {}).get("job_id", "<job_id>")
        warn(f"What to do: {answer['remediation'].replace('<job_id>', job_id)}")


def fields(answer: Envelope) -> None:
    """Print every field as it is."""
    for name, value in answer.items():
        if name != "success":
            say(f"{name}: {value}")
