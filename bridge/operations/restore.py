"""restore: undoes a compaction in one change: its sources get their former statuses, and the record is withdrawn.

A withdrawn record stays in the store, but no query finds it. A source keeps its status if that was set by hand since,
or if another record in force has merged the source too.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING

from jobs import clock

from ..compaction import previews
from ..memory import Memory
from ..store.values import AppliedJob, Compaction, KeptBecause, Restored, Skipped, Source, StatusChange
from . import Progress, Task
from .refusals import require_runnable

if TYPE_CHECKING:
    from jobs.layout import Workspace
    from jobs.payloads import Restore

    from ..graph.open_stores import Stores
    from ..interface.result_shapes import RestoreResult
    from ..store.store import Store


def run(task: Task[Restore], stores: Stores, now: datetime, progress: Progress) -> RestoreResult:
    """Undo the compaction.

    The payload has ``decision_record_id``. The result has the record's id, number and topic, the restored sources, and
    the skipped ones with reasons. A job fails with MEMORY_NOT_FOUND, with the nearest ids, when the record does not
    exist, or with RESTORE_BLOCKED when a later record has merged it; then nothing changed. A second run gives the same
    result.
    """
    compaction = _restore(task, stores.store, stores.workspace, clock.iso(now))
    restored = compaction.restored
    assert restored is not None
    return _result(compaction, restored, stores.store)


def _restore(task: Task[Restore], store: Store, workspace: Workspace, now: str) -> Compaction:
    """The compaction with its restore, made by this attempt or before.

    Raises JobError: MEMORY_NOT_FOUND, RESTORE_BLOCKED.
    """
    record_id = task.payload.decision_record_id
    before = store.compactions.restored_by(task.job_id, record_id, task.accepted_at)
    if before is not None:
        return before
    require_runnable(task, store, workspace)
    made, record = store.compactions.latest(record_id), store.get(record_id)
    assert record is not None
    if made is not None and store.is_hidden(record_id):
        return made
    if made is None or made.restored is not None:  # the record was imported, without this history
        made = _unnoted(store, record)
    return _take_back(made, record, task, store, now)


def _unnoted(store: Store, record: Memory) -> Compaction:
    """The compaction of an imported record without history, derived from the record's sources."""
    sources = [memory for each in record.sources if (memory := store.get(each)) is not None and memory.content]
    return Compaction(
        record_id=record.id,
        topic_id=record.metadata.topic_id or "",
        applied_at=record.metadata.created_at or record.stored_at,
        effect=AppliedJob("", ""),
        preview_digest="",
        sources=tuple(
            Source(each.id, previews.content_digest(each), each.status_before_merge, None) for each in sources
        ),
        conflicts=(),
        narrative_source="",
    )


def _take_back(made: Compaction, record: Memory, task: Task[Restore], store: Store, now: str) -> Compaction:
    """Commit the restore. Sources that still have the compaction's status get their former one."""
    merged = store.compactions.merged_by_others(record.id)
    reasons = {source.memory_id: _reason_to_keep(source, store, merged) for source in made.sources}
    back = [source for source in made.sources if reasons[source.memory_id] is None]
    skipped = tuple(Skipped(each, reason) for each, reason in reasons.items() if reason is not None)
    restored = made._replace(restored=Restored(now, tuple(source.memory_id for source in back), skipped))
    with store.change(now, [task.applied]) as change:
        change.statuses += (_former_status(source, task.accepted_at) for source in back)
        change.hidden.append(record.id)
        change.restorations.append((restored, task.job_id))
    return restored


def _former_status(source: Source, accepted_at: str) -> StatusChange:
    """The change to the source's former status, set at the later of the job's acceptance and the last status."""
    set_at = max(filter(None, (source.status_set_at, accepted_at)), key=clock.parse)
    return StatusChange(source.memory_id, source.status, set_at)


def _reason_to_keep(source: Source, store: Store, merged: Collection[str]) -> KeptBecause | None:
    """Why a source must stay unchanged; None when it still is as the compaction left it."""
    known = store.known(source.memory_id)
    if known is None:
        return "forgotten"
    if known.status != "Superseded" or source.status_set_at not in (None, known.status_set_at):
        return "status_changed"
    return "merged" if source.memory_id in merged else None


def _result(done: Compaction, came: Restored, store: Store) -> RestoreResult:
    """The job's result."""
    record = store.get(done.record_id)
    existing = store.select([*came.restored, *(each.memory_id for each in came.skipped)])
    return {
        "decision_record_id": done.record_id,
        "memory_number": record.number if record else None,
        "topic_id": done.topic_id,
        "restored": list(came.restored),
        "skipped": [{"memory_id": each.memory_id, "reason": each.reason} for each in came.skipped],
        "numbers": {memory_id: memory.number for memory_id, memory in existing.items()},
        "restored_at": came.at,
        "graph": "follows",
    }
