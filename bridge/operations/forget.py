"""Forgetting memories: gone from memory.db in one change, then scrubbed from wherever else they left words.

What still tells of them is looked for while their words are known, and noted by name in that change. So whatever
comes after it can be done again, from the names, after any crash. The job's files are the worker's to scrub: it is told
with the outcome which.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from jobs import clock, steps
from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded
from jobs.model import Job, Record, canonical_json
from jobs.scrub import JOB_FILES

from ..compaction import narrative, record_draft
from ..forgetting import consequences, leftovers
from ..forgetting.consequences import Changes, Scope
from ..forgetting.leftovers import Earlier, ForgetTargets, JobLeftovers
from ..forgetting.quotes import Quotes, strings, texts
from ..graph import earlier_stores, graph_files
from ..graph.open_stores import Stores
from ..memory import Content, Memory, Metadata
from ..store.applied_jobs import AppliedJob
from ..store.change import StatusChange
from ..store.forgettings import Plan
from ..store.protocol import Memories
from ..text.identity import content_id, memory_id
from ..text.passages import passages, whole_text
from . import Outcomes, Progress, Task
from .ingest import prepare

_OUT_OF_REACH = "Out of reach: what was exported, and any backup or version history of the workspace."


def run(tasks: Sequence[Task], stores: Stores, now: datetime, progress: Progress) -> Outcomes:
    return {task.job_id: _one(task, stores, now, progress) for task in tasks}


def _one(task: Task, stores: Stores, now: datetime, progress: Progress) -> Succeeded | Failed:
    applied = AppliedJob(task.job_id, task.sha256)
    try:
        store = stores.store
        progress({"done": 0, "total": 1, "message": "looking for what tells of the memories"})
        # From here to the commit no other job may run: what was looked at has to be still so.
        begun = store.forgettings.begun(applied, task.accepted_at)
        plan = begun.plan if begun else _begin(task, applied, stores, now)
        if begun is None or not begun.is_done:
            plan = plan.joined(stores.store.forgettings.unfinished())
            _scrub(plan, stores, clock.iso(now), progress)
        return Succeeded(_result(plan))
    except JobError as error:
        return Failed(error)


# --- the effect ---


def _begin(task: Task, applied: AppliedJob, stores: Stores, now: datetime) -> Plan:
    """The one change from which on nothing finds the memories, with the plan for what is left to do."""
    store, at = stores.store, clock.iso(now)
    workspace_id = store.workspace_id
    scope = consequences.scope(store, task.payload.get("memory_ids"), task.payload.get("topic_id"))

    def naming(topic_id: str, content: Content) -> str:
        return memory_id(workspace_id, "decision_record", topic_id, canonical_json(asdict(content)))

    changes = consequences.changes(store, scope.ids, naming, store.embed, applied, at)
    old = [record for record, _ in changes.rebuilt] + changes.removed
    going = [*scope.memories, *store.select(old).values()]
    topics = consequences.topics_that_go(store, going)
    elsewhere = _ids_of_their_own(store, going)
    ids = frozenset((*scope.ids, *old, *elsewhere))
    told = ForgetTargets(ids, frozenset(topics), _quotes(store, going))
    left = leftovers.of_jobs(stores.workspace, told, _brings(workspace_id), at, task.job_id, now.timestamp())
    earlier = leftovers.of_earlier(stores.workspace, ids, store.extractions.data_ids(), workspace_id)
    plan = _plan(scope, changes, left, leftovers.of_files(stores.workspace, told), earlier)
    embedded = list(_embedded(store, going))

    gone = [memory.id for memory in going]
    with store.change(at, [applied]) as change:
        change.leave_tombstones((*plan.tombstones, *elsewhere))
        change.drop(gone)
        if not store.outbox.stores_are_ours():
            change.discard_deliveries(gone)
            change.drop_extractions(gone)
        change.forget_embeddings(embedded)
        change.set_statuses(StatusChange(each, status, at) for each, status in changes.revived.items())
        for made in changes.compactions:
            change.record_compaction(made)
        change.clear_topics(topics)
        change.begin_forgetting(applied, task.accepted_at, plan)
        change.add(changes.additions)
    return plan


def _ids_of_their_own(store: Memories, going: Sequence[Memory]) -> list[str]:
    """The ids that the words of imported memories would get here: under these they must not come back either."""
    own = (content_id(store.workspace_id, memory) for memory in going)
    return [each for each in own if store.known(each) is None]


def _quotes(store: Memories, going: Sequence[Memory]) -> Quotes:
    """What the memories say and no other does."""
    others = store.words_without({memory.id for memory in going})
    return Quotes((text for memory in going for text in _said(memory)), others)


def _said(memory: Memory) -> list[str]:
    """The texts of a memory, without the frame that all records have."""
    if memory.kind != "decision_record" or memory.content is None:
        return texts(memory)
    return [*narrative.own_lines(memory), *texts(replace(memory, content=replace(memory.content, context="")))]


def _embedded(store: Memories, going: Sequence[Memory]) -> Iterator[str]:
    """Every text of the memories that may have been embedded, for our index or for the graph."""
    for memory in going:
        yield whole_text(memory)
        yield from (passage.text for passage in passages(memory))
        yield from texts(memory)
        yield from record_draft.embedded_texts(memory)
        for found in store.extractions.stored(memory.id):
            yield from strings(found)


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
        jobs_to_cancel=left.jobs_to_cancel,
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
        earlier_stores.empty(stores.workspace, plan.stores, plan.data_ids, in_use)
    with steps.fault_point("forget.store"):
        stores.store.scrub(progress)
    with stores.store.change(now) as change:
        change.finish_forgettings()


def _result(plan: Plan) -> dict[str, Any]:
    return {
        "forgotten": list(plan.forgotten),
        "records_rebuilt": [{"old": old, "new": new} for old, new in plan.records_rebuilt],
        "records_removed": list(plan.records_removed),
        "revived": list(plan.revived),
        "jobs_scrubbed": len(plan.jobs),
        "jobs_ended": len(plan.jobs_to_cancel),
        "files_removed": plan.files_removed,
        "warnings": list(plan.warnings),
        JOB_FILES: {
            "jobs": list(plan.jobs),
            "doomed": list(plan.jobs_to_cancel),
            "rejected": list(plan.rejected),
            "parts": list(plan.parts),
        },
    }
