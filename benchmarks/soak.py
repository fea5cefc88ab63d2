"""Thousands of jobs through one worker: its memory and its files do not grow with them.

``python -m benchmarks.soak [ROUNDS]``: each round runs 500 no-op and 30 real jobs. Exit status 1 if something grew.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from bridge.settings import load
from jobs import client, launch
from jobs.layout import Workspace

from . import corpus, table
from .workspace import new_workspace

ROUNDS, NOOPS, REAL = 10, 500, 30
_MIB = 1024 * 1024
# How much the last third of the rounds may hold more than the second, which has seen everything once.
_TOLERANCE = {"worker MiB": 1.10, "child MiB": 1.15, "cognee files": 1.5, "queue.db KiB": 1.5}


def main() -> int:
    rounds = int(sys.argv[1]) if sys.argv[1:] else ROUNDS
    os.environ |= {
        "COGNEE_MEMORY_TEST_JOBS": "1",
        "COGNEE_MEMORY_MAX_ACTIVE_JOBS": "100000",
        "COGNEE_MEMORY_KEEP_ENDED_JOBS": "1000",
    }
    samples: list[dict[str, float]] = []
    with new_workspace() as (workspace, _):
        payloads = iter(corpus.summaries(rounds * REAL))
        worker = subprocess.Popen(
            [sys.executable, "-m", "worker", "--workspace", str(workspace.root), "--detached"], cwd=Path("/")
        )
        try:
            while not launch.is_alive(workspace):
                time.sleep(0.02)
            for _ in range(rounds):
                began = time.perf_counter()
                ids = [client.submit(workspace.spool, "noop", {}).job_id for _ in range(NOOPS)]
                for _ in range(REAL):  # one by one: what each leaves behind is what adds up
                    job = client.submit(workspace.spool, "ingest", next(payloads))
                    assert client.wait(workspace.spool, job.job_id, 300).state == "succeeded"
                assert {client.wait(workspace.spool, job_id, 300).state for job_id in ids} == {"succeeded"}
                samples.append(_sample(psutil.Process(worker.pid), workspace, time.perf_counter() - began))
        finally:
            worker.terminate()
            worker.wait()
    columns = list(samples[0])
    table.show(
        f"A soak of {rounds * NOOPS:,} no-op and {rounds * REAL} real jobs, sampled after each {NOOPS + REAL}",
        ["jobs", *columns],
        [
            [f"{number * (NOOPS + REAL):,}", *(f"{sample[column]:,.0f}" for column in columns)]
            for number, sample in enumerate(samples, 1)
        ],
    )
    grown = _grown(samples)
    print("grown: " + (", ".join(grown) or "nothing"))
    return 1 if grown else 0


def _sample(worker: psutil.Process, workspace: Workspace, seconds: float) -> dict[str, float]:
    children = worker.children(recursive=True)
    return {
        "seconds": seconds,
        "worker MiB": worker.memory_info().rss / _MIB,
        "worker fds": worker.num_fds(),
        "worker threads": worker.num_threads(),
        "processes": len(children),
        "child MiB": sum(child.memory_info().rss for child in children) / _MIB,
        "child fds": sum(child.num_fds() for child in children),
        "child threads": sum(child.num_threads() for child in children),
        "queue.db KiB": sum(path.stat().st_size for path in workspace.spool.worker.glob("queue.db*")) / 1024,
        "records": sum(1 for _ in workspace.spool.results.iterdir()),
        "cognee files": sum(1 for path in workspace.cognee_system.rglob("*") if path.is_file()),
        "memory.db MiB": sum(path.stat().st_size for path in workspace.memory.glob("memory.db*")) / _MIB,
    }


def _grown(samples: list[dict[str, Any]]) -> list[str]:
    """What the last third of the rounds holds clearly more of than the second: a leak, whatever its size."""
    third = len(samples) // 3
    if not third:
        return []
    early, late = samples[third : 2 * third], samples[-third:]
    found = []
    for column in ("worker MiB", "worker fds", "worker threads", "processes", "child MiB", "child fds",
                   "child threads", "queue.db KiB", "cognee files"):  # fmt: skip
        before = max(sample[column] for sample in early)
        if min(sample[column] for sample in late) > before * _TOLERANCE.get(column, 1.0) + 2:
            found.append(column)
    return found


if __name__ == "__main__":
    load()  # a wrong setting is said before hours are spent
    sys.exit(main())
