"""The values that a store's interface takes and returns: memories to add, applied jobs, compactions, extractions,
forgettings, deliveries, usage, and a change of the memories. Importing them loads no store.

A change is everything that one transaction must do: a store commits all of it or nothing. An operation reads, decides,
and collects its decisions in a change; nothing is written before it is complete. So a store can embed texts before it
takes a lock, retry the change after a repair, or send it to another machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID, uuid5

from ..memory import Memory, Status

# --- jobs and memories ---


class AppliedJob(NamedTuple):
    """A job that has an effect. A later job may reuse the id; its digest then differs."""

    job_id: str
    job_sha256: str


class Addition(NamedTuple):
    """A new memory, with what the store records besides.

    A hidden memory has neither vectors nor words in the index. The memory's ``number`` is kept if it is free; 0 gets
    the next one.
    """

    memory: Memory
    origin_job: str | None = None
    hidden: bool = False
    migrated_from: str | None = None
    status_set_at: str | None = None


class MemoryState(NamedTuple):
    """What the store records of a memory besides its text: its number, the job that stored it, whether it is hidden,
    its status and when that was set, and the original that it was converted from.
    """

    number: int
    origin_job: str | None
    hidden: bool
    status: Status | None
    status_set_at: str | None
    migrated_from: str | None


# --- feedback ---

Verdict = Literal["helpful", "wrong", "withdrawn"]
Holding = Literal["newer", "older", "both", "undecided"]  # which of two statements holds


class Feedback(NamedTuple):
    """What somebody said of a memory, with the question for which it was found. ``at`` is when it was asked for."""

    memory_id: str
    by: str
    verdict: Verdict
    at: str
    query: str | None = None
    note: str | None = None


class PairVerdict(NamedTuple):
    """What somebody said of two statements, each named by its memory's id and the SHA-256 of its words: that the one
    given as ``newer`` holds, the one given as ``older``, or both; or that they are undecided, so that what was found
    counts. ``at`` is when it was asked for. ``confidence``: of a language model, 0..1; None for anybody else."""

    older: str
    older_sha256: str
    newer: str
    newer_sha256: str
    verdict: Holding
    reason: str | None
    by: str
    at: str
    job_id: str
    confidence: float | None = None


class KnownPair(NamedTuple):
    """What is known of two statements, each a memory's id and the digest of its words: that one may have replaced the
    other. ``is_said``: somebody said it, or that both hold (a probability of 0)."""

    fell: tuple[str, str]
    holds: tuple[str, str]
    probability: float
    is_said: bool = False
    reason: str | None = None


# --- the outbox and the language model ---

Action = Literal["write", "status", "delete"]


class OutboxEntry(NamedTuple):
    """A pending delivery. ``tries`` is how often cognee rejected it since the graph was opened."""

    seq: int
    memory_id: str
    action: Action
    tries: int


class Spent(NamedTuple):
    """Calls, tokens of prompts and completions, and the cost in US dollars of the calls whose price is known."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None

    @property
    def tokens(self) -> int:
        """Tokens of prompts and completions together."""
        return self.prompt_tokens + self.completion_tokens


class Call(NamedTuple):
    """A recorded call without a report yet; ``estimate`` is its assumed number of tokens."""

    day: str
    job_id: str
    estimate: int


def day_of(now: datetime) -> str:
    """The UTC day of a time, ``2026-11-20``."""
    return now.astimezone(UTC).date().isoformat()


# --- the graph ---


class GraphLag(NamedTuple):
    """How many changes the knowledge graph lacks, the time of the oldest (ISO 8601), and whether there is a graph at
    all; if not, it lacks all memories."""

    changes: int
    since: str | None
    has_graph: bool


# --- sizes ---


class Sizes(NamedTuple):
    """``memories`` has counts by kind and status, with "none" for no status; sizes are in bytes."""

    memories: dict[tuple[str, str], int]
    topics: int
    passages: int
    graph_lag: int
    database_bytes: int
    vector_bytes: int
    llm_today: Spent


# --- captured sessions ---

CaptureState = Literal["kept", "withdrawn", "forgotten"]


class CapturedSegment(NamedTuple):
    """A part of a captured session: how many turns it has, the SHA-256 of these, and the memory that was made of it;
    None where it held nothing to keep."""

    turns: int
    digest: str
    memory_id: str | None


class CapturedSession(NamedTuple):
    """What was captured from a session of a tool.

    ``version`` is that of the transcript when all of it had been captured, and empty before. ``state``: ``withdrawn``
    after its capture was undone, ``forgotten`` after it was forgotten; neither is captured again by itself.
    """

    tool: str
    session_id: str
    path: str
    version: str
    state: CaptureState
    captured_at: str
    segments: tuple[CapturedSegment, ...] = ()


