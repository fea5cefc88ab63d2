"""The shapes of answers to a question, to make JSON Schemas of. Those of jobs' results are in ``result_schema``.

Nothing on the way of a question imports this; the MCP server does, to describe its tools. What is answered comes from
``retrieval``, ``explanation``, ``context``, ``hits`` and ``answer``; a test compares what they give with what stands
here.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jobs.schema import Count, ErrorCode, Moment, Shape

from ..memory import MemoryKind, Status

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


# --- explain ---


class ExplainedRetrieval(Shape):
    """How the memory came into the answer."""

    source: Literal["query", "id_lookup", "query+id_lookup"]
    rank: Number | None
    """The place among the query's hits, from 1; null for a memory that is there by its id alone."""


class ScoreComponents(Shape):
    """What a score is made of. Null is what cannot be known without a query."""

    base: Share | None
    """The part of words in semantic_score: weight * lexical_score."""
    recency: Share
    """recency_multiplier."""
    kind_bonus: Annotated[float, Field(gt=-1)]
    """status_multiplier - 1: above 0 for a decision record, below for what is superseded."""
    semantic_boost: Share | None
    """The part of meaning in semantic_score: weight * vector_score."""


class ExplainedScore(Shape):
    """``total`` is the score that retrieval gives for the same query and ``as_of``, digit for digit."""

    total: Score | None
    """(base + semantic_boost) * recency * (1 + kind_bonus), or the blend. Null without a query."""
    components: ScoreComponents


class ExplainedMatches(Shape):
    """What of the request is in the memory."""

    query_terms: list[str]
    """Those of the query's terms that are among the memory's words, in the query's order."""
    project_match: Literal[True]
    """Every memory of the workspace belongs to its project; another project is refused."""


class PackContext(Shape):
    """What becomes of the memory in the block that ``context`` makes of the same question."""

    included: bool
    position: Number | None
    """The place in the block, from 1. Null where it is not in it."""
    tokens: Count | None
    """Of its note. Null where it is not in the block."""
    truncated: bool
    budget: Number


class ExplainItem(Shape):
    """Why one memory is found, or is not."""

    id: Number
    """Its ``memory_number``."""
    kind: Literal["decision", "summary", "legacy"]
    title: str
    """The topic, or a legacy text's first line, at most 80 characters."""
    created_at: Moment | None
    """For a legacy memory without a date of its own, when it was stored."""
    project: str
    """The workspace's path."""
    retrieval: ExplainedRetrieval
    score: ExplainedScore
    matches: ExplainedMatches
    pack_context: PackContext | None
    """Null unless it was asked for."""


class ExplainProblem(Shape):
    """Something that could not be answered; the rest is."""

    code: Literal["INVALID_ARGUMENT", "NOT_FOUND", "PROJECT_MISMATCH"]
    message: str
    field: str
    """The argument that it is about."""


class ScoreWeights(Shape):
    """The weights in semantic_score: that of the lexical score, and that of the vector score."""

    base: Share
    semantic_boost: Share


class ExplainedRanking(RankingUsed):
    """How the scores came about, after clamping."""

    as_of: Moment
    """The time at which ages were measured."""
    weights: ScoreWeights


class ExplainMetadata(Shape):
    """What was asked, as it was understood."""

    query: str | None
    project: str | None
    requested_ids_count: Count
    """Each id counts once."""
    returned_items_count: Count
    include_pack_context: bool
    ranking: ExplainedRanking | None
    """Null where nothing could be explained."""
    workspace: str | None
    """Its path; null where there is none."""
    warnings: list[str]


class ExplainSuccess(Shape):
    """The query's hits in their order, then the other memories in the order of their ids in the request."""

    success: Literal[True]
    items: list[ExplainItem]
    missing_ids: list[Number]
    """Requested, and not there."""
    errors: list[ExplainProblem]
    metadata: ExplainMetadata


class ExplainFailure(Shape):
    """No answer, and why."""

    success: Literal[False]
    error: str
    error_code: ErrorCode
    remediation: str
    error_details: dict[str, object] = {}
    """Values for programs. Absent where there are none."""
    items: Annotated[list[ExplainItem], Field(max_length=0)]
    missing_ids: Annotated[list[Number], Field(max_length=0)]
    errors: list[ExplainProblem]
    """What was wrong with the request; empty where it is not to blame."""
    metadata: ExplainMetadata


# --- context ---


class PackedMemory(Shape):
    """A memory in the block."""

    memory_id: str
    memory_number: Number
    score: Score
    tokens: Count
    """Of its note."""
    truncated: bool
    """Whether lines were left out at its end."""
    position: Number


class ContextSuccess(Shape):
    """A block for a prompt; it may be empty."""

    success: Literal[True]
    context: str
    """Markdown: a heading, then a note for each memory, its words quoted. Empty where nothing fits the question."""
    memories: list[PackedMemory]
    """Those in the block, in its order: by score, and what repeats another behind the rest."""
    considered: Count
    """How many memories were relevant enough."""
    total_tokens: Count
    """Of the whole block, at most ``budget``."""
    budget: Number
    tokenizer: str | None
    """Whose tokens were counted; null where nothing was."""
    as_of: Moment
    """The time at which ages were measured."""
    ranking: RankingUsed
    warnings: list[str]


class ContextFailure(Shape):
    """No block, and why."""

    success: Literal[False]
    error: str
    error_code: ErrorCode
    remediation: str
    error_details: dict[str, object] = {}
    """Values for programs. Absent where there are none."""
    context: Literal[""]
    memories: Annotated[list[PackedMemory], Field(max_length=0)]
    considered: Literal[0]
    total_tokens: Literal[0]
