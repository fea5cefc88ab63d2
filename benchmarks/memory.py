"""Resident memory: the idle worker, a process that retrieves, and the child."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from jobs import client, launch

from . import corpus, table
from .workspace import new_workspace

_RETRIEVE = (
    "import sys, resource; from bridge.retrieve import main;"
    " main(sys.argv[1:]); print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
)


def resident(pid: int, name: str = "VmRSS") -> float:
    """MiB that a process holds in memory now, by the kernel's own account (Linux)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024
    raise ValueError(name)


def main() -> None:
    with new_workspace() as (workspace, _):
        worker = subprocess.Popen(
            [sys.executable, "-m", "worker", "--workspace", str(workspace.root), "--detached"], cwd=Path("/")
        )
        try:
            while not launch.is_alive(workspace) or not workspace.spool.heartbeat.exists():
                time.sleep(0.02)
            time.sleep(2)
            idle = resident(worker.pid)
            ids = [client.submit(workspace.spool, "ingest", payload).job_id for payload in corpus.summaries(100)]
            for job_id in ids:
                client.wait(workspace.spool, job_id, 300)
            busy = resident(worker.pid)
            children = Path(f"/proc/{worker.pid}/task").glob("*/children")
            child = next(int(pid) for path in children for pid in path.read_text().split())
            child_now, child_peak = resident(child), resident(child, "VmHWM")
            asked = subprocess.run(
                [sys.executable, "-c", _RETRIEVE, str(workspace.root), "token renewal"], capture_output=True, check=True
            )
            retrieval = int(asked.stderr.split()[-1]) / 1024
        finally:
            worker.terminate()
            worker.wait()
    rows = [
        [name, f"{size:.0f} MiB", f"{size / idle:.1f}"]
        for name, size in (
            ("the worker, idle, before any job", idle),
            ("the worker after 100 ingest jobs", busy),
            ("the child after 100 ingest jobs (cognee and the model)", child_now),
            ("the child at its peak", child_peak),
            ("a cold process that retrieves, at its peak", retrieval),
        )
    ]
    table.show("Resident memory", ["process", "memory", "times the idle worker"], rows)


if __name__ == "__main__":
    main()
