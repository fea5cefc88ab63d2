"""The type of the result of each kind of job. mypy checks the code that builds it; the JSON Schemas are made from it.

A docstring below a field is the field's description in the schemas. Import this module under TYPE_CHECKING, as
``answer_shapes``.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypeAliasType, TypedDict

from jobs.kinds import KINDS, Kind
from jobs.schema import Count, Digest, FoundTrouble, Moment, Number, Redactions, Seconds, Share

from ..memory import MemoryKind, Status
from ..memory_shapes import FeedbackCounts, Labels, ListLabels, NumberedMemory
from ..store.values import Holding, KeptBecause, Verdict
from .answer_shapes import Standing
from .json_schema import Shape


class GraphFollows(TypedDict):
    """A change of memories that can be found at once."""

    graph: NotRequired[Literal["follows"]]
    """The knowledge graph gets the change when a job needs the graph, or when the machine is idle. Absent in results of
    earlier versions, and where nothing changes."""


class IngestTimings(TypedDict):
    """Time in milliseconds, for all the jobs that ran together."""

    store: Count
    graph: Count
    """0, since the graph follows."""
    jobs_together: Number


class SetStatusResult(GraphFollows, NumberedMemory, Labels):
    """The memory's metadata after the change."""


class IngestResult(SetStatusResult):
    """The memory as it is stored. For a duplicate it may differ from the job."""

    memory_type: MemoryKind
    topic: str | None
    duplicate: bool
    """Whether the memory was already stored, or another job of the same batch stored it."""
    redactions: Redactions | None
    """Secrets that were replaced before anything was stored. Null where the setting is off."""
    ingested_chars: Count
    timings_ms: IngestTimings


class FeedbackResult(NumberedMemory):
    """The feedback, and all that was given on the memory."""

    verdict: Verdict
    by: str
    feedback: FeedbackCounts


class ResolveResult(TypedDict):
    """What was said of the two decisions."""

    memory_numbers: list[Number]
    """Of the memory given as the older one, then of the other."""
    verdict: Holding
    """Which of the two holds."""
    by: str


class JudgeResult(TypedDict):
    """What the language model was asked about: pairs of decisions, counted by what is kept of its answers."""

    newer: Count
    both: Count
    undecided: Count
    """It was not sure, gave no answer, or took the earlier one to hold: they stay as they were."""
    calls: Count
    tokens: Count
    cost_usd: float | None


class RebuildResult(TypedDict):
    """What was rebuilt. Counts of parts that were not requested are absent."""

    what: Literal["index", "graph", "both"]
    passages: NotRequired[Count]
    memories: NotRequired[Count]
    graph_memories: NotRequired[Count]
    seconds: Seconds


class CompactedMemory(NumberedMemory):
    """A memory that would be merged."""

    memory_type: Literal["summary", "decision_record"]
    """The topic's former decision record is merged like a summary."""
    topic: str
    session_id: str | None
    plan_id: str | None
    status: Literal["Active", "DecisionRecord"]
    created_at: Moment | None
    source_created_at: Moment | None
    decisions: list[str]
    content_sha256: Digest
    """The digest of its text. If the memory has another one now, the preview is not of this text."""


class RecordTimeScope(TypedDict):
    """From the earliest start to the latest end of the merged memories."""

    text: str
    start: Moment | None
    end: Moment | None
    turn_count: Count | None


class PreviewedRecord(ListLabels):
    """The decision record that a compaction would make. Its id and its time exist only once it is made."""

    topic: str
    """The topic of the newest memory."""
    topic_id: str
    session_id: str | None
    """The session, if all memories are of the same one."""
    plan_id: str | None
    """The plan of the newest memory that has one."""
    status: Literal["DecisionRecord"]
    source_created_at: Moment
    """The date of the newest memory."""
    importance: Share | None
    """The highest importance of the merged memories."""
    summary_text: str
    """The text of the record: its narrative."""
    consolidated_decisions: list[str]
    """Ordered by the date at which each was last stated, which it ends with, as its memory's number:
    ``… (2026-11-20, #3)``. Of two that conflict: ``[Later] … supersedes …``, and ``[Earlier] …`` below those that
    hold."""
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
    narrative_source: Literal["template", "llm"]
    """What wrote the narrative: the template or the language model."""


class ConflictSide(NumberedMemory):
    """One of two decisions that conflict."""

    text: str
    date: Moment
    """The memory's ``source_created_at``, else its ``created_at``; of a decision of an earlier record, its own day."""


