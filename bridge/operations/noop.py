"""A job that does nothing but what it is told, for tests and benchmarks of the engine."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from datetime import datetime

from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded

from ..stores import Stores
from . import Outcomes, Progress, Task


def run(tasks: Sequence[Task], stores: Stores, now: datetime, progress: Progress) -> Outcomes:
    found: dict[str, Succeeded | Failed] = {}
    for task in tasks:
        time.sleep(task.payload.get("sleep_ms", 0) / 1000)
        match task.payload.get("outcome", "succeed"):
            case "crash":
                os._exit(70)
            case "fail":
                found[task.job_id] = Failed(JobError("TEST_FAILURE"))
            case "retry":
                found[task.job_id] = Failed(JobError("TEST_RETRY"))
            case _:
                found[task.job_id] = Succeeded({})
    return found
