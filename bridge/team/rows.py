"""A workspace's memories as rows in Postgres: read them from a number on, and commit a change of them.

A change gets its number under the lock of the workspace's row, so numbers have no gap, and a reader never sees a number
before a lower one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from jobs.errors import JobError

from .fields import ChangeId, Id, Number
from .gap import Missing

if TYPE_CHECKING:
    from .server import Connection

_FETCHED = 200  # rows at a time; a memory's vectors are some 30 kB
_WRITTEN = 100


@dataclass(frozen=True, slots=True)
class SharedRow:
    """A row of one of memory.db's tables. ``key`` is its key as JSON text, ``value`` its columns by name, None for a
    deleted row. ``vectors`` are those of a memory's passages, float32 in little-endian order; None if it has none, or
    if they are known already.
    """

    table: str
    key: str
    value: dict[str, Any] | None
    vectors: bytes | None = None


class Position(NamedTuple):
    """A state of a workspace: the number of its last change, and that change's id. Before the first, the number is 0.

    A database that was restored from a backup, or a standby that lost the last changes, gives numbers again, but no id.
    """

    seq: Number
    change: ChangeId


@dataclass(frozen=True, slots=True)
class Author:
    """Who makes a change: the copy's name, and the number of its pool's lease of the workspace (see ``leases``).
    Without a lease, only the position decides."""

    node: str
    lease: int | None = None


@dataclass(frozen=True, slots=True)
class Registered:
    """A workspace's present position, its embedding model, and the format of memory.db that its rows need."""

    position: Position
    embedder: str | None
    dimensions: int | None
    format: int


class FeedRow(NamedTuple):
    """A row, and the number of the change that wrote it."""

    seq: int
    row: SharedRow


@dataclass(frozen=True, slots=True)
class Described:
    """What the team has to know of a workspace: ``format`` is that of memory.db. ``person`` and ``group`` may see it
    through a gateway.
    """

    workspace_id: str
    name: str
    format: int
    embedder: str
    dimensions: int
    person: str | None = None
    group: str | None = None


def share(
    connection: Connection, what: Described, change_id: str, all_rows: Iterable[SharedRow], author: Author
) -> None:
    """Make a workspace known, with all its rows as its first change, unless it is known already. Raises JobError:
    ARGUMENT_INVALID for rows that are no state of a workspace."""
    with connection.transaction():
        if registered(connection, what.workspace_id) is None:
            register(connection, what)
            start = Position(0, "")
            commit(connection, what.workspace_id, start, all_rows, [], author, what.format, change_id)
            if connection.execute(_SAME_IDS, (what.workspace_id,)).fetchone():
                raise JobError("ARGUMENT_INVALID", "Two memories have one id.")


def register(connection: Connection, what: Described) -> None:
    """Make the workspace known, if it is not yet."""
    connection.execute(
        "INSERT INTO workspaces (id, name, format, embedder, dimensions, person, group_name)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
        (what.workspace_id, what.name, what.format, what.embedder, what.dimensions, what.person, what.group),
    )


def registered(connection: Connection, workspace_id: Id) -> Registered | None:
    """What is known of the workspace; None for an unknown one."""
    row = connection.execute(
        "SELECT last_seq, last_change::text, embedder, dimensions, format FROM workspaces WHERE id = %s",
        (workspace_id,),
    ).fetchone()
    if row is None:
        return None
    seq, change, *facts = row
    return Registered(Position(seq, change), *facts)


def memory_count(connection: Connection, workspace_id: Id) -> int:
    """The number of its memories, hidden ones included."""
    found = connection.execute(
        "SELECT count(*) FROM rows WHERE workspace_id = %s AND tbl = 'memories' AND value IS NOT NULL", (workspace_id,)
    ).fetchone()
    return 0 if found is None else int(found[0])


def positions(connection: Connection, workspace_ids: Sequence[str]) -> dict[str, Position]:
    """The present positions of workspaces, by id; unknown ones are left out."""
    found = connection.execute(
        "SELECT id::text, last_seq, last_change::text FROM workspaces WHERE id = ANY(%s::uuid[])",
        (list(workspace_ids),),
    )
    return {workspace_id: Position(seq, change) for workspace_id, seq, change in found}


def missing(connection: Connection, workspace_id: Id, position: Position) -> Missing | None:
    """What a copy at this position lacks; None for an unknown workspace. If the database was restored from a backup,
    the copy lacks all changes."""
    row = connection.execute(
        "SELECT last_seq, EXISTS (SELECT 1 FROM rows WHERE workspace_id = id AND seq > %s AND tbl = 'tombstones'"
        " AND value IS NOT NULL) FROM workspaces WHERE id = %s",
        (position.seq, workspace_id),
    ).fetchone()
    if row is None:
        return None
    last, forgets = row
    return Missing(last - position.seq if has(connection, workspace_id, position) else last, forgets)


def has(connection: Connection, workspace_id: str, position: Position) -> bool:
    """Whether the workspace's history contains the position, so that the rows after it are all that is new."""
    return position.seq == 0 or bool(
        connection.execute(
            "SELECT 1 FROM changes WHERE workspace_id = %s AND seq = %s AND id = %s", (workspace_id, *position)
        ).fetchone()
    )