class CompactionConflict(TypedDict):
    """Two decisions of different memories that cannot both hold."""

    conflict_id: str
    """What ``keep_both`` takes. It depends on the words of the two decisions alone."""
    kind: Literal["negation", "choice", "value", "toggle", "reversal", "replacement"]
    """``negation``: one denies the other. ``choice``, ``value``: another choice or amount for the same subject.
    ``toggle``: the opposite, such as enabled and disabled. ``reversal``: the later one takes the earlier one back.
    ``replacement``: known to the store, in words of which the rules say nothing."""
    confidence: Share
    """How certain the conflict is."""
    judged_by: NotRequired[Literal["rules", "llm", "judge", "said"]]
    """What decided it: the rules of wording, the language model, the comparison when the memories were stored, or a
    person or agent in the review."""
    reason: NotRequired[str]
    """Why, if somebody said so."""
    earlier: ConflictSide
    """The one that does not hold any more."""
    later: ConflictSide
    """The one that holds. It is the older one only if somebody said so."""


class _Compacted(TypedDict):
    conflicts: list[CompactionConflict]
    kept_both: list[CompactionConflict]
    """The conflicts that ``keep_both`` rejected: both decisions hold."""
    warnings: list[str]
    """What else to check."""


class CompactionPreview(_Compacted):
    """The result that a compaction of the topic would have. Nothing was changed."""

    summaries: Annotated[list[CompactedMemory], Field(min_length=2)]
    """The memories that would be merged and superseded, the oldest first."""
    decision_record: PreviewedRecord
    preview_digest: Digest
    """The digest of the change that would be applied. It stays the same until a memory of the topic changes, or
    what is known of its decisions."""


class AppliedCompaction(GraphFollows, _Compacted):
    """The decision record that a topic's memories were merged into."""

    decision_record_id: str
    memory_number: Number
    topic_id: str
    superseded: Annotated[list[str], Field(min_length=2)]
    """The ids of the memories that it merged, the oldest first."""
    superseded_numbers: dict[str, Number]
    """Memory id -> number, of those that still exist."""
    narrative_source: Literal["template", "llm"]
    preview_digest: Digest
    """The digest of the preview that was applied."""
    applied_at: Moment


CompactResult = TypeAliasType(
    "CompactResult",
    Annotated[
        CompactionPreview | AppliedCompaction,
        Field(description="The preview, if the job asked for one; otherwise the applied compaction."),
    ],
)


class SkippedSource(TypedDict):
    """A memory that was left as it is."""

    memory_id: str
    reason: KeptBecause
    """``forgotten``: it is gone. ``status_changed``: its status was set since. ``merged``: another record in
    force has merged it as well."""


class RestoreResult(GraphFollows):
    """The withdrawn record. Withdrawing it again gives the same result."""

    decision_record_id: str
    memory_number: Number | None
    """Null if the record has been forgotten since."""
    topic_id: str
    restored: list[str]
    """The ids of the memories that have their former status again."""
    skipped: list[SkippedSource]
    numbers: dict[str, Number]
    """Memory id -> number, of those of both lists that still exist."""
    restored_at: Moment


class RebuiltRecord(TypedDict):
    """A decision record that had merged a forgotten memory, and the record that replaces it."""

    old: str
    new: str


class ForgetResult(TypedDict):
    """What was forgotten, including memories that had been forgotten before."""

    forgotten: list[str]
    """The ids of the requested memories, of their originals before a migration, and of what was migrated from these."""
    records_rebuilt: list[RebuiltRecord]
    records_removed: list[str]
    """Decision records of which fewer than two memories remained."""
    revived: list[str]
    """Memories that a removed record had superseded; they have their former status again."""
    jobs_scrubbed: Count
    """Ended jobs whose texts were removed from their records and copies."""
    jobs_ended: Count
    """Waiting jobs that would have stored a forgotten memory again: they failed with MEMORY_FORGOTTEN."""
    files_removed: Count
    """Rejected files, previews, imported files, backups and set-aside stores."""
    warnings: list[str]


class ImportDetail(TypedDict):
    """A note about a memory of the file."""

    line: Number
    memory_id: str
    """The id in the file."""
    what: Literal["renumbered", "kept", "duplicate", "conflict", "forgotten", "failed"]
    here: str | None
    """Its id in this store."""
    note: str


