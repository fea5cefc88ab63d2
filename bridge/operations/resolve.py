"""resolve: records which of two decisions holds. The memories themselves and their status stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from jobs import clock
from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded

from ..graph.open_stores import Stores
from ..standing.statements import digest, statements
from ..store.values import AppliedJob, PairVerdict
from . import Outcomes, Progress, Task, require_visible

if TYPE_CHECKING:
    from jobs.payloads import PairedStatement, Resolve

    from ..interface.result_shapes import ResolveResult


def run(tasks: Sequence[Task[Resolve]], stores: Stores, now: datetime, progress: Progress) -> Outcomes:
    """Record each job's verdict.

    The payload has ``older`` and ``newer``, each with ``memory_id`` and ``statement``, then ``verdict``, ``by`` and
    perhaps ``reason``. A job fails with MEMORY_NOT_FOUND, MEMORY_FORGOTTEN, or ARGUMENT_INVALID for a hidden memory, a
    statement that is no decision of its memory, or twice the same one; then nothing changed. A second run does not
    record it again, and never replaces a verdict that was asked for later.
    """
    return {task.job_id: _one(task, stores, now) for task in tasks}


def _one(task: Task[Resolve], stores: Stores, now: datetime) -> Succeeded | Failed:
    store, given = stores.store, task.payload
    effect, by = AppliedJob(task.job_id, task.sha256), given.by or "person"
    try:
        (older, older_number), (newer, newer_number) = (
            _named(side, task, stores) for side in (given.older, given.newer)
        )
        if older == newer:
            raise JobError("ARGUMENT_INVALID", "Both are the same decision: nothing was settled.")
        if not store.is_applied(effect):
            verdict = PairVerdict(*older, *newer, given.verdict, given.reason, by, task.accepted_at, task.job_id)
            with store.change(clock.iso(now), [effect]) as change:
                change.settle(verdict)
    except JobError as error:
        return Failed(error)
    result: ResolveResult = {
        "memory_numbers": [older_number, newer_number],
        "verdict": given.verdict,
        "by": by,
    }
    return Succeeded(result)


def _named(side: PairedStatement, task: Task[Resolve], stores: Stores) -> tuple[tuple[str, str], int]:
    """The memory's id with the digest of its decision, and its number."""
    require_visible(side.memory_id, task, stores)
    memory = stores.store.get(side.memory_id)
    assert memory is not None
    wanted = side.statement.strip()
    exact = next((words for words in statements(memory).values() if words.strip() == wanted), None)
    if exact is None:
        raise JobError(
            "ARGUMENT_INVALID",
            f"Memory #{memory.number} has no decision {wanted[:80]!r}: nothing was settled."
            f" To see its decisions: cognee-memory memories show {memory.number}",
        )
    return (memory.id, digest(exact)), memory.number
