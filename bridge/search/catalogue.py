"""The catalogue: of every memory what a search has to look at before it reads any words, as columns.

Read from memory.db, and kept by ``index_cache`` between questions.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..memory import plan_key
from ..store.rows import dated

# The order of the codes; null is the last one.
STATUSES = ("DecisionRecord", "Active", "Superseded", "Draft", None)
_CODES = "CASE status " + " ".join(f"WHEN '{s}' THEN {i}" for i, s in enumerate(STATUSES) if s) + " ELSE 4 END"
_SHOWN = ("DecisionRecord", "Active", None)

_COLUMNS = f"number, passage_row, passage_count, coalesce(whole_row, -1), {_CODES}, kind = 'legacy', dated"
_READ = f"SELECT {_COLUMNS} FROM memories WHERE hidden = 0"  # noqa: S608 - constants
_FIRST_FORMAT_WITH_IT = 3
# A reader may come before the writer has brought the database to this format.
_READ_OLDER = (
    f"SELECT number, passage_row, passage_count, -1, {_CODES}, kind = 'legacy', kind, created_at, source_created_at,"  # noqa: S608
    " stored_at FROM memories WHERE hidden = 0"
)


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
    """A place in ``STATUSES``."""
    legacy: NDArray[np.bool_]
    dated: NDArray[np.float64]
    """When the age begins, in seconds since 1970; NaN where that is not known."""

    def __len__(self) -> int:
        return len(self.number)

    def take(self, which: Any) -> Catalogue:
        """The rows of a mask, of places or of a slice."""
        return Catalogue(*(getattr(self, column.name)[which] for column in fields(self)))

    def and_then(self, more: Catalogue) -> Catalogue:
        return Catalogue(*(np.concatenate([getattr(part, c.name) for part in (self, more)]) for c in fields(self)))

    @cached_property
    def _by_number(self) -> NDArray[np.intp]:
        return np.argsort(self.number, kind="stable")

    def places(self, numbers: NDArray[np.int64]) -> NDArray[np.intp]:
        """Where each number stands; -1 for one that is not there."""
        if not len(self):
            return np.full(len(numbers), -1, np.intp)
        found = np.searchsorted(self.number, numbers, sorter=self._by_number)
        found = self._by_number[np.minimum(found, len(self) - 1)]
        return np.where(self.number[found] == numbers, found, -1)

    def filtered(self, filters: Filters, connection: sqlite3.Connection) -> Catalogue:
        """What the filters leave. Topics and plans are looked up in the database."""
        codes = [STATUSES.index(status) for status in filters.statuses]
        mask = np.isin(self.status, codes)
        if filters.since is not None:
            mask &= self.dated >= filters.since
        if filters.until is not None:
            mask &= self.dated < filters.until
        if filters.topic_id is not None or filters.plan_id is not None:
            mask &= np.isin(self.number, _of_topic_and_plan(connection, filters))
        return self if mask.all() else self.take(mask)


def _of_topic_and_plan(connection: sqlite3.Connection, filters: Filters) -> NDArray[np.int64]:
    named = {"topic_id": filters.topic_id, "plan_key": plan_key(filters.plan_id)}
    given = {column: value for column, value in named.items() if value is not None}
    where = " AND ".join(f"{column} = ?" for column in given)
    query = f"SELECT number FROM memories WHERE {where}"  # noqa: S608 - our own columns
    return np.array([number for (number,) in connection.execute(query, list(given.values()))], np.int64)


def read(connection: sqlite3.Connection, after: int = 0) -> Catalogue:
    """The memories with a higher number than ``after``, hidden ones left out."""
    (found_format,) = connection.execute("PRAGMA user_version").fetchone()
    arguments = (after,) if after else ()
    where = " AND number > ?" if after else ""
    if found_format >= _FIRST_FORMAT_WITH_IT:
        query = f"{_READ}{where} ORDER BY passage_row"
        return _columns(connection.execute(query, arguments).fetchall())
    query = f"{_READ_OLDER}{where} ORDER BY passage_row"
    return _columns([(*row[:6], dated(*row[6:])) for row in connection.execute(query, arguments)])


def _columns(found: Sequence[tuple[Any, ...]]) -> Catalogue:
    if not found:
        empty = np.empty(0, np.int64)
        return Catalogue(
            empty, empty, empty, empty, empty.astype(np.int8), empty.astype(np.bool_), empty.astype(np.float64)
        )
    # None becomes NaN; whole numbers stay exact up to 2**53
    table = np.fromiter(chain.from_iterable(found), np.float64, len(found) * len(found[0])).reshape(len(found), -1).T
    number, row, count, whole = table[:4].astype(np.int64)
    return Catalogue(number, row, count, whole, table[4].astype(np.int8), table[5].astype(np.bool_), table[6].copy())
