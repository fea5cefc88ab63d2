"""The worker's composition root."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from harness import PATIENCE, Place, raising

from bridge.settings import Settings
from bridge.team import membership
from jobs import client, files, lifecycle
from jobs.layout import Workspace
from jobs.lock import Lock
from worker import app, daemon
from worker.app import Worker
from worker.heartbeat import Heartbeat
from worker.monitoring.counters import Counters


class Bench:
    """A worker whose parts a test calls one by one. ``holds_lock`` says whether its lock file is in place."""

    def __init__(self, place: Place) -> None:
        self.workspace = place.workspace
        self.holds_lock = True
        settings = Settings(config_dir=place.config, test_jobs=True, heartbeat_seconds=0.01)
        self.worker = Worker(self.workspace, settings, lambda: self.holds_lock)

    def running(self) -> str:
        """The id of a job whose record says that it runs."""
        job_id = client.submit(self.workspace.spool, "noop", {}).job_id
        self.worker._scan_inbox()
        self.worker._ledger.apply({job_id: lifecycle.Started()})
        return job_id


@pytest.fixture
def bench(place: Place) -> Iterator[Bench]:
    bench = Bench(place)
    yield bench
    bench.worker._scheduling.stop()


@contextmanager
def worker_of(place: Place, **options: Any) -> Iterator[Worker]:
    worker = Worker(place.workspace, Settings(config_dir=place.config, test_jobs=True), **options)
    try:
        yield worker
    finally:
        worker._scheduling.stop()


def test_a_worker_starts_beside_a_store_that_cannot_be_read(place: Place) -> None:
    """Its jobs wait with the error; a worker that did not start would say nothing to anybody."""
    place.workspace.memory_db.write_bytes(b"\xa5" * 30_000)
    with worker_of(place) as worker:
        assert worker._runner.graph_lag is None


def test_a_worker_does_not_leave_where_nobody_could_see_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk its last word cannot be written: who drops then would start no successor."""

    with worker_of(place, leaves_when_idle=True) as worker:
        worker._active_at = -1e9
        with monkeypatch.context() as full:
            full.setattr(files, "replace_without_sync", raising(OSError(28, "No space left on device")))
            worker._stop_if_done()
        assert not worker._stop.is_set()
        worker._active_at = -1e9
        worker._stop_if_done()
        assert worker._stop.is_set()


def test_a_worker_that_follows_a_dead_one_lets_the_orphan_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The orphan may be committing: what it does must stand before anybody says that its job is cancelled."""
    workspace = Workspace(tmp_path)
    pauses: list[float] = []
    with Lock(workspace.store_lock) as orphan:
        workspace.store_lock.parent.mkdir(parents=True, exist_ok=True)
        assert orphan.acquire()

        def sleep(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 3:
                orphan.release()

        monkeypatch.setattr(daemon.time, "sleep", sleep)
        daemon._outlive_orphan(workspace)
        assert len(pauses) == 3

        assert orphan.acquire()
        monkeypatch.setattr(daemon, "_ORPHAN_SECONDS", 0.0)
        daemon._outlive_orphan(workspace)  # and not for ever


def test_a_folder_that_somebody_removes_is_made_again_with_what_belongs_into_it(place: Place) -> None:
    """Else no record could ever be written again, and each job that runs would run for ever."""
    with worker_of(place) as worker:
        job_id = place.submit("noop", {})
        worker._scan_inbox()
        shutil.rmtree(place.spool.results)
        worker._next_reconcile = 0.0
        worker._reconcile()
        assert place.record(job_id).state == "queued"


def test_a_worker_without_its_lock_stops_and_interrupts_its_job(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second worker may have started: whatever this one still did, it would do beside it."""
    interrupted: list[bool] = []
    monkeypatch.setattr(bench.worker._child, "end_for_good", lambda: interrupted.append(True))
    job_id = client.submit(bench.workspace.spool, "noop", {}).job_id
    bench.holds_lock = False
    bench.worker._scan()
    assert bench.worker._stop.is_set()
    assert interrupted == [True]
    assert bench.workspace.spool.dropped(job_id).exists(), "the drop belongs to the other worker"


def test_a_worker_that_finds_its_lock_gone_while_it_writes_a_record_waits_for_no_next_scan(bench: Bench) -> None:
    job_id = bench.running()
    bench.worker._wake.clear()
    bench.holds_lock = False
    with pytest.raises(OSError, match="lock"):
        bench.worker._ledger.apply({job_id: lifecycle.Succeeded({})})
    assert bench.worker._wake.is_set()


def test_a_worker_without_its_lock_leaves_the_files_of_the_other_worker(bench: Bench) -> None:
    bench.holds_lock = False
    bench.worker._heartbeat.start()
    bench.worker._heartbeat.stop()
    assert not bench.workspace.spool.heartbeat.exists()
    assert not bench.workspace.spool.counters.exists()


