"""set_status: changes a memory's status by hand."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from jobs import clock

from ..memory import BY_STATUS, STATUS_WORDS
from ..store.values import Feedback
from ..text.memory_json import labels_of
from . import Progress, Task
from .refusals import require_runnable

if TYPE_CHECKING:
    from jobs.payloads import SetStatus

    from ..graph.open_stores import Stores
    from ..interface.result_shapes import SetStatusResult


def run(task: Task[SetStatus], stores: Stores, now: datetime, progress: Progress) -> SetStatusResult:
    """Set the status.

    The payload has ``memory_id``, ``status`` and perhaps ``replaced_by``, the id of the memory that holds instead. That
    is kept as feedback on the memory, and withdrawn when the memory holds again. The result has the memory's id, number
    and labels as they are then. A job fails with MEMORY_NOT_FOUND (also of ``replaced_by``), MEMORY_FORGOTTEN, or
    ARGUMENT_INVALID for a memory that is no summary; then nothing changed. A second run does not set the status again,
    and never undoes a change that was requested later.
    """
    require_runnable(task, stores.store, stores.workspace)
    memory_id, status, said = task.payload.memory_id, STATUS_WORDS[task.payload.status], _said(task, stores)
    memory = stores.store.set_status(memory_id, status, task.accepted_at, clock.iso(now), task.applied, said)
    return {
        "memory_id": memory.id,
        "memory_number": memory.number,
        **labels_of(memory.metadata),
        "graph": "follows",
    }


def _said(task: Task[SetStatus], stores: Stores) -> Feedback | None:
    memory_id, other = task.payload.memory_id, task.payload.replaced_by
    if other is not None:
        known = stores.store.known(other)
        assert known is not None
        note = f"Memory #{known.number} replaced it."
        return Feedback(memory_id, BY_STATUS, "wrong", task.accepted_at, note=note)
    if task.payload.status != "Superseded" and any(one.by == BY_STATUS for one in stores.store.feedback(memory_id)):
        return Feedback(memory_id, BY_STATUS, "withdrawn", task.accepted_at)
    return None
