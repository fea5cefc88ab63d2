"""Taking a compaction back, in one transaction: its sources are what they were, and the record is withdrawn.

A withdrawn record is kept and never found. A source whose status somebody has set since keeps that, and so does one
that another record in force has merged as well.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from jobs import clock
from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded

from ..compaction import previews
from ..graph.open_stores import Stores
from ..memory import Memory, Status
from ..store import compaction_history
from ..store.applied_jobs import AppliedJob
from ..store.compaction_history import Compaction, KeptBecause, Restored, Skipped, Source
from ..store.memory_store import MemoryStore
from ..store.topics import nearest
from . import Outcomes, Progress, Task


def run(tasks: Sequence[Task], stores: Stores, now: datetime, progress: Progress) -> Outcomes:
    return {task.job_id: _one(task, stores, clock.iso(now)) for task in tasks}


def _one(task: Task, stores: Stores, now: str) -> Succeeded | Failed:
    try:
        done = _restore(task, stores.store, now)
        came = done.restored
        assert came is not None
        errors = stores.deliver([done.record_id, *came.restored])
        if errors:
            return Failed(next(iter(errors.values())))
    except JobError as error:
        return Failed(error)
    return Succeeded(_result(done, came, stores.store))


def _restore(task: Task, store: MemoryStore, now: str) -> Compaction:
    """The compaction that is taken back, whether by this attempt or before."""
    record_id = task.payload["decision_record_id"]
    before = compaction_history.restored_by(store.connection, task.job_id, record_id, task.accepted_at)
    if before is not None:
        return before
    record = store.get(record_id)
    if record is None or record.kind != "decision_record":
        raise _not_found(store, record_id, record)
    made = compaction_history.latest(store.connection, record_id)
    if store.is_hidden(record_id):
        if made is None or made.restored is None:  # withdrawn in the workspace that it came from
            raise _not_found(store, record_id, None)
        return made
    _require_unmerged(store, record)
    if made is None or made.restored is not None:  # the record came from elsewhere
        made = _unnoted(store, record)
    return _take_back(made, record, task, store, now)


def _not_found(store: MemoryStore, wanted: str, found: Memory | None) -> JobError:
    """What was wanted is no record; the nearest are those that it was merged into, or that look like it."""
    if found is None:
        near = nearest(wanted, compaction_history.records(store.connection))
        message = f"There is no decision record {wanted!r}."
    else:
        merged = [record_id for record_id, _ in compaction_history.merged_into(store.connection, wanted)]
        near = (merged or compaction_history.records(store.connection, found.metadata.topic_id))[:3]
        message = f"{wanted!r} is no decision record."
    hint = f" The nearest: {', '.join(near)}." if near else ""
    return JobError(
        "MEMORY_NOT_FOUND", f"{message}{hint} Nothing was changed.",
        remediation="List the compactions: cognee-memory history.", details={"nearest": near},
    )  # fmt: skip


def _require_unmerged(store: MemoryStore, record: Memory) -> None:
    merged = compaction_history.merged_into(store.connection, record.id)
    if merged:
        later, number = merged[-1]
        raise JobError(
            "RESTORE_BLOCKED",
            f"The record {record.id} was merged into the later one {later} (#{number}). Nothing was changed.",
            remediation=f"Restore the later record first: cognee-memory restore {later}.",
            details={"decision_record_id": later},
        )


def _unnoted(store: MemoryStore, record: Memory) -> Compaction:
    """The compaction of a record that came from elsewhere, as far as the record itself tells of it."""
    found = [memory for each in record.sources if (memory := store.get(each)) is not None and memory.content]
    return Compaction(
        record_id=record.id,
        topic_id=record.metadata.topic_id or "",
        applied_at=record.metadata.created_at or record.stored_at,
        effect=AppliedJob("", ""),
        preview_digest="",
        sources=tuple(Source(each.id, previews.content_digest(each), _former(each), None) for each in found),
        conflicts=(),
        narrative_source="",
    )


def _former(memory: Memory) -> Status:
    return "DecisionRecord" if memory.kind == "decision_record" else "Active"


def _take_back(made: Compaction, record: Memory, task: Task, store: MemoryStore, now: str) -> Compaction:
    """The one transaction of a restoring."""
    merged = compaction_history.merged_by_others(store.connection, record.id)
    reasons = {source.memory_id: _reason_to_keep(store, source, merged) for source in made.sources}
    back = [source for source in made.sources if reasons[source.memory_id] is None]
    skipped = tuple(Skipped(each, reason) for each, reason in reasons.items() if reason is not None)
    came = Restored(now, tuple(source.memory_id for source in back), skipped)
    with store.changing(now, [AppliedJob(task.job_id, task.sha256)]) as connection:
        for source in back:
            set_at = max(filter(None, (source.status_set_at, task.accepted_at)), key=clock.parse)
            connection.execute(
                "UPDATE memories SET status = ?, updated_at = ?, status_set_at = ? WHERE id = ?",
                (source.status, now, set_at, source.memory_id),
            )
            store.outbox.enqueue(source.memory_id, "status", now)
        store.hide(record.id, now)
        seq = made.seq or compaction_history.record(connection, made)
        compaction_history.note_restored(connection, seq, task.job_id, came)
    return replace(made, seq=seq, restored=came)


def _reason_to_keep(store: MemoryStore, source: Source, merged: Collection[str]) -> KeptBecause | None:
    """Why a source is not to be touched; None where it is still as the compaction left it."""
    query = "SELECT status, status_set_at FROM memories WHERE id = ?"
    row = store.connection.execute(query, (source.memory_id,)).fetchone()
    if row is None:
        return "forgotten"
    status, set_at = row
    if status != "Superseded" or source.status_set_at not in (None, set_at):
        return "status_changed"
    return "merged" if source.memory_id in merged else None


def _result(done: Compaction, came: Restored, store: MemoryStore) -> dict[str, Any]:
    record = store.get(done.record_id)
    return {
        "decision_record_id": done.record_id,
        "memory_number": record.number if record else None,
        "topic_id": done.topic_id,
        "restored": list(came.restored),
        "skipped": [asdict(each) for each in came.skipped],
        "restored_at": came.at,
    }
