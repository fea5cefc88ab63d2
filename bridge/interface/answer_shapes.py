"""The types of answers to a question. mypy checks the code that builds them; the JSON Schemas are made from them.

Import it under TYPE_CHECKING: the query path must not pay for pydantic. The types of jobs' results are in
``result_shapes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from jobs.schema import Count, ErrorCode, Moment, Number, Share
from jobs.states import State

from ..argument_table import ARGUMENTS, Preset, RankingMode
from ..memory import MemoryKind
from ..memory_shapes import FeedbackCounts, InCode, Labels, NumberedMemory


def _within(argument: str) -> Any:
    """The range that an argument was clamped to."""
    least, most = ARGUMENTS[argument].range
    return Field(ge=least, le=most)


Score = Annotated[float, Field(ge=0)]
HalfLife = Annotated[float, _within("half_life_days")]
Alpha = Annotated[float, _within("alpha")]


class Success(TypedDict):
    """The fields that every successful answer begins with."""

    success: Literal[True]


class Refusal(TypedDict):
    """An error: the request had no effect."""

    success: Literal[False]
    error: str
    error_code: ErrorCode
    remediation: str
    error_details: NotRequired[dict[str, object]]
    """Values for programs. Absent if there are none."""


class ReportedScore(TypedDict):
    """A score and its factors."""

    score: Score
    """The hits are ordered by it: semantic_score * recency_multiplier * status_multiplier, or the blend; times
    feedback_multiplier, if there is one."""
    final_score: Score
    """Alias of ``score``."""
    relevance_score: Score
    """Alias of ``score``."""
    semantic_score: Share
    """How well meaning and words fit the query. Absolute: other hits do not change it."""
    vector_score: Share
    """The part of meaning."""
    lexical_score: Share
    """The part of words."""
    recency_multiplier: Share
    recency_score: Share
    """Alias of ``recency_multiplier``."""
    status_multiplier: Score
    feedback_multiplier: NotRequired[Score]
    """The factor of the feedback. Absent if its weight is 0."""
    rerank_score: NotRequired[Share]
    """The reranker's judgement, which is then half of semantic_score. Absent without a reranker."""


class _Hit(NumberedMemory, ReportedScore):
    memory_type: MemoryKind
    summary_text: Annotated[str, Field(min_length=1)]
    """The memory as Markdown, rendered from its current fields."""
    text: str
    """Alias of ``summary_text``."""
    tokens: Count
    topic: str | None


class AnyHit(_Hit, Labels):
    """The fields of every hit."""


class RelatedStatement(NumberedMemory):
    """A decision of another memory."""

    statement: str
    dated_at: Moment | None
    """When that memory was said; null if that is not known."""


class ReplacedStatement(RelatedStatement):
    """An older decision that a newer one replaced or contradicts."""

    state: Literal["replaced", "disputed"]


class Standing(TypedDict):
    """Whether the decision by which the memory answers the question holds."""

    state: Literal["holds", "replaced", "disputed"]
    """``disputed``: a newer decision may contradict it, and nobody has settled it."""
    statement: str
    """The decision by which the memory answers the question."""
    by: RelatedStatement | None
    """What replaced or contradicts it; of a chain, what holds now. Null if it holds."""
    since: Moment | None
    """When the memory that replaced or contradicts it was said; null if it holds, or if that is not known."""
    confidence: Share | None
    """The probability that it was replaced; null if it holds."""
    cause: Literal["judge", "said"] | None
    """Who said so: the judge on board, or a person or an agent, whose word wins; null if it holds."""
    replaces: list[ReplacedStatement]
    """The older decisions that this one replaced or contradicts, as far as they answer the question."""
    inherited_from: Number | None
    """The memory whose relevance this one inherited; null if the relevance is its own."""


class Marked(TypedDict):
    fit: NotRequired[Literal["weak"]]
    """Present if the memory is probably no answer to the question. It changes no score."""
    standing: NotRequired[Standing]
    """Absent if what answers the question holds, and replaced nothing."""
    in_code: NotRequired[InCode]
    """Absent if nothing of it stood in the code, or nothing is certain."""


class RetrievalHit(AnyHit, Marked):
    """One memory that answers the question.

    A legacy memory has null metadata, except its importance, and none of the structured fields.
    """

    decisions: NotRequired[list[str]]
    rationale: NotRequired[list[str]]
    open_questions: NotRequired[list[str]]
    next_steps: NotRequired[list[str]]
    references: NotRequired[list[str]]
    best_passages: NotRequired[list[str]]
    """One or two decisions, and another passage if it matches better; absent unless ``best_passages`` asks for them."""
    feedback: NotRequired[FeedbackCounts]
    """Absent if nobody gave any."""
    compaction_source: NotRequired[list[str]]
    """The ids of the memories that a decision record merged. Absent in all other hits."""


