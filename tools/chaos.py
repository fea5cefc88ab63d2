"""``make chaos``: a minute of faults against a real worker, and what became of the jobs.

A client drops jobs all the time, some of them twice, since it was not sure; meanwhile the worker or its child is killed
with SIGKILL at random moments, and the disk is full now and then, where a small one may be mounted (Linux, as root).
At the end each job is counted in its record and in ``memory.db``. Exit status 1 if a job was lost or stored twice.

``python -m tools.chaos [SECONDS] [SEED]``: as long as wanted, and the same faults again, as far as time allows.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from bridge import trust
from bridge.settings import load
from jobs import client, launch
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lock import is_held
from jobs.model import Record

SECONDS = 45.0  # of faults; after them, what waits is done
PATIENCE_SECONDS = 300.0
MOST_IN_A_BURST = 20
DISK_MIB, RESERVE_MIB = 96, 8
_MIB = 1024 * 1024


@dataclass
class Tally:
    """What the client and the faults did. ``jobs``: the text that only this job stores, by job id."""

    jobs: dict[str, str] = field(default_factory=dict)
    drops: int = 0
    refused: int = 0
    faults: Counter[str] = field(default_factory=Counter)


def main() -> int:
    seconds = float(sys.argv[1]) if sys.argv[1:] else SECONDS
    seed = int(sys.argv[2]) if sys.argv[2:] else time.time_ns() % 1_000_000
    chance, tally = random.Random(seed), Tally()
    with _place() as (folder, is_small):
        os.environ |= {
            "COGNEE_MEMORY_CONFIG_DIR": str(folder / "config"),
            "COGNEE_MEMORY_MIN_FREE_BYTES": str(RESERVE_MIB // 2 * _MIB),
            # Here the worker and the child are killed far more often than these limits expect.
            "COGNEE_MEMORY_MAX_CRASHES": "1000",
            "COGNEE_MEMORY_MAX_WORKER_DEATHS": "1000",
        }
        (folder / "workspace").mkdir()
        workspace = Workspace(folder / "workspace")
        trust.adopt(workspace, load().config_folder)  # what was dropped before this would not be run
        disk = f", on a disk of {DISK_MIB} MiB that is full now and then" if is_small else ""
        print(f"{seconds:g} seconds of drops and kills{disk}; seed {seed}.", flush=True)
        try:
            _disturb(workspace, tally, chance, seconds, is_small)
            print("No more faults: what waits is done now.", flush=True)
            records = _end(workspace, tally)
        finally:
            _kill(workspace, "worker", tally)
        return _report(tally, records, _stored(workspace))


@contextlib.contextmanager
def _place() -> Iterator[tuple[Path, bool]]:
    """A folder for the workspace, removed afterwards, and whether it is a small file system of its own."""
    folder = Path(tempfile.mkdtemp(prefix="cognee-memory-chaos-"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m,mode=700", "tmpfs", str(folder)]
    is_small = sys.platform == "linux" and subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        yield folder, is_small
    finally:
        if is_small:
            subprocess.run(["umount", "-l", str(folder)], check=False)
        shutil.rmtree(folder, ignore_errors=True)


# --- the client ---


def _drop(workspace: Workspace, tally: Tally, chance: random.Random) -> None:
    """Drop the next job, now and then twice."""
    number = len(tally.jobs)
    job_id, text = f"chaos-{number:05d}", f"Decide number {number:05d} by {chance.random():.9f}"
    if _submitted(workspace, tally, job_id, text):
        tally.jobs[job_id] = text
        if chance.random() < 0.2:  # a client that was not sure
            _submitted(workspace, tally, job_id, text)


def _submitted(workspace: Workspace, tally: Tally, job_id: str, text: str) -> bool:
    """Whether the job is in the inbox, durably. If not, the client was told so, and may drop it again."""
    summary = {"topic": f"Chaos {job_id[-2:]}", "context": f"Said while things broke: {text}.", "decisions": [text]}
    try:
        client.submit(workspace.spool, "ingest", {"summary": summary}, job_id=job_id)
    except OSError:
        tally.refused += 1
        return False
    tally.drops += 1
    return True


# --- the faults ---


def _disturb(workspace: Workspace, tally: Tally, chance: random.Random, seconds: float, is_small: bool) -> None:
    """Again and again: a burst of drops, and a fault while the worker is busy with them."""
    deadline, ballast = time.monotonic() + seconds, workspace.root.parent / "ballast"
    while time.monotonic() < deadline:
        for _ in range(chance.randint(5, MOST_IN_A_BURST)):
            _start(workspace)
            _drop(workspace, tally, chance)
            time.sleep(chance.random() * 0.05)
        time.sleep(chance.random() * 0.6)
        ballast.unlink(missing_ok=True)
        what = chance.choice(["worker", "worker", "child", "child", "full disk"] if is_small else ["worker", "child"])
        if what == "full disk":
            _fill(ballast)
            tally.faults[what] += 1
        else:
            _kill(workspace, what, tally)
    ballast.unlink(missing_ok=True)


def _start(workspace: Workspace) -> None:
    """Start a worker where none is, as every client does. On a full disk that has to wait."""
    if not is_held(workspace.spool.lock):
        with contextlib.suppress(OSError, JobError):
            launch.start(workspace, leave_when_idle=True)


def _kill(workspace: Workspace, what: str, tally: Tally) -> None:
    """SIGKILL the worker, or its child if it has one, and wait until it is gone."""
    for worker in psutil.process_iter(["cmdline"]):
        command = worker.info["cmdline"] or []
        if command[1:3] != ["-m", "worker"] or str(workspace.root) not in command:
            continue
        with contextlib.suppress(psutil.NoSuchProcess):
            for process in [worker] if what == "worker" else worker.children():
                process.kill()
                process.wait(PATIENCE_SECONDS)
                tally.faults[f"{what} killed"] += 1


def _fill(ballast: Path) -> None:
    """Use up the disk to the last byte."""
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 65536)


# --- what became of the jobs ---


def _end(workspace: Workspace, tally: Tally) -> dict[str, Record]:
    """Each job's last record. What was rejected while the disk was full is dropped again, as the error says."""
    ended: dict[str, Record] = {}
    for job_id, text in tally.jobs.items():
        record = _ended(workspace, job_id)
        if record.state == "rejected" and record.error is not None and record.error["code"] == "DISK_FULL":
            tally.faults["drop rejected: DISK_FULL"] += 1
            _submitted(workspace, tally, job_id, text)
            record = _ended(workspace, job_id)
        ended[job_id] = record
    return ended


