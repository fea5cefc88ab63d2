"""Forgetting memories: gone from memory.db in one transaction, then scrubbed from wherever else they left words.

What still tells of them is looked for while their words are known, and noted by name in that transaction. So whatever
comes after it can be done again, from the names, after any crash. The job's files are the worker's to scrub: it is told
with the outcome which.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from sqlite3 import Connection, DatabaseError
from typing import Any

from jobs import clock, steps
from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded
from jobs.model import Job, Record, canonical_json
from jobs.scrub import JOB_FILES

from ..compaction import narrative, record_draft
from ..forgetting import consequences, leftovers
from ..forgetting.consequences import Changes, Plan, Scope
from ..forgetting.leftovers import Earlier, ForgetTargets, JobLeftovers
from ..forgetting.quotes import Quotes, strings, texts
from ..graph import graph_files
from ..graph.open_stores import Stores
from ..memory import Content, Memory, Metadata
from ..store import compaction_history, extractions, full_text
from ..store.applied_jobs import AppliedJob
from ..store.memory_store import MemoryStore
from ..text.passages import passages, whole_text
from . import Outcomes, Progress, Task
from .ingest import content_id, memory_id, prepare

_OUT_OF_REACH = "Out of reach: what was exported, and any backup or version history of the workspace."


def run(tasks: Sequence[Task], stores: Stores, now: datetime, progress: Progress) -> Outcomes:
    return {task.job_id: _one(task, stores, now, progress) for task in tasks}


def _one(task: Task, stores: Stores, now: datetime, progress: Progress) -> Succeeded | Failed:
    effect = AppliedJob(task.job_id, task.sha256)
    try:
        store = stores.store
        progress({"done": 0, "total": 1, "message": "looking for what tells of the memories"})
        # From here to the commit nobody is let in between: what was looked at has to be still so.
        begun = consequences.begun(store.connection, effect, task.accepted_at)
        plan = begun.plan if begun else _begin(task, effect, stores, now)
        if begun is None or not begun.is_done:
            plan = plan.joined(consequences.unfinished(stores.store.connection))
            _scrub(plan, stores, clock.iso(now), progress)
        return Succeeded(_result(plan))
    except JobError as error:
        return Failed(error)


# --- the effect ---


def _begin(task: Task, effect: AppliedJob, stores: Stores, now: datetime) -> Plan:
    """The one transaction from which on nothing finds the memories, with the plan for what is left to do."""
    store, at = stores.store, clock.iso(now)
    workspace_id = store.workspace_id
    scope = consequences.scope(store.connection, task.payload.get("memory_ids"), task.payload.get("topic_id"))

    def naming(topic_id: str, content: Content) -> str:
        return memory_id(workspace_id, "decision_record", topic_id, canonical_json(asdict(content)))

    changes = consequences.changes(store.connection, scope.ids, naming, store.embed, effect, at)
    old = [record for record, _ in changes.rebuilt] + changes.removed
    going = [*scope.memories, *consequences.select(store.connection, old).values()]
    topics = consequences.topics_that_go(store.connection, going)
    elsewhere = _ids_of_their_own(store, going)
    ids = frozenset((*scope.ids, *old, *elsewhere))
    told = ForgetTargets(ids, frozenset(topics), _quotes(store.connection, going))
    left = leftovers.of_jobs(stores.workspace, told, _brings(workspace_id), at, task.job_id, now.timestamp())
    documents = [each for (each,) in store.connection.execute("SELECT data_id FROM cognified")]
    earlier = leftovers.of_earlier(stores.workspace, ids, documents, workspace_id)
    plan = _plan(scope, changes, left, leftovers.of_files(stores.workspace, told), earlier)
    embedded = set(_embedded(store.connection, going))

    def forget(connection: Connection) -> None:
        connection.executemany(
            "INSERT OR REPLACE INTO tombstones VALUES (?, ?)", [(each, at) for each in (*plan.tombstones, *elsewhere)]
        )
        for memory in going:
            store.drop(memory.id, at)
        if not store.outbox.stores_are_ours():
            store.outbox.discard([memory.id for memory in going])
            extractions.drop(connection, [memory.id for memory in going])
        store.forget_embeddings(embedded)
        for each, status in changes.revived.items():
            connection.execute(
                "UPDATE memories SET status = ?, updated_at = ?, status_set_at = ? WHERE id = ?", (status, at, at, each)
            )
            store.outbox.enqueue(each, "status", at)
        for made in changes.compactions:
            compaction_history.record(connection, made)
        connection.executemany("UPDATE compactions SET topic_id = '' WHERE topic_id = ?", [(each,) for each in topics])
        consequences.note(connection, effect, task.accepted_at, plan, at)

    if changes.additions:
        store.bring(changes.additions, at, [effect], forget)
        return plan
    try:
        _commit(store, at, effect, forget)
    except DatabaseError as error:
        if not full_text.is_damage(error):
            raise
        store.rebuild_words()
        _commit(store, at, effect, forget)
    return plan


def _commit(store: MemoryStore, now: str, effect: AppliedJob, forget: Callable[[Connection], None]) -> None:
    with store.changing(now, [effect]) as connection:
        forget(connection)


def _ids_of_their_own(store: MemoryStore, going: Sequence[Memory]) -> list[str]:
    """The ids that the words of imported memories would get here: under these they must not come back either."""
    own = (content_id(store.workspace_id, memory) for memory in going)
    return [each for each in own if store.known(each) is None]


def _quotes(connection: Connection, going: Sequence[Memory]) -> Quotes:
    """What the memories say and no other does."""
    ids = {memory.id for memory in going}
    others = (body for each, body in connection.execute("SELECT id, body FROM memories") if each not in ids)
    return Quotes((text for memory in going for text in _said(memory)), others)


def _said(memory: Memory) -> list[str]:
    """The texts of a memory, without the frame that all records have."""
    if memory.kind != "decision_record" or memory.content is None:
        return texts(memory)
    return [*narrative.own_lines(memory), *texts(replace(memory, content=replace(memory.content, context="")))]


def _embedded(connection: Connection, going: Sequence[Memory]) -> Iterator[str]:
    """Every text of the memories that may have been embedded, for our index or for the graph."""
    for memory in going:
        yield whole_text(memory)
        yield from (passage.text for passage in passages(memory))
        yield from texts(memory)
        yield from record_draft.embedded_texts(memory)
        for (found,) in connection.execute("SELECT found FROM cognified WHERE memory_id = ?", (memory.id,)):
            yield from strings(json.loads(found))


def _brings(workspace_id: str) -> Callable[[Job, Record], Collection[str]]:
    """Which memories a job would store, by their ids."""

    def brings(job: Job, record: Record) -> Collection[str]:
        at = record.accepted_at or ""
        if job.kind == "ingest":
            task = Task(job.job_id, job.sha256, job.payload, job.submitted_at, at)
            return [prepare(task, workspace_id, at).memory.id]
        raw = (Memory("", 0, "legacy", Metadata(), at, text=text) for text in job.payload.get("texts") or ())
        return [content_id(workspace_id, memory) for memory in raw]

    return brings


def _plan(scope: Scope, changes: Changes, left: JobLeftovers, files: Sequence[str], earlier: Earlier) -> Plan:
    warnings = []
    if changes.rebuilt:
        warnings.append("Decision records that had merged a forgotten memory were made anew, from a template.")
    if copies := [name for name in files if "/previews/" not in name and "/imports/" not in name]:
        warnings.append(f"Removed, since they are copies of everything: {len(copies)} files and folders.")
    if earlier.stores:
        warnings.append(
            "Graph and vectors of an earlier version held it as well: they were removed, its texts are kept."
        )
    if left.quoting:
        some = f"{len(left.quoting)} waiting job{'s say' if len(left.quoting) > 1 else ' says'}"
        warnings.append(f"{some} in part the same, and stay as they are: they are of other memories.")
    return Plan(
        forgotten=scope.ids,
        records_rebuilt=tuple(changes.rebuilt),
        records_removed=tuple(changes.removed),
        revived=tuple(changes.revived),
        jobs=left.jobs,
        doomed=left.doomed,
        rejected=left.rejected,
        parts=left.parts,
        files=(*files, *earlier.files),
        stores=earlier.stores,
        data_ids=earlier.data_ids,
        files_removed=len(left.rejected) + len(left.parts) + len(files) + len(earlier.files),
        warnings=(*warnings, _OUT_OF_REACH),
    )


# --- what is left to do ---


def _scrub(plan: Plan, stores: Stores, now: str, progress: Progress) -> None:
    """Take out of the stores, and of the files beside them, what the transaction has left there. Again is as once."""
    ids = plan.tombstones
    has_graph = stores.store.outbox.stores_are_ours()  # lost or not: else cognee was given nothing yet
    if has_graph:
        errors = stores.deliver([*ids, *(new for _, new in plan.records_rebuilt), *plan.revived])
        # What was made anew and is refused stays owed: that is no reason to leave the rest in the files.
        if refused := [errors[each] for each in ids if each in errors]:
            raise refused[0]
        stores.forget_extractions(ids)
        stores.scrub_graph()
    with steps.fault_point("forget.files"):
        # A damaged graph that was set aside since is a copy as well, and so is a picture drawn in between.
        leftovers.remove(stores.workspace, {*plan.files, *leftovers.copies(stores.workspace)})
        in_use = graph_files.databases_of(stores.workspace) if has_graph else None
        leftovers.empty_earlier(stores.workspace, Earlier((), plan.stores, plan.data_ids), in_use)
    with steps.fault_point("forget.store"):
        stores.store.scrub(progress)
    _note_done(stores.store, now)


def _note_done(store: MemoryStore, now: str) -> None:
    with store.changing(now) as connection:
        consequences.note_done(connection, now)


def _result(plan: Plan) -> dict[str, Any]:
    return {
        "forgotten": list(plan.forgotten),
        "records_rebuilt": [{"old": old, "new": new} for old, new in plan.records_rebuilt],
        "records_removed": list(plan.records_removed),
        "revived": list(plan.revived),
        "jobs_scrubbed": len(plan.jobs),
        "jobs_ended": len(plan.doomed),
        "files_removed": plan.files_removed,
        "warnings": list(plan.warnings),
        JOB_FILES: {
            "jobs": list(plan.jobs),
            "doomed": list(plan.doomed),
            "rejected": list(plan.rejected),
            "parts": list(plan.parts),
        },
    }
