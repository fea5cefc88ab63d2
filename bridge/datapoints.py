"""The node models of the knowledge graph: the fields that a memory has there, and which of them are searched.

Pure models without cognee. ``graph/cognee_writing`` derives cognee's classes from them, ``class Topic(datapoints.Topic,
DataPoint)``, with ``INDEX_FIELDS`` and ``IDENTITY_FIELDS`` as their metadata, and links the nodes. ``created_at`` and
``updated_at`` have cognee's form, milliseconds since 1970. Other times are ISO 8601 text.

cognee embeds an index field as one string and rebuilds its tables when a model changes. So each decision is a node of
its own, and values without a field are stored as JSON text in ``extras``.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, Field

from jobs import clock

from .memory import LISTS, Content, Memory, plan_key, slug
from .text.memory_json import (
    as_payload as as_payload,  # part of this module's public interface
    bounds_of,
)
from .text.passages import whole_text
from .text.sections import scope_text

MAX_DECISIONS = 200  # decision nodes per memory; the memory's own node lists all decisions

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
    """The fields of summaries and records. cognee shows ``name`` and ``description`` when it answers from the graph."""

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
    summary_text: str  # without metadata, so that a change of status needs no new embedding
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
        """All references in one list."""
        files, plans = self.references_files, self.references_plans
        return [*files, *plans, *self.references_branches, *self.references_issues]


class DecisionRecord(_Structured):
    """A record into which several summaries of a topic were merged; ``context`` is the narrative."""

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
    """A raw text, from versions before summaries existed."""

    INDEX_FIELDS: ClassVar[tuple[str, ...]] = ("text",)

    memory_id: str
    memory_number: int
    text: str
    importance: float | None = None
    extras: str = "{}"


# The nodes of memories, one for each kind. Every memory in the graph has exactly one of them.
MEMORY_NODES: tuple[type[_Node], ...] = (ConversationSummary, DecisionRecord, LegacyMemory)


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
    """A topic; memories with the same topic id share it."""

    INDEX_FIELDS: ClassVar[tuple[str, ...]] = ("name",)
    IDENTITY_FIELDS: ClassVar[tuple[str, ...]] = ("topic_id",)

    topic_id: str
    name: str


class Plan(_Node):
    """A plan. Its key unites spellings of its id: ``014`` and ``plan-014`` are one plan."""

    INDEX_FIELDS: ClassVar[tuple[str, ...]] = ("name",)
    IDENTITY_FIELDS: ClassVar[tuple[str, ...]] = ("plan_key",)

    plan_key: str
    name: str


class Session(_Node):
    """A session of the assistant in which memories were made."""

    IDENTITY_FIELDS: ClassVar[tuple[str, ...]] = ("session_id",)

    session_id: str
    name: str


def summary_from(memory: Memory) -> ConversationSummary:
    """The node of a summary. Raises ValueError for a memory without structured content."""
    content = _content(memory)
    return ConversationSummary(
        **_shared(memory, content),
        decisions=list(content.decisions),
        rationale=list(content.rationale),
        open_questions=list(content.open_questions),
        **_references("references_", content),
    )


def record_from(memory: Memory) -> DecisionRecord:
    """The node of a decision record. Raises ValueError for a memory without structured content."""
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
    """The node of a legacy memory."""
    return LegacyMemory(
        **_times(memory),
        memory_id=memory.id,
        memory_number=memory.number,
        text=memory.text,
        importance=memory.metadata.importance,
    )


def decisions_from(memory: Memory) -> list[Decision]:
    """The decision nodes of a summary or record, in order, at most ``MAX_DECISIONS``; none for a legacy memory."""
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
        for position, text in enumerate(memory.content.decisions[:MAX_DECISIONS])
    ]


def topic_from(memory: Memory) -> Topic | None:
    """The topic's node; None for a legacy memory."""
    if memory.content is None:
        return None
    return Topic(**_times(memory), topic_id=_topic_id(memory, memory.content), name=memory.content.topic)


def plan_from(memory: Memory) -> Plan | None:
    """The plan's node, or None without a plan. Its name is made from its key, so all spellings give the same name."""
    key = plan_key(memory.metadata.plan_id)
    return Plan(**_times(memory), plan_key=key, name=f"Plan {key}") if key else None


def session_from(memory: Memory) -> Session | None:
    """The session's node; None without a session id."""
    session_id = memory.metadata.session_id
    return Session(**_times(memory), session_id=session_id, name=f"Session {session_id}") if session_id else None


def _content(memory: Memory) -> Content:
    if memory.content is None:
        raise ValueError(f"memory {memory.id} has no structured content")
    return memory.content


def _shared(memory: Memory, content: Content) -> dict[str, Any]:
    """The fields that summaries and records share."""
    bounds = bounds_of(content.time_scope)
    extras: dict[str, Any] = {} if bounds is None else {"time_scope_bounds": bounds}
    extras |= {name: list(values) for name in LISTS if (values := getattr(memory.metadata, name))}
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
        "summary_text": whole_text(memory),
        "next_steps": list(content.next_steps),
        "time_scope": scope_text(content.time_scope),
        "extras": json.dumps(extras, ensure_ascii=False, sort_keys=True),
    }


def _references(prefix: str, content: Content) -> dict[str, Any]:
    return {prefix + kind: list(values) for kind, values in content.references._asdict().items()}


def _topic_id(memory: Memory, content: Content) -> str:
    return memory.metadata.topic_id or slug(content.topic)


def _times(memory: Memory) -> dict[str, Any]:
    """cognee's times of a memory, in ms since 1970; the time of storing stands in for an unknown one."""
    created = memory.metadata.created_at or memory.stored_at
    updated = memory.metadata.updated_at or created
    return {"created_at": _millis(created), "updated_at": _millis(updated)}


def _millis(text: str) -> int:
    return (clock.parse(text) - _EPOCH) // timedelta(milliseconds=1)
