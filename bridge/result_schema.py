"""The shape of the result of each kind of job, to make JSON Schemas of. Answers to questions are in ``schema``.

Nothing that works on a job imports this. What is given comes from the operations; a test compares it with what stands
here.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jobs.model import Kind
from jobs.schema import Count, Digest, Moment, Seconds, Shape

from .memory import MemoryKind, Status
from .schema import Number, Share


class IngestTimings(Shape):
    """Where the time went, in milliseconds, for all the jobs that ran together."""

    store: Count
    graph: Count
    jobs_together: Number


class SetStatusResult(Shape):
    """The memory's metadata after the change."""

    memory_id: str
    memory_number: Number
    topic_id: str | None
    session_id: str | None
    plan_id: str | None
    status: Status | None
    created_at: Moment | None
    updated_at: Moment | None
    source_created_at: Moment | None
    importance: Share | None


class IngestResult(SetStatusResult):
    """The memory as it is stored, which for a duplicate may differ from what the job said."""

    memory_type: MemoryKind
    topic: str | None
    duplicate: bool
    """Whether the memory was there before, or came with another job."""
    ingested_chars: Count
    timings_ms: IngestTimings


class RebuildResult(Shape):
    """What was made anew. Counts of what was not asked for are absent."""

    what: Literal["index", "graph", "both"]
    passages: Count = 0
    memories: Count = 0
    graph_memories: Count = 0
    seconds: Seconds


class CompactedMemory(Shape):
    """A memory that would be merged."""

    memory_id: str
    memory_number: Number
    memory_type: Literal["summary", "decision_record"]
    """A topic's former record is merged like a summary."""
    topic: str
    session_id: str | None
    plan_id: str | None
    status: Literal["Active", "DecisionRecord"]
    created_at: Moment | None
    source_created_at: Moment | None
    decisions: list[str]
    content_sha256: Digest
    """Of its words. Another one means that the preview is not of this memory."""


class RecordTimeScope(Shape):
    """From the first beginning to the last end of what was merged."""

    text: str
    start: Moment | None
    end: Moment | None
    turn_count: Count | None


class PreviewedRecord(Shape):
    """The decision record that a compaction would make. When it is made, and its id, are known then."""

    topic: str
    """The newest memory's."""
    topic_id: str
    session_id: str | None
    """Where all memories are of one session."""
    plan_id: str | None
    """The newest that a memory bears."""
    status: Literal["DecisionRecord"]
    source_created_at: Moment
    """The newest memory's date."""
    importance: Share | None
    """The highest."""
    summary_text: str
    """The narrative."""
    consolidated_decisions: list[str]
    """In order of when each was last said. Where two conflict: ``[Earlier] …``, and ``[Later] … supersedes …``."""
    consolidated_rationale: list[str]
    key_open_questions: list[str]
    next_steps: list[str]
    key_references_files: list[str]
    key_references_plans: list[str]
    key_references_branches: list[str]
    key_references_issues: list[str]
    time_scope: RecordTimeScope
    compaction_source: list[str]
    """The ids of the memories that it merges, the oldest first."""
    narrative_source: Literal["template"]
    """Who wrote the narrative."""


class ConflictSide(Shape):
    """One of two decisions that conflict."""

    memory_id: str
    memory_number: Number
    text: str
    date: Moment
    """The memory's ``source_created_at``, else its ``created_at``."""


class CompactionConflict(Shape):
    """Two decisions of different memories that cannot both hold."""

    kind: Literal["negation", "choice", "value", "toggle", "reversal"]
    """``negation``: one denies the other. ``choice``, ``value``: another choice or amount for the same subject.
    ``toggle``: the opposite, such as enabled and disabled. ``reversal``: the later one takes the earlier one back."""
    confidence: Share
    """How sure it is."""
    earlier: ConflictSide
    later: ConflictSide


class CompactResult(Shape):
    """What a compaction of the topic would give; nothing was changed."""

    summaries: Annotated[list[CompactedMemory], Field(min_length=2)]
    """What would be merged and superseded, the oldest first."""
    decision_record: PreviewedRecord
    conflicts: list[CompactionConflict]
    warnings: list[str]
    """What else to look at before it is applied."""
    preview_digest: Digest
    """Of what would be applied: the same topic gives the same one until a memory of it changes."""


class NoopResult(Shape):
    """Nothing."""


RESULTS: dict[Kind, type[Shape]] = {
    "ingest": IngestResult,
    "set_status": SetStatusResult,
    "rebuild": RebuildResult,
    "compact": CompactResult,
    "noop": NoopResult,
}
