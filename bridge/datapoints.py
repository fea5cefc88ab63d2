"""The nodes of the knowledge graph: which fields a memory has there, and which of them are searched.

Pure models: the module that owns cognee derives its classes from them, ``class Topic(datapoints.Topic,
DataPoint)``, with ``INDEX_FIELDS`` and ``IDENTITY_FIELDS`` as their metadata, and links the nodes. So
``created_at`` and ``updated_at`` are cognee's: milliseconds since 1970. Other times are ISO 8601 text.

cognee embeds an index field as one string, and rebuilds its tables when a model changes. So each decision is
a node of its own, and what has no field goes as JSON text into ``extras``.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, Field

from jobs import clock

from .memory import Content, Memory, plan_key, slug
from .text.memory_json import (
    as_payload as as_payload,  # it lives there, and is part of this module's interface
    bounds_of,
)
from .text.plain_summary import render_plain
from .text.sections import scope_text

MOST_DECISIONS = 200  # nodes of one memory; its own node lists them all

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

SummaryStatus = Annotated[
    Literal["Draft", "Active", "Superseded"],
    BeforeValidator(lambda word: "Active" if word == "Final" else word),
]
RecordStatus = Annotated[
    Literal["DecisionRecord", "Superseded"],
    BeforeValidator(lambda word: "DecisionRecord" if word == "Final" else word),
]


class _Node(BaseModel):
    INDEX_FIELDS: ClassVar[tuple[str, ...]] = ()
    IDENTITY_FIELDS: ClassVar[tuple[str, ...]] = ("memory_id",)

    created_at: int
    updated_at: int


class _Structured(_Node):
    """``name`` and ``description`` are what cognee shows of a node when it answers from the graph."""

    INDEX_FIELDS: ClassVar[tuple[str, ...]] = ("summary_text",)

    memory_id: str
    memory_number: int
    name: str
    description: str
    topic: str
    topic_id: str
    session_id: str | None = None
    plan_id: str | None = None
    source_created_at: str | None = None
    importance: float | None = None
    context: str = ""
    summary_text: str  # the words alone: a change of status embeds nothing anew
    next_steps: list[str] = Field(default_factory=list)
    time_scope: str = ""
    extras: str = "{}"


class ConversationSummary(_Structured):
    """A summary of a conversation."""

    status: SummaryStatus = "Active"
    decisions: list[str] = Field(default_factory=list)
    rationale: list[str] = Field(default_factory=list)
    open_questions: list[str] = Field(default_factory=list)
    references_files: list[str] = Field(default_factory=list)
    references_plans: list[str] = Field(default_factory=list)
    references_branches: list[str] = Field(default_factory=list)
    references_issues: list[str] = Field(default_factory=list)

    @property
    def references(self) -> list[str]:
        """The one list that the split ones make up."""
        files, plans = self.references_files, self.references_plans
        return [*files, *plans, *self.references_branches, *self.references_issues]


class DecisionRecord(_Structured):
    """What several summaries of a topic were merged into; ``context`` is the narrative."""

    status: RecordStatus = "DecisionRecord"
    consolidated_decisions: list[str] = Field(default_factory=list)
    consolidated_rationale: list[str] = Field(default_factory=list)
    key_open_questions: list[str] = Field(default_factory=list)
    key_references_files: list[str] = Field(default_factory=list)
    key_references_plans: list[str] = Field(default_factory=list)
    key_references_branches: list[str] = Field(default_factory=list)
    key_references_issues: list[str] = Field(default_factory=list)
    compaction_source: list[str] = Field(default_factory=list)


class LegacyMemory(_Node):
    """A raw text from before there were summaries."""

    INDEX_FIELDS: ClassVar[tuple[str, ...]] = ("text",)

    memory_id: str
    memory_number: int
    text: str
    importance: float | None = None
    extras: str = "{}"


class Decision(_Node):
    """One decision of a summary or record; ``position`` counts from 0."""

    INDEX_FIELDS: ClassVar[tuple[str, ...]] = ("text",)
    IDENTITY_FIELDS: ClassVar[tuple[str, ...]] = ("decision_id",)

    decision_id: str
    text: str
    position: int
    memory_id: str
    topic_id: str
    plan_id: str | None = None
    session_id: str | None = None


class Topic(_Node):
    INDEX_FIELDS: ClassVar[tuple[str, ...]] = ("name",)
    IDENTITY_FIELDS: ClassVar[tuple[str, ...]] = ("topic_id",)

    topic_id: str
    name: str


class Plan(_Node):
    """A plan, whichever way its id was written: ``014`` and ``plan-014`` are one."""

    INDEX_FIELDS: ClassVar[tuple[str, ...]] = ("name",)
    IDENTITY_FIELDS: ClassVar[tuple[str, ...]] = ("plan_key",)

    plan_key: str
    name: str


class Session(_Node):
    IDENTITY_FIELDS: ClassVar[tuple[str, ...]] = ("session_id",)

    session_id: str
    name: str


def summary_from(memory: Memory) -> ConversationSummary:
    content = _content(memory)
    return ConversationSummary(
        **_shared(memory, content),
        decisions=list(content.decisions),
        rationale=list(content.rationale),
        open_questions=list(content.open_questions),
        **_references("references_", content),
    )


def record_from(memory: Memory) -> DecisionRecord:
    content = _content(memory)
    return DecisionRecord(
        **_shared(memory, content),
        consolidated_decisions=list(content.decisions),
        consolidated_rationale=list(content.rationale),
        key_open_questions=list(content.open_questions),
        **_references("key_references_", content),
        compaction_source=list(memory.sources),
    )


def legacy_from(memory: Memory) -> LegacyMemory:
    return LegacyMemory(
        **_times(memory),
        memory_id=memory.id,
        memory_number=memory.number,
        text=memory.text,
        importance=memory.metadata.importance,
    )


def decisions_from(memory: Memory) -> list[Decision]:
    """The decisions of a summary or record, in order, at most ``MOST_DECISIONS``; a legacy memory has none."""
    if memory.content is None:
        return []
    return [
        Decision(
            **_times(memory),
            decision_id=f"{memory.id}:{position}",
            text=text,
            position=position,
            memory_id=memory.id,
            topic_id=_topic_id(memory, memory.content),
            plan_id=memory.metadata.plan_id,
            session_id=memory.metadata.session_id,
        )
        for position, text in enumerate(memory.content.decisions[:MOST_DECISIONS])
    ]


def topic_from(memory: Memory) -> Topic | None:
    if memory.content is None:
        return None
    return Topic(**_times(memory), topic_id=_topic_id(memory, memory.content), name=memory.content.topic)


def plan_from(memory: Memory) -> Plan | None:
    """The plan's node. Its name comes from its key, so that it does not depend on who wrote last."""
    key = plan_key(memory.metadata.plan_id)
    return Plan(**_times(memory), plan_key=key, name=f"Plan {key}") if key else None


