"""Makes docs/images/page.png: the page with the demo's memories and many failed jobs, in Debian's Chromium.

python -m tools.screenshot [FILE]
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from importlib.resources import files as resources
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from playwright.sync_api import ViewportSize, sync_playwright

from bridge import trust
from bridge.settings import load
from jobs import client, clock, heartbeat
from jobs.layout import Workspace
from worker.http import tickets

FILE = Path(__file__).resolve().parent.parent / "docs" / "images" / "page.png"
SIZE: ViewportSize = {"width": 1180, "height": 940}
_PATIENCE_SECONDS = 180.0


def main() -> None:
    """Start a worker in a temporary workspace, fill it, and write the screenshot."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    path.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="cognee-memory-page-") as name:
        os.environ["COGNEE_MEMORY_CONFIG_DIR"] = f"{name}/config"
        workspace = Workspace(Path(name) / "fernwick")
        workspace.root.mkdir()
        trust.adopt(workspace, load().config_folder)
        worker = subprocess.Popen([sys.executable, "-m", "worker", "--workspace", str(workspace.root), "--detached"])
        try:
            _until(lambda: _http(workspace).get("url"))
            _fill(workspace)
            _shoot(workspace, path)
        finally:
            worker.terminate()
            worker.wait(_PATIENCE_SECONDS)


def _fill(workspace: Workspace) -> None:
    """Submit the demo's memories, and jobs that fail for three causes."""
    script = json.loads(resources("worker").joinpath("data/demo.json").read_text("utf-8"))
    for job in script["jobs"]:
        then = clock.iso(clock.now() - timedelta(days=job["days_ago"]))
        [(kind, value)] = job["payload"].items()
        dated = {**value, "created_at" if kind == "summary" else "timestamp": then}
        client.submit(workspace.spool, "ingest", {kind: dated}, submitted_by="extension")
    failing: list[tuple[int, str, dict[str, Any]]] = [
        (5, "cognify", {"paths": ["docs/events.md"]}),
        (14, "set_status", {"memory_id": "9c1d4c1e-9f9a-5a3e-8d55-0d7f4c1c2b6a", "status": "Superseded"}),
        (11, "compact", {"topic_id": "sync-and-conflict"}),
    ]
    for count, kind, payload in failing:
        for _ in range(count):
            client.submit(workspace.spool, kind, payload, submitted_by="extension")
    _until(lambda: _ended(workspace) == len(script["jobs"]) + sum(count for count, _, _ in failing))


def _shoot(workspace: Workspace, path: Path) -> None:
    http = _http(workspace)
    with urlopen(f"{http['url']}/healthz") as answer:
        answer.read()
    token = Path(http["token_file"]).read_text("ascii")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(f"{http['url']}/#ticket={tickets.issue(token)}")
        page.locator(".jobs tbody tr").first.wait_for()
        page.screenshot(path=path)
        browser.close()


def _http(workspace: Workspace) -> dict[str, Any]:
    latest = heartbeat.read(workspace.spool)
    return {**((latest and latest["http"]) or {})}


def _ended(workspace: Workspace) -> int:
    latest = heartbeat.read(workspace.spool)
    counts = latest["counts"] if latest else None
    return counts.get("succeeded", 0) + counts.get("failed", 0) if counts else 0


def _until(look: Callable[[], Any]) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not look():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.05)


if __name__ == "__main__":
    main()
