"""The catalogue: the columns of all memories that a search needs before it reads any words.

Read from a snapshot of the store, and kept by ``index_cache`` between queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..store.protocol_reading import STATUSES

if TYPE_CHECKING:
    from ..store.protocol_reading import CatalogueRow, StoreSnapshot

_SHOWN = ("DecisionRecord", "Active", None)


@dataclass(frozen=True, slots=True)
class Filters:
    """Which memories are looked at at all.

    ``since`` and ``until`` are seconds since 1970 and bound the date from which a memory's age counts: the first
    belongs to the range, the second does not; what has no date is out of any range.
    """

    include_superseded: bool = False
    status: str | None = None
    topic_id: str | None = None
    plan_id: str | None = None
    since: float | None = None
    until: float | None = None

    @property
    def statuses(self) -> tuple[str | None, ...]:
        """Those that are looked at; None stands for a memory without one."""
        if self.status is not None:
            return (self.status,)
        return (*_SHOWN, "Superseded") if self.include_superseded else _SHOWN


@dataclass(frozen=True)
class Catalogue:
    """Columns of equal length, in the order of ``passage_row``."""

    number: NDArray[np.int64]
    passage_row: NDArray[np.int64]
    passage_count: NDArray[np.int64]
    whole_row: NDArray[np.int64]
    """In the file of wholes; -1 where that is not known."""
    status: NDArray[np.int8]
    """An index of ``STATUSES``."""
    legacy: NDArray[np.bool_]
    dated: NDArray[np.float64]
    """When the age begins, in seconds since 1970; NaN where that is not known."""

    def __len__(self) -> int:
        return len(self.number)

    def take(self, which: Any) -> Catalogue:
        """The rows of a mask, of indexes or of a slice."""
        return Catalogue(*(getattr(self, column.name)[which] for column in fields(self)))

    def and_then(self, more: Catalogue) -> Catalogue:
        return Catalogue(*(np.concatenate([getattr(part, c.name) for part in (self, more)]) for c in fields(self)))

    @cached_property
    def _by_number(self) -> NDArray[np.intp]:
        return np.argsort(self.number, kind="stable")

    def indexes(self, numbers: NDArray[np.int64]) -> NDArray[np.intp]:
        """The index of each number's row; -1 for a number that has none."""
        if not len(self):
            return np.full(len(numbers), -1, np.intp)
        found = np.searchsorted(self.number, numbers, sorter=self._by_number)
        found = self._by_number[np.minimum(found, len(self) - 1)]
        return np.where(self.number[found] == numbers, found, -1)

    def filtered(self, filters: Filters, store: StoreSnapshot) -> Catalogue:
        """The rows that pass the filters. Topics and plans are looked up in the store."""
        codes = [STATUSES.index(status) for status in filters.statuses]
        mask = np.isin(self.status, codes)
        if filters.since is not None:
            mask &= self.dated >= filters.since
        if filters.until is not None:
            mask &= self.dated < filters.until
        if filters.topic_id is not None or filters.plan_id is not None:
            mask &= np.isin(self.number, np.array(store.numbers(filters.topic_id, filters.plan_id), np.int64))
        return self if mask.all() else self.take(mask)


def read(store: StoreSnapshot, after: int = 0) -> Catalogue:
    """The memories with a higher number than ``after``, hidden ones left out."""
    return _columns(store.catalogue(after))


def _columns(found: Sequence[CatalogueRow]) -> Catalogue:
    if not found:
        empty = np.empty(0, np.int64)
        return Catalogue(
            empty, empty, empty, empty, empty.astype(np.int8), empty.astype(np.bool_), empty.astype(np.float64)
        )
    # None becomes NaN; whole numbers stay exact up to 2**53
    table = np.fromiter(chain.from_iterable(found), np.float64, len(found) * len(found[0])).reshape(len(found), -1).T
    number, row, count, whole = table[:4].astype(np.int64)
    return Catalogue(number, row, count, whole, table[4].astype(np.int8), table[5].astype(np.bool_), table[6].copy())
