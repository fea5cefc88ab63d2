"""After a pause, when the worker has ended its server and its child, beside another checkout.

    python -m benchmarks.after_pause /path/of/the/other/checkout

The first question over HTTP: both workers run with this environment's packages, in turn over one workspace of 1,000
memories. Each question opens a connection of its own, waits for the start of a server process, and is answered by it.

The first memories: in a new workspace one job is dropped, and when the child loads cognee for it, 20 more. How long
after their drop are these found, and when have all jobs ended?
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bridge.search import listing, query_client
from bridge.settings import inherited_environment
from jobs import client
from jobs.layout import Workspace

from . import table
from .retrieve_http import QUESTION, SIZES, fill
from .workspace import new_workspace

ROUNDS, PAUSES, LATER = 2, 5, 20
HERE = Path(__file__).resolve().parent.parent


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
    stored: dict[Path, list[tuple[float, float]]] = {HERE: [], other: []}
    for _ in range(ROUNDS):
        for root, both in stored.items():
            both.append(first_memories(root))
    bare = table.in_turn({"bare": [sys.executable, "-c", "pass"]}, 9)["bare"]
    table.show(
        f"{LATER} memories, dropped while cognee is loaded for one before them, in seconds",
        ["checkout", "all found", "all ended"],
        [
            [name, *(" ".join(f"{each:.1f}" for each in one) for one in zip(*both, strict=True))]
            for name, both in zip(("here", "there"), stored.values(), strict=True)
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


def first_memories(root: Path) -> tuple[float, float]:
    """The seconds from the drop of the later jobs until their memories are found, and until all jobs have ended."""
    environment = inherited_environment() | {"PYTHONPATH": str(root)}
    with new_workspace() as (workspace, _):
        environment |= {"COGNEE_MEMORY_CONFIG_DIR": str(workspace.root.parent / "config")}
        command = [sys.executable, "-P", "-m", "worker", "--workspace", str(workspace.root), "--detached"]
        ids = [_dropped(workspace, 0)]
        worker = subprocess.Popen(command, cwd=root, env=environment)
        try:
            while not workspace.memory_db.exists() or listing.counts(workspace)["memories"] < 1:
                time.sleep(0.02)
            time.sleep(0.5)
            began = time.perf_counter()
            ids += [_dropped(workspace, number) for number in range(1, LATER + 1)]
            while listing.counts(workspace)["memories"] < len(ids):
                time.sleep(0.02)
            found = time.perf_counter() - began
            for job_id in ids:
                client.wait(workspace.spool, job_id, 300)
            return found, time.perf_counter() - began
        finally:
            worker.terminate()
            worker.wait()


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


def _http(workspace: Workspace) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(workspace.spool.heartbeat.read_bytes())["http"]
    except FileNotFoundError:
        return {}
    return found


if __name__ == "__main__":
    main()
