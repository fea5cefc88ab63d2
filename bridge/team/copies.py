"""The copies of a workspace on its machines: how far each has followed, and what an operator sees of a workspace."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from . import shared_jobs
from .fields import Id, Node, Number, VersionName

if TYPE_CHECKING:
    from .server import Connection

SILENT_DAYS = 7
MOST_WORKSPACES = 1000


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy. ``behind`` counts the changes that it has not applied, as of when it was last seen; ``forgets`` those
    since which copies of forgotten texts may be left there, and ``forgotten`` the memories that were forgotten since.
    ``is_silent``: not seen for more than ``SILENT_DAYS``.
    """

    node: str
    behind: int
    forgets: int
    forgotten: int
    version: str
    seen_at: datetime
    is_silent: bool


class Machine(NamedTuple):
    """A copy's machine: the label of its token, and whether it has access: its token is in force, and its person may
    see the workspace. A pool, which has the database's address, has neither a token nor a label."""

    node: str
    label: str | None
    has_access: bool


@dataclass(frozen=True, slots=True)
class Access:
    """Who has access to a workspace: the machines that have a copy, and when the token of this one ends."""

    expires_at: datetime | None
    machines: list[Machine]


@dataclass(frozen=True, slots=True)
class Overview:
    """A workspace: its name, its last change, who holds the lease until when, its jobs by state, and how many of the
    ended ones failed. ``idle_seconds``: for how long a job could have started and nobody held the lease; None if none
    waits, or somebody holds it now. ``retrying``: the jobs that are tried again, by the error that they met; an older
    gateway does not say it.
    """

    workspace_id: str
    name: str
    last_seq: int
    lease_owner: str | None
    lease_until: datetime | None
    jobs: dict[str, int]
    failed: int
    idle_seconds: float | None
    retrying: dict[str, int] = field(default_factory=dict)


_OWN = "nullif(current_setting('cognee_memory.token', true), '')"  # set by the gateway


def note(
    connection: Connection,
    workspace_id: Id,
    node: Node,
    applied_seq: Number,
    version: VersionName,
    has_removed_all: bool,
) -> None:
    """Note that a copy has applied the changes up to this number, and whether it has removed all that they forgot."""
    connection.execute(
        f"INSERT INTO copies (workspace_id, node, applied_seq, removed_seq, version, token)"  # noqa: S608 - a constant
        f" VALUES (%s, %s, %s, %s, %s, {_OWN})"
        " ON CONFLICT (workspace_id, node) DO UPDATE SET applied_seq = excluded.applied_seq,"
        " removed_seq = greatest(copies.removed_seq, excluded.removed_seq),"
        " version = excluded.version, token = excluded.token, seen_at = clock_timestamp()",
        (workspace_id, node, applied_seq, applied_seq if has_removed_all else 0, version),
    )


def note_seen(connection: Connection, workspace_id: str, node: str) -> None:
    """Note that a copy is there: it waits for changes, and has all that it was told of."""
    connection.execute(
        "UPDATE copies SET seen_at = clock_timestamp() WHERE workspace_id = %s AND node = %s", (workspace_id, node)
    )


def remove(connection: Connection, workspace_id: Id, node: Node) -> None:
    """Forget a copy that is none any more, and the jobs that it asked for."""
    with connection.transaction():
        connection.execute("DELETE FROM copies WHERE workspace_id = %s AND node = %s", (workspace_id, node))
        connection.execute("DELETE FROM job_askers WHERE workspace_id = %s AND node = %s", (workspace_id, node))


def of_workspace(connection: Connection, workspace_id: Id) -> list[Copy]:
    """All copies, the one that was seen last first."""
    found = connection.execute(
        "SELECT node, greatest(last_seq - applied_seq, 0), greatest(last_seq - removed_seq, 0), (SELECT count(*)"
        " FROM rows WHERE rows.workspace_id = workspaces.id AND rows.seq > removed_seq AND tbl = 'tombstones'"
        " AND value IS NOT NULL), version, seen_at, seen_at < clock_timestamp() - make_interval(days => %s)"
        " FROM copies"
        " JOIN workspaces ON workspaces.id = workspace_id WHERE workspace_id = %s ORDER BY seen_at DESC, node",
        (SILENT_DAYS, workspace_id),
    )
    return [Copy(*row) for row in found]


def access(connection: Connection, workspace_id: Id) -> Access | None:
    """Who has access to the workspace; None from a gateway that shows the person no such workspace."""
    found = connection.execute(
        "SELECT node, t.label, token IS NULL OR coalesce(t.has_access, false) FROM copies"
        " LEFT JOIN LATERAL token_of(token, workspace_id) AS t ON true WHERE workspace_id = %s ORDER BY node",
        (workspace_id,),
    )
    machines = [Machine(*row) for row in found]
    (own,) = connection.execute(f"SELECT {_OWN}".encode()).fetchone() or (None,)
    ends = own and connection.execute("SELECT expires_at FROM tokens WHERE id = %s", (own,)).fetchone()
    return Access(ends[0] if ends else None, machines)


_OVERVIEW = f"""
SELECT id::text, name, last_seq,
    CASE WHEN lease_until > clock_timestamp() THEN lease_owner END,
    CASE WHEN lease_until > clock_timestamp() THEN lease_until END,
    coalesce((
        SELECT json_object_agg(state, number)
        FROM (SELECT state, count(*) AS number FROM jobs WHERE workspace_id = id GROUP BY state) AS counted
    ), '{{}}'),
    (SELECT count(*) FROM jobs WHERE workspace_id = id AND {shared_jobs.HAS_FAILED}),
    CASE WHEN lease_until IS NULL OR lease_until <= clock_timestamp() THEN (
        SELECT extract(epoch FROM
            clock_timestamp() - greatest(min(greatest(changed_at, jobs.due_at)), leased_at))::double precision
        FROM jobs
        WHERE workspace_id = id AND (state = 'running' OR state = 'waiting' AND jobs.due_at <= clock_timestamp())
        HAVING count(*) > 0
    ) END,
    coalesce((
        SELECT json_object_agg(code, number)
        FROM (
            SELECT record->'error'->>'code' AS code, count(*) AS number FROM jobs
            WHERE workspace_id = id AND state = 'waiting' AND record->>'state' = 'retrying' GROUP BY 1
        ) AS met
        WHERE code IS NOT NULL
    ), '{{}}')
FROM workspaces
"""  # noqa: S608 - constants


def overview(connection: Connection, workspace_id: Id) -> Overview | None:
    """What an operator sees of a workspace; None for one that the team does not know."""
    row = connection.execute(f"{_OVERVIEW} WHERE id = %s".encode(), (workspace_id,)).fetchone()
    return None if row is None else Overview(*row)


def all_workspaces(connection: Connection) -> list[Overview]:
    """The team's workspaces, by name: the first ``MOST_WORKSPACES``."""
    found = connection.execute(f"{_OVERVIEW} ORDER BY name, id LIMIT %s".encode(), (MOST_WORKSPACES,))
    return [Overview(*row) for row in found]
