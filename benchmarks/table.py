"""Printing a table."""

from __future__ import annotations

from collections.abc import Sequence


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table in Markdown, so that it can go into the docs as it was printed."""
    print(f"\n### {title}\n")
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)
