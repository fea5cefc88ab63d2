"""The idle worker: how soon it is ready, what it holds in memory, how many modules it has imported.

``python -m benchmarks.idle_worker [FOLDER]`` measures another version beside this one, in turn: that of a checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jobs import heartbeat
from jobs.layout import Workspace

from . import table
from .memory import resident
from .workspace import new_workspace

_HERE = Path(__file__).resolve().parents[1]
_ROUNDS = 5
_REST_SECONDS = 2.0  # after it is ready, for the threads that start then
_MODULES = "import sys, worker.daemon; print(len(sys.modules))"


@dataclass(slots=True)
class Measured:
    """Of one version: seconds to readiness and MiB of each round, and modules."""

    ready: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    modules: int = 0


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(folder)}


def _run(folder: Path, workspace: Workspace, into: Measured) -> None:
    command = [sys.executable, "-m", "worker", "--workspace", str(workspace.root), "--detached"]
    began = time.perf_counter()
    worker = subprocess.Popen(command, cwd="/", env=_environment(folder))
    try:
        while (beat := heartbeat.read(workspace.spool)) is None or beat["state"] != "ready":
            if worker.poll() is not None:
                raise RuntimeError(f"The worker of {folder} ended at once.")
            time.sleep(0.005)
        into.ready.append(time.perf_counter() - began)
        time.sleep(_REST_SECONDS)
        into.memory.append(resident(worker.pid))
    finally:
        worker.terminate()
        worker.wait()


def measure(folders: Sequence[Path]) -> list[Measured]:
    """Each version in turn, so that a slow moment meets all of them; one round before is not counted."""
    found = [Measured() for _ in folders]
    for number in range(_ROUNDS + 1):
        for folder, into in zip(folders, found, strict=True):
            with new_workspace() as (workspace, _):
                _run(folder, workspace, into if number else Measured())
    for folder, into in zip(folders, found, strict=True):
        counted = [sys.executable, "-c", _MODULES]
        into.modules = int(subprocess.check_output(counted, cwd="/", env=_environment(folder)))
    return found


def main(other: Path | None = None) -> None:
    versions = {"this version": _HERE, **({} if other is None else {"the other version": other.resolve()})}
    found = measure([*versions.values()])
    rows = [
        [name, f"{table.median(it.memory):.1f} MiB", str(it.modules), table.milliseconds(it.ready)]
        for name, it in zip(versions, found, strict=True)
    ]
    title = f"The idle worker ({_ROUNDS} rounds in turn)"
    table.show(title, ["worker", "resident memory", "modules", "start to ready, median (least–most)"], rows)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
