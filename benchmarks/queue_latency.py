"""How soon a dropped job runs, beside an idle worker and in a burst; and what an idle worker costs.

Beside it, in turn: one durable file (written, synced, renamed, its folder synced), which the disk decides alone. A job
that runs has cost three of them one after another: the worker's copy, the record, and the record that says so.

The clock starts right before the drop's rename, which puts the file before everybody, and stops when the record
that an asker polls shows the state; what the worker notes in the record plays no part. The child is warm.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path

from jobs import files, spool
from jobs.layout import SpoolPaths

from . import table
from .queue_rate import SETTINGS, ended, job, settings, warm_worker
from .workspace import new_workspace

DROPS = 300
BURST = 1000
BURSTS = 3
URGENT = 20  # the priority of what somebody waits for
IDLE_SECONDS = 20
_POLL_SECONDS = 0.00005  # the watching leaves the core to the worker: there may be but two


def main() -> None:
    with settings(SETTINGS), new_workspace() as (workspace, _), warm_worker(workspace) as pid:
        running, done, durable = _alone(workspace.spool)
        bursts = [_burst(workspace.spool, f"burst{number}") for number in range(BURSTS)]
        time.sleep(3)
        idle = _idle(pid)
    times = {
        "one durable file, beside each drop": durable,
        f"drop to running, idle worker ({DROPS} drops)": running,
        f"drop to ended, idle worker ({DROPS} drops)": done,
        f"drop to running, {BURST:,} dropped at once ({BURSTS} times)": [
            s for all_of_it, _ in bursts for s in all_of_it
        ],
        "drop to running, a job of high priority behind them": [urgent for _, urgent in bursts],
    }
    base = _share(durable, 0.5)
    rows = [
        [
            name,
            *(f"{_share(taken, part) * 1000:,.1f} ms" for part in (0.5, 0.95, 1)),
            f"{_share(taken, 0.5) / base:.1f}",
        ]
        for name, taken in times.items()
    ]
    columns = ["no-op jobs, warm child", "p50", "p95", "most", "p50 in durable files"]
    table.show("From a drop to its job's running and end", columns, rows)
    rows = [[name, f"{share:.2%}"] for name, share in idle.items()]
    table.show(f"Processor time while idle ({IDLE_SECONDS} s)", ["process", "share of one core"], rows)


def _share(values: Sequence[float], part: float) -> float:
    """The value that so large a part of the values does not exceed."""
    return sorted(values)[max(0, round(part * len(values)) - 1)]


def _alone(place: SpoolPaths) -> tuple[list[float], list[float], list[float]]:
    """Seconds to running and to the end of drops far enough apart for the worker to be idle at each; and of a file."""
    running, done, durable = [], [], []
    for number in range(DROPS):
        time.sleep(random.uniform(0.02, 0.06))
        began = time.perf_counter()
        files.replace(place.root.parent / "durable", bytes(600))
        durable.append(time.perf_counter() - began)
        job_id = f"alone-{number:05}"
        _write(place, job_id)
        began = time.perf_counter()
        _hand_over(place, [job_id])
        running.append(_until_running(place, job_id) - began)
        while ended(place, job_id) is None:
            time.sleep(_POLL_SECONDS)
        done.append(time.perf_counter() - began)
    return running, done, durable


def _burst(place: SpoolPaths, prefix: str) -> tuple[list[float], float]:
    """Seconds to running of each of many drops at once, and of an urgent one behind them."""
    ids, urgent = [f"{prefix}-{number:05}" for number in range(BURST)], f"{prefix}-urgent"
    for job_id in ids:
        _write(place, job_id)
    _write(place, urgent, priority=URGENT)
    time.sleep(1)
    dropped = _hand_over(place, [*ids, urgent])
    # The urgent one is looked at before each of the others, which start in the order of their names.
    taken, rushed = [], None
    for job_id, began in zip(ids, dropped, strict=False):
        while (state := _state(place, job_id)) is None:
            if rushed is None and _state(place, urgent) is not None:
                rushed = time.perf_counter() - dropped[-1]
            time.sleep(_POLL_SECONDS)
        taken.append(time.perf_counter() - began)
        assert state in ("running", "succeeded")
    if rushed is None:
        rushed = _until_running(place, urgent) - dropped[-1]
    for job_id in [*ids, urgent]:
        while ended(place, job_id) is None:
            time.sleep(0.01)
    return taken, rushed


def _write(place: SpoolPaths, job_id: str, **fields: object) -> None:
    """The part of a drop that nobody sees."""
    files.write_new(place.partial_drop(job_id), job(job_id, **fields))


def _hand_over(place: SpoolPaths, ids: Sequence[str]) -> list[float]:
    """The part of a drop that everybody sees; returns when each was there."""
    moments = []
    for job_id in ids:
        moments.append(time.perf_counter())
        files.rename(place.partial_drop(job_id), place.dropped(job_id))
    files.sync_folder(place.inbox)
    return moments


def _until_running(place: SpoolPaths, job_id: str) -> float:
    """The moment at which the record shows that the job runs, or has run."""
    while _state(place, job_id) is None:
        time.sleep(_POLL_SECONDS)
    return time.perf_counter()


def _state(place: SpoolPaths, job_id: str) -> str | None:
    record = spool.read_record(place, job_id)
    return None if record is None or record.state == "queued" else record.state


def _idle(pid: int) -> dict[str, float]:
    """The share of a core that the worker and its child take with nothing to do, by the kernel's account (Linux)."""
    children = Path(f"/proc/{pid}/task").glob("*/children")
    child = next(int(found) for path in children for found in path.read_text().split())
    names = {"the worker": pid, "the child": child}
    before = {name: _processor_seconds(number) for name, number in names.items()}
    time.sleep(IDLE_SECONDS)
    return {name: (_processor_seconds(number) - before[name]) / IDLE_SECONDS for name, number in names.items()}


def _processor_seconds(pid: int) -> float:
    """To the nanosecond, of all threads."""
    return sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir()) / 1e9


if __name__ == "__main__":
    main()
