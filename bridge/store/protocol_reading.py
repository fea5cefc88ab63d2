"""The interface of a store's readers, which every store must implement, and the values that they return.

The values are named tuples: every cold query loads this module, and a dataclass takes five times as long to create.

``tests/conformance/reading_conformance.py`` checks every promise made here; ``opening.reader_of`` chooses the store.
Any method may raise STORE_BUSY or STORE_UNREADABLE, as a JobError. Times are ISO 8601 text in UTC unless a unit is
named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NewType, Protocol

from ..memory import Memory, Status

if TYPE_CHECKING:
    from datetime import datetime

    from ..text.terms import Term
    from .values import Addition, AppliedJob, CapturedSession, CaptureSource, Compaction, Feedback, GraphLag, Sizes

# --- changes, for a local index ---

Position = NewType("Position", str)
"""Opaque text that identifies one state of the catalogue and the full-text index. Equal positions mean equal
catalogues, memories and words. It may be stored."""


class AddedAbove(NamedTuple):
    """Memories were added, all with numbers above this one, or the full-text index was made again; no other row of the
    catalogue and no memory changed."""

    number: int


Changes = AddedAbove | Literal["nothing", "everything"]
"""``nothing``: the catalogue is the same. ``everything``: any row may differ, so read the whole catalogue again."""

# --- one state of the store ---

WINDOW_STEP = 1 << 32
"""The full-text index holds memory n as a whole, as window n, or, if it is long, in windows n + WINDOW_STEP,
n + 2 * WINDOW_STEP and so on. ``window % WINDOW_STEP`` is the memory's number."""

STATUSES: tuple[Status | None, ...] = ("DecisionRecord", "Active", "Superseded", "Draft", None)
"""A status code of the catalogue is an index of this tuple."""

CatalogueRow = tuple[int, int, int, int, int, int, float | None]
"""number, passage_row, passage_count, whole_row (-1: not known), status code, is legacy (0 or 1), and when the age of
the memory begins, in seconds since 1970 (None: not known)."""


class Votes(NamedTuple):
    """How many said that a memory helped, and how many that it is wrong."""

    helpful: int
    wrong: int


class Said(NamedTuple):
    """Who settled a pair of statements, when, and why."""

    by: str
    at: str
    reason: str | None


class Replacement(NamedTuple):
    """A statement that a newer one may replace, each as a memory's number and the index of its passage. ``since``: the
    date of the newer memory, in seconds since 1970 (0: not known). Where somebody settled it (``said``), ``older`` is
    the one that fell, and the probability is 1, or 0 if both hold."""

    older: int
    older_passage: int
    newer: int
    newer_passage: int
    probability: float
    since: float
    said: Said | None = None


class FullTextDamaged(Exception):
    """The full-text index is damaged or missing; the memories are not."""


class VectorState(NamedTuple):
    """Which vector files belong to the state: their generation, their rows and the length of a row.

    ``embedder`` is the identity of the model; None until a writer has opened the store.
    """

    embedder: str | None
    generation: int
    dimensions: int
    passage_rows: int
    whole_rows: int


class StoreSnapshot(Protocol):
    """One state of the store, unaffected by later commits. It must not be shared among threads."""

    @property
    def position(self) -> Position:
        """The position of this state."""

    @property
    def vectors(self) -> VectorState:
        """The vector files of this state."""

    def changes_since(self, position: Position) -> Changes:
        """What changed in the catalogue between that position and this snapshot.

        A position of another store, or of a later state than this one, gives ``everything``.
        """

    def catalogue(self, after: int = 0) -> Sequence[CatalogueRow]:
        """The memories with a number above ``after``, by rising passage row. Hidden ones are left out."""

    def votes(self, after: int = 0) -> Sequence[tuple[int, Votes]]:
        """Number and feedback of the memories that have any and a number above ``after``, by rising number. Hidden ones
        are left out. It is a part of the catalogue: a change of it is a change of that.
        """

    def replacements(self) -> list[Replacement]:
        """The statements that newer ones may replace, of memories that are not hidden. They are a part of the
        catalogue."""

    def statements_of_older(self) -> list[tuple[int, int]]:
        """Number and passage of each statement of the older memories of ``replacements``, in order."""

    def numbers(self, **labels: Any) -> list[int]:
        """The numbers of the memories with these labels, in no order; hidden ones may be included.

        Plan ids are compared as ``memory.plan_key`` returns them.
        """

    def topic_ids(self) -> list[str]:
        """The topics of the memories that are not hidden, each once."""

    def plan_ids(self) -> list[str]:
        """The plans of the memories that are not hidden, each once, as one of its memories writes it."""

    def memories(self, numbers: Sequence[int]) -> list[Memory]:
        """Memories by number, in no order, hidden ones included; unknown numbers are left out."""

    def count_having(self, term: Term) -> int:
        """How many memories have the term. Raises FullTextDamaged."""

    def more_windows(self) -> int:
        """How many more windows there are than memories; 0 without a long memory. Raises FullTextDamaged."""

    def bm25(
        self, terms: Sequence[Term], weights: tuple[float, float], of_long: float = 1.0
    ) -> list[tuple[int, float]]:
        """Window and BM25 (higher is better, k1 = 1.2, b = 0.75) of each window with a term, by rising window.

        The statistics are those of windows. ``weights``: how often a word of the topic and of the body counts.
        ``of_long``: how many times as often in a window of a long memory. Raises FullTextDamaged.
        """

    def having(self, terms: Sequence[Term], among: Sequence[int] | None = None) -> list[int]:
        """The numbers of the memories with any of the terms, limited to ``among`` if given. Raises FullTextDamaged."""

    def stems(self, first: str) -> list[tuple[str, int]]:
        """The stems of the memories' words that begin with this letter (a to z), in order, and how many windows have
        each. Raises FullTextDamaged."""

    def words_of(self, stem: str) -> set[str]:
        """The words with this stem, in lower case, as some windows spell them. Raises FullTextDamaged."""

    def close(self) -> None:
        """Release the state, so that the writer can free its space."""


