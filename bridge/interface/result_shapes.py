"""The type of the result of each kind of job: mypy checks what builds them, the JSON Schemas are made of them.

Import it under TYPE_CHECKING, as ``answer_shapes``.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypeAliasType, TypedDict

from jobs.kinds import KINDS, Kind
from jobs.schema import Count, Digest, FoundTrouble, Moment, Number, Redactions, Seconds, Share

from ..memory import MemoryKind, Status
from ..store.values import KeptBecause
from .json_schema import Shape


class IngestTimings(TypedDict):
    """Where the time went, in milliseconds, for all the jobs that ran together."""

    store: Count
    graph: Count
    jobs_together: Number


class SetStatusResult(TypedDict):
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
    redactions: Redactions | None
    """Secrets that were replaced before anything was stored. Null where the setting is off."""
    ingested_chars: Count
    timings_ms: IngestTimings


class RebuildResult(TypedDict):
    """What was made anew. Counts of what was not asked for are absent."""

    what: Literal["index", "graph", "both"]
    passages: NotRequired[Count]
    memories: NotRequired[Count]
    graph_memories: NotRequired[Count]
    seconds: Seconds


class CompactedMemory(TypedDict):
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


class RecordTimeScope(TypedDict):
    """From the first beginning to the last end of what was merged."""

    text: str
    start: Moment | None
    end: Moment | None
    turn_count: Count | None


class PreviewedRecord(TypedDict):
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
    narrative_source: Literal["template", "llm"]
    """Who wrote the narrative: a template, or the language model."""


class ConflictSide(TypedDict):
    """One of two decisions that conflict."""

    memory_id: str
    memory_number: Number
    text: str
    date: Moment
    """The memory's ``source_created_at``, else its ``created_at``."""


class CompactionConflict(TypedDict):
    """Two decisions of different memories that cannot both hold."""

    kind: Literal["negation", "choice", "value", "toggle", "reversal"]
    """``negation``: one denies the other. ``choice``, ``value``: another choice or amount for the same subject.
    ``toggle``: the opposite, such as enabled and disabled. ``reversal``: the later one takes the earlier one back."""
    confidence: Share
    """How sure it is."""
    judged_by: NotRequired[Literal["rules", "llm"]]
    """Who says so: the rules of wording, or the language model."""
    earlier: ConflictSide
    later: ConflictSide


class CompactionPreview(TypedDict):
    """What a compaction of the topic would give; nothing was changed."""

    summaries: Annotated[list[CompactedMemory], Field(min_length=2)]
    """What would be merged and superseded, the oldest first."""
    decision_record: PreviewedRecord
    conflicts: list[CompactionConflict]
    warnings: list[str]
    """What else to look at before it is applied."""
    preview_digest: Digest
    """Of what would be applied: the same topic gives the same one until a memory of it changes."""


class AppliedCompaction(TypedDict):
    """The decision record that a topic's memories were merged into."""

    decision_record_id: str
    memory_number: Number
    topic_id: str
    superseded: Annotated[list[str], Field(min_length=2)]
    """The ids of the memories that it merged, the oldest first."""
    conflicts: list[CompactionConflict]
    narrative_source: Literal["template", "llm"]
    warnings: list[str]
    preview_digest: Digest
    """Of the preview that was applied."""
    applied_at: Moment


CompactResult = TypeAliasType(
    "CompactResult",
    Annotated[
        CompactionPreview | AppliedCompaction,
        Field(description="The preview, where the job asked for one; else what was done."),
    ],
)


class SkippedSource(TypedDict):
    """A memory that was left as it is."""

    memory_id: str
    reason: KeptBecause
    """``forgotten``: it is gone. ``status_changed``: somebody has set its status since. ``merged``: another record in
    force has merged it as well."""


class RestoreResult(TypedDict):
    """What was taken back. A record that was withdrawn before gives the same again."""

    decision_record_id: str
    memory_number: Number | None
    """Null where the record was forgotten since."""
    topic_id: str
    restored: list[str]
    """The ids of the memories that are again what they were before."""
    skipped: list[SkippedSource]
    restored_at: Moment


class RebuiltRecord(TypedDict):
    """A decision record that had merged what was forgotten, and the one that was made of what remains."""

    old: str
    new: str


class ForgetResult(TypedDict):
    """What was forgotten. Memories that were forgotten before are among it."""

    forgotten: list[str]
    """What was asked for, with the originals of what had been converted, and what was converted from them."""
    records_rebuilt: list[RebuiltRecord]
    records_removed: list[str]
    """Decision records of which fewer than two memories remained."""
    revived: list[str]
    """Memories that were superseded by a record that is gone, and have their former status again."""
    jobs_scrubbed: Count
    """Ended jobs whose records and copies have lost their texts."""
    jobs_ended: Count
    """Waiting jobs that would have brought a memory back: they failed with MEMORY_FORGOTTEN."""
    files_removed: Count
    """Rejected files, previews, imported files, backups and set-aside stores."""
    warnings: list[str]


class ImportDetail(TypedDict):
    """Something about a memory of the file that a person may want to look at."""

    line: Number
    memory_id: str
    """As the file has it."""
    what: Literal["renumbered", "kept", "duplicate", "conflict", "forgotten", "failed"]
    here: str | None
    """The id that stands here for it."""
    note: str


