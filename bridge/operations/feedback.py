"""feedback: records whether a memory helped or is wrong. The memory itself and its status stay as they are."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from jobs import clock

from ..store.values import Feedback
from . import Progress, Task
from .refusals import require_runnable

if TYPE_CHECKING:
    from jobs import payloads

    from ..graph.open_stores import Stores
    from ..interface.result_shapes import FeedbackResult


def run(task: Task[payloads.Feedback], stores: Stores, now: datetime, progress: Progress) -> FeedbackResult:
    """Record the feedback.

    The payload has ``memory_id``, ``verdict``, and perhaps ``query``, ``note`` and ``by``. A job fails with
    MEMORY_NOT_FOUND, MEMORY_FORGOTTEN, or ARGUMENT_INVALID for a hidden memory; then nothing changed. A second run does
    not record it again, and never replaces a feedback that was asked for later.
    """
    store, given = stores.store, task.payload
    memory_id, by = given.memory_id, given.by or "person"
    require_runnable(task, store, stores.workspace)
    if not store.is_applied(task.applied):
        feedback = Feedback(memory_id, by, given.verdict, task.accepted_at, given.query, given.note)
        with store.change(clock.iso(now), [task.applied]) as change:
            change.feedback.append(feedback)
    known = store.known(memory_id)
    assert known is not None
    verdicts = [each.verdict for each in store.feedback(memory_id)]
    return {
        "memory_id": memory_id,
        "memory_number": known.number,
        "verdict": given.verdict,
        "by": by,
        "feedback": {"helpful": verdicts.count("helpful"), "wrong": verdicts.count("wrong")},
    }
