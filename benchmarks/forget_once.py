"""Run in a child: seconds of rebuilding both indexes, of forgetting one memory, and of forgetting many at once."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from bridge.graph.open_stores import Stores
from bridge.operations import Task, run
from bridge.settings import load
from jobs import clock, spool
from jobs.layout import Workspace
from jobs.lifecycle import Succeeded
from jobs.model import job_digest

MANY = 50


def main() -> None:
    workspace = Workspace(Path(sys.argv[1]))
    spool.prepare(workspace.spool)
    with Stores(workspace, load()) as stores:
        if stores.store.outbox.graph_model() is not None:
            _ = stores.graph  # else the first to need the graph would pay for cognee's import
        ids = [memory.id for memory in stores.store.after(0, MANY + 1)]
        rebuild = _seconds(stores, "rebuild", {"what": "index"})
        one = _seconds(stores, "forget", {"memory_ids": ids[:1]})
        many = _seconds(stores, "forget", {"memory_ids": ids[1:]})
    print(rebuild, one, many)


def _seconds(stores: Stores, kind: str, payload: dict[str, Any]) -> float:
    now = clock.now()
    task = Task(f"{kind}-{now.timestamp()}", job_digest(kind, payload), payload, None, clock.iso(now))
    began = time.perf_counter()
    outcome = run(kind, [task], stores, now, lambda progress: None)[task.job_id]
    assert isinstance(outcome, Succeeded), outcome
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
