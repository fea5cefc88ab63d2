"""Run in a child: put summaries into a workspace by the ingest operation itself."""

from __future__ import annotations

import sys
from pathlib import Path

from bridge.graph.open_stores import Stores
from bridge.operations import Task, run
from bridge.settings import load
from jobs import clock
from jobs.layout import Workspace
from jobs.lifecycle import Succeeded

from . import corpus

TOGETHER = 100


def main() -> None:
    workspace, count = Workspace(Path(sys.argv[1])), int(sys.argv[2])
    payloads = corpus.summaries(count)
    with Stores(workspace, load()) as stores:
        for start in range(0, count, TOGETHER):
            now = clock.now()
            tasks = [
                Task(f"fill-{start + place}", "", payload, None, clock.iso(now))
                for place, payload in enumerate(payloads[start : start + TOGETHER])
            ]
            outcomes = run("ingest", tasks, stores, now, lambda progress: None)
            assert all(isinstance(outcome, Succeeded) for outcome in outcomes.values()), outcomes


if __name__ == "__main__":
    main()
