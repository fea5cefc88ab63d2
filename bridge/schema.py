"""The shapes of answers: the retrieval response, and the result of each kind of job, to make JSON Schemas of.

Nothing at run time imports this. What is answered comes from ``retrieve``, ``hits``, ``answer`` and the
operations; a test compares what they give with what stands here.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jobs.model import Kind
from jobs.schema import Count, ErrorCode, Moment, Seconds, Shape

from .memory import MemoryKind, Status

Share = Annotated[float, Field(ge=0, le=1)]
Score = Annotated[float, Field(ge=0)]
Number = Annotated[int, Field(ge=1)]


class RetrievalHit(Shape):
    """One memory that answers the question.

    A legacy memory has null metadata, except its importance, and none of the structured fields.
    """

    memory_id: str
    memory_number: Number
    memory_type: MemoryKind
    summary_text: Annotated[str, Field(min_length=1)]
    """The memory as markdown, rendered from its fields as they are now."""
    text: str
    """Alias of ``summary_text``."""
    score: Score
    """What the hits are ordered by: semantic_score * recency_multiplier * status_multiplier, or the blend."""
    final_score: Score
    """Alias of ``score``."""
    relevance_score: Score
    """Alias of ``score``."""
    semantic_score: Share
    """How well meaning and words fit the query; absolute, whatever else was found."""
    vector_score: Share
    """The part of meaning."""
    lexical_score: Share
    """The part of words."""
    recency_multiplier: Share
    recency_score: Share
    """Alias of ``recency_multiplier``."""
    status_multiplier: Score
    tokens: Count
    topic: str | None
    topic_id: str | None
    plan_id: str | None
    session_id: str | None
    status: Status | None
    source_created_at: Moment | None
    created_at: Moment | None
    updated_at: Moment | None
    importance: Share | None
    decisions: list[str] = []
    rationale: list[str] = []
    open_questions: list[str] = []
    next_steps: list[str] = []
    references: list[str] = []
    compaction_source: list[str] = []
    """The ids of the memories that a decision record merged; absent in any other hit."""


class RankingUsed(Shape):
    """How the hits were ranked, after clamping."""

    preset: Literal["contract", "long-lived"]
    mode: Literal["product", "blend"]
    half_life_days: Annotated[float, Field(ge=0.5, le=90)]
    recency_floor: Share
    alpha: Annotated[float, Field(ge=0.6, le=0.95)]
    """The weight of relevance in the blend."""
    relevance_floor: Share
    """The lowest ``semantic_score`` of a hit."""


class RetrievalSuccess(Shape):
    """An answer; it may hold no hits."""

    success: Literal[True]
    results: list[RetrievalHit]
    """Highest score first."""
    result_count: Count
    """The length of ``results``."""
    total_results: Count
    """How many memories were relevant enough, those that did not fit included."""
    total_tokens: Count
    half_life_days: Annotated[float, Field(ge=0.5, le=90)]
    include_superseded: bool
    include_superseded_reason: Literal["argument", "query", "status"] | None
    """Who asked for superseded memories."""
    as_of: Moment
    """The time at which ages were measured."""
    ranking: RankingUsed
    tokenizer: str | None
    """Whose tokens were counted; null where nothing was."""
    warnings: list[str]


class RetrievalFailure(Shape):
    """No answer, and why."""

    success: Literal[False]
    error: str
    error_code: ErrorCode
    remediation: str
    error_details: dict[str, object] = {}
    """Values for programs. Absent where there are none."""
    results: Annotated[list[RetrievalHit], Field(max_length=0)]
    total_results: Literal[0]
    total_tokens: Literal[0]


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


class NoopResult(Shape):
    """Nothing."""


RESULTS: dict[Kind, type[Shape]] = {
    "ingest": IngestResult,
    "set_status": SetStatusResult,
    "rebuild": RebuildResult,
    "noop": NoopResult,
}
