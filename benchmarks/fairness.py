"""Short work beside long: how soon an ingest starts, and ends, while a rebuild of 1,000 memories runs."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from jobs import client, launch
from jobs.layout import SpoolPaths
from jobs.model import Record

from . import corpus, table
from .workspace import fill, new_workspace

MEMORIES, INGESTS = 1000, 10


def main() -> None:
    with new_workspace() as (workspace, settings):
        fill(workspace, settings, MEMORIES)
        place = workspace.spool
        worker = subprocess.Popen(
            [sys.executable, "-m", "worker", "--workspace", str(workspace.root), "--detached"], cwd=Path("/")
        )
        try:
            while not launch.is_alive(workspace):
                time.sleep(0.02)
            payloads = corpus.summaries(MEMORIES + INGESTS + 1)[MEMORIES:]
            warm = client.submit(place, "ingest", payloads[0])
            client.wait(place, warm.job_id, 120)
            began = time.perf_counter()
            long = client.submit(place, "rebuild", {"what": "both"})
            starts: list[float] = []
            ends: list[float] = []
            for payload in payloads[1:]:
                if _state(place, long.job_id) not in (None, "queued", "running"):
                    break
                dropped = time.perf_counter()
                job = client.submit(place, "ingest", payload)
                while _state(place, job.job_id) in (None, "queued"):
                    time.sleep(0.002)
                starts.append(time.perf_counter() - dropped)
                assert client.wait(place, job.job_id, 120).state == "succeeded"
                ends.append(time.perf_counter() - dropped)
            record = client.wait(place, long.job_id, 600)
            whole = time.perf_counter() - began
        finally:
            worker.terminate()
            worker.wait()
    assert record.state == "succeeded", record
    assert len(record.attempts) == 1
    table.show(
        f"{len(starts)} ingests, one after another, beside a rebuild of {MEMORIES:,} memories",
        ["", "median", "most", "share of the rebuild"],
        [
            [name, f"{table.median(values):.2f} s", f"{max(values):.2f} s", f"{table.median(values) / whole:.0%}"]
            for name, values in (
                ("drop to running", starts),
                ("drop to ended", ends),
                ("the rebuild itself, one attempt", [whole]),
            )
        ],
    )


def _state(place: SpoolPaths, job_id: str) -> str | None:
    record: Record | None = client.status(place, job_id)
    return record.state if record else None


if __name__ == "__main__":
    main()
