"""The worker's composition root."""

from __future__ import annotations

from pathlib import Path

from bridge import trust
from bridge.settings import Settings
from jobs.layout import Workspace
from worker.process import Worker


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
