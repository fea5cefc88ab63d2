"""How long a tool waits for its hook, beside starting Python: the end of a session, which drops a job, the beginning of
one, which prints notes, and a folder without a memory.

    python -m benchmarks.hook [--rounds N]

The commands take turns, so that other work on the machine meets all of them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bridge import trust
from bridge.capture import consent
from bridge.embedding.embedder import Embedder
from bridge.embedding.factory import create
from bridge.memory import Content, Memory, Metadata
from bridge.settings import load
from bridge.store.sqlite_store import SqliteStore
from jobs.layout import Workspace
from worker.hooks import hook

from .table import show

_MEMORIES = 1000
_NOW = "2026-11-20T09:00:00Z"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        workspace, config = Workspace(Path(folder) / "project"), Path(folder) / "config"
        workspace.root.mkdir()
        trust.adopt(workspace, config)
        consent.set_enabled(workspace, config, "claude-code", True)
        _fill(workspace, create(load().embedding, bulk=True))
        commands = {
            "python -c pass": ([sys.executable, "-c", "pass"], ""),
            "no memory in the folder": (_hook(config), _said(Path(folder), "SessionEnd")),
            "the end of a session: a job is dropped": (_hook(config), _said(workspace.root, "SessionEnd")),
            f"the beginning: notes of {_MEMORIES} memories": (_hook(config), _said(workspace.root, "SessionStart")),
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(rounds):
            for name, (command, said) in commands.items():
                began = time.perf_counter()
                subprocess.run(command, input=said.encode(), stdout=subprocess.DEVNULL, check=True, cwd=folder)
                times[name].append((time.perf_counter() - began) * 1000)
        bare = statistics.median(times["python -c pass"])
        rows = [
            [name, f"{statistics.median(found):.0f}", f"{statistics.median(found) - bare:.0f}", f"{max(found):.0f}"]
            for name, found in times.items()
        ]
        show("A hook", ["called", "median ms", "more than bare Python, ms", "longest ms"], rows)
        stop = [sys.executable, "-P", "-m", "worker.cli", "worker", "stop", "--workspace", str(workspace.root)]
        subprocess.run(stop, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def _hook(config: Path) -> list[str]:
    return [sys.executable, "-S", "-P", hook.__file__, "--config", str(config), "--tool", "claude-code"]


def _said(folder: Path, event: str) -> str:
    return json.dumps({"session_id": "s", "cwd": str(folder), "hook_event_name": event, "transcript_path": __file__})


def _fill(workspace: Workspace, embedder: Embedder) -> None:
    store = SqliteStore(workspace, embedder)
    memories = []
    for number in range(_MEMORIES):
        known = Metadata(f"topic-{number}", status="Active", created_at=_NOW, updated_at=_NOW)
        content = Content(f"Topic {number}", f"Context {number}.", (f"Decision {number}.",), next_steps=("Go on.",))
        memories.append((Memory(f"id-{number}", 0, "summary", known, _NOW, content), "job"))
    store.add(memories, _NOW)
    store.close()


if __name__ == "__main__":
    main()
