"""What a change may do to the rows that are there, whoever makes it: a memory keeps its number, its id and its words,
a number is not used again, and what was forgotten does not come back.

The form of a row is checked where it comes in; this needs the rows before it, under the lock of the workspace.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from jobs.errors import JobError

from ..memory import MAX_KEPT

if TYPE_CHECKING:
    from .server import Connection

_LOOKED_AT = ("memories", "tombstones", "sqlite_sequence")
_LABELS = frozenset(["status", "updated_at", "status_set_at", "migrated_from", "hidden"])  # of a memory, which change
_TOGETHER = 1000


class Row(Protocol):
    """As ``rows.SharedRow``."""

    @property
    def table(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def value(self) -> dict[str, Any] | None: ...
    @property
    def vectors(self) -> bytes | None: ...


class Running(NamedTuple):
    """The jobs that a change applies, and when the last of those that run was accepted."""

    applied: Sequence[str]
    accepted_at: str


def running(connection: Connection, workspace_id: str, applied: Sequence[str]) -> Running:
    """The jobs of a change. Raises JobError: TEAM_LEASE_LOST unless they run, or, where it applies none, another one:
    changes come from jobs alone."""
    found = dict(
        connection.execute(
            "SELECT job_id, record->>'accepted_at' FROM jobs WHERE workspace_id = %s AND state = 'running'",
            (workspace_id,),
        ).fetchall()
    )
    if not found or not found.keys() >= set(applied):
        raise JobError("TEAM_LEASE_LOST", "No job of this change runs in the workspace.")
    return Running(applied, max(at or "" for at in found.values()))


class RowHistory:
    """The history of one workspace, for one change. ``jobs`` is None where none is needed: on a host of the team.
    ``is_first``: nothing was there before, and the numbers are those of the store that is shared."""

    def __init__(
        self, connection: Connection, workspace_id: str, jobs: Running | None, *, is_first: bool = False
    ) -> None:
        self._connection = connection
        self._is_first = is_first
        self._workspace_id = workspace_id
        self._jobs = jobs
        self._added: list[str] = []  # ids of memories
        self._count = 0
        self._given = {str(json.loads(key)[0]): int(seq) for key, seq in self._select(
            "SELECT key, value->>'seq' FROM rows WHERE workspace_id = %s AND tbl = 'sqlite_sequence'"
        )}  # fmt: skip
        self._highest = dict(self._given)

    def require(self, some: Sequence[Row]) -> None:
        """Before these rows are written. Raises JobError: ARGUMENT_INVALID."""
        self._count += len(some)
        looked_at = [row for row in some if row.table in _LOOKED_AT]
        found = self._select(
            "SELECT tbl, key, value::text FROM rows WHERE workspace_id = %s"
            " AND (tbl, key) IN (SELECT * FROM unnest(%s::text[], %s::text[]))",
            [row.table for row in looked_at],
            [row.key for row in looked_at],
        )
        former = {(table, key): None if value is None else json.loads(value) for table, key, value in found}
        added = []
        for row in some:
            before = former.get((row.table, row.key))
            if row.table == "memories":
                self._require_number("memories", row, MAX_KEPT)
                if row.value is not None and before is None:
                    if (row.table, row.key) in former:
                        raise _refused(row, "a number is not used again")
                    added.append(row.value["id"])
                _require_memory(row, before)
            elif row.table == "compactions":
                self._require_number("compactions", row, 0)
            elif row.table == "tombstones" and (row.value is None or _is_earlier(row.value, before)):
                raise _refused(row, "what is forgotten stays so")
            elif row.table == "sqlite_sequence" and not self._is_known(row):
                raise _refused(row, "no row has this number")
            elif row.table == "effects" and not self._is_of_jobs(row):
                raise _refused(row, "the change is of other jobs")
        self._require_not_forgotten(added)
        self._added += added

    def _is_known(self, sequence: Row) -> bool:
        seq = (sequence.value or {})["seq"]
        return self._is_first or bool(seq <= self._highest.get(_first(sequence), 0))

    def _is_of_jobs(self, effect: Row) -> bool:
        return self._jobs is None or (effect.value is not None and effect.value["job_id"] in self._jobs.applied)

    def _require_number(self, name: str, row: Row, kept: int) -> None:
        number = int(_first(row))
        if not self._is_first and number > max(kept, self._given.get(name, 0)) + self._count:
            raise _refused(row, "its number leaves out too many")
        self._highest[name] = max(self._highest.get(name, 0), number)

    def _require_not_forgotten(self, ids: Sequence[str]) -> None:
        """Unless somebody asked for it after it was forgotten."""
        if self._jobs is None or not ids:
            return
        forgotten = self._select(
            "SELECT 1 FROM rows WHERE workspace_id = %s AND tbl = 'tombstones' AND key = ANY(%s::text[])"
            " AND (value->>'forgotten_at')::timestamptz > %s::timestamptz LIMIT 1",
            [json.dumps([each]) for each in ids],
            self._jobs.accepted_at,
        )
        if forgotten:
            raise JobError("ARGUMENT_INVALID", "A memory that was forgotten does not come back.")

    def require_end(self) -> None:
        """After all rows are written. Raises JobError: ARGUMENT_INVALID if two memories have one id."""
        for start in range(0, len(self._added), _TOGETHER):
            twice = self._select(
                "SELECT 1 FROM rows WHERE workspace_id = %s AND memory_id = ANY(%s::text[])"
                " GROUP BY memory_id HAVING count(*) > 1 LIMIT 1",
                self._added[start : start + _TOGETHER],
            )
            if twice:
                raise JobError("ARGUMENT_INVALID", "Another memory has the id of a row.")

    def _select(self, query: str, *arguments: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(query.encode(), (self._workspace_id, *arguments)).fetchall()


def _require_memory(row: Row, before: Mapping[str, Any] | None) -> None:
    """A memory that is there keeps what it is; one that comes, or comes back from being hidden, has vectors."""
    if row.value is None:
        return
    if before is not None and row.value["id"] != before["id"]:
        raise _refused(row, "its number is another memory's")
    is_there = before is not None and not before["hidden"]
    if (row.vectors is None) != (is_there or bool(row.value["hidden"])):
        raise _refused(row, "vectors come with a memory that becomes visible, and with no other one")
    if is_there and before is not None:
        changed = {name for name, value in row.value.items() if value != before.get(name)}
        if not changed <= _LABELS:
            raise _refused(row, f"a memory's {min(changed - _LABELS)} does not change")


def _is_earlier(value: Mapping[str, Any], before: Mapping[str, Any] | None) -> bool:
    return before is not None and value["forgotten_at"].rstrip("Z") < before["forgotten_at"].rstrip("Z")


def _first(row: Row) -> Any:
    return json.loads(row.key)[0]


def _refused(row: Row, why: str) -> JobError:
    return JobError("ARGUMENT_INVALID", f"A row of {row.table!r} cannot be what was there: {why}.")
