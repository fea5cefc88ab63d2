"""resolve: records which of two decisions holds. The memories themselves and their status stay as they are."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from jobs import clock

from ..store.values import PairVerdict
from . import Progress, Task
from .refusals import decision_of, require_runnable

if TYPE_CHECKING:
    from jobs.payloads import Resolve

    from ..graph.open_stores import Stores
    from ..interface.result_shapes import ResolveResult


def run(task: Task[Resolve], stores: Stores, now: datetime, progress: Progress) -> ResolveResult:
    """Record the verdict.

    The payload has ``older`` and ``newer``, each with ``memory_id`` and ``statement``, then ``verdict``, ``by`` and
    perhaps ``reason``. A job fails with MEMORY_NOT_FOUND, MEMORY_FORGOTTEN, or ARGUMENT_INVALID for a hidden memory, a
    statement that is no decision of its memory, or twice the same one; then nothing changed. A second run does not
    record it again, and never replaces a verdict that was asked for later.
    """
    store, given, by = stores.store, task.payload, task.payload.by or "person"
    ids = given.older.memory_id, given.newer.memory_id
    require_runnable(task, store, stores.workspace)
    if not store.is_applied(task.applied):
        older, newer = (decision_of(side, store) for side in (given.older, given.newer))
        assert older is not None
        assert newer is not None
        verdict = PairVerdict(*older, *newer, given.verdict, given.reason, by, task.accepted_at, task.job_id)
        with store.change(clock.iso(now), [task.applied]) as change:
            change.verdicts.append(verdict)
    found = store.select(ids)
    return {
        "memory_numbers": [found[each].number for each in ids],
        "verdict": given.verdict,
        "by": by,
    }
