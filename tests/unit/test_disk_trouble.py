"""A disk that refuses writes for a while: nothing that was accepted is lost or stuck, without a restart."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inbox_door import Door, job_of

from bridge.settings import Settings
from jobs import clock, lifecycle, spool
from jobs.layout import SpoolPaths
from worker.scheduling import runner as runner_module
from worker.scheduling.ledger import Ledger
from worker.scheduling.runnable_jobs import LocalJobs
from worker.scheduling.runner import Runner

FULL = OSError(28, "No space left on device")


@pytest.mark.parametrize("number", range(14))
def test_jobs_half_accepted_on_a_full_disk_run(tmp_path: Path, refuse_after: Callable[..., None], number: int) -> None:
    door = Door(tmp_path / "spool", partial_write_grace=2.0)
    for job_id in ("a", "b"):
        door.drop(f"{job_id}.json")

    refuse_after(number, FULL)
    try:
        door.intake.scan()
    except OSError:
        pass  # the worker logs it and looks again
    refuse_after(None)
    door.intake.scan()

    assert spool.inbox(door.place) == []
    expected = {"a": ("queued", 1), "b": ("queued", 1)}
    assert {record.job_id: (record.state, record.generation) for record in door.ledger.live()} == expected
    assert sorted(door.taken) == ["a", "b"]


class Answering:
    """The child's side of a runner: every job succeeds."""

    should_recycle = False

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def ask(self, request: dict[str, Any], progress: object, **_: object) -> dict[str, Any]:
        ids = [job["job_id"] for job in request["jobs"]]
        self.asked.append(ids)
        return {"outcomes": {job_id: {"result": {}} for job_id in ids}, "graph_lag": None}


class Bench:
    """A runner over one accepted job."""

    def __init__(self, folder: Path) -> None:
        self.place = SpoolPaths(folder)
        spool.prepare(self.place)
        self.ledger = Ledger(self.place, [])
        self.ledger.accept([(job_of("a"), lifecycle.accept(job_of("a"), clock.now()))])
        self.child = Answering()
        self.runner = Runner(LocalJobs(self.place, self.ledger), self.child, Settings(batch_size=4))  # type: ignore[arg-type]


@pytest.mark.parametrize("refused_from", [1, 2])
def test_a_step_the_disk_refuses_is_redone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused_from: int) -> None:
    """Else a job would stay running for ever, or wait without anybody to look at it."""
    bench = Bench(tmp_path / "spool")
    monkeypatch.setattr(runner_module, "_WRITE_AGAIN_SECONDS", 0.001)
    write, calls = spool.write_records, [0]

    def refusing(*arguments: Any) -> None:
        calls[0] += 1
        if refused_from <= calls[0] < refused_from + 3:
            raise FULL
        write(*arguments)

    monkeypatch.setattr(spool, "write_records", refusing)
    bench.runner.run_if_due("a")
    record = spool.read_record(bench.place, "a")
    assert (record.state, record.attempt) == ("succeeded", 1)
    assert bench.child.asked == [["a"]]
    assert bench.runner.running == ()


def test_a_worker_that_stops_on_a_full_disk_does_not_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(tmp_path / "spool")
    refused = threading.Event()

    def refusing(*_: object) -> None:
        refused.set()
        raise FULL

    monkeypatch.setattr(spool, "write_records", refusing)
    stopped: list[BaseException] = []

    def look() -> None:
        try:
            bench.runner.run_if_due("a")
        except OSError as error:
            stopped.append(error)

    thread = threading.Thread(target=look)
    thread.start()
    assert refused.wait(30)
    bench.runner.stopping.set()
    thread.join(30)
    assert not thread.is_alive()
    assert len(stopped) == 1
    (record,) = bench.ledger.live()
    assert record.state == "queued"
