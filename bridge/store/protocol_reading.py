"""What readers ask of the memory store: the Protocols that another store has to meet, and the values that they give.

Named tuples, because every cold query loads this module and a dataclass takes five times as long to make.

``tests/conformance/reading_conformance.py`` checks every promise made here; ``reading.reader_of`` chooses the store.
Any method may raise STORE_BUSY or STORE_UNREADABLE, as a JobError. Times are ISO 8601 text in UTC unless a unit is
named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NewType, Protocol

from ..memory import Memory, Status

if TYPE_CHECKING:
    from ..text.terms import Term
    from .rows import Addition

# --- how a local index follows the store ---

Position = NewType("Position", str)
"""Opaque text that identifies one state of the catalogue. Equal positions: equal catalogues. It may be kept."""


class AddedAbove(NamedTuple):
    """Memories were added, all with numbers above this one; no other row of the catalogue changed."""

    number: int


Changes = AddedAbove | Literal["nothing", "everything"]
"""``nothing``: the catalogue is the same. ``everything``: any row may differ, so read the whole catalogue again."""

# --- one state of the store ---

STATUSES: tuple[Status | None, ...] = ("DecisionRecord", "Active", "Superseded", "Draft", None)
"""A status code of the catalogue is an index of this tuple."""

CatalogueRow = tuple[int, int, int, int, int, int, float | None]
"""number, passage_row, passage_count, whole_row (-1: not known), status code, is legacy (0 or 1), and when the age of
the memory begins, in seconds since 1970 (None: not known)."""


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
    """One state of the store, whatever a writer commits meanwhile. It is not safe to share among threads."""

    @property
    def position(self) -> Position: ...

    @property
    def vectors(self) -> VectorState: ...

    def changes_since(self, position: Position) -> Changes:
        """What happened to the catalogue between that position and this snapshot.

        A position of another store, or of a later state than this one, gives ``everything``.
        """

    def catalogue(self, after: int = 0) -> Sequence[CatalogueRow]:
        """The memories with a number above ``after``, by rising passage row. Hidden ones are left out."""

    def numbers(self, topic_id: str | None = None, plan_id: str | None = None) -> list[int]:
        """The numbers of the memories of a topic, of a plan, of both at once, or of all; hidden ones may be among them.

        In no order. Plan ids are compared as ``memory.plan_key`` gives them.
        """

    def memories(self, numbers: Sequence[int]) -> list[Memory]:
        """Memories by number, in no order, hidden ones too; unknown numbers are left out."""

    def count_having(self, term: Term) -> int:
        """How many memories have the term. Raises FullTextDamaged."""

    def bm25(self, terms: Sequence[Term], weights: tuple[float, float]) -> list[tuple[int, float]]:
        """Number and BM25 (higher is better, k1 = 1.2, b = 0.75) of each memory with a term, by rising number.

        ``weights`` are those of topic and body. Raises FullTextDamaged.
        """

    def having(self, terms: Sequence[Term], among: Sequence[int] | None = None) -> list[int]:
        """The numbers of the memories with any of the terms; only of those ``among``, if given. Raises
        FullTextDamaged."""

    def close(self) -> None:
        """Let go of the state, so that the writer can free its space."""


# --- lists ---


class Entry(NamedTuple):
    """A memory, whether it is hidden, the id of its original, and the ids of what was made of it, by number."""

    memory: Memory
    hidden: bool
    migrated_from: str | None
    migrated_to: tuple[str, ...]


class TopicRow(NamedTuple):
    """A topic's counts. ``memories`` counts all that are not hidden.

    ``characters`` (of JSON text) and the times cover only what a compaction would merge: active summaries and the
    record in force. The times are None where no such memory has one.
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
        topic_id: str | None = None,
        status: str | None = None,
        kind: str | None = None,
    ) -> list[Memory]:
        """At most ``limit`` memories with numbers below ``before``, the highest number first."""

    def count(self, *, topic_id: str | None = None, status: str | None = None, kind: str | None = None) -> int:
        """How many memories ``page`` could give, of any number."""

    def entry(self, wanted: str | int) -> Entry | None:
        """A memory by id (text) or by number, a hidden one too."""

    def related(self, memory_ids: Sequence[str], topic_id: str | None) -> list[Memory]:
        """These memories and those of the topic, with their originals and what was made of them; hidden ones too.

        By rising number. Unknown ids are left out.
        """

    def topics(self) -> list[TopicRow]:
        """By falling number of active summaries, then by id."""

    def kinds(self) -> dict[str, int]:
        """How many memories there are of each kind; a kind without memories has no entry."""

    def outbox_entries(self) -> int:
        """How many changes are still to be delivered to the knowledge graph."""


# --- an export ---


class ExportRows(Protocol):
    """Everything that an export holds, from one state of the store, row by row in constant memory."""

    @property
    def workspace_id(self) -> str | None: ...

    def counts(self) -> dict[str, int]:
        """How many rows there are: of "memory", and of each type of ``export_rows.TABLES``."""

    def additions(self) -> Iterator[Addition]:
        """All memories, hidden ones too, by rising number."""

    def rows(self, kind: str) -> Iterator[dict[str, Any]]:
        """The rows of a type of ``export_rows.TABLES``: its columns, JSON decoded."""


# --- the reader ---


class StoreReader(Protocol):
    """Reads the memory store of one workspace, from any process, while a writer is at work. It changes nothing.

    Every method raises STORE_NEWER if a later program wrote the store. Where nothing was ever stored, the result is
    None.
    """

    def require_readable(self) -> None:
        """Raises what keeps the store from being read now. An absent store is readable: it is empty."""

    def snapshot(self) -> StoreSnapshot | None:
        """The state as it is now, until it is closed."""

    def lists(self) -> AbstractContextManager[MemoryLists | None]: ...

    def export(self) -> AbstractContextManager[ExportRows | None]: ...
