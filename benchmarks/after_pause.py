"""After a pause, when the worker has ended its server and its child, beside another checkout.

    python -m benchmarks.after_pause /path/of/the/other/checkout

The first question over HTTP: both workers run with this environment's packages, in turn over one workspace of 1,000
memories. Each question opens a connection of its own, waits for the start of a server process, and is answered by it.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bridge.search import query_client
from bridge.settings import inherited_environment
from jobs.layout import Workspace

from . import table
from .retrieve_http import QUESTION, SIZES, fill
from .workspace import new_workspace

ROUNDS, PAUSES = 2, 5
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
    bare = table.in_turn({"bare": [sys.executable, "-c", "pass"]}, 9)["bare"]
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
