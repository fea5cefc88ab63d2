"""set_status: changes a memory's status by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from jobs import clock
from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded

from ..graph.open_stores import Stores
from ..memory import STATUS_WORDS
from ..store.values import AppliedJob
from ..text.memory_json import labels_of
from . import Outcomes, Progress, Task

if TYPE_CHECKING:
    from ..interface.result_shapes import SetStatusResult


def run(tasks: Sequence[Task], stores: Stores, now: datetime, progress: Progress) -> Outcomes:
    """Set each job's status.

    The payload has ``memory_id`` and ``status``. The result has the memory's id, number and labels as they are then. A
    job fails with MEMORY_NOT_FOUND, MEMORY_FORGOTTEN, or ARGUMENT_INVALID for a memory that is no summary; then nothing
    changed. A second run does not set the status again, and never undoes a change that was requested later.
    """
    return {task.job_id: _one(task, stores, now) for task in tasks}


def _one(task: Task, stores: Stores, now: datetime) -> Succeeded | Failed:
    memory_id = task.payload["memory_id"]
    try:
        status = STATUS_WORDS[task.payload["status"]]
        effect = AppliedJob(task.job_id, task.sha256)
        memory = stores.store.set_status(memory_id, status, task.accepted_at, clock.iso(now), effect)
    except JobError as error:
        return Failed(error)
    result: SetStatusResult = {
        "memory_id": memory.id,
        "memory_number": memory.number,
        **labels_of(memory.metadata),
        "graph": "follows",
    }
    return Succeeded(result)