class TimeUsed(TypedDict):
    """The time that the query names, and what it did."""

    phrase: str
    """Its words in the query."""
    since: Moment | None
    """Where the period begins; null if it is open."""
    until: Moment | None
    """Where it ends, exclusive; null if it is open."""
    used: Literal["preference", "filter", "newest", "oldest", "nothing"]
    """``newest`` and ``oldest``: near the newest or oldest memory that fits well. ``nothing``: it has no date."""


class RerankerUsed(TypedDict):
    """The model that judged the first hits again."""

    model: str
    """``local:`` and its folder, or ``endpoint:`` and its name."""
    hits: Count
    """The number of first hits that are judged; more if more results are requested."""


class RankingUsed(TypedDict):
    """How the hits were ranked, after clamping."""

    preset: Preset
    mode: RankingMode
    half_life_days: HalfLife
    recency_floor: Share
    alpha: Alpha
    """The weight of relevance in the blend."""
    relevance_floor: Share
    """The lowest ``semantic_score`` of a hit, without the reranker's part. Unless requested: the default, or half of
    the best one if lower."""
    feedback_weight: NotRequired[Annotated[float, _within("feedback_weight")]]
    """Absent if feedback does not count."""
    order: NotRequired[Literal["date"]]
    """Present if the query is only a time: the hits are the memories of that time, the newest first."""
    time: NotRequired[TimeUsed]
    """Absent if the query names no time. Ages are measured from this period, and not from ``as_of``."""
    reranker: NotRequired[RerankerUsed]
    """Absent if none is configured, or if it failed; then ``warnings`` says so."""
    searched_for: NotRequired[str]
    """The query without its words of courtesy. Absent if it has none."""


class RetrievalSuccess(Success):
    """An answer; it may hold no hits."""

    results: list[RetrievalHit]
    """Highest score first; the newest first if ``ranking.order`` is ``date``."""
    result_count: Count
    """The length of ``results``."""
    total_results: Count
    """Number of memories that were relevant enough, including those that did not fit."""
    total_tokens: Count
    half_life_days: HalfLife
    include_superseded: bool
    include_superseded_reason: Literal["argument", "query", "status"] | None
    """The requester of superseded memories."""
    as_of: Moment
    """The time at which ages were measured."""
    ranking: RankingUsed
    tokenizer: str | None
    """The tokenizer that counted the tokens; null if none were counted."""
    warnings: list[str]


class RetrievalFailure(Refusal):
    """The error, and empty fields of an answer."""

    results: Annotated[list[RetrievalHit], Field(max_length=0)]
    total_results: Literal[0]
    total_tokens: Literal[0]


RetrievalResponse = RetrievalSuccess | RetrievalFailure


# --- a job that was submitted ---


class Submission(Success):
    """A job that was dropped."""

    job_id: str
    job_sha256: str
    kind: str
    correlation_id: str
    worker_started: bool


class EndedSubmission(Submission):
    """A job that was dropped and waited for."""

    state: State
    result: Mapping[str, Any] | None
    elapsed_ms: Count | None


# --- explain ---


class ExplainedRetrieval(TypedDict):
    """How the memory came into the answer."""

    source: Literal["query", "id_lookup", "query+id_lookup"]
    rank: Number | None
    """The rank among the query's hits, from 1. Null for a memory that was requested by its id and is no hit."""


class ScoreComponents(TypedDict):
    """The components of a score. Without a query, those that depend on it are null."""

    base: Share | None
    """The part of words in semantic_score: weight * lexical_score."""
    recency: Share
    """recency_multiplier."""
    kind_bonus: Annotated[float, Field(gt=-1)]
    """status_multiplier - 1: above 0 for a decision record, below for what is superseded, replaced or disputed."""
    semantic_boost: Share | None
    """The part of meaning in semantic_score: weight * vector_score."""
    feedback: NotRequired[Score]
    """feedback_multiplier. Absent if its weight is 0."""
    rerank: NotRequired[Share]
    """The reranker's part in semantic_score: weight * rerank_score. Absent if no reranker judged the memory."""


class ExplainedScore(TypedDict):
    """``total`` is the score that retrieval gives for the same query and ``as_of``, digit for digit."""

    total: Score | None
    """(base + semantic_boost + rerank) * recency * (1 + kind_bonus) * feedback, or the blend. Null without a query."""
    components: ScoreComponents


