"""forget: deletes memories from memory.db in one change, then removes the copies of their texts in the workspace.

The operation looks for the copies before that change, while it still knows the texts, and records their names in the
change. So the removal can be repeated from the names after any crash. The worker scrubs the job files; the outcome
names them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from jobs import clock, steps
from jobs.model import Job, Record
from jobs.payloads import Cognify, Forget
from jobs.scrub import JOB_FILES

from ..compaction import narrative, record_draft
from ..forgetting import consequences, leftovers
from ..forgetting.consequences import Changes, Scope
from ..forgetting.leftovers import ForgetTargets, Left, Quotes, strings, texts
from ..graph import earlier_stores, graph_files
from ..graph.open_stores import Stores
from ..memory import Memory, Metadata
from ..store.values import LEFT_TO_WORKER, AppliedJob, BegunForgetting, Plan, StatusChange
from ..text.identity import content_id, new_memory
from ..text.passages import passages, whole_text
from . import Progress, Task, task_of
from .ingest import prepare
from .refusals import captured_session, require_runnable

if TYPE_CHECKING:
    from ..interface.result_shapes import ForgetResult
    from ..store.memories import Memories

_OUT_OF_REACH = "Out of reach: what was exported, and any backup or version history of the workspace."


def run(task: Task[Forget], stores: Stores, now: datetime, progress: Progress) -> dict[str, Any]:
    """Delete the job's memories and the copies of their texts.

    The payload has one of ``memory_ids``, ``topic_id`` and ``session``. The result lists the forgotten ids, the
    decision records that were rebuilt or removed, the memories that got their former status back, the counts of
    scrubbed and ended jobs and of removed files, warnings, and the job files for the worker to scrub.

    A job fails with MEMORY_NOT_FOUND, TOPIC_NOT_FOUND or SESSION_NOT_FOUND; then nothing was forgotten. It also fails
    when the graph rejects a deletion, or with STORE_BUSY when a reader holds the log of memory.db; then the memories
    are forgotten and copies may remain. A second run takes the recorded plan and continues the removal, with what other
    unfinished forgettings still have to remove.
    """
    applied, store = task.applied, stores.store
    progress({"done": 0, "total": 1, "message": "looking for what tells of the memories"})
    # No other job may run from here to the commit, since it could change what was looked at.
    begun = store.forgettings.begun(applied, task.accepted_at)
    if begun is None and store.is_applied(applied):  # an attempt on another machine of a team
        return _result(Plan(tuple(store.forgotten_with(applied)), warnings=(_OUT_OF_REACH,)))
    plan = begun.plan if begun else _begin(task, applied, stores, now)
    if begun is None or not begun.is_done:
        plan = plan.joined(stores.store.forgettings.unfinished())
        remove_copies(plan, stores, progress)
        with stores.store.change_here(clock.iso(now)) as change:
            change.finishes_forgettings = True
    return _result(plan)


# --- the effect ---


def _begin(task: Task[Forget], applied: AppliedJob, stores: Stores, now: datetime) -> Plan:
    """Commit the one change that removes the memories. Returns the plan of what is still to remove. Raises JobError as
    ``require_runnable``."""
    store, at = stores.store, clock.iso(now)
    require_runnable(task, store, stores.workspace)
    memory_ids, topic_id = task.payload.memory_ids, task.payload.topic_id
    name = task.payload.session
    session = None if name is None else captured_session(name, store)
    if session is not None:
        memory_ids = store.captures.memories_of(session.tool, session.session_id)
    scope = consequences.scope(store, store.ids_about(topic_id) if topic_id else memory_ids or ())
    changes = consequences.changes(store, scope.ids, applied, at)
    old = [record for record, _ in changes.rebuilt] + changes.removed
    going = [*scope.memories, *store.select(old).values()]
    topics = consequences.topics_that_go(store, going)
    elsewhere = _ids_of_their_own(store, going)
    ids = frozenset((*scope.ids, *old, *elsewhere))
    targets = ForgetTargets(ids, frozenset(topics), quotes_of(store, going))
    brings = what_jobs_bring(store.workspace_id)
    left = leftovers.find(stores.workspace, store, targets, brings, at, task.job_id, now.timestamp())
    plan = _plan(scope, changes, left)
    embedded = list(embedded_texts(store, going))
    quoting = [given for given in store.all_feedback() if targets.in_bytes(_encoded(given.query, given.note))]
    quoted_names = [given for given in store.all_feedback() if targets.in_bytes(_encoded(given.by))]
    quoting_verdicts = [said for said in store.all_verdicts() if targets.in_bytes(_encoded(said.reason, said.by))]

    gone = [memory.id for memory in going]
    with store.change(at, [applied]) as change:
        change.tombstones += (*plan.tombstones, *elsewhere)
        change.dropped += gone
        if not store.outbox.stores_are_ours():
            change.extractions_to_drop += gone
        change.texts_to_forget.update(embedded)
        change.feedback_to_clear += quoting
        change.verdicts_to_clear += quoting_verdicts
        change.feedback_to_drop += quoted_names  # nobody is called so; an edited import may say it
        change.statuses += (StatusChange(each, status, at) for each, status in changes.revived.items())
        change.compactions += changes.compactions
        change.topics_to_clear += topics
        if session is not None:
            change.captured_sessions.append(session._replace(state="forgotten", path="", version=""))
        change.forgettings.append(BegunForgetting(applied, task.accepted_at, plan))
        change.additions += changes.additions
    return plan


def _ids_of_their_own(store: Memories, going: Sequence[Memory]) -> list[str]:
    """The ids that the texts of imported memories would get in this workspace; these need tombstones too."""
    own = (content_id(store.workspace_id, memory) for memory in going)
    return [each for each in own if store.known(each) is None]


def quotes_of(store: Memories, going: Sequence[Memory]) -> Quotes:
    """The phrases of these memories that no other memory has."""
    others = store.words_without({memory.id for memory in going})
    return Quotes((text for memory in going for text in _said(memory)), others)


def _said(memory: Memory) -> list[str]:
    """The texts of a memory, without the fixed sentences of the template that all records share."""
    if memory.kind != "decision_record" or memory.content is None:
        return texts(memory)
    return [*narrative.own_lines(memory), *texts(memory._replace(content=memory.content._replace(context="")))]


def _encoded(*words: str | None) -> bytes:
    """Words of a feedback, as a file has them."""
    return json.dumps(words, ensure_ascii=False).encode()


def embedded_texts(store: Memories, going: Sequence[Memory]) -> Iterator[str]:
    """Every text of the memories that may have been embedded, for our index or for the graph."""
    for memory in going:
        yield whole_text(memory)
        yield from (passage.text for passage in passages(memory))
        yield from texts(memory)
        yield from record_draft.embedded_texts(memory)
        for stored in store.extractions.stored(memory.id):
            yield from strings(stored)


def what_jobs_bring(workspace_id: str) -> Callable[[Job, Record], Collection[str]]:
    """A function that gives the ids of the memories that a job would store."""

    def brings(job: Job, record: Record) -> Collection[str]:
        """The ids of the memories that this job would store. Raises JobError as ``ingest.prepare``."""
        at = record.accepted_at or ""
        if job.kind == "ingest":
            return [prepare(task_of(job, at), workspace_id, at).memory.id]
        texts = job.payload.texts or () if isinstance(job.payload, Cognify) else ()
        return [new_memory(workspace_id, "legacy", Metadata(), at, text=text).id for text in texts]

    return brings


def _plan(scope: Scope, changes: Changes, left: Left) -> Plan:
    """The plan of a forgetting: what is removed, and the warnings of its result."""
    warnings = []
    if changes.rebuilt:
        warnings.append("Decision records that had merged a forgotten memory were written again, from a template.")
    if left.whole:
        warnings.append(f"Removed, since they are copies of everything: {len(left.whole)} files and folders.")
    if left.plan.stores:
        warnings.append(
            "Graph and vectors of an earlier version held it as well: they were removed, its other texts are kept."
        )
    if left.quoting:
        some = f"{len(left.quoting)} waiting job{'s say' if len(left.quoting) > 1 else ' says'}"
        warnings.append(f"{some} in part the same, and stay as they are: they are of other memories.")
    if left.quoting_texts:
        names = ", ".join(left.quoting_texts)
        warnings.append(f"Texts of an earlier version quote it, but stay: a migration may take them over: {names}")
    return left.plan._replace(
        forgotten=scope.ids,
        records_rebuilt=tuple(changes.rebuilt),
        records_removed=tuple(changes.removed),
        revived=tuple(changes.revived),
        warnings=(*warnings, _OUT_OF_REACH),
    )


# --- what is left to do ---


def remove_copies(plan: Plan, stores: Stores, progress: Progress) -> None:
    """Remove what the transaction left in the stores and in the files beside them. Idempotent."""
    ids = plan.tombstones
    are_ours = stores.store.outbox.stores_are_ours()  # true also of a lost graph; else cognee has received nothing yet
    if are_ours and stores.graph.is_editable:
        # The records that were made again and the memories that count again reach the graph with all others.
        for error in stores.graph.deliver(ids).values():
            raise error
    if are_ours:
        stores.graph.forget_extractions(ids)
        stores.graph.scrub()
    with steps.fault_point("forget.files"):
        # A graph quarantined since, or a picture drawn since, is a copy too.
        leftovers.remove(stores.workspace, {*plan.files, *leftovers.copies(stores.workspace)})
        in_use = graph_files.databases_of(stores.workspace) if are_ours else None
        earlier_stores.empty(stores.workspace, plan.stores, plan.data_ids, in_use)
    with steps.fault_point("forget.store"):
        stores.store.scrub(progress)


def _result(plan: Plan) -> dict[str, Any]:
    """The job's result, with the job files that the worker has to scrub."""
    result: ForgetResult = {
        "forgotten": list(plan.forgotten),
        "records_rebuilt": [{"old": old, "new": new} for old, new in plan.records_rebuilt],
        "records_removed": list(plan.records_removed),
        "revived": list(plan.revived),
        "jobs_scrubbed": len(plan.jobs),
        "jobs_ended": len(plan.doomed),
        "files_removed": plan.files_removed,
        "warnings": list(plan.warnings),
    }
    return {**result, JOB_FILES: job_files(plan)}


def job_files(plan: Plan) -> dict[str, Any]:
    """What the worker has to scrub."""
    return {name: list(getattr(plan, name)) for name in LEFT_TO_WORKER}
