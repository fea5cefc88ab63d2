"""Printing a table, and timing commands in turn."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Sequence


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table in Markdown, so that it can go into the docs as it was printed."""
    print(f"\n### {title}\n")
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def in_turn(commands: dict[str, list[str]], rounds: int, env: dict[str, str] | None = None) -> dict[str, list[float]]:
    """Seconds of each whole process, the commands in turn so that a slow moment meets all of them.

    One round before is not counted. Raises CalledProcessError for a command that fails.
    """
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for round_number in range(rounds + 1):
        for name, command in commands.items():
            began = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
            if round_number:
                taken[name].append(time.perf_counter() - began)
    return taken


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def milliseconds(values: Sequence[float]) -> str:
    """Median, with least and most."""
    return f"{median(values) * 1000:,.0f} ms ({min(values) * 1000:,.0f}–{max(values) * 1000:,.0f})"