class ExplainedMatches(TypedDict):
    """The parts of the request that the memory contains."""

    query_terms: list[str]
    """The query's terms that the memory contains, in the query's order."""
    project_match: Literal[True]
    """Every memory of a workspace belongs to its project. A request for another project is rejected."""


class PackContext(TypedDict):
    """Whether the memory is in the block that ``context`` gives for the same question."""

    included: bool
    position: Number | None
    """The position in the block, from 1. Null if it is not in the block."""
    tokens: Count | None
    """The tokens of its note. Null if it is not in the block."""
    truncated: bool
    budget: Number


class ExplainItem(Marked):
    """Why a memory is found, or is not found."""

    id: Number
    """Its ``memory_number``."""
    kind: Literal["decision", "summary", "legacy"]
    title: str
    """The topic, or a legacy text's first line, at most 80 characters."""
    created_at: Moment | None
    """For a legacy memory without a date of its own, the time at which it was stored."""
    project: str
    """The workspace's path."""
    retrieval: ExplainedRetrieval
    score: ExplainedScore
    matches: ExplainedMatches
    pack_context: PackContext | None
    """Null unless it was requested."""
    feedback: NotRequired[FeedbackCounts]
    """Absent if nobody gave any."""


ExplainProblemCode = Literal["INVALID_ARGUMENT", "NOT_FOUND", "PROJECT_MISMATCH"]


class ExplainProblem(TypedDict):
    """A part of the request that could not be answered."""

    code: ExplainProblemCode
    message: str
    field: str
    """The argument that it is about."""


class ScoreWeights(TypedDict):
    """The weights in semantic_score: of the lexical score, of the vector score, and of the reranker's, if there is
    one."""

    base: Share
    semantic_boost: Share
    rerank: NotRequired[Share]


class ExplainedRanking(RankingUsed):
    """The parameters of the ranking, after clamping."""

    as_of: Moment
    """The time at which ages were measured."""
    weights: ScoreWeights


class ExplainMetadata(TypedDict):
    """The request as the program read it."""

    query: str | None
    project: str | None
    requested_ids_count: Count
    """Each id counts once."""
    returned_items_count: Count
    include_pack_context: bool
    ranking: ExplainedRanking | None
    """Null if nothing could be explained."""
    workspace: str | None
    """Its path; null if there is none."""
    warnings: list[str]


class ExplainSuccess(Success):
    """The query's hits in their order, then the other memories in the order of their ids in the request."""

    items: list[ExplainItem]
    missing_ids: list[Number]
    """The requested ids that do not exist."""
    errors: list[ExplainProblem]
    metadata: ExplainMetadata


class ExplainFailure(Refusal):
    """The error, and empty fields of an answer."""

    items: Annotated[list[ExplainItem], Field(max_length=0)]
    missing_ids: Annotated[list[Number], Field(max_length=0)]
    errors: list[ExplainProblem]
    """The faults of the request; empty if the error has another cause."""
    metadata: ExplainMetadata


ExplainResponse = ExplainSuccess | ExplainFailure


# --- context ---


class PackedMemory(NumberedMemory, Marked):
    """A memory in the block."""

    score: Score
    tokens: Count
    """The tokens of its note."""
    truncated: bool
    """Whether lines were left out at its end."""
    position: Number


class ContextSuccess(Success):
    """A block for a prompt; it may be empty."""

    context: str
    """Markdown: a heading, then a note for each memory, with its text quoted. Empty if nothing fits the question."""
    memories: list[PackedMemory]
    """The memories in the block, in its order: by score, with repetitions of others at the end."""
    considered: Count
    """Number of memories that were relevant enough."""
    total_tokens: Count
    """The tokens of the whole block, at most ``budget``."""
    budget: Number
    tokenizer: str | None
    """The tokenizer that counted the tokens; null if none were counted."""
    as_of: Moment
    """The time at which ages were measured."""
    ranking: RankingUsed
    warnings: list[str]


class FittingNotes(Success):
    """The notes that fit a prompt, a file or an error well enough to be shown unasked; usually none."""

    context: str
    """A line that says what follows, and a quoted line for each memory. Empty if nothing fits."""
    memory_numbers: list[Count]
    """The memories in it."""
    total_tokens: Count


class ContextFailure(Refusal):
    """The error, and an empty block."""

    context: Literal[""]
    memories: Annotated[list[PackedMemory], Field(max_length=0)]
    considered: Literal[0]
    total_tokens: Literal[0]


ContextResponse = ContextSuccess | ContextFailure

Response = RetrievalResponse | ExplainResponse | ContextResponse
