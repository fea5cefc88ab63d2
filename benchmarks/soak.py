"""Thousands of jobs through one worker: its memory and its files do not grow with them. Or a team under faults.

Exit status 1 if something grew, or a team lost something.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import psutil

from bridge.settings import load
from jobs.layout import Workspace

from . import corpus, table, team_soak
from .beside import HERE
from .checkout import place

ROUNDS, NOOPS, REAL = 10, 500, 30
_SETTINGS = {"COGNEE_MEMORY_MAX_ACTIVE_JOBS": "100000", "COGNEE_MEMORY_KEEP_ENDED_JOBS": "1000"}
_MIB = 1024 * 1024
# How much the last third of the rounds may hold more than the second, which has seen everything once.
_TOLERANCE = {"worker MiB": 1.10, "child MiB": 1.15, "cognee files": 1.5, "queue.db KiB": 1.5}


def main(argv: Sequence[str] = ()) -> int:
    """Print the tables. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks soak", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"of {NOOPS} no-op and {REAL} real jobs ({ROUNDS})")
    parser.add_argument("--team", type=float, metavar="MINUTES", help=team_soak.ABOUT)
    given = parser.parse_args(list(argv))
    load()  # a wrong setting is said before hours are spent
    return one_worker(given.rounds) if given.team is None else team_soak.run(given.team)


def one_worker(rounds: int) -> int:
    samples: list[dict[str, float]] = []
    payloads = iter(corpus.summaries(rounds * REAL))
    with place(HERE, _SETTINGS) as here, here.worker() as worker:
        for _ in range(rounds):
            began = time.perf_counter()
            ids = [here.submit("noop", {}) for _ in range(NOOPS)]
            for _ in range(REAL):  # one by one: what each leaves behind is what adds up
                here.ended(here.submit("ingest", next(payloads)))
            for job_id in ids:
                here.ended(job_id)
            samples.append(_sample(psutil.Process(worker.pid), here.workspace, time.perf_counter() - began))
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
