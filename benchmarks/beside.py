"""This checkout beside another one: questions without and with a worker, ingestion and no-op jobs, in turn.

    python -m benchmarks.beside /path/of/the/other/checkout

Both run with this environment's packages. The other one may have another layout inside; used are only its job client,
its worker and its script.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bridge.settings import inherited_environment

from . import table

ROUNDS = 3
QUESTIONS = 15
QUESTION = "why did token renewal send the same request twice"
HERE = Path(__file__).resolve().parent.parent

# Runs in each checkout. Prints the seconds from the first drop to the last end.
_DROP = """
import sys, time
from pathlib import Path
from benchmarks import corpus
from jobs import client
from jobs.layout import Workspace

spool, kind, count = Workspace(Path(sys.argv[1])).spool, sys.argv[2], int(sys.argv[3])
first = int(sys.argv[4])
payloads = corpus.summaries(first + count)[first:] if kind == "ingest" else [{}] * count
began = time.perf_counter()
ids = [client.submit(spool, kind, payload).job_id for payload in payloads]
records = [client.wait(spool, job_id, 600) for job_id in ids]
assert all(record.state == "succeeded" for record in records)
print(time.perf_counter() - began)
"""
_START = """
import sys
from pathlib import Path
from bridge import trust
from bridge.settings import load
from jobs import launch
from jobs.layout import Workspace

workspace = Workspace(Path(sys.argv[1]))
trust.adopt(workspace, load().config_folder)
launch.start(workspace)
"""


class Checkout:
    """A checkout with a workspace of its own, and the measurements of it in seconds."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = root
        self.workspace = folder / "workspace"
        self.workspace.mkdir(parents=True)
        self.environment = inherited_environment() | {
            "PYTHONPATH": str(root),
            "COGNEE_MEMORY_CONFIG_DIR": str(folder / "config"),
            "COGNEE_MEMORY_TEST_JOBS": "1",
        }
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.taken: dict[str, list[float]] = {}
        self._ingested = 0

    def run(self, *arguments: str) -> str:
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, cwd=self.root, env=self.environment, check=True, capture_output=True, text=True
        ).stdout

    @contextmanager
    def worker(self) -> Iterator[None]:
        self.run("-c", _START, str(self.workspace))
        try:
            yield
        finally:
            self.run("-m", "worker.cli", "worker", "stop", "--workspace", str(self.workspace))

    def drop(self, name: str, kind: str, count: int) -> None:
        seconds = float(self.run("-c", _DROP, str(self.workspace), kind, str(count), str(self._ingested)))
        self._ingested += count if kind == "ingest" else 0
        self.taken.setdefault(name, []).append(seconds)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(f"Name the other checkout: python -m {__spec__.name} FOLDER")
    with tempfile.TemporaryDirectory(prefix="cognee-memory-beside-") as folder:
        checkouts = [
            Checkout(HERE, Path(folder) / "here"),
            Checkout(Path(sys.argv[1]).resolve(), Path(folder) / "other"),
        ]
        for _ in range(ROUNDS):
            for checkout in checkouts:
                with checkout.worker():
                    checkout.drop("first ingest, with the start of the child", "ingest", 1)
                    checkout.drop("50 summaries ingested, warm child", "ingest", 50)
                    checkout.drop("300 no-op jobs, warm child", "noop", 300)
        ask("question without a worker", checkouts)
        with ExitStack() as workers:
            for checkout in checkouts:
                workers.enter_context(checkout.worker())
                checkout.run("bridge/retrieve.py", str(checkout.workspace), QUESTION)  # starts the server
            ask("question with a worker", checkouts)
    here, other = checkouts
    rows = [
        [
            name,
            table.milliseconds(here.taken[name]),
            table.milliseconds(other.taken[name]),
            f"{table.median(here.taken[name]) / table.median(other.taken[name]):.2f}",
        ]
        for name in here.taken
    ]
    table.show(
        f"This checkout beside {Path(sys.argv[1]).name}, in turn",
        ["work", "here: median (least–most)", "there", "here/there"],
        rows,
    )


def ask(name: str, checkouts: list[Checkout]) -> None:
    """``QUESTIONS`` questions of each checkout in turn, by its script in a fresh process."""
    import time

    for round_ in range(QUESTIONS + 1):
        for checkout in checkouts:
            began = time.perf_counter()
            answer = checkout.run("bridge/retrieve.py", str(checkout.workspace), QUESTION)
            seconds = time.perf_counter() - began
            assert '"results"' in answer, answer
            if round_:  # the first one compiles the modules
                checkout.taken.setdefault(name, []).append(seconds)


if __name__ == "__main__":
    main()