class ImportResult(GraphFollows):
    """Counts of the memories of a file. The first six counts after ``memories`` add up to it."""

    memories: Count
    added: Count
    unchanged: Count
    """Stored already, with the same id and text."""
    duplicates: Count
    """Stored already, with the same text under another id."""
    conflicts: Count
    """Stored already, with the same id and another text. The stored text was kept."""
    forgotten: Count
    """Forgotten here after the import was submitted."""
    failed: Count
    """Rejected by the embedding provider."""
    renumbered: Count
    """Those among ``added`` that got another number, since theirs was taken."""
    kept: Count
    """Those that were stored already, with another status, or other dates or labels. The stored ones were kept."""
    compactions: Count
    """Entries added to the history of compactions."""
    findings: Count
    """Added entries of what cognee found in texts."""
    feedback: Count
    """Added entries of feedback. A later one of the same person was kept."""
    verdicts: Count
    """Added verdicts on two decisions. A later one on the same two was kept."""
    details: Annotated[list[ImportDetail], Field(max_length=100)]
    redactions: Redactions | None
    """Secrets that were replaced in the memories that were added. Null where the setting is off."""
    warnings: list[str]
    seconds: Seconds


class LookedInto(NumberedMemory):
    """A memory whose text cognee has processed."""

    source: str | None
    """The path of its file, as the job gave it."""
    nodes: Count
    edges: Count
    before: bool
    """Whether an earlier job had processed it."""


class NotLookedInto(TypedDict):
    """A text that was not processed."""

    memory_id: str | None
    """Null for a file that could not be read."""
    source: str | None
    code: str
    message: str


class CognifyResult(TypedDict):
    """What cognee found in texts. Each text is a memory, whether or not anything was found in it."""

    memories: Annotated[list[LookedInto], Field(max_length=1000)]
    looked_into: Count
    """Number of texts that this job processed, in all its attempts."""
    before: Count
    """Number of texts that an earlier job had processed."""
    nodes: Count
    """Nodes found in the texts of ``looked_into``. A node of several texts counts once for each."""
    edges: Count
    calls: Count
    """Calls of the language model, in all attempts."""
    tokens: Count
    cost_usd: NotRequired[Annotated[float, Field(ge=0)] | None]
    """The price in US dollars of the calls that LiteLLM's price list has; null if it has none of them."""
    failures: list[NotLookedInto]
    redactions: Redactions | None
    """Secrets that were replaced in texts and files before they were kept. Null where the setting is off."""


class RestsOn(NumberedMemory):
    """A memory that an answer is based on."""

    standing: NotRequired[Standing]
    """Absent if what answers the question holds, and replaced nothing."""

    memory_type: MemoryKind
    title: str
    """The topic, or a legacy text's first line."""
    status: Status | None


class AskResult(TypedDict):
    """The answer to a question, from the knowledge graph."""

    question: str
    answer: str | None
    """In prose. Null without a language model, and if nothing was found."""
    llm: bool
    """Whether a language model wrote the answer."""
    context: str
    """The part of the graph that fits the question: nodes and their connections, in cognee's form. A decision that does
    not hold any more says what became of it."""
    memories: list[RestsOn]
    """The most relevant first; what holds stands before what it replaced."""
    warnings: list[str]


class GraphResult(TypedDict):
    """The picture of the knowledge graph: its file, and what it shows."""

    path: str
    nodes: Count
    edges: Count
    memories: Count
    """Number of memories shown: the newest, at most 200, with the nodes that they lead to."""
    memories_left_out: Count


class MigrationSource(TypedDict):
    """The file of a text that an earlier version gave to cognee."""

    store: str
    """cognee's SQLite file, below the workspace. Empty where no store names the text."""
    data_id: str
    """cognee's id of the text."""
    file: str
    """The name of its file in `.cognee_data`."""


class MigratedItem(TypedDict):
    """A text and its result; in a dry run, the result that it would have. Unknown values are null."""

    outcome: Literal["migrated", "already_migrated", "forgotten", "failed", "skipped"]
    """``skipped``: it is no memory of an earlier version; nothing was done."""
    reason: str | None
    """Why it was not migrated."""
    error_code: str | None
    line: Number | None
    """The line of the text that cannot be read."""
    source: MigrationSource
    memory_id: str | None
    memory_number: Number | None
    memory_type: Literal["summary", "legacy"] | None
    title: str | None
    topic_id: str | None
    session_id: str | None
    plan_id: str | None
    status: Status | None
    created_at: Moment | None
    importance: Share | None


class _TakenOver(GraphFollows):
    dry_run: bool
    forgotten: Count
    """Those that were forgotten here before. They stay forgotten."""
    failed: Count
    remaining: Count
    """Those beyond the limit of this run."""
    items_omitted: Count
    receipt: str | None
    """The id of the receipt, with which the run can be undone. Null in a dry run."""
    redactions: Redactions | None
    """Secrets that were replaced, or would be. Null where the setting is off."""
    warnings: list[str]


