"""The types of the answers of the tools that have no contract: the output schemas are made of them.

Import it under TYPE_CHECKING, as ``bridge.interface.answer_shapes``.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from bridge.memory import MemoryKind, Status
from bridge.memory_shapes import FeedbackCounts, FeedbackGiven, OpenItem
from jobs.schema import Count, Moment, Number


class FoundMemory(TypedDict):
    """A memory that answers the question. ``memory_explain`` has the parts of its score, ``memory_read`` all of it."""

    memory_number: Number
    memory_type: MemoryKind
    topic: str | None
    topic_id: str | None
    status: Status | None
    date: Moment | None
    score: float
    fit: NotRequired[Literal["weak"]]
    """Present if it is probably no answer."""
    feedback: NotRequired[FeedbackCounts]
    replaced: NotRequired[str]
    """What replaced or contradicts it, if that is known."""
    replaces: NotRequired[list[str]]
    """Older decisions that it replaced or contradicts."""
    text: str
    """Its sections, in Markdown."""


class Retrieved(TypedDict):
    """The best memories first."""

    notice: str
    results: list[FoundMemory]
    total: Count
    """How many fit, with those that are not here."""
    warnings: list[str]


class Recalled(TypedDict):
    """A block of notes; empty if nothing fits."""

    context: str
    memory_numbers: list[int]
    """The memories in the block."""
    total_tokens: Count
    budget: Count
    warnings: list[str]


class SimilarMemory(TypedDict):
    """A memory that was there before, about the same matter."""

    memory_number: Number
    date: Moment | None
    says: str
    """Its sentence that is nearest to what was sent."""
    says_otherwise: bool
    """Whether what was sent seems to replace it; then ``memory_mark_outdated`` may be right."""


class Accepted(TypedDict):
    """A job that stores what was sent, in the background."""

    notice: NotRequired[str]
    job_id: str
    duplicate: bool
    """Whether the same job was there before: it is not run again."""
    similar: list[SimilarMemory]
    """At most 3, which no answer needs; empty where none is clearly about the same."""


class CapturedHere(TypedDict):
    """Where a captured memory comes from."""

    tool: str
    session_id: str
    first_place: str
    last_place: str
    """Where its part begins and ends in the transcript."""
    method: str
    """``rules`` or ``model``: what chose its sentences."""


class MemoryWhole(TypedDict):
    """A memory with its text."""

    notice: str
    memory_number: Number
    memory_id: str
    memory_type: MemoryKind
    title: str
    topic_id: str | None
    plan_id: str | None
    session_id: str | None
    status: Status | None
    created_at: Moment | None
    source_created_at: Moment | None
    stored_at: Moment
    sources: list[str]
    """The ids of the memories that a decision record merged."""
    hidden: bool
    """Whether it is kept only as the original of a converted memory. Queries do not find it."""
    feedback: list[FeedbackGiven]
    """What was said of it, such as which memory replaced it."""
    captured_from: CapturedHere | None
    """Set if nobody wrote the memory: it consists of sentences of a session of another tool."""
    text: str
    """From ``offset`` on; in Markdown."""
    total_characters: Count
    """Of the whole text."""
    next_offset: Count | None
    """The offset of the next part; null at the end."""
    warnings: list[str]
    """What may be missing here, such as what others in the team have changed."""


class TopicLine(TypedDict):
    """A topic and how many memories it has."""

    topic_id: str
    title: str
    """Of its newest memory."""
    active: Count
    """Active summaries."""
    decision_records: Count
    superseded: Count
    drafts: Count
    newest: Moment | None
    """The date of the newest memory in force."""
    worth_compacting: bool


class OpenItems(TypedDict):
    """The open questions and next steps, topic by topic, the newest first."""

    notice: str
    items: list[OpenItem]
    total: Count
    warnings: list[str]


class Topics(TypedDict):
    """The topics with the most active summaries first."""

    notice: str
    topics: list[TopicLine]
    total: Count
    warnings: list[str]


class RecentMemory(TypedDict):
    """A memory in a list, without its whole text."""

    memory_number: Number
    memory_type: MemoryKind
    title: str
    topic_id: str | None
    status: Status | None
    date: Moment | None
    excerpt: str
    """Its first decision, else the beginning of its text."""


class Recent(TypedDict):
    """The newest memories first."""

    notice: str
    memories: list[RecentMemory]
    total: Count
    """How many there are in all, with these filters."""
    warnings: list[str]


class JobProblem(TypedDict):
    """Why a job failed, or why it is tried again."""

    code: str
    message: str
    remediation: str


class JobStatus(TypedDict):
    """Where a job is, and what it did."""

    job_id: str
    kind: str | None
    state: str
    success: bool | None
    """Null until the job has ended."""
    outcome: str
    """One sentence for people."""
    worker_alive: bool
    """Whether a worker is there to run it."""
    result: dict[str, Any] | None
    """What the job did, once it succeeded."""
    error: JobProblem | None


class MarkedOutdated(TypedDict):
    """A memory that is, or will be, left out of answers."""

    memory_number: Number
    status_before: Status | None
    replaced_by: int | None
    changed: bool | None
    """False if it was Superseded before; null if the job has not ended yet."""
    job_id: str | None
    """Null if there was nothing to change."""
    state: str
    """succeeded, or how far the job is."""


class PairLine(TypedDict):
    """Two decisions."""

    pair: str
    newer: str
    older: str


class Resolved(TypedDict):
    """What is disputed, or settled."""

    notice: str
    pairs: list[PairLine]
    job_id: str | None
    state: str
    warnings: list[str]


class Previewed(TypedDict):
    """The preview of a compaction."""

    notice: str
    job_id: str
    """The job that makes the preview."""
    state: str
    """succeeded, or how far the job is."""
    preview: dict[str, Any] | None
    """What a compaction would give; null until succeeded."""


class GivenFeedback(TypedDict):
    """A feedback that is, or will be, recorded."""

    memory_number: Number
    verdict: Literal["helpful", "wrong", "withdrawn"]
    feedback: FeedbackCounts | None
    """All that was given on the memory; null if the job has not ended yet."""
    job_id: str
    state: str
    """succeeded, or how far the job is."""
