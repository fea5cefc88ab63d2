"""A disk that refuses writes for a while: nothing that was accepted is lost or stuck, without a restart."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bridge.settings import Settings
from jobs import clock, files, lifecycle, spool
from jobs.layout import SpoolPaths
from jobs.model import encode
from jobs.parse import parse_job
from worker.inbox.intake import Intake
from worker.scheduling import runner as runner_module
from worker.scheduling.ledger import Ledger
from worker.scheduling.runnable_jobs import LocalJobs
from worker.scheduling.runner import Runner

LIMITS = Settings(
    max_job_bytes=10_000, max_active_jobs=10, min_free_bytes=0, max_attempts=4, partial_write_grace=2.0, test_jobs=True
)


def file_of(job_id: str) -> bytes:
    return encode({"schema_version": 1, "job_id": job_id, "kind": "noop", "payload": {}})


def full(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.fixture
def full_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], None]:
    """Let so many changes of the file system happen, then refuse every one until told otherwise."""
    left: list[int | None] = [None]

    def counted(change: Callable[..., None]) -> Callable[..., None]:
        def changed(*arguments: Any, **options: Any) -> None:
            if left[0] is not None:
                if left[0] == 0:
                    full()
                left[0] -= 1
            change(*arguments, **options)

        return changed

    for name in ("write_new", "rename", "remove", "sync_folder"):
        monkeypatch.setattr(files, name, counted(getattr(files, name)))

    def set_left(changes: int | None) -> None:
        left[0] = changes

    return set_left


@pytest.mark.parametrize("number", range(14))
def test_jobs_whose_acceptance_the_disk_refused_half_way_all_run_in_the_end(
    tmp_path: Path, full_after: Callable[[int | None], None], number: int
) -> None:
    place = SpoolPaths(tmp_path / "spool")
    spool.prepare(place)
    for job_id in ("a", "b"):
        place.dropped(job_id).write_bytes(file_of(job_id))
    enqueued: list[str] = []
    ledger = Ledger(place, [])
    intake = Intake(place, ledger, LIMITS, lambda: enqueued.extend(r.job_id for r in ledger.take_announced()))

    full_after(number)
    try:
        intake.scan()
    except OSError:
        pass  # the worker logs it and looks again
    full_after(None)
    intake.scan()

    assert spool.inbox(place) == []
    assert {record.job_id: (record.state, record.generation) for record in ledger.live()} == {
        "a": ("queued", 1),
        "b": ("queued", 1),
    }
    assert sorted(enqueued) == ["a", "b"]


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
        job = parse_job("a", file_of("a"), test_jobs=True)
        self.ledger.accept([(job, lifecycle.accept(job, clock.now()))])
        self.child = Answering()
        self.runner = Runner(LocalJobs(self.place, self.ledger), self.child, Settings(batch_size=4))  # type: ignore[arg-type]


@pytest.mark.parametrize("refused_from", [1, 2])
def test_a_step_that_the_disk_refuses_is_written_when_there_is_room_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused_from: int
) -> None:
    """Else a job would stay running for ever, or wait without anybody to look at it."""
    bench = Bench(tmp_path / "spool")
    monkeypatch.setattr(runner_module, "_WRITE_AGAIN_SECONDS", 0.001)
    write, calls = spool.write_records, [0]

    def refusing(*arguments: Any) -> None:
        calls[0] += 1
        if refused_from <= calls[0] < refused_from + 3:
            full()
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
        full()

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
