"""The lines of an export: a pydantic model of each type, for reading a line and for its JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args
from uuid import UUID

from pydantic import AfterValidator, Field, StrictBool, StrictInt

from jobs.payloads import FilledText, Importance, Model, OptionalTimestamp, ShortText, Tags, Text, Timestamp, TopicId

from ..memory import MemoryKind, Status
from ..store.values import Holding, KeptBecause, Verdict


def _uuid(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        raise ValueError("must be a UUID") from None


MemoryId = Annotated[
    str, Field(strict=True, description="A UUID.", json_schema_extra={"format": "uuid"}), AfterValidator(_uuid)
]
Digest = Annotated[str, Field(strict=True, pattern=r"^[0-9a-f]{64}$")]
Number = Annotated[StrictInt, Field(ge=1, le=2**31 - 1)]
Count = Annotated[StrictInt, Field(ge=0)]
MAX_ENTRIES = 300_000  # of a list: more than a job file of 1 MiB has
Words = Annotated[list[Text], Field(max_length=MAX_ENTRIES)] | None


class ExportCounts(Model):
    """How many lines there are of each type."""

    memory: Count
    compaction: Count | None = 0
    cognified: Count | None = 0
    feedback: Count | None = 0
    verdict: Count | None = 0


class ExportHeader(Model):
    """The first line."""

    type: Literal["header"]
    format: Literal["cognee-memory-export"]
    version: Literal[1]
    workspace_id: ShortText | None = Field(default=None, description="Of the workspace that was exported.")
    exported_at: Timestamp | None = None
    program_version: ShortText | None = None
    counts: ExportCounts | None = None


class ScopeBounds(Model):
    """The bounds of a time scope."""

    start: Text | None = None
    end: Text | None = None
    turn_count: Count | None = None


class _Metadata(Model):
    memory_id: MemoryId
    memory_number: Number | None = Field(default=None, description="Absent: the next one.")
    session_id: Text | None = None
    plan_id: Text | None = None
    created_at: OptionalTimestamp = None
    updated_at: OptionalTimestamp = None
    source_created_at: OptionalTimestamp = None
    importance: Importance | None = None
    tags: Tags | None = None
    anchors: list[ShortText] | None = None


class LegacyMetadata(_Metadata):
    """What is known of a text without structure."""

    type: Literal["legacy"]
    topic_id: TopicId | None = None
    status: Status | None = None


class _StructuredMetadata(_Metadata):
    topic: Text
    topic_id: TopicId
    context: Text = Field(description="Of a decision record: its narrative.")
    decisions: Words = None
    rationale: Words = None
    open_questions: Words = None
    next_steps: Words = None
    references: Words = Field(default=None, description="The four lists below in one. It is not read.")
    references_files: Words = None
    references_plans: Words = None
    references_branches: Words = None
    references_issues: Words = None
    time_scope: Text | None = Field(default=None, description="As text; it begins with the bounds, if there are any.")
    time_scope_bounds: ScopeBounds | None = None


class SummaryMetadata(_StructuredMetadata):
    """The fields of a summary."""

    type: Literal["conversation_summary"]
    status: Literal["Draft", "Active", "Final", "Superseded"] | None = Field(
        default=None, description="Absent: Active."
    )


class RecordMetadata(_StructuredMetadata):
    """The fields of a decision record."""

    type: Literal["decision_record"]
    status: Literal["DecisionRecord", "Superseded"] | None = Field(default=None, description="Absent: DecisionRecord.")
    compaction_source: Annotated[list[MemoryId], Field(max_length=MAX_ENTRIES)] | None = Field(
        default=None, description="The memories that it merged."
    )


class _ExportedMemory(Model):
    type: Literal["memory"]
    index_fields: Words = Field(default=None, description="The fields that are searched by meaning. It is not read.")
    stored_at: Timestamp
    status_set_at: Timestamp | None = Field(default=None, description="When the status was last set by hand.")
    hidden: StrictBool | None = Field(default=False, description="Whether it is kept and not found.")
    migrated_from: MemoryId | None = Field(default=None, description="The original that it was converted from.")


class ExportedSummary(_ExportedMemory):
    """A summary."""

    text: Text | None = Field(default=None, description="The summary as markdown. It is not read: the fields are.")
    metadata: SummaryMetadata


class ExportedRecord(_ExportedMemory):
    """A decision record."""

    text: Text | None = Field(default=None, description="The record as markdown. It is not read: the fields are.")
    metadata: RecordMetadata


class ExportedLegacy(_ExportedMemory):
    """A text without structure, such as a conversation."""

    text: FilledText
    metadata: LegacyMetadata


class MergedMemory(Model):
    """A memory as it was before it was merged."""

    memory_id: MemoryId
    content_sha256: Text
    status: Status
    status_set_at: Text | None = None


class LeftMemory(Model):
    """A memory that a restoring left as it was, and why."""

    memory_id: MemoryId
    reason: KeptBecause


class TakenBack(Model):
    """What came of taking a compaction back."""

    restored: list[MemoryId]
    skipped: list[LeftMemory]


class ExportedCompaction(Model):
    """What was merged into a record, and whether that was taken back: ids, digests and counts."""

    type: Literal["compaction"]
    record_id: MemoryId
    topic_id: TopicId | Literal[""] = Field(description="Empty where the topic was forgotten.")
    applied_at: Timestamp
    job_id: Text
    job_sha256: Text
    preview_digest: Text
    sources: list[MergedMemory]
    conflicts: list[dict[str, Any]]
    narrative_source: Text
    restored_at: Timestamp | None = None
    restored_by: Text | None = None
    restored: TakenBack | None = None


class FoundNode(Model):
    """A node of the graph."""

    id: Text
    type: Text
    index_fields: list[Text]
    properties: dict[str, Any]


class FoundEdge(Model):
    """An edge of the graph."""

    source: Text
    target: Text
    name: Text
    properties: dict[str, Any]


class Found(Model):
    """The part of the graph that a text gave, and the job that asked for it."""

    job_id: Text | None = None
    nodes: list[FoundNode]
    edges: list[FoundEdge]


class ExportedFinding(Model):
    """What cognee found in a text, by a language model."""

    type: Literal["cognified"]
    memory_id: MemoryId
    data_id: Text
    at: Timestamp
    found: Found


class ExportedFeedback(Model):
    """What somebody said of a memory."""

    type: Literal["feedback"]
    memory_id: MemoryId
    by: ShortText
    verdict: Verdict
    at: Timestamp
    query: Text | None = None
    note: Text | None = None


class ExportedVerdict(Model):
    """What somebody, or a language model, said of two decisions: which of them holds."""

    type: Literal["verdict"]
    older: MemoryId = Field(description="The memory of the one that was given as the older.")
    older_sha256: Digest
    newer: MemoryId
    newer_sha256: Digest
    verdict: Holding = Field(description="Which of the two holds.")
    reason: Text | None = None
    by: ShortText
    at: Timestamp
    job_id: Text = ""
    confidence: float | None = Field(
        default=None, ge=0, le=1, description="Of a language model; null: of anybody else."
    )


class ExportEnd(Model):
    """The last line. Without it, a file was cut off."""

    type: Literal["end"]
    lines: Count | None = Field(default=None, description="How many lines stand before it, empty ones not counted.")
    sha256: Digest | None = Field(
        description="Of these lines, each without blanks around it and with a line feed. Null: it was edited."
    )


Follower = ExportedCompaction | ExportedFinding | ExportedFeedback | ExportedVerdict  # refers to a memory
FOLLOWERS = get_args(Follower)
ExportedMemory = ExportedSummary | ExportedRecord | ExportedLegacy
Line = ExportHeader | ExportedMemory | Follower | ExportEnd

MEMORY_LINES: dict[str, tuple[type[ExportedMemory], MemoryKind]] = {
    "conversation_summary": (ExportedSummary, "summary"),
    "decision_record": (ExportedRecord, "decision_record"),
    "legacy": (ExportedLegacy, "legacy"),
}
OTHER_LINES: dict[str, type[Line]] = {
    "header": ExportHeader,
    "compaction": ExportedCompaction,
    "cognified": ExportedFinding,
    "feedback": ExportedFeedback,
    "verdict": ExportedVerdict,
    "end": ExportEnd,
}
ORDER = ("header", "memory", "compaction", "cognified", "feedback", "verdict", "end")

# Every shape of a line, the first line's first.
MODELS: tuple[type[Model], ...] = (ExportHeader, *get_args(ExportedMemory), *list(OTHER_LINES.values())[1:])
