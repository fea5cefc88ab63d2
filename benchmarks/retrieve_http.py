"""Questions through a running worker: the command line, HTTP one at a time, eight at once, and beside ingestion.

``python -m benchmarks.retrieve_http [MOST]`` asks over HTTP at 1,000, 10,000 and 100,000 memories, up to ``MOST``
(default 10,000).
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bridge.search import query_client
from jobs import client, spool
from jobs.layout import Workspace
from jobs.model import Record

from . import corpus, synthetic, table
from .questions import questions
from .workspace import new_workspace

SIZES = (1_000, 10_000, 100_000)
ROUNDS, QUESTIONS, CLIENTS, INGESTED = 25, 200, 8, 200
QUESTION = "why did token renewal send the same request twice"
SCRIPT = Path(__file__).resolve().parent.parent / "bridge" / "retrieve.py"


class Client:
    """One connection, kept."""

    def __init__(self, workspace: Workspace) -> None:
        port = query_client.port_of(_http(workspace)["url"])
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        token = workspace.spool.token.read_text("ascii")
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, question: str) -> float:
        """The milliseconds that the answer took."""
        began = time.perf_counter()
        self._connection.request("POST", "/v1/retrieve", json.dumps({"query": question}), self._headers)
        response = self._connection.getresponse()
        response.read()
        assert response.status == 200
        return (time.perf_counter() - began) * 1000


def main(argv: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("most", nargs="?", type=int, default=SIZES[1], help="the largest number of memories")
    most: int = parser.parse_args(list(argv)).most
    with new_workspace() as (workspace, _):
        for size in (size for size in SIZES if size <= most):
            fill(workspace, size)
            with serving(workspace):
                if size == SIZES[0]:
                    command_line(workspace, size)
                one_at_a_time(workspace, size)
                many_at_once(workspace, size)
                if size == SIZES[0]:
                    beside_ingestion(workspace, size)


def fill(workspace: Workspace, size: int) -> None:
    synthetic.fill(workspace, size)
    with contextlib.closing(sqlite3.connect(workspace.memory_db)) as database, database:
        database.execute("DELETE FROM outbox")  # the graph takes no part, and would be told for many minutes


@contextlib.contextmanager
def serving(workspace: Workspace) -> Iterator[None]:
    """A worker with a warm server."""
    worker = subprocess.Popen(
        [sys.executable, "-m", "worker", "--workspace", str(workspace.root), "--detached"], cwd="/"
    )
    try:
        while not _http(workspace).get("url"):
            time.sleep(0.02)
        Client(workspace).ask(QUESTION)
        while not _http(workspace)["serving"]:
            time.sleep(0.02)
        yield
    finally:
        worker.terminate()
        worker.wait()


def _http(workspace: Workspace) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(workspace.spool.heartbeat.read_bytes())["http"]
    except FileNotFoundError:
        return {}
    return found


def command_line(workspace: Workspace, size: int) -> None:
    console = [str(Path(sys.executable).parent / "cognee-memory"), "retrieve", QUESTION, "--json"]
    script = [sys.executable, str(SCRIPT), str(workspace.root), QUESTION]
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "cognee-memory retrieve … --json, through the worker": [*console, "--workspace", str(workspace.root)],
        "bridge/retrieve.py, through the worker": script,
    }
    # Who has no model cannot have answered by itself.
    without_model = os.environ | {"PYTHONPATH": str(SCRIPT.parents[1] / "tests" / "no_model")}
    by_worker = sum(
        subprocess.run(script, env=without_model, capture_output=True).returncode == 0 for _ in range(ROUNDS)
    )
    taken = table.in_turn(commands, ROUNDS)
    alone = "bridge/retrieve.py, by itself"
    taken |= table.in_turn({alone: script}, ROUNDS // 2, os.environ | {"COGNEE_MEMORY_HTTP": "0"})
    bare = table.median(taken["python -c pass"])
    table.show(
        f"One question over {size:,} memories by the command line, in turn ({by_worker} of {ROUNDS} came from the"
        " worker in its 150 ms)",
        ["process", "median (least–most)", "times bare Python"],
        [[name, table.milliseconds(values), f"{table.median(values) / bare:.2f}"] for name, values in taken.items()],
    )


def one_at_a_time(workspace: Workspace, size: int) -> None:
    asker = Client(workspace)
    for question in questions(10, seed=1):
        asker.ask(question)
    taken = [asker.ask(question) for question in questions(QUESTIONS)]
    table.show(
        f"HTTP, {QUESTIONS} questions one after another over {size:,} memories, a connection kept",
        ["p50", "p95", "most"],
        [[f"{statistics.median(taken):.1f} ms", f"{_percentile(taken, 95):.1f} ms", f"{max(taken):.1f} ms"]],
    )


def many_at_once(workspace: Workspace, size: int) -> None:
    """The same eight times, each client with questions and a connection of its own."""
    taken: list[float] = []

    def ask(seed: int) -> None:
        asker = Client(workspace)
        taken.extend([asker.ask(question) for question in questions(QUESTIONS // 4, seed=seed)])

    clients = [threading.Thread(target=ask, args=(100 + number,)) for number in range(CLIENTS)]
    began = time.perf_counter()
    for each in clients:
        each.start()
    for each in clients:
        each.join()
    seconds = time.perf_counter() - began
    table.show(
        f"HTTP, {CLIENTS} clients at once over {size:,} memories",
        ["questions/s", "p50", "p99", "most"],
        [
            [
                f"{len(taken) / seconds:.0f}",
                f"{statistics.median(taken):.0f} ms",
                f"{_percentile(taken, 99):.0f} ms",
                f"{max(taken):.0f} ms",
            ]
        ],
    )


def beside_ingestion(workspace: Workspace, size: int) -> None:
    """One client that asks and asks, while nothing else goes on and while summaries are ingested."""
    asker = Client(workspace)
    place = workspace.spool
    warm = client.submit(place, "ingest", corpus.summaries(1, seed=11)[0])
    client.wait(place, warm.job_id, 120)
    quiet = [asker.ask(question) for question in questions(QUESTIONS, seed=21)]
    ids = [client.submit(place, "ingest", payload).job_id for payload in corpus.summaries(INGESTED, seed=12)]
    began = time.perf_counter()
    busy: list[float] = []
    asked = iter(questions(100_000, seed=22))
    while any(not _ended(spool.read_record(place, job_id)) for job_id in ids):
        busy += [asker.ask(next(asked)) for _ in range(10)]
    seconds = time.perf_counter() - began
    table.show(
        f"HTTP, one question after another over {size:,} memories, beside {INGESTED} summaries that are ingested"
        f" (in {seconds:.0f} s)",
        ["", "questions", "p50", "p95", "p95 to quiet"],
        [
            [
                name,
                f"{len(values)}",
                f"{statistics.median(values):.1f} ms",
                f"{_percentile(values, 95):.1f} ms",
                f"{_percentile(values, 95) / _percentile(quiet, 95):.2f}",
            ]
            for name, values in (("quiet", quiet), ("beside ingestion", busy))
        ],
    )


def _ended(record: Record | None) -> bool:
    return record is not None and record.ended


def _percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100)[percent - 1]


if __name__ == "__main__":
    main(sys.argv[1:])
