"""A month of sessions through the product: 200 transcripts of 300 MB, from nothing to retrievable, by a real worker.

    python -m benchmarks.capture_month [--sessions N] [--megabytes M] [--tool TOOL]

While the capture runs, a person's own summary is dropped, and its time until it is stored is measured. In a second
workspace, the worker is killed in the middle of the same capture and started again. Memory is what the kernel says of
the worker and its child at their peaks.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from bridge.capture import consent
from bridge.settings import Settings, load
from jobs import client, launch
from jobs.layout import Workspace

from . import corpus, table, transcripts
from .memory import resident
from .workspace import new_workspace

_PATIENCE_SECONDS = 3600.0
_ASKED = 100  # decisions


def main(argv: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capture_month", description=__doc__)
    parser.add_argument("--sessions", type=int, default=transcripts.SESSIONS)
    parser.add_argument("--megabytes", type=float, default=transcripts.MEGABYTES)
    parser.add_argument("--tool", choices=("claude-code", "codex"), default="claude-code")
    arguments = parser.parse_args(list(argv))
    with _month(arguments) as (workspace, _), _worker(workspace) as worker:
        peak = _Peak(worker.pid)
        first, own = _captured(workspace, peak), _own_summary(workspace)
        result = first()
        took, waited = result["seconds"], own()
        again = _captured(workspace, peak)()
        memories, found = _memories(workspace), _found(workspace)
    with _month(arguments) as (workspace, _):
        killed, after_kill = _killed(workspace, took)
    rows = [
        ["captured and retrievable", f"{took:.1f} s", f"{result['bytes_read'] / took / 1e6:.1f} MB/s"],
        ["memories", f"{memories:,}", f"{memories / took:.1f} a second"],
        [f"questions of {_ASKED} that find their session first, among the first five", *found],
        ["a summary of a person, dropped meanwhile, is stored after", f"{waited:.1f} s", ""],
        ["again, with nothing new", f"{again['seconds']:.1f} s", f"{again['unchanged']} unchanged"],
        ["the worker at its peak", f"{peak.worker:.0f} MiB", ""],
        ["the child at its peak", f"{peak.child:.0f} MiB", ""],
        ["the worker killed after half of that time: memories then", f"{killed:,}", ""],
        [
            "and at the end, after a restart",
            f"{after_kill:,}",
            "the same" if after_kill == memories else "NOT THE SAME",
        ],
    ]
    table.show(f"{arguments.sessions} sessions of {arguments.megabytes:,.0f} MB, {arguments.tool}", ["", "", ""], rows)


@contextmanager
def _month(arguments: argparse.Namespace) -> Iterator[tuple[Workspace, Settings]]:
    with new_workspace() as (workspace, settings):
        home = workspace.root.parent / "home"
        transcripts.write(home, workspace.root, arguments.sessions, arguments.megabytes, arguments.tool)
        consent.set_enabled(workspace, settings.config_folder, arguments.tool, True)
        yield workspace, settings


@contextmanager
def _worker(workspace: Workspace) -> Iterator[subprocess.Popen[bytes]]:
    process = _started(workspace)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def _started(workspace: Workspace) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "worker", "--workspace", str(workspace.root), "--detached"]
    home = {"HOME": str(workspace.root.parent / "home"), "COGNEE_MEMORY_CACHE_DIR": str(load().cache_folder)}
    process = subprocess.Popen(command, cwd=Path("/"), stderr=subprocess.DEVNULL, env={**os.environ, **home})
    while not launch.is_alive(workspace) or not workspace.spool.heartbeat.exists():
        time.sleep(0.02)
    return process


class _Peak:
    """The most memory of a worker and of its child, in MiB, sampled when asked."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.worker = self.child = 0.0

    def look(self) -> None:
        try:
            self.worker = max(self.worker, resident(self._pid, "VmHWM"))
            for path in Path(f"/proc/{self._pid}/task").glob("*/children"):
                for child in path.read_text().split():
                    self.child = max(self.child, resident(int(child), "VmHWM"))
        except (OSError, ValueError):
            pass


def _captured(workspace: Workspace, peak: _Peak | None = None) -> Any:
    """Submit a capture; returns a function that waits for its end and returns its result, with ``seconds``."""
    began = time.monotonic()
    job_id = client.submit(workspace.spool, "capture", {}).job_id

    def wait() -> dict[str, Any]:
        done = threading.Event()

        def watch() -> None:
            while peak is not None and not done.wait(0.5):
                peak.look()

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            record = client.wait(workspace.spool, job_id, _PATIENCE_SECONDS)
        finally:
            done.set()
            watcher.join()
        assert record is not None
        assert record.state == "succeeded", record
        return {**(record.result or {}), "seconds": time.monotonic() - began}

    return wait


def _own_summary(workspace: Workspace) -> Any:
    """Drop a person's summary a few seconds into the capture; returns a function that returns the seconds it took."""
    taken: list[float] = []

    def drop() -> None:
        time.sleep(5)
        began = time.monotonic()
        job_id = client.submit(workspace.spool, "ingest", corpus.summaries(1, seed=99)[0]).job_id
        client.wait(workspace.spool, job_id, _PATIENCE_SECONDS)
        taken.append(time.monotonic() - began)

    thread = threading.Thread(target=drop)
    thread.start()

    def wait() -> float:
        thread.join()
        return taken[0]

    return wait


def _killed(workspace: Workspace, took: float) -> tuple[int, int]:
    """The memories when the worker is killed in the middle of a capture, and at its end after a restart."""
    process = _started(workspace)
    wait = _captured(workspace)
    time.sleep(took / 2)
    for path in Path(f"/proc/{process.pid}/task").glob("*/children"):
        for child in path.read_text().split():
            os.kill(int(child), signal.SIGKILL)
    process.kill()
    process.wait()
    then = _memories(workspace)
    with _worker(workspace):
        wait()
    return then, _memories(workspace)


def _memories(workspace: Workspace) -> int:
    with closing(sqlite3.connect(f"{workspace.memory_db.as_uri()}?mode=ro", uri=True)) as connection:
        return int(connection.execute("SELECT count(*) FROM captured_memories").fetchone()[0])


def _found(workspace: Workspace) -> list[str]:
    """How many decisions of the sessions are found first, and among the first five, when they are asked for."""
    firsts = fives = 0
    subjects = corpus.summaries(_ASKED, 11)
    for subject in subjects:
        decision = subject["summary"]["decisions"][0]
        command = [
            sys.executable,
            "-m",
            "worker.cli",
            "retrieve",
            decision,
            "--workspace",
            str(workspace.root),
            "--json",
        ]
        answer = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
        texts = [hit["text"] for hit in answer["results"]]
        firsts += any(decision in text for text in texts[:1])
        fives += any(decision in text for text in texts[:5])
    return [str(firsts), str(fives)]


if __name__ == "__main__":
    main(sys.argv[1:])
