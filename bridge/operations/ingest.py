"""ingest: stores summaries and conversations as memories, many jobs together, each with its own outcome.

It first finds the errors of single jobs, then embeds all texts together and stores them in one transaction. A memory's
id derives from its text, so a text that is stored already is the same memory.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, assert_never

from jobs import client, clock
from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded

from ..anchors import taking
from ..graph.open_stores import Stores
from ..memory import LABELS, LISTS, STATUS_WORDS, Content, Memory, Metadata, References, TimeScope, is_topic_id, slug
from ..store.values import AppliedJob
from ..text.conversation import Conversation, parse_conversation, render_conversation
from ..text.identity import new_memory
from ..text.memory_json import labels_of
from ..text.references import split
from ..text.sections import normalise
from ..text.template import Enriched, Legacy, Plain, parse
from . import Outcomes, Progress, Task, redactions
from .rejected_texts import store_together

if TYPE_CHECKING:
    from jobs.payloads import Ingest, Summary

    from ..interface.result_shapes import IngestResult, IngestTimings


@dataclass(frozen=True, slots=True)
class Prepared:
    """A job's memory before it has a number."""

    task: Task[Any]
    memory: Memory
    ingested_chars: int


def run_all(tasks: Sequence[Task[Ingest]], stores: Stores, now: datetime, progress: Progress) -> Outcomes:
    """Store the memory of each job.

    The payload has exactly one of ``summary``, ``summary_text`` and ``conversation``; ``topic_id``, ``session_id``,
    ``plan_id`` and ``status`` override what a ``summary_text`` has. The result has the memory's id, number, type and
    labels, whether it is a duplicate, the redactions, the counted characters, and timings in milliseconds.

    A job fails with METADATA_BROKEN, with JOB_INVALID for a decision record, with MEMORY_FORGOTTEN when the memory was
    forgotten after the job was accepted, or when the embedding provider rejects its text. A second run finds the memory
    that the first one stored; it is not a duplicate. Raises JobError when the stores fail for all jobs.
    """
    outcomes: dict[str, Succeeded | Failed] = {}
    prepared: list[Prepared] = []
    began = time.monotonic()
    workspace_id = stores.store.workspace_id
    for task in tasks:
        try:
            item = prepare(task, workspace_id, clock.iso(now))
            prepared.append(replace(item, memory=stores.store.under_its_id(item.memory)))
        except JobError as error:
            outcomes[task.job_id] = Failed(error)
    # In a team, a job may come from another machine: no files are read here.
    code = None if stores.is_in_team else taking.Code(stores.workspace.root)
    prepared = [replace(item, memory=code.anchored(item.memory)) if code else item for item in prepared]
    duplicates = _store_all(prepared, stores, clock.iso(now), outcomes)
    stored_at = time.monotonic()
    prepared = [item for item in prepared if item.task.job_id not in outcomes]
    timings: IngestTimings = {
        "store": round((stored_at - began) * 1000),
        "graph": 0,
        "jobs_together": len(tasks),
    }
    for item in prepared:
        job_id = item.task.job_id
        outcomes[job_id] = Succeeded(_result(item, stores, job_id in duplicates, timings))
        _have_it_cognified(item.memory, stores)
    return outcomes


def _have_it_cognified(memory: Memory, stores: Stores) -> None:
    """Submit a job ``cognify`` for a summary, where the setting for it is on: it has its own budget and outcome.

    The job's id has the memory's id, so a retry submits no second one, and the memory's number, which differs after a
    forgetting.
    """
    if not stores.settings.cognify_on_ingest or memory.kind != "summary" or stores.store.is_hidden(memory.id):
        return
    known = stores.store.known(memory.id)
    if known is not None and not stores.store.extractions.known([memory.id]):
        payload, job_id = {"memory_ids": [memory.id]}, f"cognify-{known.number}-{memory.id}"
        if (host := stores.host) is not None:
            host.submit(stores.store.workspace_id, "cognify", payload, job_id)
        else:
            client.submit(stores.workspace.spool, "cognify", payload, job_id=job_id)


def _store_all(
    prepared: Sequence[Prepared], stores: Stores, now: str, outcomes: dict[str, Succeeded | Failed]
) -> set[str]:
    """As ``_store``; where the embedding provider rejects a text, one job at a time, so that only its job fails."""
    duplicates: set[str] = set()

    def reject(item: Prepared, error: JobError) -> None:
        outcomes[item.task.job_id] = Failed(error)

    store_together(prepared, lambda items: duplicates.update(_store(items, stores, now, outcomes)), reject)
    return duplicates


def _store(prepared: Sequence[Prepared], stores: Stores, now: str, outcomes: dict[str, Succeeded | Failed]) -> set[str]:
    """Add the new memories. Returns the ids of the jobs whose memory is not new, or comes from another job of the
    batch.
    """
    new: dict[str, tuple[Memory, str]] = {}
    applied: list[AppliedJob] = []
    duplicates: set[str] = set()
    for item in prepared:
        memory_id, job_id = item.memory.id, item.task.job_id
        known = stores.store.known(memory_id)
        if known is not None:
            if known.origin_job != job_id:  # else an earlier attempt of this job stored it
                duplicates.add(job_id)
        elif stores.store.was_forgotten_since(memory_id, item.task.accepted_at):
            outcomes[job_id] = Failed(JobError("MEMORY_FORGOTTEN"))
        elif memory_id in new:
            duplicates.add(job_id)
        else:
            new[memory_id] = (item.memory, job_id)
            applied.append(item.task.applied)
    stores.store.add(list(new.values()), now, applied)
    return duplicates


