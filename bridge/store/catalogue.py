"""The catalogue: what a snapshot knows of each memory besides its text, and how a reader follows its changes.

The values are named tuples: every cold query loads this module, and a dataclass takes five times as long to create.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, NewType

from ..memory import Status

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


class Settlement(NamedTuple):
    """Who settled a pair of statements, when, and why. It is suspended while the memory with the one that holds is
    superseded or a draft: nothing falls by it."""

    by: str
    at: str
    reason: str | None
    is_suspended: bool = False


class Replacement(NamedTuple):
    """A statement that a newer one may replace, each as a memory's number and the index of its passage. ``since``: the
    date of the newer memory, in seconds since 1970 (0: not known). Where somebody settled it (``said``), ``older`` is
    the one that fell, and the probability is 1, or 0 if both hold or it is suspended."""

    older: int
    older_passage: int
    newer: int
    newer_passage: int
    probability: float
    since: float
    said: Settlement | None = None


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
