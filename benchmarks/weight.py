"""What the worker weighs: its start, the first memories, ingestion, memory, rest, and an hour of captures.

    python -m benchmarks.weight [FOLDER] [ROUNDS]

Times are shown as multiples of bare Python, too: ``python -c pass``, measured between the rounds. ``FOLDER`` is another
checkout, which runs with this environment's packages in turn with this one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bridge.settings import inherited_environment
from jobs import client, clock, heartbeat
from jobs.layout import Workspace
from jobs.model import Record

from . import corpus, table, transcripts
from .memory import resident

ROUNDS = 3
REST_SECONDS = 20.0
SUMMARIES, FOR_PEAK, NOOPS = 200, 100, 300
CAPTURES = 4  # of an hour
HERE = Path(__file__).resolve().parent.parent
_TOPIC = ("--topic", "The lamp", "--decision", "The lamp is blue.")


class Checkout:
    """A checkout and what was measured of it, by name: seconds, and other figures."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.figures: dict[str, list[float]] = {}

    def note(self, name: str, value: float) -> None:
        self.figures.setdefault(name, []).append(value)


class Place:
    """A new workspace in which a checkout's programs run."""

    def __init__(self, root: Path, folder: Path, **settings: str) -> None:
        self.root = root
        self.home = folder / "home"
        self.workspace = Workspace(folder / "workspace")
        self.workspace.root.mkdir()
        self.environment = inherited_environment() | {
            "PYTHONPATH": str(root),
            "HOME": str(self.home),
            "COGNEE_MEMORY_CONFIG_DIR": str(folder / "config"),
            "COGNEE_MEMORY_CACHE_DIR": _cache(),
            "COGNEE_MEMORY_TEST_JOBS": "1",
            **settings,
        }
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as in a user's shell

    def run(self, *arguments: str) -> str:
        command = [sys.executable, "-P", *arguments]
        return subprocess.run(command, cwd="/", env=self.environment, check=True, capture_output=True, text=True).stdout

    def command(self, *arguments: str) -> str:
        return self.run("-m", "worker.cli", *arguments, "--workspace", str(self.workspace.root))

    @contextmanager
    def worker(self) -> Iterator[subprocess.Popen[bytes]]:
        """A worker that is ready."""
        command = [sys.executable, "-P", "-m", "worker", "--workspace", str(self.workspace.root), "--detached"]
        worker = subprocess.Popen(command, cwd="/", env=self.environment)
        try:
            while self.beat().get("state") != "ready":
                assert worker.poll() is None, "the worker did not start"
                time.sleep(0.002)
            yield worker
        finally:
            worker.terminate()
            worker.wait()

    def beat(self) -> dict[str, Any]:
        return dict(heartbeat.read(self.workspace.spool) or {})

    def submit(self, kind: str, payload: dict[str, Any]) -> str:
        return client.submit(self.workspace.spool, kind, payload).job_id

    def ended(self, job_id: str) -> Record:
        record = client.wait(self.workspace.spool, job_id, 600)
        assert record.state == "succeeded", record
        return record


@contextmanager
def place(root: Path, **settings: str) -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="cognee-memory-weight-", ignore_cleanup_errors=True) as folder:
        yield Place(root, Path(folder), **settings)


def _cache() -> str:
    from bridge.settings import load

    return str(load().cache_folder)


def processor_seconds(pid: int, *, precise: bool = False) -> float:
    """Of a process and its ended children; ``precise``: to the nanosecond, of its running threads alone."""
    if precise:
        threads = Path(f"/proc/{pid}/task").iterdir()
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for path in found for child in path.read_text().split()]


def start_and_rest(it: Checkout) -> None:
    with place(it.root) as here:
        began = time.perf_counter()
        with here.worker() as worker:
            it.note("start to ready", time.perf_counter() - began)
            time.sleep(3)  # for what its threads do first
            before, began = processor_seconds(worker.pid, precise=True), time.perf_counter()
            time.sleep(REST_SECONDS)
            share = (processor_seconds(worker.pid, precise=True) - before) / (time.perf_counter() - began)
            it.note("idle: % of a core", share * 100)
            it.note("idle: MiB", resident(worker.pid))
            it.note("idle: processes", 1 + len(children(worker.pid)))