def _result(item: Prepared, stores: Stores, duplicate: bool, timings: IngestTimings) -> IngestResult:
    """The job's result: the memory as it is stored. A duplicate's labels may differ from the job's."""
    memory = stores.store.get(item.memory.id)
    assert memory is not None
    return {
        "memory_id": memory.id,
        "memory_number": memory.number,
        "memory_type": memory.kind,
        "topic": memory.content.topic if memory.content else None,
        **labels_of(memory.metadata),
        "duplicate": duplicate,
        "redactions": redactions(stores, item.task.redactions),
        "ingested_chars": item.ingested_chars,
        "timings_ms": timings,
        "graph": "follows",
    }


def prepare(task: Task[Ingest], workspace_id: str, now: str) -> Prepared:
    """The memory that a payload describes, without a number.

    Raises JobError: METADATA_BROKEN for a text with unreadable metadata, JOB_INVALID for a decision record.
    """
    payload = task.payload
    if payload.summary is not None:
        content, metadata = _structured(payload.summary)
        return _prepared(task, content, metadata, workspace_id, now)
    if (said := payload.conversation) is not None:
        text = render_conversation(
            Conversation(said.user_message, said.assistant_message, said.timestamp, said.importance)
        )
        known = Metadata(created_at=said.timestamp, importance=said.importance)
        return _legacy(task, text, known, workspace_id, now)
    labels = _labels(payload)
    match parse(payload.summary_text or ""):
        case Enriched(content, metadata, kind=kind):
            if kind != "summary" or metadata.status == "DecisionRecord":
                raise JobError(
                    "JOB_INVALID",
                    "The text is a decision record; those come from compaction or import only.",
                    remediation="Ingest the summaries and compact their topic.",
                )
            if metadata.topic_id is not None and not is_topic_id(metadata.topic_id):
                metadata = metadata._replace(topic_id=slug(metadata.topic_id))
            return _prepared(task, content, metadata._replace(**labels), workspace_id, now)
        case Plain(content):
            return _prepared(task, content, Metadata(**labels), workspace_id, now)
        case Legacy(text):
            if labels:  # labels make it a summary: the text is its context
                title = next((line.strip(" #") for line in text.splitlines() if line.strip(" #")), text.strip())[:80]
                content = normalise(Content(topic=title, context=text))
                return _prepared(task, content, Metadata(**labels), workspace_id, now)
            return _legacy(task, text, _conversation_metadata(text), workspace_id, now)
        case other:
            assert_never(other)


def _conversation_metadata(text: str) -> Metadata:
    """The metadata that a conversation in the legacy form states."""
    conversation = parse_conversation(text)
    return (
        Metadata(created_at=conversation.timestamp, importance=conversation.importance) if conversation else Metadata()
    )


def _structured(summary: Summary) -> tuple[Content, Metadata]:
    """Content and metadata of a structured summary."""
    flat, scope = split(summary.references or ()), summary.time_scope
    content = Content(
        topic=summary.topic,
        context=summary.context,
        decisions=tuple(summary.decisions or ()),
        rationale=tuple(summary.rationale or ()),
        open_questions=tuple(summary.open_questions or ()),
        next_steps=tuple(summary.next_steps or ()),
        references=References(
            files=(*(summary.references_files or ()), *flat.files),
            plans=(*(summary.references_plans or ()), *flat.plans),
            branches=(*(summary.references_branches or ()), *flat.branches),
            issues=(*(summary.references_issues or ()), *flat.issues),
        ),
        time_scope=TimeScope(text=scope or "")
        if scope is None or isinstance(scope, str)
        else TimeScope(start=scope.start, end=scope.end, turn_count=scope.turn_count),
    )
    return normalise(content), Metadata(**_labels(summary))


def _labels(given: Ingest | Summary) -> dict[str, Any]:
    """The properties that a payload or its summary gives."""
    labels = {name: value for name in LABELS if (value := getattr(given, name, None)) is not None}
    labels |= {name: tuple(labels[name]) for name in LISTS if name in labels}
    return labels if "status" not in labels else labels | {"status": STATUS_WORDS[labels["status"]]}


def _prepared(task: Task[Ingest], content: Content, metadata: Metadata, workspace_id: str, now: str) -> Prepared:
    """A summary with an id, and with defaults for missing metadata."""
    created = metadata.created_at or task.asked_at
    full = metadata._replace(
        topic_id=metadata.topic_id or slug(content.topic),
        status=metadata.status or "Active",
        created_at=created,
        updated_at=metadata.updated_at or created,
    )
    memory = new_memory(workspace_id, "summary", full, now, content)
    return Prepared(task, memory, len(content.topic) + len(content.context) + sum(map(len, content.decisions)))


def _legacy(task: Task[Any], text: str, metadata: Metadata, workspace_id: str, now: str) -> Prepared:
    """A legacy memory with an id."""
    return Prepared(task, new_memory(workspace_id, "legacy", metadata, now, text=text), len(text))


def raw(task: Task[Any], text: str, stores: Stores, now: str) -> Memory:
    """A text as a legacy memory, even if it has the form of a summary."""
    made = _legacy(task, text, _conversation_metadata(text), stores.store.workspace_id, now)
    return stores.store.under_its_id(made.memory)
