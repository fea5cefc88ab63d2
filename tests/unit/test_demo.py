"""The demo's worker: none stays behind."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path
from typing import Any

import pytest
from harness import Place, is_running

from jobs.errors import JobError
from worker.terminal import demo


def test_a_worker_that_does_not_start_in_time_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(tmp_path)
    for name, value in place.environment.items():
        monkeypatch.setenv(name, value)
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def noted(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(popen(*arguments, **options))
        return started[0]

    now = itertools.count(0, 1000)
    monkeypatch.setattr("worker.terminal.demo.subprocess.Popen", noted)
    monkeypatch.setattr("worker.terminal.demo.time.monotonic", lambda: float(next(now)))
    with pytest.raises(JobError, match="WORKER_START_FAILED"):
        demo._start_worker(place.workspace)
    assert not is_running(started[0].pid)
