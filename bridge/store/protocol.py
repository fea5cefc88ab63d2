"""What operations and the graph need of a store of memories: the interface that any store has to meet.

``Memories`` reads, ``Store.change`` writes, ``Outbox`` follows what the graph still has to be told. What a local search
index follows of a store is the readers' side, and not in here.

``tests/conformance`` tests every promise made here; ``memory_store.MemoryStore`` is the store for memory.db. A store on
a server commits a change in one transaction: the job that is applied, then the numbers, the memories, the outbox.
Texts are embedded before it, so its lock is held briefly. Times are ISO 8601 text in UTC. Any method may raise
STORE_BUSY, STORE_UNREADABLE or DISK_FULL, as a JobError or as the error that ``database.failing_clearly`` translates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol

from ..embedding.embedder import Vectors
from ..memory import Memory, Status
from ..slices import Progress, ignore_progress
from .applied_jobs import AppliedJob
from .change import Change
from .compaction_history import Compaction
from .extractions import Extraction
from .forgettings import Begun, Plan
from .llm_usage import Call, Spent
from .memories import Known
from .outbox import OutboxEntry

# --- reading ---


class Compactions(Protocol):
    """The history of what was merged into what, and what was taken back."""

    def latest(self, record_id: str) -> Compaction | None:
        """The last compaction that gave this record."""

    def compaction_of_preview(self, preview_digest: str) -> Compaction | None:
        """The compaction that applied a preview and was not taken back."""

    def of_job(self, effect: AppliedJob, accepted_at: str) -> Compaction | None:
        """What a job has done in an earlier attempt, since it was accepted."""

    def restored_by(self, job_id: str, record_id: str, accepted_at: str) -> Compaction | None:
        """What a job has taken back in an earlier attempt."""

    def has(self, record_id: str, applied_at: str) -> bool:
        """Whether a compaction that gave this record at that time is recorded."""

    def merged_into(self, memory_id: str) -> list[tuple[str, int]]:
        """Id and number of the visible records that a memory was merged into, by number."""

    def merged_by_others(self, record_id: str) -> set[str]:
        """The memories that were merged into records in force other than this one."""

    def records(self, topic_id: str | None = None) -> list[str]:
        """The ids of the visible decision records, of one topic or of all, the newest first."""


class Extractions(Protocol):
    """What cognee found in texts by a language model."""

    def of(self, memory_ids: Sequence[str]) -> dict[str, Extraction]:
        """What was found in those of the memories that were looked into."""

    def stored(self, memory_id: str) -> list[Any]:
        """What is kept of a memory's text, as JSON values: nothing, or one."""

    def known(self, memory_ids: Sequence[str]) -> set[str]:
        """Those of the memories that were looked into."""

    def by_job(self, job_id: str) -> list[str]:
        """The memories into which the job looked, by number."""

    def unread(self) -> list[str]:
        """The visible raw memories that were not looked into yet, by number."""

    def alone(self, found: Extraction, memory_ids: Sequence[str]) -> Extraction:
        """What of an extraction no other visible memory than these has."""

    def memories_with(self, node_ids: Sequence[str]) -> dict[str, list[str]]:
        """The visible memories in whose texts nodes were found, by node."""

    def data_ids(self) -> list[str]:
        """The ids of all texts among cognee's documents, those of memories that are gone as well."""


class Forgettings(Protocol):
    """Which forgettings have begun, and what they still have to remove."""

    def begun(self, job: AppliedJob, accepted_at: str) -> Begun | None:
        """What this very job has begun in an earlier attempt."""

    def unfinished(self) -> list[Plan]:
        """The forgettings that have begun and not ended."""