class Migration(_TakenOver):
    """What a migration did, or in a dry run would do.

    ``migrated``, ``already_migrated``, ``forgotten``, ``failed`` and ``remaining`` add up to ``found``.
    """

    found: Count
    """Texts of earlier versions, without those that were skipped."""
    migrated: Count
    already_migrated: Count
    skipped: Count
    """Other texts in cognee's store."""
    items: Annotated[list[MigratedItem], Field(max_length=200)]
    """Failed ones first. The receipt has all of them."""


class KeptMemory(TypedDict):
    """A memory that was kept when a migration was undone."""

    memory_id: str
    reason: str


class Undone(GraphFollows):
    receipt: str
    undone: Count
    """Memories removed, not counting their hidden originals."""
    kept: Annotated[list[KeptMemory], Field(max_length=200)]
    """Memories that were changed since."""


class UndoneMigration(Undone):
    """The result of undoing a migration. Undoing it again gives the same result."""


MigrateResult = TypeAliasType(
    "MigrateResult",
    Annotated[
        Migration | UndoneMigration,
        Field(description="The migration, or its dry run; or the migration that was undone."),
    ],
)


class CapturedMemory(TypedDict):
    """A memory of a part of a session; in a dry run, the memory that it would be."""

    memory_id: str
    memory_number: Number | None
    """Null in a dry run, unless the memory is stored already."""
    topic: str
    topic_id: str
    created_at: Moment | None
    """The time of the part's last turn."""
    decisions: Count
    importance: Share | None
    confidence: Share
    """How sure the choice of its sentences is."""
    method: Literal["rules", "model"]
    is_new: bool
    """Whether this capture added it. A resumed session repeats what an earlier one said."""
    first_place: str
    last_place: str
    """Where its part begins and ends in the transcript."""
    supersedes: list[str]
    """The ids of the session's memories that this capture replaced; named once, at the last memory."""
    summary_text: str | None
    """In a dry run, the text that would be stored. Null otherwise, and beyond 60,000 characters of all texts."""


class CapturedSessionItem(TypedDict):
    """A session, and what became of it."""

    tool: str
    session_id: str
    title: str | None
    """The tool's own name of the session."""
    path: str
    modified_at: Moment | None
    outcome: Literal["captured", "unchanged", "withdrawn", "forgotten", "empty", "failed"]
    """``withdrawn``: its capture was undone. ``empty``: there was nothing to keep."""
    reason: str | None
    turns: Count
    """Turns that were read and belong to this workspace."""
    memories: list[CapturedMemory]
    left_out: dict[str, Count]
    """What was left out on purpose, such as tool output, by reason."""
    unknown: dict[str, Count]
    """Records of a kind that this version does not know, by kind. They were skipped."""
    damaged: Count
    """Records that cannot be read."""
    unfinished: bool
    """Whether the last record was only half written. It is read the next time."""
    newer: str | None
    """The transcript's format version, if it is newer than those known."""


class Captured(_TakenOver):
    """What a capture did, or in a dry run would do.

    ``captured``, ``unchanged``, ``withdrawn``, ``forgotten``, ``empty`` and ``failed`` add up to ``sessions``.
    """

    sessions: Count
    captured: Count
    unchanged: Count
    withdrawn: Count
    empty: Count
    memories: Count
    """Memories added."""
    superseded: Count
    """Memories of sessions that grew, which new ones replaced."""
    bytes_read: Count
    model_calls: Count
    """Calls of the language model; in a dry run, those that a capture would make."""
    model_tokens: Count
    """Their tokens, questions and answers, as reported; in a dry run, an estimate."""
    model_cost_usd: NotRequired[Annotated[float, Field(ge=0)] | None]
    """Their cost, as reported; null where it is not known, and in a dry run."""
    items: Annotated[list[CapturedSessionItem], Field(max_length=200)]
    """The sessions that were read come first."""


class UndoneCapture(Undone):
    """The result of undoing a capture. Undoing it again gives the same result."""

    revived: list[str]
    """Memories that the capture had superseded: they are Active again."""


CaptureResult = TypeAliasType(
    "CaptureResult",
    Annotated[
        Captured | UndoneCapture,
        Field(description="The capture, or its dry run; or the capture that was undone."),
    ],
)


class CheckResult(TypedDict):
    """The findings of a full read of every store. Nothing was changed."""

    ok: bool
    """Whether there is no error among the findings."""
    findings: list[FoundTrouble]
    memories: Count
    seconds: Seconds


class NoopResult(TypedDict):
    """An empty result."""


# By kind: the class that is named after it.
RESULTS: dict[Kind, Shape] = {kind.name: globals()[f"{kind.title}Result"] for kind in KINDS}