# --- lists ---


class Entry(NamedTuple):
    """A memory, whether it is hidden, the id of its original, and the ids of its conversions, by number."""

    memory: Memory
    hidden: bool
    migrated_from: str | None
    migrated_to: tuple[str, ...]


class TopicRow(NamedTuple):
    """A topic's counts. ``memories`` counts all visible ones.

    ``characters`` (of JSON text) and the times cover only what a compaction would merge: active summaries and the
    record in force. A time is None if no such memory has one.
    """

    topic_id: str
    memories: int
    active: int
    decision_records: int
    drafts: int
    superseded: int
    characters: int
    oldest: str | None
    newest: str | None


class MemoryLists(Protocol):
    """Lists of one state of the store. Hidden memories are left out unless a method says otherwise."""

    def page(
        self,
        limit: int,
        *,
        before: int | None = None,
        **labels: Any,
    ) -> list[Memory]:
        """At most ``limit`` memories with these labels (or ``kind``) and numbers below ``before``, the highest number
        first."""

    def count(self, **labels: Any) -> int:
        """How many memories ``page`` could return without a limit."""

    def entry(self, wanted: str | int) -> Entry | None:
        """A memory by id (text) or by number, hidden ones included."""

    def feedback(self, memory_id: str) -> list[Feedback]:
        """The feedback on a memory, hidden or not, that was not withdrawn; the latest first."""

    def replacements(self) -> list[Replacement]:
        """As ``StoreSnapshot.replacements``."""

    def unsaid(self) -> list[Replacement]:
        """Of ``replacements``, the pairs on which nobody was asked yet, the most probable first."""

    def mentioning(self, letters: str) -> list[Memory]:
        """The visible memories with these letters, in small ones, in their text, by rising number."""

    def related(self, memory_ids: Sequence[str], topic_id: str | None) -> list[Memory]:
        """These memories and those of the topic, with their originals and conversions, hidden ones included.

        By rising number. Unknown ids are left out.
        """

    def topics(self) -> list[TopicRow]:
        """All topics, by falling number of active summaries, then by id."""

    def kinds(self) -> dict[str, int]:
        """How many memories there are of each kind. A kind without memories has no entry."""

    def history(self, limit: int, topic_id: str | None = None) -> list[tuple[Compaction, int | None]]:
        """The last ``limit`` compactions of a topic or of all, the newest first.

        Each has its record's number, or None if there is no such memory any more.
        """

    def captured_sessions(self) -> list[CapturedSession]:
        """What was captured from the sessions of other tools, the last captured first."""

    def captured_memories(self, tool: str, session_id: str) -> list[str]:
        """The ids of the memories that were captured from a session and still exist, superseded ones included."""

    def capture_source(self, memory_id: str) -> CaptureSource | None:
        """Where a captured memory comes from; None for any other memory."""

    def graph_lag(self) -> GraphLag:
        """What the knowledge graph lacks."""


# --- an export ---

EXPORTED_TYPES = ("compaction", "cognified", "feedback", "verdict")
"""What an export has besides memories: the history of compactions, the extractions, the feedback, and the verdicts."""


class ExportRows(Protocol):
    """The content of an export, from one state of the store, row by row in constant memory."""

    @property
    def workspace_id(self) -> str | None:
        """The workspace's UUID; None if the store has none yet."""

    def counts(self) -> dict[str, int]:
        """How many rows there are, of "memory" and of each of ``EXPORTED_TYPES``."""

    def additions(self) -> Iterator[Addition]:
        """All memories, hidden ones included, by rising number."""

    def rows(self, kind: str) -> Iterator[dict[str, Any]]:
        """The rows of one of ``EXPORTED_TYPES``: its columns, JSON decoded."""


# --- the reader ---


class StoreReader(Protocol):
    """Reads the store of one workspace, from any process, beside the writer. It changes nothing.

    Every method raises STORE_NEWER if a later program wrote the store. If the store does not exist yet, the result is
    None, unless a method says otherwise.
    """

    def is_applied(self, job: AppliedJob) -> bool:
        """Whether the job's effect is committed; False without a store."""

    def sizes(self, now: datetime) -> Sizes:
        """Counts, and sizes of files, for monitoring; zeros without a store. The usage is that of the UTC day."""

    def require_readable(self) -> None:
        """Raises the error that prevents reading now. A store that does not exist yet is readable: it is empty."""

    def snapshot(self) -> StoreSnapshot | None:
        """The present state, until it is closed."""

    def lists(self) -> AbstractContextManager[MemoryLists | None]:
        """Lists of the present state, for the block."""

    def export(self) -> AbstractContextManager[ExportRows | None]:
        """The rows of an export of the present state, for the block."""
