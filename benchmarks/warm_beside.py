"""Questions over HTTP to a warm server, this checkout beside another one, in turn.

    python -m benchmarks.warm_beside /path/of/the/other/checkout [MOST]

Both servers run with this environment's packages, over the same workspaces of 1,000, 10,000 and 100,000 memories, up to
``MOST`` (default 10,000): with the model, and with stored vectors of the questions, which shows the rest of a question.
Starts of bare Python are timed between the rounds: "starts" are multiples of one.
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil

from bridge.settings import inherited_environment
from jobs.layout import Workspace

from . import table
from .questions import questions
from .retrieve_http import SIZES, fill
from .warm_server import SEEDS, TOKEN
from .workspace import new_workspace

ROUNDS, CLIENTS, BARE = 3, 8, 5
HERE = Path(__file__).resolve().parent.parent
SERVER = HERE / "benchmarks" / "warm_server.py"
_COPY_SECONDS = 3.0  # in which a server that stays copies the vectors


class Server:
    """A warm server of one checkout, and the milliseconds and rates that were measured."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self._process, self._port = process, port
        self.taken: list[float] = []
        self.rates: list[float] = []
        self.processor: list[float] = []

    def ask(self, seed: int) -> list[float]:
        """The milliseconds of each question of a seed, one after another over one connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        taken = []
        for text in questions(SEEDS[seed], seed=seed):
            began = time.perf_counter()
            connection.request("POST", "/v1/retrieve", json.dumps({"query": text}), headers)
            response = connection.getresponse()
            response.read()
            assert response.status == 200
            taken.append((time.perf_counter() - began) * 1000)
        return taken

    def ask_at_once(self) -> None:
        """The questions of eight clients at once."""
        seeds = [seed for seed in SEEDS if seed >= 100][:CLIENTS]
        clients = [threading.Thread(target=self.ask, args=(seed,)) for seed in seeds]
        began = time.perf_counter()
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.rates.append(sum(SEEDS[seed] for seed in seeds) / (time.perf_counter() - began))

    def processor_seconds(self) -> float:
        """The processor time of the process so far."""
        times = psutil.Process(self._process.pid).cpu_times()
        return float(times.user + times.system)

    @property
    def own_mib(self) -> float:
        """MiB of the process without mapped files (Linux)."""
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024


@contextmanager
def serving(root: Path, workspace: Workspace, embedding: str) -> Iterator[Server]:
    environment = inherited_environment() | {"PYTHONPATH": str(root), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-P", str(SERVER), str(workspace.root), embedding, str(_vectors(workspace))]
    process = subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Server(process, int(process.stdout.readline()))
    finally:
        process.terminate()
        process.wait()


def _vectors(workspace: Workspace) -> Path:
    return workspace.root / "questions.npy"


def main(argv: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("other", type=Path, help="the other checkout")
    parser.add_argument("most", nargs="?", type=int, default=SIZES[1], help="the largest number of memories")
    given = parser.parse_args(list(argv))
    rows = []
    with new_workspace() as (workspace, _):
        for size in (size for size in SIZES if size <= given.most):
            fill(workspace, size)
            for embedding in ("stored", "model"):
                rows += measured(workspace, size, embedding, given.other.resolve())
    table.show(
        f"Warm HTTP, this checkout beside {given.other.name}, {ROUNDS} rounds in turn, {CLIENTS} clients at once",
        [
            "memories, vectors",
            "checkout",
            "p50",
            "p95",
            "ratio of p50",
            "processor time of a question",
            "ratio",
            "questions/s",
            "ratio",
            "p50, p95 in starts",
            "questions of 8 clients in a start",
            "own MiB",
        ],
        rows,
    )


def measured(workspace: Workspace, size: int, embedding: str, other: Path) -> list[list[str]]:
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(root, workspace, embedding)) for root in (HERE, other)]
        for server in servers:
            server.ask(1)
        time.sleep(_COPY_SECONDS)
        bare: list[float] = []
        for _ in range(ROUNDS):
            bare += table.in_turn({"bare": [sys.executable, "-c", "pass"]}, BARE)["bare"]
            for server in servers:
                began = server.processor_seconds()
                server.taken += server.ask(3)
                server.processor.append((server.processor_seconds() - began) / SEEDS[3] * 1000)
            for server in servers:
                server.ask_at_once()
        their, start = servers[1], table.median(bare) * 1000
        return [
            [
                f"{size:,}, {embedding}",
                name,
                f"{statistics.median(server.taken):.1f} ms",
                f"{p95(server):.1f} ms",
                f"{statistics.median(server.taken) / statistics.median(their.taken):.2f}",
                f"{statistics.median(server.processor):.1f} ms",
                f"{statistics.median(server.processor) / statistics.median(their.processor):.2f}",
                f"{statistics.median(server.rates):.0f}",
                f"{statistics.median(server.rates) / statistics.median(their.rates):.2f}",
                f"{statistics.median(server.taken) / start:.2f}, {p95(server) / start:.2f}",
                f"{statistics.median(server.rates) * start / 1000:.1f}",
                f"{server.own_mib:.0f}",
            ]
            for name, server in zip(("here", "there"), servers, strict=True)
        ]


def p95(server: Server) -> float:
    return statistics.quantiles(server.taken, n=20)[-1]


if __name__ == "__main__":
    main(sys.argv[1:])
