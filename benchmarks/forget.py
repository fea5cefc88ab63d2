"""Forgetting memories of a large store, beside rebuilding both indexes of what remains.

``python -m benchmarks.forget [MOST]`` stops at fewer memories. The last row is of a small store with its knowledge
graph, whose files are rewritten as well.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from bridge.settings import Settings
from jobs.layout import Workspace

from . import synthetic, table
from .forget_once import MANY
from .workspace import fill, new_workspace, run_in_child

SIZES = (1_000, 10_000)
WITH_GRAPH = 100


def main(argv: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("most", nargs="?", type=int, default=SIZES[-1], help="the largest number of memories")
    most: int = parser.parse_args(list(argv)).most
    rows = []
    for size in (size for size in SIZES if size <= most):
        with new_workspace() as (workspace, settings):  # what was forgotten would be missing in a larger store
            synthetic.fill(workspace, size)
            rows.append([f"{size:,}", *measured(workspace, settings)])
    with new_workspace() as (workspace, settings):
        fill(workspace, settings, WITH_GRAPH)
        rows.append([f"{WITH_GRAPH:,}, with their graph", *measured(workspace, settings)])
    columns = ["memories", "both indexes made anew", "one forgotten", f"{MANY} forgotten", "one, in rebuilds"]
    table.show("Forgetting", columns, rows)


def measured(workspace: Workspace, settings: Settings) -> list[str]:
    """One row: seconds of a rebuild, of forgetting one memory and many, and the ratio of the first two."""
    rebuild, one, many = map(float, run_in_child("benchmarks.forget_once", workspace, settings).split()[-3:])
    return [f"{rebuild:.1f} s", f"{one:.1f} s", f"{many:.1f} s", f"{one / rebuild:.1f}"]


if __name__ == "__main__":
    main(sys.argv[1:])
