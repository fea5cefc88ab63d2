"""After a pause, when the worker has ended its server and its child, beside another checkout.

    python -m benchmarks.after_pause /path/of/the/other/checkout

The first question over HTTP: both workers run with this environment's packages, in turn over one workspace of 1,000
memories. Each question opens a connection of its own, waits for the start of a server process, and is answered by it.

An hour's captures: in a new workspace one job is dropped and a worker is started; then five more jobs, three times,
each after the child has ended. How long after its drop has the first ended, and how many processor seconds did the
worker and its children take? Then a hundred summaries at once: how much memory does the child need?
"""

from __future__ import annotations

import http.client
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from bridge.search import query_client
from bridge.settings import inherited_environment
from jobs import client
from jobs.layout import Workspace

from . import table
from .memory import resident
from .retrieve_http import QUESTION, SIZES, fill
from .workspace import new_workspace

ROUNDS, PAUSES, CAPTURES, MANY = 2, 5, 4, 100
HERE = Path(__file__).resolve().parent.parent


class Hour(NamedTuple):
    """Seconds from the first drop to its end, processor seconds of all, and the child's peak in MiB."""

    ended: float
    processor: float
    peak: float


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(f"Name the other checkout: python -m {__spec__.name} FOLDER")
    other = Path(sys.argv[1]).resolve()
    taken: dict[Path, list[float]] = {HERE: [], other: []}
    with new_workspace() as (workspace, _):
        fill(workspace, SIZES[0])
        for _ in range(ROUNDS):
            for root, seconds in taken.items():
                seconds += after_pauses(root, workspace)
    hours: dict[Path, list[Hour]] = {HERE: [], other: []}
    for _ in range(ROUNDS):
        for root, several in hours.items():
            several.append(hour(root))
    bare = table.in_turn({"bare": [sys.executable, "-c", "pass"]}, 9)["bare"]
    table.show(
        f"{CAPTURES} captures, each after a pause; then {MANY} summaries",
        ["checkout", "first drop to ended (s)", "processor seconds", "the child's peak (MiB)"],
        [
            [name, *(" ".join(f"{each:.1f}" for each in one) for one in zip(*several, strict=True))]
            for name, several in zip(("here", "there"), hours.values(), strict=True)
        ],
    )
    table.show(
        f"The first question after a pause, {SIZES[0]:,} memories",
        ["checkout", "median (least–most)", "times bare Python"],
        [
            [name, table.milliseconds(seconds), f"{table.median(seconds) / table.median(bare):.0f}"]
            for name, seconds in zip(("here", "there"), taken.values(), strict=True)
        ],
    )


def after_pauses(root: Path, workspace: Workspace) -> list[float]:
    """The seconds of each first question. One before them is not counted: it compiles the modules."""
    environment = inherited_environment() | {"PYTHONPATH": str(root), "COGNEE_MEMORY_HTTP_IDLE_SECONDS": "1"}
    command = [sys.executable, "-P", "-m", "worker", "--workspace", str(workspace.root), "--detached"]
    worker = subprocess.Popen(command, cwd=root, env=environment)
    try:
        while not _http(workspace).get("url"):
            time.sleep(0.02)
        return [_asked(workspace) for _ in range(PAUSES + 1)][1:]
    finally:
        worker.terminate()
        worker.wait()
        workspace.spool.heartbeat.unlink(missing_ok=True)


def hour(root: Path) -> Hour:
    """An hour's four captures, each after the child has ended, in a new workspace; then a hundred summaries at once."""
    environment = inherited_environment() | {"PYTHONPATH": str(root), "COGNEE_MEMORY_CHILD_IDLE_SECONDS": "1"}
    with new_workspace() as (workspace, _):
        environment |= {"COGNEE_MEMORY_CONFIG_DIR": str(workspace.root.parent / "config")}
        command = [sys.executable, "-P", "-m", "worker", "--workspace", str(workspace.root), "--detached"]
        began, before = time.perf_counter(), _processor_seconds()
        first = [_dropped(workspace, 0)]
        worker = subprocess.Popen(command, cwd=root, env=environment)
        try:
            _ended(workspace, first)
            ended = time.perf_counter() - began
            for capture in range(1, CAPTURES):
                _until_without_child(workspace)
                _ended(workspace, [_dropped(workspace, 10 * capture + number) for number in range(5)])
            _until_without_child(workspace)
        finally:
            worker.terminate()
            worker.wait()
        spent = _processor_seconds() - before
        worker = subprocess.Popen(command, cwd=root, env=environment | {"COGNEE_MEMORY_CHILD_IDLE_SECONDS": "60"})
        try:
            _ended(workspace, [_dropped(workspace, 100 + number) for number in range(MANY)])
            peak = resident(_heartbeat(workspace)["child"]["pid"], "VmHWM")
        finally:
            worker.terminate()
            worker.wait()
        return Hour(ended, spent, peak)


def _ended(workspace: Workspace, job_ids: list[str]) -> None:
    for job_id in job_ids:
        record = client.wait(workspace.spool, job_id, 300)
        assert record.state == "succeeded", record


def _until_without_child(workspace: Workspace) -> None:
    while _heartbeat(workspace).get("child") is not None:
        time.sleep(0.2)


def _processor_seconds() -> float:
    """Of all processes that were started here and have ended, with what those started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _dropped(workspace: Workspace, number: int) -> str:
    summary = {"topic": f"Topic {number}", "context": "What was said.", "decisions": [f"The lamp {number} is blue."]}
    return client.submit(workspace.spool, "ingest", {"summary": summary}).job_id


def _asked(workspace: Workspace) -> float:
    while _http(workspace).get("server") is not None:
        time.sleep(0.1)
    port = query_client.port_of(_http(workspace)["url"])
    headers = {"Authorization": f"Bearer {workspace.spool.token.read_text('ascii')}"}
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = json.dumps({"query": QUESTION})
    connection.request("POST", "/v1/retrieve", body, headers | {"Content-Type": "application/json"})
    response = connection.getresponse()
    response.read()
    seconds = time.perf_counter() - began
    connection.close()
    assert response.status == 200
    while _http(workspace).get("server") is None:  # the heartbeat says it a moment later
        time.sleep(0.02)
    return seconds


def _heartbeat(workspace: Workspace) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(workspace.spool.heartbeat.read_bytes())
    except FileNotFoundError:
        return {}
    return found


def _http(workspace: Workspace) -> dict[str, Any]:
    return _heartbeat(workspace).get("http") or {}


if __name__ == "__main__":
    main()