def require_format(needed: int, known: int) -> None:
    """Raises JobError: TEAM_NEWER for rows that need a later format of memory.db than this program's."""
    if needed > known:
        raise JobError("TEAM_NEWER", f"The team's memories have format {needed}; this program knows up to {known}.")


def rows_after(connection: Connection, workspace_id: str, seq: int) -> Iterator[FeedRow]:
    """The rows that were written after a number, by number. Inside ``Server.snapshot``, all belong to one state.

    Vectors come only with rows whose vectors were written after that number.
    """
    with connection.cursor("feed", binary=True) as cursor:
        cursor.itersize = _FETCHED
        cursor.execute(
            "SELECT seq, tbl, key, value::text, CASE WHEN vectors_seq > %(seq)s THEN vectors END FROM rows"
            " WHERE workspace_id = %(workspace)s AND seq > %(seq)s ORDER BY seq, tbl, key",
            {"seq": seq, "workspace": workspace_id},
        )
        for number, table, key, value, vectors in cursor:
            yield FeedRow(number, SharedRow(table, key, None if value is None else json.loads(value), vectors))


def commit(
    connection: Connection,
    workspace_id: str,
    before: Position,
    rows: Iterable[SharedRow],
    jobs: Sequence[str],
    author: Author,
    format_: int,
    change_id: str | None = None,
) -> Position:
    """Commit a change, if the workspace is still at the position that it was made for, and its author's lease is the
    last one. ``jobs`` are the ids of the jobs that it applies; ``change_id`` a UUID for the change, if it must be known
    before. Returns the new position.

    Raises JobError: TEAM_CONFLICT or TEAM_LEASE_LOST, with nothing committed, otherwise.
    """
    with connection.transaction():
        found = connection.execute(
            "SELECT last_seq, last_change::text, format, lease FROM workspaces WHERE id = %s FOR UPDATE",
            (workspace_id,),
        ).fetchone()
        if found is None or not _is_at(Position(*found[:2]), before):
            raise JobError("TEAM_CONFLICT")
        require_format(found[2], format_)
        if author.lease not in (None, found[3]):
            raise JobError("TEAM_LEASE_LOST")
        after = Position(before.seq + 1, change_id or str(uuid4()))
        count = _write(connection, workspace_id, after.seq, rows)
        connection.execute(
            "INSERT INTO changes (workspace_id, seq, id, node, jobs, row_count) VALUES (%s, %s, %s, %s, %s, %s)",
            (workspace_id, *after, author.node, json.dumps(list(jobs)), count),
        )
        connection.execute(
            "UPDATE workspaces SET last_seq = %s, last_change = %s, format = greatest(format, %s) WHERE id = %s",
            (*after, format_, workspace_id),
        )
    return after


def _is_at(found: Position, expected: Position) -> bool:
    return found == expected or found.seq == expected.seq == 0


# Many rows are one statement. A pipeline of statements would keep the server from noticing that its client is gone.
_INSERT = """
INSERT INTO rows AS former (workspace_id, tbl, key, seq, value, memory_id, vectors, vectors_seq)
SELECT %(workspace)s, tbl, key, %(seq)s, value::json, CASE WHEN tbl = 'memories' THEN value::json->>'id' END,
    vectors, CASE WHEN vectors IS NOT NULL THEN %(seq)s END
FROM unnest(%(tables)s::text[], %(keys)s::text[], %(values)s::text[], %(vectors)s::bytea[])
    AS given (tbl, key, value, vectors)
"""
# A gateway, which writes first rows alone, may change none.
_FIRST = f"{_INSERT} ON CONFLICT DO NOTHING"
_UPSERT = """
{insert} ON CONFLICT (workspace_id, tbl, key) DO UPDATE SET
    seq = excluded.seq, value = excluded.value, memory_id = excluded.memory_id,
    vectors = CASE WHEN {keeps} THEN coalesce(excluded.vectors, former.vectors) END,
    vectors_seq = CASE WHEN {keeps} THEN coalesce(excluded.vectors_seq, former.vectors_seq) END
""".format(
    insert=_INSERT,
    # What is hidden or deleted has no vectors.
    keeps="excluded.value IS NOT NULL AND coalesce(excluded.value->>'hidden', '0') IN ('0', 'false')",
)


_SAME_IDS = """
SELECT 1 FROM rows WHERE workspace_id = %s AND memory_id IS NOT NULL GROUP BY memory_id HAVING count(*) > 1 LIMIT 1
"""


def _write(connection: Connection, workspace_id: str, seq: int, rows: Iterable[SharedRow]) -> int:
    """Write the rows of a change. Returns how many. Raises JobError: ARGUMENT_INVALID for first rows with one key."""
    count = 0
    waiting = iter(rows)
    while some := list(islice(waiting, _WRITTEN)):
        count += len(some)
        written = connection.execute(
            (_UPSERT if seq > 1 else _FIRST).encode(),
            {
                "workspace": workspace_id,
                "seq": seq,
                "tables": [row.table for row in some],
                "keys": [row.key for row in some],
                "values": [_text(row.value) for row in some],
                "vectors": [row.vectors for row in some],
            },
        )
        if written.rowcount != len(some):
            raise JobError("ARGUMENT_INVALID", "Two rows have one key.")
    return count


def _text(value: dict[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)