class CaptureSource(NamedTuple):
    """Where a captured memory comes from: the session, its transcript, and the places at which its part begins and
    ends. ``method`` is how it was summarised, ``confidence`` (0 to 1) how sure the choice of its sentences is.
    ``evidence`` has, for sections of the memory, the section, the index of the sentence, and its place.
    """

    memory_id: str
    tool: str
    session_id: str
    path: str
    first_place: str
    last_place: str
    method: str
    confidence: float
    evidence: tuple[tuple[str, int, str], ...]
    captured_at: str
    job_id: str


# --- compactions ---

KeptBecause = Literal["forgotten", "status_changed", "merged"]


class Source(NamedTuple):
    """A memory as it was before the merge, and the time of the status that the compaction gave it.

    ``status_set_at`` is None if that time is not known.
    """

    memory_id: str
    content_sha256: str
    status: Status
    status_set_at: str | None


class Skipped(NamedTuple):
    """A source that a restore left unchanged: it is forgotten, its status was changed since, or another record in force
    has merged it too.
    """

    memory_id: str
    reason: KeptBecause


class Restored(NamedTuple):
    """The result of a restore: its time, the ids of restored sources, and the skipped ones."""

    at: str
    restored: tuple[str, ...]
    skipped: tuple[Skipped, ...]


class Compaction(NamedTuple):
    """One compaction. ``seq`` is 0 until it is recorded; ``conflicts`` hold digests in place of texts."""

    record_id: str
    topic_id: str
    applied_at: str
    effect: AppliedJob
    preview_digest: str
    sources: tuple[Source, ...]
    conflicts: tuple[Mapping[str, Any], ...]
    narrative_source: str
    restored: Restored | None = None
    seq: int = 0


# --- extractions ---


class ExtractedNode(NamedTuple):
    """A node as cognee made it. ``index_fields`` are the names of its embedded properties."""

    id: str
    type: str
    index_fields: tuple[str, ...]
    properties: Mapping[str, Any]


class ExtractedEdge(NamedTuple):
    """An edge as cognee made it; ``source`` and ``target`` are ids of nodes."""

    source: str
    target: str
    name: str
    properties: Mapping[str, Any]

    @property
    def key(self) -> tuple[str, str, str]:
        """The edge's identity: source, target and name."""
        return self.source, self.target, self.name


class Extraction(NamedTuple):
    """What was extracted from one text or several; false if empty."""

    nodes: tuple[ExtractedNode, ...] = ()
    edges: tuple[ExtractedEdge, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.nodes or self.edges)


def data_id_of(memory_id: str) -> str:
    """The id of a memory's text among cognee's documents; the memory's own id is that of its node.

    Raises ValueError for an id that is no UUID.
    """
    return str(uuid5(UUID(memory_id), "cognee document"))


def together(found: Iterable[Extraction]) -> Extraction:
    """Several extractions as one, each node and edge once."""
    nodes: dict[str, ExtractedNode] = {}
    edges: dict[tuple[str, str, str], ExtractedEdge] = {}
    for one in found:
        nodes.update((node.id, node) for node in one.nodes)
        edges.update((edge.key, edge) for edge in one.edges)
    return Extraction(tuple(nodes.values()), tuple(edges.values()))


# --- forgettings ---

# The fields of a plan that may still have to be removed: the worker removes the first ones, the child the others.
LEFT_TO_WORKER = ("jobs", "doomed", "rejected", "parts")
_LEFT = (*LEFT_TO_WORKER, "files", "stores", "data_ids")


class Plan(NamedTuple):
    """What a forgetting removes. ``forgotten`` are the requested ids, with originals and conversions.

    ``jobs`` are ended jobs whose files quote the memories; ``doomed`` are waiting ones that would store one
    again. ``files`` are paths relative to the workspace, as are ``stores`` of earlier versions, in which ``data_ids``
    are texts. ``rejected`` and ``parts`` are SHA-256 digests of file names, since people choose these.
    """

    forgotten: tuple[str, ...]
    records_rebuilt: tuple[tuple[str, str], ...] = ()
    records_removed: tuple[str, ...] = ()
    revived: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    doomed: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    data_ids: tuple[str, ...] = ()
    files_removed: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def tombstones(self) -> tuple[str, ...]:
        """Every id that must not be stored again by an earlier job."""
        rebuilt = (old for old, new in self.records_rebuilt if old != new)
        return (*self.forgotten, *rebuilt, *self.records_removed)

    def joined(self, others: Iterable[Plan]) -> Plan:
        """This plan, with what the other plans still have to remove."""
        plans = [self, *others]
        return self._replace(**{name: in_any(plans, name) for name in _LEFT})


