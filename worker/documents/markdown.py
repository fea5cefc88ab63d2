"""Blocks as Markdown: nothing in their texts becomes a heading, a link, an image, a table or HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bridge.text.visible import visible

from .blocks import Block, Heading, Items, Note, Paragraph

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
