"""The worker's composition root."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bridge import trust
from bridge.settings import Settings
from jobs import client, files, spool
from jobs.layout import Workspace
from jobs.lock import Lock
from worker import daemon
from worker.app import Worker


def test_a_worker_starts_beside_a_store_that_cannot_be_read(tmp_path: Path) -> None:
    """Its jobs wait with the error; a worker that did not start would say nothing to anybody."""
    workspace = Workspace(tmp_path / "workspace")
    workspace.root.mkdir()
    trust.adopt(workspace, tmp_path / "config")
    workspace.memory_db.write_bytes(b"\xa5" * 30_000)
    worker = Worker(workspace, Settings(config_dir=tmp_path / "config"))
    try:
        assert worker._runner.graph_lag is None
    finally:
        worker._queue.stop()


def test_a_worker_does_not_leave_where_nobody_could_see_that_it_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk its last word cannot be written: who drops then would start no successor."""
    workspace = Workspace(tmp_path / "workspace")
    workspace.root.mkdir()
    trust.adopt(workspace, tmp_path / "config")
    worker = Worker(workspace, Settings(config_dir=tmp_path / "config"), leaves_when_idle=True)
    try:
        worker._active_at = -1e9
        with monkeypatch.context() as full:

            def fails(path: Path, data: bytes) -> None:
                raise OSError(28, "No space left on device")

            full.setattr(files, "replace_without_sync", fails)
            worker._leave()
        assert not worker._stop.is_set()
        worker._active_at = -1e9
        worker._leave()
        assert worker._stop.is_set()
    finally:
        worker._queue.stop()


def test_a_worker_that_follows_a_dead_one_lets_its_orphan_finish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_folder_that_somebody_removes_is_made_again_with_what_belongs_into_it(tmp_path: Path) -> None:
    """Else no record could ever be written again, and each job that runs would run for ever."""
    workspace = Workspace(tmp_path / "workspace")
    workspace.root.mkdir()
    trust.adopt(workspace, tmp_path / "config")
    worker = Worker(workspace, Settings(config_dir=tmp_path / "config", test_jobs=True))
    place = workspace.spool
    try:
        job_id = client.submit(place, "noop", {}).job_id
        worker._take_in()
        shutil.rmtree(place.results)
        worker._next_tend = 0.0
        worker._reconcile()
        record = spool.read_record(place, job_id)
        assert record is not None
        assert record.state == "queued"
    finally:
        worker._queue.stop()