class Memories(Protocol):
    """Reads memories. A hidden one (converted, or withdrawn) is not found, unless a method says so."""

    @property
    def workspace_id(self) -> str:
        """A UUID that stays the same: ids of memories are made of it."""

    @property
    def compactions(self) -> Compactions: ...

    @property
    def extractions(self) -> Extractions: ...

    @property
    def forgettings(self) -> Forgettings: ...

    def is_applied(self, job: AppliedJob) -> bool:
        """Whether the job's effect is committed."""

    # --- hidden ones as well ---

    def known(self, memory_id: str) -> Known | None: ...

    def is_hidden(self, memory_id: str) -> bool: ...

    def forgotten_at(self, memory_id: str) -> str | None:
        """When the id was forgotten last; it may be there again by a later job."""

    def was_forgotten_since(self, memory_id: str, accepted_at: str) -> bool:
        """Whether the memory was forgotten at or after the time at which a job was accepted."""

    def get(self, memory_id: str) -> Memory | None: ...

    def select(self, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """Those of the memories that are there, by id."""

    def unknown(self, memory_ids: Sequence[str]) -> list[str]:
        """Those of the ids that no memory has, and none had that was forgotten."""

    def all_ids(self) -> list[str]: ...

    def ids_about(self, topic_id: str | None) -> list[str]:
        """The ids of a topic's memories, by number."""

    def conversions_of(self, memory_id: str) -> list[str]:
        """The ids of the memories that an original was converted into."""

    def records(self) -> list[tuple[Memory, bool]]:
        """All decision records by number, each with whether it is hidden."""

    def words_without(self, memory_ids: Collection[str]) -> Iterator[str]:
        """The words of all memories but these, each as JSON text."""

    # --- what is found ---

    def count(self) -> int: ...

    def ids(self) -> list[str]:
        """By number."""

    def after(self, number: int, limit: int) -> list[Memory]:
        """Memories with a higher number, in order, at most ``limit``."""

    def newest(self, limit: int) -> list[str]:
        """The ids of the memories with the highest numbers, the highest first."""

    def about(self, topic_id: str) -> list[Memory]:
        """A topic's memories by number."""

    def newest_about(self, topic_id: str) -> Memory | None: ...

    def topic_ids(self) -> list[str]:
        """In alphabetical order."""

    def same_as(self, memory: Memory) -> str | None:
        """The id of a memory that has the same kind, topic and words."""

    def superseded(self, memory_ids: Sequence[str]) -> list[tuple[str, str]]:
        """Pairs of a record and one of its sources, either of which is among the memories."""

    def brought_by(self, job_id: str, since: str) -> list[str]:
        """The ids of the memories that a job has brought since then, by number."""

    # --- numbers ---

    def is_free(self, number: int) -> bool:
        """Whether no memory ever had the number, so that a new one can have it."""

    def last_number(self) -> int:
        """The highest number that was ever given; 0 before the first."""


# --- what follows a change ---


class Outbox(Protocol):
    """What the knowledge graph has not been told yet, and how the graph was left."""

    def pending(
        self, limit: int, memory_ids: Sequence[str] | None = None, *, untried: bool = False
    ) -> list[OutboxEntry]:
        """Entries, oldest first: of the given memories, or those that were never refused yet."""

    def count(self, *, untried: bool = False) -> int: ...

    def untold(self) -> set[str]:
        """The memories that the graph need not have yet."""

    def paid(self, entries: Sequence[OutboxEntry]) -> None:
        """The graph has these on the medium: remove them."""

    def not_paid(self, entry: OutboxEntry, error: str) -> None:
        """The graph has refused this one."""

    def enqueue_all(self, now: str) -> int:
        """The graph is to be written from scratch. Returns of how many memories."""

    def enqueue_missing(self, memory_ids: Sequence[str], now: str) -> None:
        """What the graph was found to have lost is to be written once more."""

    def graph_model(self) -> str | None: ...

    def stores_are_ours(self) -> bool: ...

    def graph_was_closed(self) -> bool: ...

    def lacked(self) -> str | None: ...

    def note_opening(self) -> int:
        """An opening of the graph begins. Returns how many before it, in a row, have ended their process."""

    def note_survived(self) -> None:
        """An opening has not ended its process. Raises nothing."""

    def note_opened(self, model: str) -> None: ...

    def note_closed(self) -> None: ...


class LlmUsage(Protocol):
    """What was asked of the language model, by job and by UTC day."""

    def of_day(self, day: str) -> Spent: ...

    def of_job(self, job_id: str) -> Spent: ...

    def begin(self, job_id: str, estimate: int, now: datetime, require: Callable[[Spent, Spent], None]) -> Call:
        """Record a call that is about to be sent, unless ``require``, given what job and day have spent, raises."""

    def end(self, call: Call, prompt_tokens: int, completion_tokens: int, cost_usd: float | None = None) -> None:
        """Replace the estimate by what the provider reports."""

    def take_back(self, call: Call) -> None:
        """The call was not served: it counts for nothing."""


# --- the whole ---


class Store(Memories, Protocol):
    """A store of memories with its one writer. A second one cannot be opened beside it: STORE_BUSY."""

    @property
    def outbox(self) -> Outbox: ...

    @property
    def llm_usage(self) -> LlmUsage: ...

    # --- writing ---

    def change(self, now: str, applied: Sequence[AppliedJob] = ()) -> AbstractContextManager[Change]:
        """Gather a change, and commit it on leaving the block: all of it, with the jobs that are applied by it, or
        nothing. An exception in the block discards it. What the block reads does not see the change yet.

        An added memory that wants a number gets it unless a memory ever had it; else, or where it wants 0, the next.
        No number is given twice. Every memory that is added, hidden, dropped or has another status has an entry in the
        outbox.
        """

    def add(
        self, memories: Sequence[tuple[Memory, str | None]], now: str, applied: Sequence[AppliedJob] = ()
    ) -> list[Memory]:
        """Add new memories, with the job that brought each, as one change; returns them with their numbers."""

    def set_status(
        self, memory_id: str, status: Status, asked_at: str, now: str, applied: AppliedJob | None = None
    ) -> Memory:
        """Change a summary's status, unless a later change was asked for. Returns the memory as it is then.

        Raises MEMORY_NOT_FOUND, MEMORY_FORGOTTEN, ARGUMENT_INVALID.
        """

    # --- what is derived ---

    @property
    def model_changed(self) -> bool:
        """Whether the vectors are of another model than the embedder's: then only ``rebuild_vectors`` may write."""

    @property
    def is_rebuilding(self) -> bool: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, each embedded once. Shape (n, dimensions)."""

    def rebuild_vectors(self, progress: Progress = ignore_progress) -> int:
        """Make the vectors again, and switch to them. Returns how many. Raises STORE_BUSY while one is under way."""

    def rebuild_words(self, progress: Progress = ignore_progress) -> int:
        """Make the full-text index again, and switch to it. Returns how many memories it holds."""

    # --- upkeep ---

    def scrub(self, progress: Progress = ignore_progress) -> None:
        """Rewrite whatever may still hold bytes of what was deleted. Raises STORE_BUSY."""

    def checkpoint(self) -> None: ...

    def maintain(self, now: datetime) -> None:
        """Drop records of jobs that no job can ask for any more, and give back space."""

    def close(self) -> None: ...