def in_any(plans: Iterable[Plan], name: str) -> Any:
    """The values that a field has in any of the plans, each once."""
    return tuple(dict.fromkeys(value for plan in plans for value in getattr(plan, name)))


class Arrivals(NamedTuple):
    """What others' changes do to the memories of a copy, by their ids, before they are applied.

    ``forgotten``: others forgot them. The rest is empty unless the team's database lost the last changes of this copy,
    as after a restore: ``lost`` are here and not there, and nobody forgot them; ``unforgotten`` were forgotten, and are
    there again.
    """

    forgotten: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    unforgotten: tuple[str, ...] = ()


class ForgettingState(NamedTuple):
    """A forgetting in the table; ``is_done`` once the stores hold nothing of it."""

    plan: Plan
    is_done: bool


class StatusChange(NamedTuple):
    """A memory's new status, and the time from which it holds. ``set_status`` ignores requests older than that time.
    ``updated_at``: the memory's new date, if that is not the change's."""

    memory_id: str
    status: Status
    set_at: str
    updated_at: str | None = None


class KeptExtraction(NamedTuple):
    """What cognee extracted from a memory's text for a job."""

    memory_id: str
    found: Extraction
    job_id: str


class BegunForgetting(NamedTuple):
    """A forgetting that begins with this change, and its job."""

    job: AppliedJob
    accepted_at: str
    plan: Plan


@dataclass(slots=True)
class Change:
    """A change. ``at`` is its time; ``applied`` are the jobs whose effect it is, recorded with it.

    A store applies the fields in this order, additions last. After the commit, ``added`` has the new memories with
    their numbers, in the order of ``additions``.
    """

    at: str
    applied: tuple[AppliedJob, ...] = ()
    # ids that are blocked for jobs that were accepted before this change
    tombstones: list[str] = field(default_factory=list)
    # set whatever they were, and enqueued for the graph
    statuses: list[StatusChange] = field(default_factory=list)
    # a memory's id, and the hidden original that it was converted from, unless it has one
    originals: list[tuple[str, str]] = field(default_factory=list)
    # deleted, also from the graph; their numbers are not used again
    dropped: list[str] = field(default_factory=list)
    # they stay in the store, but no query finds them, and the graph deletes them
    hidden: list[str] = field(default_factory=list)
    # their cached embeddings are deleted, of all models, whichever memory they came from
    texts_to_forget: set[str] = field(default_factory=set)
    # --- the history of compactions ---
    compactions: list[Compaction] = field(default_factory=list)
    # what was undone (``restored``), and the job that did it; without a ``seq``, it is added to the history first
    restorations: list[tuple[Compaction, str]] = field(default_factory=list)
    # the ids of forgotten topics go from the history, since they derive from a title
    topics_to_clear: list[str] = field(default_factory=list)
    # rows of an export, which hold no texts (``without_texts``)
    imported_compactions: list[Mapping[str, Any]] = field(default_factory=list)
    # what they still have to remove outside the memories
    forgettings: list[BegunForgetting] = field(default_factory=list)
    # no begun forgetting has anything left to remove from the stores
    finishes_forgettings: bool = False
    # --- what was extracted from texts, instead of what was before ---
    extractions_to_drop: list[str] = field(default_factory=list)
    extractions: list[KeptExtraction] = field(default_factory=list)
    # rows of an export, whose memories are enqueued for the graph
    imported_extractions: list[Mapping[str, Any]] = field(default_factory=list)
    # --- captured sessions, instead of what was recorded before ---
    captured_sessions: list[CapturedSession] = field(default_factory=list)
    # tool, session's id, digests of its turns
    captured_turns: list[tuple[str, str, Sequence[str]]] = field(default_factory=list)
    # where a memory was captured from, unless it is recorded; deleted with the memory
    capture_sources: list[CaptureSource] = field(default_factory=list)
    # instead of an earlier one of the same person on the memory; a later one is kept. On an unknown memory it is left
    # out. It is deleted with the memory.
    feedback: list[Feedback] = field(default_factory=list)
    # their questions and notes are deleted, the verdicts stay
    feedback_to_clear: list[Feedback] = field(default_factory=list)
    feedback_to_drop: list[Feedback] = field(default_factory=list)
    # instead of an earlier one on the pair; a later one is kept. One on an unknown memory is left out. It is deleted
    # with either memory.
    verdicts: list[PairVerdict] = field(default_factory=list)
    # their reasons and names are deleted; what they say stays
    verdicts_to_clear: list[PairVerdict] = field(default_factory=list)
    # if a hidden memory has the same id, the new one replaces it and gets its number
    additions: list[Addition] = field(default_factory=list)
    added: list[Memory] = field(default_factory=list)
