"""The doctor's look at 1,000 and 10,000 ended jobs, beside reading their records once with nothing else.

The two in turn, ``ROUNDS`` times, so that other work of the machine falls on both.
"""

from __future__ import annotations

import json
import statistics
import time

from jobs import clock
from jobs.layout import Workspace
from worker.doctor.examination import examine

from . import page, table
from .workspace import new_workspace

SIZES = (1_000, 10_000)
ROUNDS = 5


def main() -> None:
    rows = []
    for size in SIZES:
        with new_workspace() as (workspace, _):
            page.add_records(workspace, size)
            reads, looks = _measured(workspace)
        rows.append([f"{size:,}", f"{reads * 1000:.0f} ms", f"{looks * 1000:.0f} ms", f"{looks / reads:.1f}"])
    table.show("The doctor", ["ended jobs", "reading their records", "the doctor", "times as long"], rows)


def _measured(workspace: Workspace) -> tuple[float, float]:
    """The medians in seconds: of reading all records as JSON, and of a look by the doctor."""
    reads, looks = [], []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for path in workspace.spool.results.iterdir():
            json.loads(path.read_bytes())
        reads.append(time.perf_counter() - began)
        began = time.perf_counter()
        examine(workspace, clock.now(), probe_http=False)
        looks.append(time.perf_counter() - began)
    return statistics.median(reads), statistics.median(looks)
