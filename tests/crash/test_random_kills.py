"""Kills at random moments, of the worker and of its child, while somebody drops jobs and somebody polls records."""

import json
import os
import random
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from harness import SOAK, Place, RealWorker, is_running

from jobs import client
from jobs.model import Record
from jobs.states import ENDS

KILLS, JOBS = (50, 200) if SOAK else (8, 40)
# A busy moment of a worker's life: it is there after some 0.4 s, and done with what waits within another.
LATEST_KILL_SECONDS = 1.5


class Reader(threading.Thread):
    """Polls all records all the time, as an asker does, and keeps what it saw that nobody should see."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self.folder = folder
        self.wrong: list[str] = []
        self.read = 0
        self.done = threading.Event()
        self._seen: dict[str, Record] = {}

    def run(self) -> None:
        while not self.done.wait(0.003):
            for path in list(self.folder.glob("[!.]*.json")):
                self._look(path)

    def _look(self, path: Path) -> None:
        try:
            record = Record.from_dict(json.loads(path.read_bytes()))
        except FileNotFoundError:
            self.wrong.append(f"{path.name} has gone")
            return
        except Exception as error:
            self.wrong.append(f"{path.name} is no record: {error!r}")
            return
        self.read += 1
        before = self._seen.get(record.job_id)
        if before is not None:
            if record.ticket < before.ticket:
                self.wrong.append(f"{path.name} went back from {before.ticket} to {record.ticket}")
            if before.generation == record.generation and before.state in ENDS and before != record:
                self.wrong.append(f"{path.name} changed after its end: {before.state} to {record.state}")
        self._seen[record.job_id] = record


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [20261121])
def test_whatever_is_killed_whenever_every_job_ends_once_and_no_reader_sees_a_part(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    place = Place(tmp_path, COGNEE_MEMORY_MAX_WORKER_DEATHS="1000", COGNEE_MEMORY_MAX_CRASHES="1000")
    place.spool.results.mkdir(parents=True, exist_ok=True)
    reader = Reader(place.spool.results)
    reader.start()
    expected: dict[str, str] = {}
    worker: RealWorker | None = None

    def drop(count: int) -> None:
        for _ in range(count):
            job_id = f"job-{len(expected):04d}"
            outcome = chance.choice(["succeed"] * 8 + ["fail", "retry"])
            payload: dict[str, Any] = {"outcome": outcome, "sleep_ms": chance.choice([0, 0, 0, 30])}
            place.submit("noop", payload, job_id=job_id, max_attempts=2, priority=chance.choice([-5, 0, 5]))
            if chance.random() < 0.2:
                place.submit("noop", payload, job_id=job_id, max_attempts=2)  # an asker that was not sure
            expected[job_id] = "succeeded" if outcome == "succeed" else "failed"

    try:
        for kill in range(KILLS):
            worker = worker or place.worker()
            drop(JOBS * (kill + 1) // KILLS - len(expected))
            threading.Event().wait(chance.random() * LATEST_KILL_SECONDS)
            children = worker.children()
            if children and chance.random() < 0.3:
                os.kill(children[0], signal.SIGKILL)
            else:
                worker.kill()
                worker = None
                assert not any(is_running(child) for child in children) or place.spool.lock.exists()
        if worker is not None:
            worker.kill()
        with place.worker():
            ended = {job_id: place.ended(job_id) for job_id in expected}
    finally:
        reader.done.set()
        reader.join()
        if worker is not None:
            worker.kill()
    assert {job_id: record.state for job_id, record in ended.items()} == expected, f"seed {seed}"
    assert {record.generation for record in ended.values()} == {1}
    failed = [record for record in ended.values() if record.state == "failed"]
    assert all(record.errors == (1 if "TEST_FAILURE" in str(record.error) else 2) for record in failed)
    assert reader.wrong == []
    assert reader.read > JOBS
    assert not list(place.spool.active.glob("*.json"))
    assert client.status(place.spool, "job-0000") == ended["job-0000"]