def first_memories(it: Checkout) -> None:
    """By the command line in a new folder, where no worker runs, and a second one."""
    with place(it.root) as here:
        for name in ("first", "second"):
            began = time.perf_counter()
            said = json.loads(here.command("ingest", "--wait", "--json", *_TOPIC, "--context", f"The {name}."))
            taken = time.perf_counter() - began
            if name == "first":
                record = here.ended(said["job_id"])
                assert record.submitted_at is not None
                assert record.finished_at is not None
                drop, end = clock.parse(record.submitted_at), clock.parse(record.finished_at)
                it.note("new folder: drop to ended", (end - drop).total_seconds())
            it.note(f"`ingest --wait`, the {name}", taken)
        here.command("worker", "stop")


def many(it: Checkout) -> None:
    """Summaries and no-op jobs with a warm child, and beside them embedding alone."""
    with place(it.root) as here, here.worker() as worker:
        payloads = corpus.summaries(SUMMARIES + FOR_PEAK + 1)
        here.ended(here.submit("ingest", payloads[0]))
        for job_id in [here.submit("ingest", payload) for payload in payloads[1 : FOR_PEAK + 1]]:
            here.ended(job_id)
        child = children(worker.pid)[0]
        it.note("child's peak at 100 summaries, MiB", resident(child, "VmHWM"))
        pids = (worker.pid, child)
        for kind, more in (("ingest", payloads[FOR_PEAK + 1 :]), ("noop", [{}] * NOOPS)):
            before, began = sum(map(processor_seconds, pids)), time.perf_counter()
            for job_id in [here.submit(kind, payload) for payload in more]:
                here.ended(job_id)
            name = f"{len(more)} {'summaries' if kind == 'ingest' else 'no-op jobs'}"
            it.note(name, time.perf_counter() - began)
            it.note(f"{name}: processor seconds", sum(map(processor_seconds, pids)) - before)
        embedding = float(here.run("-m", "benchmarks.embed_only", "-", str(SUMMARIES)).split()[0])
        it.note("200 summaries: rate, times embedding alone", embedding / it.figures[f"{SUMMARIES} summaries"][-1])


def hour(it: Checkout) -> None:
    """Sessions captured one after another, each until the idle child has been stopped; and the rest of an hour."""
    with place(it.root, COGNEE_MEMORY_CHILD_IDLE_SECONDS="2") as here, here.worker() as worker:
        here.command("capture", "enable", "claude-code")
        paths = transcripts.write(here.home, here.workspace.root, CAPTURES, 2)
        before, began = processor_seconds(worker.pid), time.perf_counter()
        for path in paths:
            here.ended(here.submit("capture", {"tools": ["claude-code"], "session": path.stem}))
            while children(worker.pid):
                time.sleep(0.2)
        taken = time.perf_counter() - began
        share = it.figures["idle: % of a core"][-1] / 100
        captures = processor_seconds(worker.pid) - before - share * taken
        it.note(f"an hour with {CAPTURES} captured sessions: processor seconds", captures + share * 3600)


def main(other: Path | None = None, rounds: int = ROUNDS) -> None:
    checkouts = [Checkout(HERE), *([Checkout(other.resolve())] if other is not None else [])]
    bare: list[float] = []
    for round_ in range(rounds + 1):
        for measure in (start_and_rest, first_memories, many, hour):
            for checkout in checkouts:
                if round_:
                    measure(checkout)
                elif measure is first_memories:  # compiles the modules
                    measure(Checkout(checkout.root))
        bare += table.in_turn({"bare": [sys.executable, "-c", "pass"]}, 5)["bare"]
    python = table.median(bare)
    rows = []
    for name in checkouts[0].figures:
        both = [checkout.figures[name] for checkout in checkouts]
        is_time = name in ("start to ready", "new folder: drop to ended") or name.startswith("`")
        shown = [
            f"{table.median(one):.3g} ({min(one):.3g}–{max(one):.3g})"
            + (f", {table.median(one) / python:.0f} × Python" if is_time else "")
            for one in both
        ]
        ratio = [f"{table.median(both[0]) / table.median(both[1]):.2f}"] if other is not None else []
        rows.append([name, *shown, *ratio])
    columns = ["figure; seconds unless it says another", "here: median (least–most)"]
    title = f"The worker's weight ({rounds} rounds in turn; bare Python {python * 1000:.0f} ms)"
    table.show(title, columns + (["there", "here/there"] if other is not None else []), rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else None, int(sys.argv[2]) if sys.argv[2:] else ROUNDS)
