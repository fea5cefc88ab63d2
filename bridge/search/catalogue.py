"""The catalogue: the columns of all memories that filtering and ranking need, as numpy arrays.

It is read from a snapshot of the store. ``index_cache`` keeps it between queries.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..store.catalogue import STATUSES, Votes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..store.catalogue import CatalogueRow
    from ..store.reader import StoreSnapshot
    from .ranking import Period, VoteColumns

_SHOWN = ("DecisionRecord", "Active", None)
_ROW = 7  # columns of a CatalogueRow


class Filters(NamedTuple):
    """Which memories a query considers. ``labels``: the properties that they have, by ``memory.FILTERS``.

    ``since`` (inclusive) and ``until`` (exclusive) are seconds since 1970 and bound the date from which a memory's age
    counts. A memory without a date is outside every range.
    """

    include_superseded: bool = False
    status: str | None = None
    labels: Mapping[str, Any] = MappingProxyType({})
    since: float | None = None
    until: float | None = None

    @property
    def statuses(self) -> tuple[str | None, ...]:
        """The statuses that pass; None means a memory without a status."""
        if self.status is not None:
            return (self.status,)
        return (*_SHOWN, "Superseded") if self.include_superseded else _SHOWN

    def within(self, period: Period) -> Filters:
        """These filters, and only memories that are dated in the period as well."""
        start = None if period.start is None else period.start.timestamp()
        end = None if period.end is None else period.end.timestamp()
        starts = [moment for moment in (self.since, start) if moment is not None]
        ends = [moment for moment in (self.until, end) if moment is not None]
        return self._replace(since=max(starts, default=None), until=min(ends, default=None))


class Catalogue:
    """Columns of equal length, in the order of ``passage_row``."""

    number: NDArray[np.int64]
    passage_row: NDArray[np.int64]
    passage_count: NDArray[np.int64]
    whole_row: NDArray[np.int64]
    """The row in the file of whole-text vectors; -1 if unknown."""
    status: NDArray[np.int8]
    """An index of ``STATUSES``."""
    legacy: NDArray[np.bool_]
    dated: NDArray[np.float64]
    """The date from which the age counts, in seconds since 1970; NaN if unknown."""
    helpful: NDArray[np.int32]
    wrong: NDArray[np.int32]
    """How many said that the memory helped, and how many that it is wrong."""

    def __init__(self, *columns: NDArray[Any]) -> None:
        vars(self).update(zip(self.__annotations__, columns, strict=True))

    def __len__(self) -> int:
        return len(self.number)

    def take(self, which: Any) -> Catalogue:
        """The rows that a mask, an array of indexes or a slice selects."""
        if getattr(which, "dtype", None) == np.bool_:
            which = np.flatnonzero(which)  # once, not for each column
        return Catalogue(*(getattr(self, column)[which] for column in _COLUMNS))

    def and_then(self, more: Catalogue) -> Catalogue:
        """These rows, followed by those of ``more``."""
        return Catalogue(*(np.concatenate([getattr(part, column) for part in (self, more)]) for column in _COLUMNS))

    @property
    def votes(self) -> VoteColumns:
        """The columns of the feedback."""
        return self.helpful, self.wrong

    def votes_at(self, index: int) -> Votes:
        """The feedback of one row."""
        return Votes(int(self.helpful[index]), int(self.wrong[index]))

    @cached_property
    def passages(self) -> int:
        """The passages of all rows."""
        return int(self.passage_count.sum())

    @cached_property
    def segments(self) -> tuple[NDArray[np.int64], int, int]:
        """Where ``np.maximum.reduceat`` begins a segment to find each row's best among its passages, the end of the
        last one, and how many segments a row has: a second one for the gap behind it, if there are gaps."""
        ends = self.passage_row + self.passage_count
        if np.array_equal(self.passage_row[1:], ends[:-1]):
            return self.passage_row, int(ends[-1]), 1
        return np.stack([self.passage_row, ends], axis=1).reshape(-1), int(ends[-1]) + 1, 2

    @cached_property
    def _by_number(self) -> NDArray[np.intp]:
        return np.argsort(self.number, kind="stable")

    def indexes(self, numbers: NDArray[np.int64]) -> NDArray[np.intp]:
        """The index of each number's row, shape (len(numbers),); -1 for an unknown number."""
        if not len(self):
            return np.full(len(numbers), -1, np.intp)
        rows = np.searchsorted(self.number, numbers, sorter=self._by_number)
        rows = self._by_number[np.minimum(rows, len(self) - 1)]
        return np.where(self.number[rows] == numbers, rows, -1)

    def of(self, numbers: Collection[int]) -> Catalogue:
        """The rows of these numbers, by rising number; unknown ones are left out."""
        rows = self.indexes(np.array(sorted(numbers), np.int64))
        return self.take(rows[rows >= 0])

    def filtered(self, filters: Filters, store: StoreSnapshot) -> Catalogue:
        """The rows that pass the filters. The store finds the memories with the labels."""
        if filters == Filters(include_superseded=filters.include_superseded, status=filters.status):
            return self._with_statuses(filters.statuses)
        mask = self._has_status(filters.statuses)
        if filters.since is not None:
            mask &= self.dated >= filters.since
        if filters.until is not None:
            mask &= self.dated < filters.until
        if filters.labels:
            mask &= np.isin(self.number, np.array(store.numbers(**filters.labels), np.int64))
        return self if mask.all() else self.take(mask)

    @cached_property
    def _by_statuses(self) -> dict[tuple[str | None, ...], Catalogue]:
        return {}

    def _with_statuses(self, statuses: tuple[str | None, ...]) -> Catalogue:
        """The rows with one of the statuses, kept for the next query: most queries differ only in their words."""
        found = self._by_statuses.get(statuses)
        if found is None:
            mask = self._has_status(statuses)
            found = self._by_statuses[statuses] = self if mask.all() else self.take(mask)
        return found

    def _has_status(self, statuses: tuple[str | None, ...]) -> NDArray[np.bool_]:
        return np.isin(self.status, [STATUSES.index(status) for status in statuses])


_COLUMNS = tuple(Catalogue.__annotations__)


def read(store: StoreSnapshot, after: int = 0) -> Catalogue:
    """The memories with a number higher than ``after``, without the hidden ones."""
    found = _columns(store.catalogue(after))
    votes = store.votes(after)
    if votes:
        rated = found.indexes(np.array([number for number, _ in votes], np.int64))
        found.helpful[rated] = [given.helpful for _, given in votes]
        found.wrong[rated] = [given.wrong for _, given in votes]
    return found


def _columns(rows: Sequence[CatalogueRow]) -> Catalogue:
    # One float64 table is the fastest way. None becomes NaN; integers stay exact up to 2**53.
    table = np.fromiter(chain.from_iterable(rows), np.float64, len(rows) * _ROW).reshape(-1, _ROW).T
    number, row, count, whole = table[:4].astype(np.int64)
    return Catalogue(
        number, row, count, whole, table[4].astype(np.int8), table[5].astype(np.bool_), table[6].copy(),
        np.zeros(len(rows), np.int32), np.zeros(len(rows), np.int32),
    )  # fmt: skip