def session_from(memory: Memory) -> Session | None:
    session_id = memory.metadata.session_id
    return Session(**_times(memory), session_id=session_id, name=f"Session {session_id}") if session_id else None


def _content(memory: Memory) -> Content:
    if memory.content is None:
        raise ValueError(f"memory {memory.id} has no structured content")
    return memory.content


def _shared(memory: Memory, content: Content) -> dict[str, Any]:
    """What summaries and records have in common."""
    bounds = bounds_of(content.time_scope)
    extras = {} if bounds is None else {"time_scope_bounds": bounds}
    return {
        **_times(memory),
        "memory_id": memory.id,
        "memory_number": memory.number,
        "name": content.topic,
        "description": content.context,
        "topic": content.topic,
        "topic_id": _topic_id(memory, content),
        "session_id": memory.metadata.session_id,
        "plan_id": memory.metadata.plan_id,
        "source_created_at": memory.metadata.source_created_at,
        "importance": memory.metadata.importance,
        **({"status": memory.metadata.status} if memory.metadata.status else {}),
        "context": content.context,
        "summary_text": render_plain(content),
        "next_steps": list(content.next_steps),
        "time_scope": scope_text(content.time_scope),
        "extras": json.dumps(extras, ensure_ascii=False, sort_keys=True),
    }


def _references(prefix: str, content: Content) -> dict[str, Any]:
    return {prefix + kind: list(values) for kind, values in asdict(content.references).items()}


def _topic_id(memory: Memory, content: Content) -> str:
    return memory.metadata.topic_id or slug(content.topic)


def _times(memory: Memory) -> dict[str, Any]:
    """cognee's times of a memory; where it has none, when it was stored."""
    created = memory.metadata.created_at or memory.stored_at
    updated = memory.metadata.updated_at or created
    return {"created_at": _millis(created), "updated_at": _millis(updated)}


def _millis(text: str) -> int:
    return (clock.parse(text) - _EPOCH) // timedelta(milliseconds=1)
