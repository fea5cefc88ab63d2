"""The interface of a store of memories, as operations and the graph use it; every store must implement it.

``Memories`` reads, ``Store.change`` writes, ``Outbox`` has the pending deliveries to the graph. The readers' side,
which a local search index follows, is in ``protocol_reading``.

``tests/conformance`` tests every promise made here; ``sqlite_store.SqliteStore`` is the store for memory.db. A store on
a server commits a change in one transaction, in the order of the fields of ``Change``. Texts are embedded before it, so
it holds its lock only briefly. Times are ISO 8601 text in UTC. Any method may raise STORE_BUSY,
STORE_UNREADABLE or DISK_FULL, as a JobError or as the error that ``opening.failing_clearly`` translates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol

from ..embedding.embedder import Embedder, Vectors
from ..memory import Memory, Status
from ..slices import Progress, ignore_progress
from .change import Change
from .protocol_reading import Replacement
from .values import (
    AppliedJob,
    Arrivals,
    Begun,
    Call,
    CapturedSession,
    CaptureSource,
    Compaction,
    Extraction,
    Feedback,
    GraphLag,
    Known,
    KnownPair,
    OutboxEntry,
    PairVerdict,
    Plan,
    Spent,
)

Prepare = Callable[[Arrivals], Change | None]

# --- reading ---


class Compactions(Protocol):
    """The history of compactions and restores."""

    def latest(self, record_id: str) -> Compaction | None:
        """The last compaction that made this record."""

    def compaction_of_preview(self, preview_digest: str) -> Compaction | None:
        """The compaction that applied a preview and was not undone."""

    def of_job(self, effect: AppliedJob, accepted_at: str) -> Compaction | None:
        """The compaction that an earlier attempt of the job made, since the job was accepted."""

    def restored_by(self, job_id: str, record_id: str, accepted_at: str) -> Compaction | None:
        """The compaction that an earlier attempt of the job undid."""

    def has(self, record_id: str, applied_at: str) -> bool:
        """Whether the compaction that made this record at that time is recorded."""

    def merged_into(self, memory_id: str) -> list[tuple[str, int]]:
        """Ids and numbers of the visible records that merged this memory, by number."""

    def merged_by_others(self, record_id: str) -> set[str]:
        """The ids of the memories that other records in force have merged."""

    def records(self, topic_id: str | None = None) -> list[str]:
        """The ids of the visible decision records, of one topic or of all, the newest first."""


class Extractions(Protocol):
    """What cognee extracted from texts by a language model."""

    def of(self, memory_ids: Sequence[str]) -> dict[str, Extraction]:
        """Memory id -> extraction, for those of the memories that have one."""

    def stored(self, memory_id: str) -> list[Any]:
        """The stored JSON values of a memory's extraction: none, or one."""

    def known(self, memory_ids: Sequence[str]) -> set[str]:
        """The ids of those of the memories that have an extraction."""

    def by_job(self, job_id: str) -> list[str]:
        """The ids of the memories from which the job extracted, by number."""

    def unread(self) -> list[str]:
        """The ids of the visible raw memories without an extraction, by number."""

    def alone(self, found: Extraction, memory_ids: Sequence[str]) -> Extraction:
        """The nodes and edges that no visible memory other than these has."""

    def memories_with(self, node_ids: Sequence[str]) -> dict[str, list[str]]:
        """Node id -> ids of the visible memories whose texts it was extracted from."""

    def data_ids(self) -> list[str]:
        """The ids of all texts among cognee's documents, those of deleted memories included."""


class Forgettings(Protocol):
    """The forgettings that have begun, and what they still have to remove."""

    def begun(self, job: AppliedJob, accepted_at: str) -> Begun | None:
        """The forgetting that an earlier attempt of this job began."""

    def unfinished(self) -> list[Plan]:
        """The plans of the forgettings that are not done."""


