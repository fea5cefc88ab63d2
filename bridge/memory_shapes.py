"""The types of lists of memories. mypy checks the code that builds them; the OpenAPI document is made from them.

Import it under TYPE_CHECKING, as ``interface/answer_shapes``.
"""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from jobs.schema import Count, JobError, Moment, Number, Share

from .memory import AnchorKind, AnchorState, MemoryKind, Status


class NumberedMemory(TypedDict):
    """A memory, by its id and its number."""

    memory_id: str
    memory_number: Number


class MemoryCounts(TypedDict):
    memories: Count
    summary: NotRequired[Count]
    decision_record: NotRequired[Count]
    legacy: NotRequired[Count]
    uncompared: Count
    """How many memories were not compared with the others yet, which the worker does when it is idle."""
    graph_lag: Count
    """How many changes the knowledge graph lacks: it gets them when a job needs it, or when the machine is idle."""
    has_graph: bool
    """Whether there is a knowledge graph. If not, it lacks all memories."""


class ListLabels(TypedDict):
    """The properties of a memory that have several values. A record of a compaction has those of all its memories."""

    tags: list[str]
    anchors: list[str]
    """What of it stood in the code when it was stored: the commit, then paths, names, commands and values."""


class Labels(ListLabels):
    """The metadata of a memory. Null means unknown."""

    topic_id: str | None
    session_id: str | None
    plan_id: str | None
    status: Status | None
    created_at: Moment | None
    updated_at: Moment | None
    source_created_at: Moment | None
    importance: Share | None


class _Listed(NumberedMemory):
    memory_type: MemoryKind
    title: str
    excerpt: str
    """What it says, in a line: its first decision that was not replaced, else its first one, else the first sentence
    of its context. A decision that was replaced or is disputed says so first: ``[replaced by #2]``."""


class MemoryLine(_Listed, Labels):
    """A memory in a list."""

    stored_at: Moment
    standings: list[MemoryStanding]
    """Its decisions that were replaced or are disputed; empty if all hold."""


class MemoryStanding(TypedDict):
    """A decision of a memory that does not hold any more, or is disputed, and the newer one that says so."""

    state: Literal["replaced", "disputed"]
    statement: str
    by: ReviewedStatement


class CheckedAnchor(TypedDict):
    """A word of a memory that stood in the code when the memory was stored."""

    kind: AnchorKind
    word: str
    file: str
    """Where it stood, relative to the workspace."""
    state: AnchorState


class InCode(TypedDict):
    """What the code of the workspace says of a memory now. It changes no score."""

    state: AnchorState
    """What counts: what is not there any more, else what changed."""
    commit: str
    """What was checked out when the memory was stored."""
    remark: str
    """In words, such as "no longer in the code: refreshToken (src/auth.ts)"."""
    anchors: list[CheckedAnchor]
    """Without those of which nothing is certain."""


class FeedbackCounts(TypedDict):
    """How many said that a memory helped, and how many that it is wrong."""

    helpful: Count
    wrong: Count


class FeedbackGiven(TypedDict):
    """What somebody said of a memory."""

    by: str
    verdict: Literal["helpful", "wrong"]
    at: Moment
    query: str | None
    """The question for which the memory was found."""
    note: str | None


class MemoryFeedback(FeedbackCounts):
    """The feedback on a memory that was not withdrawn."""

    given: list[FeedbackGiven]
    """The latest first."""


class StaleMemory(MemoryLine):
    """A memory of which something is not in the code any more."""

    in_code: InCode


class MemoryText(MemoryLine):
    summary_text: str
    sources: list[str]
    """The ids of the memories that a decision record merged."""
    hidden: bool
    """Whether it is the hidden original of a migrated memory. Queries do not find it."""
    migrated_from: str | None
    migrated_to: list[str]
    captured_from: CapturedFrom | None
    """Where it comes from, if it was captured from a session of another tool."""
    feedback: MemoryFeedback
    rests_on: list[RestsOn]
    """What of it may rest on a decision that was replaced."""
    in_code: InCode | None
    """Null if nothing of it stood in the code, or nothing is certain."""


class RestsOn(TypedDict):
    """A decision or a reason of a memory that names what was given up since."""

    text: str
    memory_id: str
    memory_number: Number
    """Of the memory with the decision that was replaced."""
    statement: str
    """That decision."""
    replaced_by: Number
    """The number of the memory with what holds."""


class CapturedFrom(TypedDict):
    """Where a captured memory comes from."""

    tool: str
    session_id: str
    path: str
    """The transcript."""
    first_place: str
    last_place: str
    """Where its part begins and ends in the transcript."""
    method: str
    """``rules`` or ``model``: what chose its sentences."""
    confidence: Share
    captured_at: Moment
    evidence: list[SentencePlace]


class SentencePlace(TypedDict):
    """The place in the transcript of a sentence: of the ``index``-th of a section, from 0."""

    section: str
    index: Count
    place: str


class SessionLine(TypedDict):
    """A captured session."""

    tool: str
    session_id: str
    path: str
    """The transcript; empty once the session was forgotten."""
    state: Literal["kept", "withdrawn", "forgotten"]
    captured_at: Moment
    memories: Count
    memory_ids: list[str]


class Topic(TypedDict):
    topic_id: str
    title: str
    """Of its newest memory."""
    memories: Count
    active: Count
    decision_records: Count
    drafts: Count
    superseded: Count
    characters: Count
    """Characters of the memories that a compaction would merge."""
    oldest: Moment | None
    """The date of the oldest of these memories."""
    newest: Moment | None
    """The date of the newest of these memories."""
    worth_compacting: bool
    contradictions: Count
    """Pairs of decisions that may contradict each other, and that nobody has settled."""


class ReviewedStatement(NumberedMemory):
    """A decision of a memory, in a pair."""

    statement: str
    dated_at: Moment | None
    topic_id: str | None


class ReviewedPair(TypedDict):
    """Two decisions that contradict each other, or may."""

    pair: str
    """Its name: the numbers of the two memories, such as 1/2; of a further pair of the same two 1/2/2."""
    state: Literal["disputed", "replaced", "both", "suspended"]
    """``suspended``: the memory with what holds by the verdict is superseded or a draft, so nothing falls by it."""
    holds: Literal["newer", "older", "both"] | None
    """Which of the two holds; null if it is disputed."""
    older: ReviewedStatement
    """The one with the earlier date."""
    newer: ReviewedStatement
    confidence: float
    """The probability that one was replaced; 1 or 0 if somebody settled it."""
    cause: Literal["judge", "said"]
    by: str | None
    """Who settled it, when (the next field), and why (the last one); null if the judge found it."""
    at: Moment | None
    reason: str | None


class OpenItem(NumberedMemory):
    """An open question or a next step that no later memory has answered or done."""

    kind: Literal["question", "next_step"]
    text: str
    topic_id: str
    title: str
    """Of the memory."""
    date: Moment | None
    """Of the memory; null if it is unknown."""


class PastCompaction(TypedDict):
    decision_record_id: str
    memory_number: Number | None
    topic_id: str
    applied_at: Moment
    job_id: str
    preview_digest: str
    superseded: list[str]
    superseded_numbers: dict[str, Number]
    """Memory id -> number, of those that still exist."""
    conflicts: list[dict[str, object]]
    narrative_source: str
    restored_at: Moment | None
    restored: list[str]
    skipped: list[dict[str, object]]


class CountsOrError(TypedDict):
    """Counts of the memories, or the reason why they cannot be read."""

    memory: MemoryCounts | None
    memory_error: JobError | None
