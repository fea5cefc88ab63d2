"""noop: waits, fails, crashes or hangs as its payload asks, for tests and benchmarks of the job engine."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded

from .. import critical
from ..graph.open_stores import Stores
from . import Outcomes, Progress, Task

if TYPE_CHECKING:
    from jobs.payloads import Noop

_STEP_SECONDS = 0.1
_MIB = 1024 * 1024


def run(tasks: Sequence[Task[Noop]], stores: Stores, now: datetime, progress: Progress) -> Outcomes:
    """Run each job.

    The payload has ``sleep_ms`` (0 to 600,000) and ``outcome``. The result is empty. A job fails with TEST_FAILURE or
    TEST_RETRY for the outcomes ``fail`` and ``retry``. The outcomes ``crash``, ``segfault``, ``hang``, ``flood`` and
    ``swell`` disturb or end the process. A second run does the same again.
    """
    return {task.job_id: _one(task, progress) for task in tasks}


def _one(task: Task[Noop], progress: Progress) -> Succeeded | Failed:
    outcome, total = task.payload.outcome, task.payload.sleep_ms or 0
    match outcome:
        case "crash":
            os._exit(70)
        case "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "hang":  # stops all threads of the process
            os.kill(os.getpid(), signal.SIGSTOP)
        case "flood":
            for _ in range(20):
                os.write(2, b"x" * _MIB + b"\n" + b"y\n" * 10_000)
                sys.stdout.write("z" * _MIB)
            os.write(1, b"no answer\n")
        case "swell":
            held = []
            while True:
                held.append(os.urandom(16 * _MIB))
                time.sleep(0.01)
        case "critical":
            with critical.critical_section():
                progress({"done": 0, "total": total, "message": "not to be ended"})
                time.sleep(total / 1000)
            return Succeeded({})
    _sleep(total, progress)
    if outcome in ("fail", "retry"):
        return Failed(JobError("TEST_FAILURE" if outcome == "fail" else "TEST_RETRY"))
    return Succeeded({})


def _sleep(total_ms: int, progress: Progress) -> None:
    left = total_ms / 1000
    while left > 0:
        began = time.monotonic()
        time.sleep(min(_STEP_SECONDS, left))
        left -= time.monotonic() - began
        progress({"done": total_ms - round(max(0.0, left) * 1000), "total": total_ms, "message": "sleeping"})
