"""Measurements of processes never raise."""

import errno
import os
from collections.abc import Callable

import psutil
import pytest

from worker import process_usage as processes

Measurement = Callable[[int], object]
MEASUREMENTS: list[Measurement] = [processes.resident_bytes, processes.private_bytes, processes.memory_and_cpu]


@pytest.mark.parametrize("measure", MEASUREMENTS)
def test_a_process_that_runs_is_measured(measure: Measurement) -> None:
    assert measure(os.getpid())


@pytest.mark.parametrize("measure", MEASUREMENTS)
@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "Too many open files"), psutil.NoSuchProcess(1)])
def test_what_cannot_be_measured_now_ends_no_thread(
    measure: Measurement, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """psutil passes on errors of the system, such as too many open files, as they are."""

    def fails(pid: int) -> object:
        raise error

    monkeypatch.setattr(psutil, "Process", fails)
    assert measure(os.getpid()) is None
