"""The copies of a workspace on its machines: how far each has followed, and what an operator sees of a workspace."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from .server import Connection


class Copy(NamedTuple):
    """A copy. ``behind`` counts the changes that it has not applied, as of when it was last seen; ``forgets`` those
    since which copies of forgotten texts may be left there.
    """

    node: str
    behind: int
    forgets: int
    version: str
    seen_at: datetime


class Overview(NamedTuple):
    """A workspace: its name, its last change, who holds the lease until when, and its jobs by state."""

    workspace_id: str
    name: str
    last_seq: int
    lease_owner: str | None
    lease_until: datetime | None
    jobs: dict[str, int]


def note(
    connection: Connection, workspace_id: str, node: str, applied_seq: int, version: str, has_removed_all: bool
) -> None:
    """Note that a copy has applied the changes up to this number, and whether it has removed all that they forgot."""
    connection.execute(
        "INSERT INTO copies (workspace_id, node, applied_seq, removed_seq, version) VALUES (%s, %s, %s, %s, %s)"
        " ON CONFLICT (workspace_id, node) DO UPDATE SET applied_seq = excluded.applied_seq,"
        " removed_seq = greatest(copies.removed_seq, excluded.removed_seq),"
        " version = excluded.version, seen_at = clock_timestamp()",
        (workspace_id, node, applied_seq, applied_seq if has_removed_all else 0, version),
    )


def remove(connection: Connection, workspace_id: str, node: str) -> None:
    """Forget a copy that is none any more, and the jobs that it asked for."""
    with connection.transaction():
        connection.execute("DELETE FROM copies WHERE workspace_id = %s AND node = %s", (workspace_id, node))
        connection.execute("DELETE FROM job_askers WHERE workspace_id = %s AND node = %s", (workspace_id, node))


def of_workspace(connection: Connection, workspace_id: str) -> list[Copy]:
    """All copies, the one that was seen last first."""
    found = connection.execute(
        "SELECT node, greatest(last_seq - applied_seq, 0), greatest(last_seq - removed_seq, 0), version, seen_at"
        " FROM copies"
        " JOIN workspaces ON workspaces.id = workspace_id WHERE workspace_id = %s ORDER BY seen_at DESC, node",
        (workspace_id,),
    )
    return [Copy(*row) for row in found]


_OVERVIEW = """
SELECT id::text, name, last_seq,
    CASE WHEN lease_until > clock_timestamp() THEN lease_owner END,
    CASE WHEN lease_until > clock_timestamp() THEN lease_until END,
    coalesce((
        SELECT json_object_agg(state, number)
        FROM (SELECT state, count(*) AS number FROM jobs WHERE workspace_id = id GROUP BY state) AS counted
    ), '{}')
FROM workspaces
"""


def overview(connection: Connection, workspace_id: str) -> Overview | None:
    """What an operator sees of a workspace; None for one that the team does not know."""
    row = connection.execute(f"{_OVERVIEW} WHERE id = %s".encode(), (workspace_id,)).fetchone()
    return None if row is None else Overview(*row)


def all_workspaces(connection: Connection, limit: int) -> list[Overview]:
    """The team's workspaces, by name."""
    return [Overview(*row) for row in connection.execute(f"{_OVERVIEW} ORDER BY name, id LIMIT %s".encode(), (limit,))]
