"""feedback: records whether a memory helped or is wrong. The memory itself and its status stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from jobs import clock
from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded

from ..store.values import AppliedJob, Feedback
from . import Outcomes, Progress, Task
from .refusals import require_runnable

if TYPE_CHECKING:
    from jobs import payloads

    from ..graph.open_stores import Stores
    from ..interface.result_shapes import FeedbackResult


def run(tasks: Sequence[Task[payloads.Feedback]], stores: Stores, now: datetime, progress: Progress) -> Outcomes:
    """Record each job's feedback.

    The payload has ``memory_id``, ``verdict``, and perhaps ``query``, ``note`` and ``by``. A job fails with
    MEMORY_NOT_FOUND, MEMORY_FORGOTTEN, or ARGUMENT_INVALID for a hidden memory; then nothing changed. A second run does
    not record it again, and never replaces a feedback that was asked for later.
    """
    return {task.job_id: _one(task, stores, now) for task in tasks}


def _one(task: Task[payloads.Feedback], stores: Stores, now: datetime) -> Succeeded | Failed:
    store, given = stores.store, task.payload
    memory_id, by, effect = given.memory_id, given.by or "person", AppliedJob(task.job_id, task.sha256)
    try:
        require_runnable(task, store, stores.workspace)
        if not store.is_applied(effect):
            feedback = Feedback(memory_id, by, given.verdict, task.accepted_at, given.query, given.note)
            with store.change(clock.iso(now), [effect]) as change:
                change.give_feedback(feedback)
    except JobError as error:
        return Failed(error)
    known = store.known(memory_id)
    assert known is not None
    verdicts = [each.verdict for each in store.feedback(memory_id)]
    result: FeedbackResult = {
        "memory_id": memory_id,
        "memory_number": known.number,
        "verdict": given.verdict,
        "by": by,
        "feedback": {"helpful": verdicts.count("helpful"), "wrong": verdicts.count("wrong")},
    }
    return Succeeded(result)
