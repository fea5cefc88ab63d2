"""Ingestion of 200 summaries through the whole path, beside the naive way and beside embedding alone."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from bridge.settings import Settings
from jobs import client, launch
from jobs.layout import Workspace
from jobs.model import Record

from . import corpus, table
from .workspace import new_workspace, run_in_child

SUMMARIES = 200
NAIVE_SUMMARIES = 100


def main() -> None:
    with new_workspace() as (workspace, settings):
        whole, records = whole_path(workspace, settings)
    with new_workspace() as (workspace, settings):
        naive = float(run_in_child("benchmarks.naive", workspace, settings, str(NAIVE_SUMMARIES)).split()[-1])
        naive *= SUMMARIES / NAIVE_SUMMARIES
    with new_workspace() as (workspace, settings):
        floor, texts = run_in_child("benchmarks.embed_only", workspace, settings, str(SUMMARIES)).split()
    rows = [
        [name, f"{seconds:.1f} s", f"{SUMMARIES / seconds:.1f}", f"{naive / seconds:.1f}"]
        for name, seconds in (
            (f"whole path: {SUMMARIES} job files dropped to {SUMMARIES} records ended", whole),
            (f"naive: one add_data_points a summary ({NAIVE_SUMMARIES} measured)", naive),
            (f"embedding alone: {texts} texts, each once (the floor)", float(floor)),
        )
    ]
    table.show("Ingestion of 200 summaries, warm child", ["way", "time", "summaries/s", "times the naive rate"], rows)
    stages(whole, records)


def whole_path(workspace: Workspace, settings: Settings) -> tuple[float, list[Record]]:
    """Seconds from the first drop to the last end, after one job that warms the child; and the records."""
    payloads = corpus.summaries(SUMMARIES + 1)
    worker = subprocess.Popen(
        [sys.executable, "-m", "worker", "--workspace", str(workspace.root), "--detached"], cwd=Path("/")
    )
    try:
        while not launch.is_alive(workspace):
            time.sleep(0.02)
        first = client.submit(workspace.spool, "ingest", payloads[0])
        assert client.wait(workspace.spool, first.job_id, 120).state == "succeeded"
        began = time.perf_counter()
        ids = [client.submit(workspace.spool, "ingest", payload).job_id for payload in payloads[1:]]
        records = [client.wait(workspace.spool, job_id, 300) for job_id in ids]
        seconds = time.perf_counter() - began
    finally:
        worker.terminate()
        worker.wait()
    assert all(record.state == "succeeded" for record in records)
    return seconds, records


def stages(whole: float, records: list[Record]) -> None:
    """Where the time went: the stages of each batch, once a batch."""
    batches = {}
    for record in records:
        assert record.result is not None
        batches[record.attempts[-1].started_at] = record.result["timings_ms"]
    stored = sum(timing["store"] for timing in batches.values()) / 1000
    rows = [
        [name, f"{seconds:.1f} s", f"{seconds / whole:.0%}"]
        for name, seconds in (
            ("embedding and the transaction in memory.db", stored),
            ("dropping, accepting, records, waiting for the child", whole - stored),
        )
    ]
    table.show(f"Where the whole path's time goes ({len(batches)} batches)", ["stage", "time", "share"], rows)


if __name__ == "__main__":
    main()
