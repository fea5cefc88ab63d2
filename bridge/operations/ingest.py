"""Ingestion: summaries and conversations become memories, many jobs together, each with its own outcome.

First everything that can go wrong with a job alone, then one embedding of all texts, one transaction, and
one write of the graph. A summary that is there already is the same memory.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, assert_never
from uuid import UUID, uuid5

from jobs import clock
from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded
from jobs.model import canonical_json

from ..conversation import Conversation, parse_conversation, render_conversation
from ..effects import Effect
from ..embedder import refuses_a_text
from ..memory import STATUS_WORDS, Content, Memory, MemoryKind, Metadata, References, TimeScope, is_topic_id, slug
from ..references import split
from ..sections import normalise
from ..stores import Stores
from ..template import Enriched, Legacy, Plain, parse
from . import Outcomes, Progress, Task


@dataclass(frozen=True, slots=True)
class Prepared:
    """A job's memory before it has a number."""

    task: Task
    memory: Memory
    ingested_chars: int


def run(tasks: Sequence[Task], stores: Stores, now: datetime, progress: Progress) -> Outcomes:
    outcomes: dict[str, Succeeded | Failed] = {}
    prepared: list[Prepared] = []
    began = time.monotonic()
    workspace_id = stores.store.workspace_id
    for task in tasks:
        try:
            prepared.append(prepare(task, workspace_id, clock.iso(now)))
        except JobError as error:
            outcomes[task.job_id] = Failed(error)
    duplicates = _store_all(prepared, stores, clock.iso(now), outcomes)
    stored_at = time.monotonic()
    prepared = [item for item in prepared if item.task.job_id not in outcomes]
    progress({"done": 0, "total": len(prepared), "message": "stored; writing the knowledge graph"})
    try:
        errors = stores.pay([item.memory.id for item in prepared])
    except JobError as error:
        return outcomes | {item.task.job_id: Failed(error) for item in prepared}
    timings = {
        "store": round((stored_at - began) * 1000),
        "graph": round((time.monotonic() - stored_at) * 1000),
        "jobs_together": len(tasks),
    }
    for item in prepared:
        job_id = item.task.job_id
        if item.memory.id in errors:
            outcomes[job_id] = Failed(errors[item.memory.id])
        else:
            outcomes[job_id] = Succeeded(_result(item, stores, job_id in duplicates, timings))
    return outcomes


def _store_all(
    prepared: Sequence[Prepared], stores: Stores, now: str, outcomes: dict[str, Succeeded | Failed]
) -> set[str]:
    """As ``_store``; where the embedding provider refuses a text, each alone, so that its job fails alone."""
    try:
        return _store(prepared, stores, now, outcomes)
    except JobError as error:
        if not refuses_a_text(error):
            raise
    duplicates: set[str] = set()
    for item in prepared:
        try:
            duplicates |= _store([item], stores, now, outcomes)
        except JobError as error:
            outcomes[item.task.job_id] = Failed(error)
    return duplicates


def _store(prepared: Sequence[Prepared], stores: Stores, now: str, outcomes: dict[str, Succeeded | Failed]) -> set[str]:
    """Add what is new; returns the jobs whose memory was there before, or is brought by another job."""
    new: dict[str, tuple[Memory, str]] = {}
    noted: list[Effect] = []
    duplicates: set[str] = set()
    for item in prepared:
        memory_id, job_id = item.memory.id, item.task.job_id
        forgotten = stores.store.forgotten_at(memory_id)
        known = stores.store.known(memory_id)
        if known is not None:
            if known.origin_job != job_id:  # else an earlier attempt of this very job has stored it
                duplicates.add(job_id)
        elif forgotten is not None and clock.parse(item.task.accepted_at) <= clock.parse(forgotten):
            outcomes[job_id] = Failed(JobError("MEMORY_FORGOTTEN"))
        elif memory_id in new:
            duplicates.add(job_id)
        else:
            new[memory_id] = (item.memory, job_id)
            noted.append(Effect(job_id, item.task.sha256))
    stores.store.add(list(new.values()), now, noted)
    return duplicates


def _result(item: Prepared, stores: Stores, duplicate: bool, timings: dict[str, int]) -> dict[str, Any]:
    """What the job's record shows: the memory as it is stored, which for a duplicate may differ from the job."""
    memory = stores.store.get(item.memory.id)
    assert memory is not None
    return {
        "memory_id": memory.id,
        "memory_number": memory.number,
        "memory_type": memory.kind,
        "topic": memory.content.topic if memory.content else None,
        **asdict(memory.metadata),
        "duplicate": duplicate,
        "ingested_chars": item.ingested_chars,
        "timings_ms": timings,
    }