def _ended(workspace: Workspace, job_id: str) -> Record:
    """The job's last record; a worker that ended is started again, as every client does."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        _start(workspace)
        try:
            return client.wait(workspace.spool, job_id, PATIENCE_SECONDS)
        except JobError as error:
            if error.code != "WORKER_NOT_RUNNING" or time.monotonic() > deadline:
                raise


def _stored(workspace: Workspace) -> Counter[str]:
    """How many memories hold each text, counted in memory.db itself."""
    with contextlib.closing(sqlite3.connect(f"file:{workspace.memory / 'memory.db'}?mode=ro", uri=True)) as database:
        bodies = [body for (body,) in database.execute("SELECT body FROM memories")]
        (sound,) = database.execute("PRAGMA integrity_check").fetchone()
    assert sound == "ok", sound
    return Counter(_decision(body) for body in bodies)


def _decision(body: str) -> str:
    start = body.index("Decide number")
    return body[start : start + len("Decide number 00000 by 0.123456789")]


def _report(tally: Tally, records: dict[str, Record], stored: Counter[str]) -> int:
    succeeded = sum(record.state == "succeeded" for record in records.values())
    lost = [job_id for job_id, text in tally.jobs.items() if not stored[text]]
    doubled = [job_id for job_id, text in tally.jobs.items() if stored[text] > 1]
    attempts = [record.attempt for record in records.values()]
    rows = [(what, number) for what, number in sorted(tally.faults.items())]
    rows += [
        ("drop refused to the client, which was told", tally.refused),
        ("jobs dropped", len(tally.jobs)),
        ("dropped a second time", tally.drops - len(tally.jobs)),
        ("jobs ended", len(records)),
        ("of them succeeded", succeeded),
        ("begun more than once", sum(attempt > 1 for attempt in attempts)),
        ("memories stored", sum(stored.values())),
        ("lost", len(lost)),
        ("doubled", len(doubled)),
    ]
    for what, number in rows:
        print(f"{number:6}  {what}")
    for job_id in lost + doubled:
        record = records[job_id]
        print(f"        {job_id}: {record.state} {record.error or ''}, stored {stored[tally.jobs[job_id]]} times")
    return 0 if not lost and not doubled and succeeded == len(tally.jobs) == sum(stored.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
