"""Rebuilding derived data: the index, the words, and the knowledge graph as it grows.

``python -m benchmarks.rebuild [MOST]`` stops at fewer memories. Beside the graph, 100 memories more in cognee's own way
of writing edges, at the size that it has reached by then.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from . import synthetic, table
from .workspace import new_workspace, run_in_child

SIZES = (1_000, 10_000)


def main(argv: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("most", nargs="?", type=int, default=SIZES[-1], help="the largest number of memories")
    most: int = parser.parse_args(list(argv)).most
    indexes: list[list[str]] = []
    steps: list[list[str]] = []
    for size in (size for size in SIZES if size <= most):
        with new_workspace() as (workspace, settings):
            synthetic.fill(workspace, size)
            found: dict[str, Any] = json.loads(
                run_in_child("benchmarks.rebuilding", workspace, settings).splitlines()[-1]
            )
        nodes, edges = found["counts"]
        indexes.append([
            f"{size:,}", f"{found['vectors']:.1f} s", f"{found['words']:.1f} s", f"{found['graph']:.0f} s",
            f"{size / found['graph']:.1f}", f"{nodes:,}", f"{edges:,}",
        ])  # fmt: skip
        if size == most or size == SIZES[-1]:
            steps = _steps(found)
    columns = ["memories", "vectors", "words", "graph", "memories/s into the graph", "nodes", "edges"]
    table.show("Rebuilding (each text was embedded before)", columns, indexes)
    table.show(
        "The graph as it grows", ["memories in it", "memories/s", "of that the edges", "cognee's own edges"], steps
    )


def _steps(found: dict[str, list[list[float]]]) -> list[list[str]]:
    """One row a step: how fast it was, the share of the edges, and how long cognee's own way takes for those edges."""
    start = [0.0] * 4
    return [
        [f"{before[0]:,.0f} to {after[0]:,.0f}", f"{(after[0] - before[0]) / (after[1] - before[1]):.1f}",
         f"{(after[2] - before[2]) / (after[1] - before[1]):.0%}", f"{after[3]:.1f} times as long"]
        for before, after in pairwise([start, *found["steps"]])
    ]  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