def prepare(task: Task, workspace_id: str, now: str) -> Prepared:
    """The memory that a payload describes. Raises METADATA_BROKEN for a text whose metadata cannot be read."""
    payload = task.payload
    if "summary" in payload:
        content, metadata = _structured(payload["summary"])
        return _prepared(task, content, metadata, workspace_id, now)
    if "conversation" in payload:
        said = payload["conversation"]
        text = render_conversation(
            Conversation(said["user_message"], said["assistant_message"], said.get("timestamp"), said.get("importance"))
        )
        known = Metadata(created_at=said.get("timestamp"), importance=said.get("importance"))
        return _legacy(task, text, known, workspace_id, now)
    labels: dict[str, Any] = {name: payload[name] for name in ("topic_id", "session_id", "plan_id") if name in payload}
    if "status" in payload:
        labels["status"] = STATUS_WORDS[payload["status"]]
    match parse(payload["summary_text"]):
        case Enriched(content, metadata, kind=kind):
            if kind != "summary" or metadata.status == "DecisionRecord":
                raise JobError(
                    "JOB_INVALID",
                    "The text is a decision record; those come from compaction or import only.",
                    remediation="Ingest the summaries and compact their topic.",
                )
            if metadata.topic_id is not None and not is_topic_id(metadata.topic_id):
                metadata = replace(metadata, topic_id=slug(metadata.topic_id))
            return _prepared(task, content, replace(metadata, **labels), workspace_id, now)
        case Plain(content):
            return _prepared(task, content, Metadata(**labels), workspace_id, now)
        case Legacy(text):
            if labels:  # somebody says that this is a summary: its text is the context
                title = next((line.strip(" #") for line in text.splitlines() if line.strip(" #")), text.strip())[:80]
                content = normalise(Content(topic=title, context=text))
                return _prepared(task, content, Metadata(**labels), workspace_id, now)
            return _legacy(task, text, _conversation_metadata(text), workspace_id, now)
        case other:
            assert_never(other)


def _conversation_metadata(text: str) -> Metadata:
    """What a conversation in its old form says of itself."""
    said = parse_conversation(text)
    return Metadata(created_at=said.timestamp, importance=said.importance) if said else Metadata()


def _structured(summary: dict[str, Any]) -> tuple[Content, Metadata]:
    flat = split(summary.get("references", ()))
    references = References(
        **{
            kind: (*summary.get(f"references_{kind}", ()), *getattr(flat, kind))
            for kind in ("files", "plans", "branches", "issues")
        }
    )
    scope = summary.get("time_scope", "")
    content = Content(
        topic=summary["topic"],
        context=summary["context"],
        decisions=tuple(summary.get("decisions", ())),
        rationale=tuple(summary.get("rationale", ())),
        open_questions=tuple(summary.get("open_questions", ())),
        next_steps=tuple(summary.get("next_steps", ())),
        references=references,
        time_scope=TimeScope(**scope) if isinstance(scope, dict) else TimeScope(text=scope),
    )
    names = (
        "topic_id",
        "session_id",
        "plan_id",
        "created_at",
        "updated_at",
        "source_created_at",
        "importance",
    )
    metadata = Metadata(**{name: summary[name] for name in names if name in summary})
    if "status" in summary:
        metadata = replace(metadata, status=STATUS_WORDS[summary["status"]])
    return normalise(content), metadata


def _prepared(task: Task, content: Content, metadata: Metadata, workspace_id: str, now: str) -> Prepared:
    created = metadata.created_at or task.asked_at
    full = replace(
        metadata,
        topic_id=metadata.topic_id or slug(content.topic),
        status=metadata.status or "Active",
        created_at=created,
        updated_at=metadata.updated_at or created,
    )
    memory = Memory(
        id=memory_id(workspace_id, "summary", full.topic_id, canonical_json(asdict(content))),
        number=0,
        kind="summary",
        metadata=full,
        stored_at=now,
        content=content,
    )
    return Prepared(task, memory, len(content.topic) + len(content.context) + sum(map(len, content.decisions)))


def _legacy(task: Task, text: str, metadata: Metadata, workspace_id: str, now: str) -> Prepared:
    said = parse_conversation(text)
    words = canonical_json([said.user_message, said.assistant_message]) if said else text
    memory = Memory(
        id=memory_id(workspace_id, "legacy", None, words),
        number=0,
        kind="legacy",
        metadata=metadata,
        stored_at=now,
        text=text,
    )
    return Prepared(task, memory, len(text))


def memory_id(workspace_id: str, kind: MemoryKind, topic_id: str | None, words: str) -> str:
    """uuid5 of workspace, kind, topic and content; dates, session, plan and status do not count."""
    digest = sha256(words.encode()).hexdigest()
    return str(uuid5(UUID(workspace_id), f"{kind}|{topic_id or ''}|{digest}"))
