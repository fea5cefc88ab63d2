"""A checkout of this project that is measured: its workers and programs run in workspaces, and its figures are kept.

All checkouts use this environment's packages. Another one may have another layout inside: used are only its worker, its
command line, its script and the files that they share with clients.
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bridge.search import query_client
from bridge.settings import inherited_environment, load
from jobs import client, heartbeat
from jobs.layout import Workspace
from jobs.model import Record


class Checkout:
    """A checkout and what was measured of it, by the figure's name, whose last word is the unit."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.figures: dict[str, list[float]] = {}

    def note(self, name: str, value: float) -> None:
        self.figures.setdefault(name, []).append(value)


class Place:
    """A workspace in which a checkout's programs run, with ``settings`` as environment variables."""

    def __init__(self, root: Path, folder: Path, settings: Mapping[str, str]) -> None:
        self.root = root
        self.workspace = Workspace(folder / "workspace")
        self.workspace.root.mkdir(exist_ok=True)
        self.environment = inherited_environment() | {
            "PYTHONPATH": str(root),
            "HOME": str(folder / "home"),
            "COGNEE_MEMORY_CONFIG_DIR": str(folder / "config"),
            "COGNEE_MEMORY_CACHE_DIR": str(load().cache_folder),
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
            self.workspace.spool.heartbeat.unlink(missing_ok=True)

    def beat(self) -> dict[str, Any]:
        return dict(heartbeat.read(self.workspace.spool) or {})

    def submit(self, kind: str, payload: dict[str, Any]) -> str:
        return client.submit(self.workspace.spool, kind, payload).job_id

    def ended(self, job_id: str) -> Record:
        record = client.wait(self.workspace.spool, job_id, 600)
        assert record.state == "succeeded", record
        return record

    def wait_for_http(self, name: str, *, there: bool) -> None:
        """Until the heartbeat says that HTTP has, or has not, a ``url``, a ``server``, or one that is ``serving``."""
        while bool(self.beat().get("http", {}).get(name)) is not there:
            time.sleep(0.02)


class Asker:
    """A connection to a worker's HTTP interface, kept."""

    def __init__(self, place: Place) -> None:
        port = query_client.port_of(place.beat()["http"]["url"])
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        token = place.workspace.spool.token.read_text("ascii")
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, question: str) -> float:
        """The milliseconds that the answer took."""
        began = time.perf_counter()
        self._connection.request("POST", "/v1/retrieve", json.dumps({"query": question}), self._headers)
        response = self._connection.getresponse()
        response.read()
        assert response.status == 200
        return (time.perf_counter() - began) * 1000


@contextmanager
def place(root: Path, settings: Mapping[str, str]) -> Iterator[Place]:
    """A new workspace in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="cognee-memory-beside-", ignore_cleanup_errors=True) as folder:
        yield Place(root, Path(folder), settings)


def resident(pid: int, name: str = "VmRSS") -> float:
    """MiB of a process, by the kernel's own account (Linux): resident, or another line such as ``RssAnon``."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1024


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


def bare_python(times: int) -> list[float]:
    """The milliseconds of so many starts of an interpreter that does nothing."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        taken.append((time.perf_counter() - began) * 1000)
    return taken


def percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100)[percent - 1]
