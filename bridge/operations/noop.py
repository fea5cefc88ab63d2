"""noop: waits, fails, crashes or hangs as its payload asks, for tests and benchmarks of the job engine."""

from __future__ import annotations

import os
import signal
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

from jobs.errors import JobError

from .. import critical
from ..graph.open_stores import Stores
from . import Progress, Task

if TYPE_CHECKING:
    from jobs.payloads import Noop

_STEP_SECONDS = 0.1
_MIB = 1024 * 1024


def run(task: Task[Noop], stores: Stores, now: datetime, progress: Progress) -> dict[str, Any]:
    """Run the job.

    The payload has ``sleep_ms`` (0 to 600,000) and ``outcome``. The result is empty. A job fails with TEST_FAILURE or
    TEST_RETRY for the outcomes ``fail`` and ``retry``. The outcomes ``crash``, ``segfault``, ``hang``, ``flood`` and
    ``swell`` disturb or end the process. A second run does the same again.
    """
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
            return {}
    _sleep(total, progress)
    if outcome in ("fail", "retry"):
        raise JobError("TEST_FAILURE" if outcome == "fail" else "TEST_RETRY")
    return {}


def _sleep(total_ms: int, progress: Progress) -> None:
    left = total_ms / 1000
    while left > 0:
        began = time.monotonic()
        time.sleep(min(_STEP_SECONDS, left))
        left -= time.monotonic() - began
        progress({"done": total_ms - round(max(0.0, left) * 1000), "total": total_ms, "message": "sleeping"})
