"""No-op jobs through the whole durable path, beside bare Huey on SQLite that syncs as well.

Ours: job files wait in the inbox of a paused worker (SIGSTOP); the time runs from when it may go on until the
last record has ended. Huey's: tasks lie in its database; the time runs from the start of its consumer until the last
one has run. Each job of ours is four durable files and its share of a round trip to the child process; a task of
Huey's is one durable transaction, and is lost when the process dies in it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bridge import trust
from jobs import client, clock, launch, spool
from jobs.layout import SpoolPaths, Workspace
from jobs.model import SCHEMA_VERSION, Record, encode

from . import table
from .workspace import new_workspace

JOBS = 1000
ROUNDS = 5
WAITING = (0, 10, 10_000)
WORKER = ("-m", "worker")

SETTINGS = {
    "COGNEE_MEMORY_TEST_JOBS": "1",
    "COGNEE_MEMORY_MAX_ACTIVE_JOBS": "30000",
    "COGNEE_MEMORY_KEEP_ENDED_JOBS": "1000000",
    # No-op jobs alone come fast enough for the child's replacement to be part of every second.
    "COGNEE_MEMORY_CHILD_MAX_JOBS": "1000000",
}


def main() -> None:
    with settings(SETTINGS), new_workspace() as (workspace, found), ExitStack() as stack:
        lines = {}
        for waiting in WAITING:
            room = Workspace(workspace.root / f"waiting-{waiting}")
            room.root.mkdir()
            trust.adopt(room, found.config_folder)
            lines[waiting] = stack.enter_context(standing_worker(room, waiting))
        ours: dict[int, list[float]] = {waiting: [] for waiting in WAITING}
        bare: list[float] = []
        for number in range(ROUNDS + 1):  # one round before is not counted
            for waiting, line in lines.items():
                ours[waiting].append(line.drain(f"r{number}"))
            bare.append(bare_huey())
    _show({waiting: taken[1:] for waiting, taken in ours.items()}, bare[1:])


def _show(ours: dict[int, list[float]], bare: list[float]) -> None:
    huey, alone = table.median(bare), table.median(ours[0])
    ways = {f"bare Huey, fsync on: {JOBS:,} tasks": bare}
    ways |= {f"whole path: {JOBS:,} jobs; {waiting:,} more wait for later": taken for waiting, taken in ours.items()}
    rows = []
    for name, taken in ways.items():
        seconds = table.median(taken)
        spread = f"{JOBS / seconds:,.0f} ({JOBS / max(taken):,.0f}–{JOBS / min(taken):,.0f})"
        rows.append([name, spread, f"{huey / seconds:.2f}", f"{alone / seconds:.2f}"])
    columns = ["way", "a second: median (least–most)", "times Huey's rate", "times the rate with none waiting"]
    table.show(f"No-op jobs drained, warm child ({ROUNDS} rounds in turn)", columns, rows)


class Line:
    """A worker that is paused except while it is measured, so that several can be measured in turn."""

    def __init__(self, place: SpoolPaths, pid: int) -> None:
        self._place = place
        self.pid = pid

    def drain(self, prefix: str) -> float:
        """Seconds until so many jobs have ended."""
        ids = [f"{prefix}-{number:05}" for number in range(JOBS)]
        for job_id in ids:
            drop(self._place, job_id)
        began = time.perf_counter()
        os.kill(self.pid, signal.SIGCONT)
        while ids:  # the last one mostly ends last: this looks at one file most of the time
            if ended(self._place, ids[-1]):
                ids.pop()
            else:
                time.sleep(0.002)
        taken = time.perf_counter() - began
        os.kill(self.pid, signal.SIGSTOP)
        return taken


@contextmanager
def standing_worker(workspace: Workspace, waiting: int = 0, program: Sequence[str] = WORKER) -> Iterator[Line]:
    """A worker with so many jobs that wait for a far day."""
    place = workspace.spool
    for number in range(waiting):
        drop(place, f"later-{number:05}", not_before="2100-01-01T00:00:00Z")
    with warm_worker(workspace, program) as pid:
        while any(True for _ in spool.job_ids(place.inbox)):
            time.sleep(0.05)
        os.kill(pid, signal.SIGSTOP)
        try:
            yield Line(place, pid)
        finally:
            os.kill(pid, signal.SIGCONT)


@contextmanager
def settings(variables: Mapping[str, str]) -> Iterator[None]:
    """Variables for the processes that are started inside."""
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]


@contextmanager
def warm_worker(workspace: Workspace, program: Sequence[str] = WORKER) -> Iterator[int]:
    """A worker that has run a job: its process id. ``program`` is what the interpreter runs."""
    worker = subprocess.Popen(
        [sys.executable, *program, "--workspace", str(workspace.root), "--detached"], cwd=Path("/")
    )
    try:
        while not launch.is_alive(workspace):
            assert worker.poll() is None, "the worker did not start"
            time.sleep(0.02)
        first = client.submit(workspace.spool, "noop", {})
        assert client.wait(workspace.spool, first.job_id, 120).state == "succeeded"
        yield worker.pid
    finally:
        worker.terminate()
        worker.wait()


def job(job_id: str, **fields: object) -> bytes:
    """The file of a no-op job."""
    now = clock.iso(clock.now())
    common = {"schema_version": SCHEMA_VERSION, "job_id": job_id, "kind": "noop", "payload": {}, "submitted_at": now}
    return encode({**common, **fields})


def drop(place: SpoolPaths, job_id: str, **fields: object) -> None:
    spool.drop(place, job_id, job(job_id, **fields))


def ended(place: SpoolPaths, job_id: str) -> Record | None:
    """The record, once it has ended, which must be well."""
    record = spool.read_record(place, job_id)
    if record is None or not record.ended:
        return None
    assert record.state == "succeeded", record
    return record


def bare_huey() -> float:
    """Seconds in which Huey's consumer, in a process of its own, drains its queue."""
    with tempfile.TemporaryDirectory(prefix="cognee-memory-bench-") as folder:
        command = [sys.executable, "-m", "benchmarks.queue_rate", str(Path(folder) / "huey.db")]
        return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def _drain_huey(path: str) -> float:
    from huey import SqliteHuey
    from huey.consumer import Consumer

    huey = SqliteHuey("bare", filename=path, fsync=True, results=False)
    left, empty = JOBS, threading.Event()

    def nothing() -> None:
        nonlocal left
        left -= 1
        if not left:
            empty.set()

    task = huey.task()(nothing)
    for _ in range(JOBS):
        task()
    consumer = Consumer(huey, workers=1, worker_type="thread", periodic=False, check_worker_health=False)
    began = time.perf_counter()
    consumer.start()
    empty.wait()
    taken = time.perf_counter() - began
    consumer.stop()
    return taken


if __name__ == "__main__":
    print(_drain_huey(sys.argv[1]))