class ImportResult(TypedDict):
    """What became of the memories of a file. The first six counts after ``memories`` add up to it."""

    memories: Count
    added: Count
    unchanged: Count
    """Those that were here under the same id with the same words."""
    duplicates: Count
    """Those whose words were here under another id, which stands for them."""
    conflicts: Count
    """Those whose id has other words here. These were kept."""
    forgotten: Count
    """Those that were forgotten here after the import was asked for."""
    failed: Count
    """Those that the embedding provider refuses."""
    renumbered: Count
    """Of those added: their number was taken."""
    kept: Count
    """Of those that were here: the file has another status, or other dates or labels. Ours were kept."""
    compactions: Count
    """Entries added to the history of compactions."""
    findings: Count
    """What cognee found in texts, added."""
    details: Annotated[list[ImportDetail], Field(max_length=100)]
    redactions: Redactions | None
    """Secrets that were replaced in the memories that were added. Null where the setting is off."""
    warnings: list[str]
    seconds: Seconds


class LookedInto(TypedDict):
    """A memory whose text cognee has looked into."""

    memory_id: str
    memory_number: Number
    source: str | None
    """The path of the file that it came from, as the job had it."""
    nodes: Count
    edges: Count
    before: bool
    """Whether another job had looked into it."""


class NotLookedInto(TypedDict):
    """A text that was left out."""

    memory_id: str | None
    """Null for a file that could not be read."""
    source: str | None
    code: str
    message: str


class CognifyResult(TypedDict):
    """What cognee found in texts. Each is a memory, whether or not anything was found in it."""

    memories: Annotated[list[LookedInto], Field(max_length=1000)]
    looked_into: Count
    """How many texts this job looked into, in all its attempts."""
    before: Count
    """How many another job had looked into."""
    nodes: Count
    """Found in the texts of ``looked_into``; what several of them name counts for each."""
    edges: Count
    calls: Count
    """Of the language model, in all attempts."""
    tokens: Count
    cost_usd: NotRequired[Annotated[float, Field(ge=0)] | None]
    """Of those calls whose price LiteLLM's list knows, in US dollars; null where it knows none."""
    failures: list[NotLookedInto]
    redactions: Redactions | None
    """Secrets that were replaced in texts and files before they were kept. Null where the setting is off."""


class RestsOn(TypedDict):
    """A memory that an answer rests on."""

    memory_id: str
    memory_number: Number
    memory_type: MemoryKind
    title: str
    """The topic, or a legacy text's first line."""
    status: Status | None


class AskResult(TypedDict):
    """The answer to a question, out of the knowledge graph."""

    question: str
    answer: str | None
    """In prose; null without a language model, and where nothing was found."""
    llm: bool
    """Whether a language model wrote the answer."""
    context: str
    """What of the graph fits the question: nodes and their connections, as cognee puts it."""
    memories: list[RestsOn]
    """The most telling first."""
    warnings: list[str]


class GraphResult(TypedDict):
    """The picture of the knowledge graph: where it lies, and what it shows."""

    path: str
    nodes: Count
    edges: Count
    memories: Count
    """The newest ones, at most 200, with all that they lead to."""
    memories_left_out: Count


class MigrationSource(TypedDict):
    """Where a text lies that an earlier version gave to cognee."""

    store: str
    """cognee's SQLite file, below the workspace. Empty where no store names the text."""
    data_id: str
    """cognee's id of the text."""
    file: str
    """The name of its file in `.cognee_data`."""


class MigratedItem(TypedDict):
    """A text, and what it became; in a dry run, what it would become. What is not known is null."""

    outcome: Literal["migrated", "already_migrated", "forgotten", "failed", "skipped"]
    """``skipped``: it is no memory of an earlier version, and is left alone."""
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


class Migration(TypedDict):
    """What a migration did, or in a dry run would do.

    ``migrated``, ``already_migrated``, ``forgotten``, ``failed`` and ``remaining`` add up to ``found``.
    """

    dry_run: bool
    found: Count
    """Texts of earlier versions, without those that were skipped."""
    migrated: Count
    already_migrated: Count
    forgotten: Count
    """Those that were forgotten here. They stay so."""
    failed: Count
    skipped: Count
    """Other texts that cognee holds."""
    remaining: Count
    """Those beyond the limit."""
    items: Annotated[list[MigratedItem], Field(max_length=200)]
    """What failed comes first. The receipt has all."""
    items_omitted: Count
    receipt: str | None
    """Its id, to take the migration back. Null in a dry run."""
    redactions: Redactions | None
    """Secrets that were replaced, or would be, in what was migrated. Null where the setting is off."""
    warnings: list[str]


class KeptMemory(TypedDict):
    """A memory that was left when a migration was taken back."""

    memory_id: str
    reason: str


class UndoneMigration(TypedDict):
    """What was taken back of a migration. Again gives the same."""

    receipt: str
    undone: Count
    """Memories removed, not counting their hidden originals."""
    kept: Annotated[list[KeptMemory], Field(max_length=200)]
    """What has become more since than the migration made of it."""


MigrateResult = TypeAliasType(
    "MigrateResult",
    Annotated[
        Migration | UndoneMigration,
        Field(description="What was taken over, or would be; or what was taken back."),
    ],
)


class CheckResult(TypedDict):
    """What reading every store whole has found. Nothing was changed."""

    ok: bool
    """Whether there is no error among the findings."""
    findings: list[FoundTrouble]
    memories: Count
    seconds: Seconds


class NoopResult(TypedDict):
    """Nothing."""


# By kind: the class that is named after it.
RESULTS: dict[Kind, Shape] = {kind.name: globals()[f"{kind.title}Result"] for kind in KINDS}