class Captures(Protocol):
    """What was captured from the sessions of other tools."""

    def session(self, tool: str, session_id: str) -> CapturedSession | None:
        """What was captured from a session; None if nothing was yet."""

    def sessions(self) -> list[CapturedSession]:
        """All sessions, the last captured first."""

    def source(self, memory_id: str) -> CaptureSource | None:
        """Where a captured memory comes from; None for any other memory."""

    def turns(self, tool: str) -> dict[str, str]:
        """Digest -> session id, of the turns of all captured sessions of the tool, forgotten ones included."""

    def memories_of(self, tool: str, session_id: str) -> list[str]:
        """The ids of all memories that were captured from a session and still exist, superseded ones included."""

    def notes_of(self, tool: str, session_id: str) -> list[str]:
        """The ids of the memories that somebody stored during a session, by number; superseded ones are left out."""


class Memories(Protocol):
    """Reads memories. Hidden ones (originals, and withdrawn records) are left out, unless a method says otherwise."""

    @property
    def workspace_id(self) -> str:
        """A UUID that never changes; ids of memories derive from it."""

    @property
    def compactions(self) -> Compactions:
        """The history of compactions."""

    @property
    def extractions(self) -> Extractions:
        """The extractions."""

    @property
    def forgettings(self) -> Forgettings:
        """The forgettings."""

    @property
    def captures(self) -> Captures:
        """What was captured from sessions."""

    def is_applied(self, job: AppliedJob) -> bool:
        """Whether the job's effect is committed."""

    # --- hidden ones included ---

    def known(self, memory_id: str) -> Known | None:
        """What the store records of the memory besides its text; None if it does not exist."""

    def is_hidden(self, memory_id: str) -> bool:
        """Whether the memory exists and is hidden."""

    def forgotten_at(self, memory_id: str) -> str | None:
        """When the id was last forgotten; None if never. A later job may have stored it again."""

    def forgotten_with(self, job: AppliedJob) -> list[str]:
        """The ids of the memories that were forgotten when the job was applied."""

    def was_forgotten_since(self, memory_id: str, accepted_at: str) -> bool:
        """Whether the memory was forgotten at or after the time at which a job was accepted."""

    def get(self, memory_id: str) -> Memory | None:
        """The memory of this id, or None."""

    def select(self, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """Id -> memory, for those of the ids that exist."""

    def unknown(self, memory_ids: Sequence[str]) -> list[str]:
        """Those of the ids that were never in the store: neither a memory nor a tombstone has them."""

    def all_ids(self) -> list[str]:
        """The ids of all memories, in no order."""

    def ids_about(self, topic_id: str | None) -> list[str]:
        """The ids of a topic's memories, by number."""

    def conversions_of(self, memory_id: str) -> list[str]:
        """The ids of the memories that an original was converted to."""

    def feedback(self, memory_id: str, *, withdrawn: bool = False) -> list[Feedback]:
        """The feedback on a memory, the latest first; with ``withdrawn``, also what was withdrawn."""

    def all_feedback(self) -> Iterator[Feedback]:
        """All feedback, also what was withdrawn."""

    def all_verdicts(self) -> Iterator[PairVerdict]:
        """What was said of pairs of statements."""

    def known_pairs(self, memory_ids: Sequence[str]) -> list[KnownPair]:
        """What was found of the statements of these memories, then what was said; of a pair the last one counts."""

    def records(self) -> list[tuple[Memory, bool]]:
        """All decision records by number, each with whether it is hidden."""

    def words_without(self, memory_ids: Collection[str]) -> Iterator[str]:
        """The texts of all memories except these, each as JSON text."""

    # --- visible memories ---

    def count(self) -> int:
        """How many memories there are."""

    def ids(self) -> list[str]:
        """The ids of all memories, by number."""

    def after(self, number: int, limit: int) -> list[Memory]:
        """Memories with a higher number, in order, at most ``limit``."""

    def newest(self, limit: int) -> list[str]:
        """The ids of the memories with the highest numbers, the highest first."""

    def about(self, topic_id: str) -> list[Memory]:
        """A topic's memories by number."""

    def newest_about(self, topic_id: str) -> Memory | None:
        """The topic's memory with the highest number, or None."""

    def topic_ids(self) -> list[str]:
        """The ids of all topics, in alphabetical order."""

    def same_as(self, memory: Memory) -> str | None:
        """The id of a memory with the same kind, topic and text, or None."""

    def superseded(self, memory_ids: Sequence[str]) -> list[tuple[str, str]]:
        """Pairs of a record and one of its sources, where one of the two is among the memories."""

    def brought_by(self, job_id: str, since: str) -> list[str]:
        """The ids of the memories that a job stored since then, by number."""

    # --- numbers ---

    def is_free(self, number: int) -> bool:
        """Whether no memory ever had the number, so that a new one can get it."""

    def last_number(self) -> int:
        """The highest number ever used; 0 before the first."""


# --- the outbox and the language model ---


class Outbox(Protocol):
    """The pending deliveries to the knowledge graph, and the state in which the graph was left."""

    def pending(
        self, limit: int, memory_ids: Sequence[str] | None = None, *, untried: bool = False
    ) -> list[OutboxEntry]:
        """At most ``limit`` entries, oldest first: of these memories if given, and only never rejected ones if
        ``untried``.
        """

    def count(self, *, untried: bool = False) -> int:
        """How many entries there are, or how many were never rejected (``untried``)."""

    def lag(self) -> GraphLag:
        """What the graph lacks."""

    def undelivered_ids(self) -> set[str]:
        """The ids of memories that the graph may lack, since a write is pending."""

    def delivered(self, entries: Sequence[OutboxEntry]) -> None:
        """Delete entries that the graph has stored durably."""

    def rejected(self, entry: OutboxEntry, error: str) -> None:
        """Record that the graph rejected an entry."""

    def enqueue_all(self, now: str) -> int:
        """Enqueue every visible memory for a new graph that is open. Returns how many."""

    def forget_graph(self) -> None:
        """Record that there is no graph any more. Until there is one, nothing is enqueued."""

    def note_failure(self, code: str) -> None:
        """Record that the graph was not brought up to date, until it is opened or something is delivered again."""

    def enqueue_missing(self, memory_ids: Sequence[str], now: str) -> None:
        """Enqueue the memories that the graph was found to lack."""

    def graph_model(self) -> str | None:
        """The identity of the graph's embedding model; None if there never was a graph."""

    def stores_are_ours(self) -> bool:
        """Whether cognee's stores were made for this store of memories."""

    def graph_was_closed(self) -> bool:
        """Whether the graph was closed cleanly."""

    def missing_memory(self) -> str | None:
        """The id of a memory that the graph lacked at the last comparison; None or "" if it lacked none."""

    def note_opening(self) -> int:
        """Record that an opening of the graph begins. Returns how many before it, in a row, ended their process."""

    def note_survived(self) -> None:
        """Record that an opening did not end its process. Raises nothing."""

    def note_opened(self, model: str) -> None:
        """Record that the graph is in use, with its embedding model."""

    def note_closed(self) -> None:
        """Record that the graph was closed cleanly."""


class LlmUsage(Protocol):
    """The usage of the language model, by job and UTC day."""

    def of_day(self, day: str) -> Spent:
        """The usage of a UTC day such as ``2026-11-20``."""

    def of_job(self, job_id: str) -> Spent:
        """The usage of a job in the last 90 days; older days are deleted."""

    def begin(self, job_id: str, estimate: int, now: datetime, require: Callable[[Spent, Spent], None]) -> Call:
        """Record a call that is about to be sent, unless ``require`` raises; it receives the usage of job and day."""

    def end(self, call: Call, prompt_tokens: int, completion_tokens: int, cost_usd: float | None = None) -> None:
        """Replace the estimate by the provider's report."""

    def take_back(self, call: Call) -> None:
        """Delete a call that was not served."""


class Replacements(Protocol):
    """Which statements newer ones may replace: derived from the texts, each machine's own."""

    def use(self, judge: str) -> None:
        """Forget what another judge than this one found, so that all memories are compared again."""

    def uncompared(self, limit: int) -> list[int]:
        """The numbers of visible memories that were not compared yet, the lowest first, at most ``limit``."""

    def unsaid(self) -> list[Replacement]:
        """The pairs on which nobody was asked yet, the most probable first."""

    def statements(self) -> list[tuple[int, int, int, str | None, float]]:
        """Number, passage, row in the vector file, topic and date (seconds since 1970) of all visible statements."""

    def place(self, number: int) -> tuple[int, str | None, float]:
        """The first row in the vector file, the topic and the date of a memory."""

    def note(
        self, compared: Mapping[int, Mapping[int, str]], pairs: Sequence[tuple[int, int, int, int, float]]
    ) -> None:
        """Record that memories were compared, with the passages and digests of their statements, and what was found."""


# --- the store ---


class Store(Memories, Protocol):
    """A store of memories with its one writer. Opening a second one at the same time raises STORE_BUSY."""

    @property
    def outbox(self) -> Outbox:
        """The pending deliveries to the graph."""

    @property
    def llm_usage(self) -> LlmUsage:
        """The usage of the language model."""

    @property
    def replacements(self) -> Replacements:
        """Which statements newer ones may replace."""

    def passage_rows(self) -> Vectors:
        """The vectors of all passages, shape (rows, dimensions)."""

    def catch_up(self, prepare: Prepare = lambda arrivals: None) -> int:
        """In a team, apply what other machines changed. Returns the number of rows; 0 without a team.

        Before, ``prepare`` learns what that does to the memories here; its change, of what each machine has of its own,
        is committed together with theirs. If it raises, nothing is applied.

        Raises JobError: TEAM_UNREACHABLE, TEAM_REFUSED, TEAM_NEWER, TEAM_UNUSABLE, TEAM_NOT_SHARED.
        """

    def use_lease(self, number: int | None) -> None:
        """In a team, commit under the lease of this number from now on: a later lease refuses the change."""

    # --- writing ---

    def change(self, now: str, applied: Sequence[AppliedJob] = ()) -> AbstractContextManager[Change]:
        """Collect a change, and commit it on leaving the block: all of it, with its applied jobs, or nothing. An
        exception in the block discards it. Reads in the block do not see the change yet.

        An added memory with a number gets that number unless a memory ever had it; otherwise, or with the number 0, it
        gets the next one. No number is used twice. Every memory that is added, hidden, dropped or gets another status
        has an entry in the outbox.
        """

    def change_here(self, now: str) -> AbstractContextManager[Change]:
        """As ``change``, of what each machine of a team has of its own: begun forgettings, embeddings, deliveries."""

    def add(
        self, memories: Sequence[tuple[Memory, str | None]], now: str, applied: Sequence[AppliedJob] = ()
    ) -> list[Memory]:
        """Add new memories, each with the id of its job, as one change. Returns them with their numbers."""

    def set_status(
        self,
        memory_id: str,
        status: Status,
        asked_at: str,
        now: str,
        applied: AppliedJob | None = None,
        said: Feedback | None = None,
    ) -> Memory:
        """Set a summary's status, with feedback on it, unless a later change was requested. Returns the memory as it is
        then.

        Raises JobError: MEMORY_NOT_FOUND, MEMORY_FORGOTTEN, ARGUMENT_INVALID.
        """

    # --- derived data ---

    @property
    def model_changed(self) -> bool:
        """Whether the vectors are of another model than the embedder's; then only ``rebuild_vectors`` may write."""

    @property
    def is_rebuilding(self) -> bool:
        """Whether a rebuild is under way."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (n, dimensions). Each text is embedded once."""

    def rebuild_vectors(self, progress: Progress = ignore_progress, embedder: Embedder | None = None) -> int:
        """Rebuild the vectors, and switch to them in one transaction. Returns how many.

        Another ``embedder`` replaces the store's from the switch on; until then, what is added is embedded with the
        present one. Raises JobError: STORE_BUSY during another rebuild.
        """

    def rebuild_words(self, progress: Progress = ignore_progress) -> int:
        """Rebuild the full-text index, and switch to it. Returns how many memories it holds."""

    # --- upkeep ---

    def is_in_place(self) -> bool:
        """Whether what this store has open is still the workspace's store. False after its files were removed,
        replaced or moved: then what is written here is lost. Cheap. Raises nothing.
        """

    def scrub(self, progress: Progress = ignore_progress) -> None:
        """Rewrite everything that may still hold bytes of deleted rows. Raises JobError: STORE_BUSY."""

    def checkpoint(self) -> None:
        """Copy the log into the database, as far as readers allow."""

    def maintain(self, now: datetime) -> None:
        """Delete records that no job needs any more, and free space."""

    def close(self) -> None:
        """Close the store, so that another process can open it."""