def test_a_drain_waits_for_a_job_that_its_runner_does_not_show_yet(bench: Bench) -> None:
    """Between a job's record and its request to the child, the runner has no running request."""
    job_id = bench.running()
    assert not bench.worker._runner.running
    bench.worker._drain()
    bench.worker._stop_if_done()
    assert not bench.worker._stop.is_set()
    bench.worker._ledger.apply({job_id: lifecycle.Succeeded({})})
    bench.worker._stop_if_done()
    assert bench.worker._stop.is_set()


@pytest.mark.parametrize("in_team", [False, True])
def test_an_idle_worker_that_a_client_started_leaves_but_not_in_a_team(place: Place, in_team: bool) -> None:
    """The copy there would follow no more."""
    if in_team:
        membership.join(place.workspace, place.config, "3f0c1f8e-0000-4000-8000-000000000000")
    settings = Settings(config_dir=place.config, team="http://127.0.0.1:9", team_token="cmt_x")
    worker = Worker(place.workspace, settings, leaves_when_idle=True)
    try:
        worker._active_at = -1e9
        worker._stop_if_done()
        assert worker._stop.is_set() is not in_team
    finally:
        worker._scheduling.stop()


def test_a_drained_worker_that_was_idle_stops_only_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second stop would interrupt a job that has just started."""
    interrupted: list[bool] = []
    monkeypatch.setattr(bench.worker._child, "end_for_good", lambda: interrupted.append(True))
    bench.worker._leaves_when_idle = True
    bench.worker._active_at = -1e9
    bench.worker._drain()
    bench.worker._stop_if_done()
    assert bench.worker._stop.is_set()
    assert interrupted == []


def test_a_heartbeat_that_fails_once_is_written_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A measurement may meet too many open files; without its thread the heartbeat would be stale for ever."""
    monkeypatch.setattr("worker.heartbeat._IDLE_SECONDS", 0.0)
    again = threading.Event()
    calls: list[int] = []
    heartbeat = bench.worker._heartbeat
    describe = heartbeat._activity

    def fails_once() -> object:
        calls.append(1)
        if len(calls) == 2:  # the first call is that of ``start``
            raise OSError(24, "Too many open files")
        if len(calls) > 2:
            again.set()
        return describe()

    heartbeat._activity = fails_once  # type: ignore[assignment]
    heartbeat.start()
    assert again.wait(PATIENCE)
    heartbeat.stop()


def serve(place: Place, patch: pytest.MonkeyPatch, order: list[str]) -> None:
    """All that the worker's process does until its worker recovers, which is noted; the worker does nothing."""

    class Recovering:
        def __init__(self, *_: object, **__: object) -> None:
            order.append("worker")

        stop = run = staticmethod(lambda: None)

    patch.setattr(app, "Worker", Recovering)
    patch.setattr(daemon.os, "umask", lambda mask: None)
    patch.setattr(daemon, "on_stop", lambda stop: None)
    patch.setattr(daemon.log, "set_up", lambda *_, **__: None)
    assert daemon.serve(place.workspace, Settings(config_dir=place.config), foreground=False) == 0


def test_a_worker_lets_the_child_of_one_without_its_lock_end(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new lock file has no note, so nothing says that the other worker died."""
    order: list[str] = []
    with Lock(place.workspace.store_lock) as orphan:
        assert orphan.acquire()

        def sleep(seconds: float) -> None:
            order.append("pause")
            orphan.release()

        monkeypatch.setattr(daemon.time, "sleep", sleep)
        serve(place, monkeypatch, order)
    assert order == ["pause", "worker"]


@pytest.mark.parametrize(
    ("waits", "is_paused", "order"),
    [(True, False, ["child", "worker"]), (True, True, ["worker"]), (False, False, ["worker"])],
)
def test_where_jobs_wait_the_child_loads_while_the_worker_does(
    place: Place, monkeypatch: pytest.MonkeyPatch, waits: bool, is_paused: bool, order: list[str]
) -> None:
    if waits:
        place.submit("noop", {})
    if is_paused:
        files.make_folder(place.spool.worker)
        files.replace(place.spool.paused, b"")
    begun: list[str] = []
    monkeypatch.setattr(daemon.Child, "start", lambda self: begun.append("child"))
    serve(place, monkeypatch, begun)
    assert begun == order


def test_without_a_child_the_heartbeat_is_written_more_rarely(bench: Bench) -> None:
    pauses: list[float | None] = []

    class Pausing(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            pauses.append(timeout)
            if len(pauses) == 2:
                heartbeat._stopped.set()
            return True

    activity = bench.worker._activity()
    with_child = {**activity, "child": {"pid": 1, "memory_bytes": None}}
    seen = iter([activity, with_child, with_child, with_child])
    heartbeat = Heartbeat(
        bench.workspace.spool, bench.worker._heartbeat._facts, 2.0, lambda: next(seen), Counters(), Pausing()
    )
    heartbeat.write()
    heartbeat._beat()
    assert pauses == [10.0, 2.0]
