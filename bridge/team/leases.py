"""Leases: which worker of a pool runs a workspace's jobs. It is what the lock file is to the workers of one machine.

A lease ends by the server's clock, unless its holder renews it. Each has a higher number than the one before. The
number is the fence: whatever its holder writes is refused once another worker has taken the workspace, also if the
holder was only paused or cut off and does not know it yet.

The knowledge graph is made from the memories by one pool, its owner, which alone runs the jobs that need it: who first
runs such a job, and for as long as it is seen. What the graph holds can be made again anywhere, so the owner's end
needs no fence of its own: its jobs commit under the lease, as all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from jobs.errors import JobError

from . import retention

if TYPE_CHECKING:
    from .server import Connection

GRAPH_SECONDS = 120.0  # since its owner was last seen

# Whether a pool may run the job ``jobs`` of the workspace ``workspaces`` now.
MAY_RUN = "(NOT needs_graph OR graph_owner IS NULL OR graph_owner = %(node)s OR graph_until <= clock_timestamp())"


class Lease(NamedTuple):
    """The right to run a workspace's jobs: the number tells it from earlier and later ones."""

    workspace_id: str
    number: int


# Which workspaces a worker serves.
_SERVED = """
NOT is_paused
AND (%(served)s::uuid[] IS NULL OR id = ANY(%(served)s::uuid[]))
AND (%(embedder)s::text IS NULL OR embedder = %(embedder)s)
AND (%(format)s::integer IS NULL OR format <= %(format)s)
"""

_TAKE = f"""
UPDATE workspaces SET lease = lease + 1, lease_owner = %(node)s, leased_at = clock_timestamp(),
    lease_until = clock_timestamp() + make_interval(secs => %(seconds)s)
WHERE id = (
    SELECT id FROM workspaces
    WHERE due_at <= clock_timestamp() AND {_SERVED}
        AND EXISTS (
            SELECT 1 FROM jobs WHERE workspace_id = workspaces.id AND (
                state = 'running'
                OR state = 'waiting' AND jobs.due_at <= clock_timestamp() AND {MAY_RUN}
            )
        )
        AND (lease_until IS NULL OR lease_until <= clock_timestamp())
    ORDER BY priority DESC, leased_at
    LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
)
RETURNING id::text, lease
"""  # noqa: S608 - constants


def take(
    connection: Connection,
    node: str,
    served: Sequence[str] | None,
    seconds: float,
    *,
    embedder: str | None = None,
    format_: int | None = None,
) -> Lease | None:
    """Take the lease of a workspace that no one holds, with a due job that this machine can run: of the highest
    priority, then of the one that was leased longest ago, so that no workspace waits for the backlog of another. None
    if there is none.

    ``served``: the ids of the workspaces that this worker runs; None for all. ``embedder`` and ``format_``: only of
    workspaces with this embedding model, and whose rows need at most this format of memory.db.
    """
    wanted = _wanted(node, served, embedder, format_) | {"seconds": seconds}
    found = connection.execute(_TAKE, wanted).fetchone()
    return None if found is None else Lease(*found)


_DUE_IN = """
SELECT extract(epoch FROM min(greatest(clock_timestamp(), lease_until, CASE state WHEN 'waiting' THEN greatest(
    jobs.due_at, CASE WHEN needs_graph AND graph_owner <> %(node)s THEN graph_until END
) END)) - clock_timestamp())::double precision
FROM workspaces JOIN jobs ON workspace_id = id
WHERE state IN ('running', 'waiting') AND
"""


def due_in(
    connection: Connection,
    node: str,
    served: Sequence[str] | None = None,
    *,
    embedder: str | None = None,
    format_: int | None = None,
) -> float | None:
    """The seconds until ``take`` may have a lease for this machine, unless somebody tells of a change before: a job is
    due then, or the lease or the ownership of the graph that keeps it from running ends. None if no job waits."""
    found = connection.execute((_DUE_IN + _SERVED).encode(), _wanted(node, served, embedder, format_)).fetchone()
    return None if found is None else found[0]


def _wanted(node: str, served: Sequence[str] | None, embedder: str | None, format_: int | None) -> dict[str, Any]:
    return {
        "node": node,
        "served": None if served is None else list(served),
        "embedder": embedder,
        "format": format_,
    }


def own_graph(connection: Connection, lease: Lease) -> None:
    """Note that the lease's holder runs a job that needs the graph: it owns the graph from now on."""
    connection.execute(
        "UPDATE workspaces SET graph_owner = lease_owner,"
        " graph_until = clock_timestamp() + make_interval(secs => %s) WHERE id = %s AND lease = %s",
        (GRAPH_SECONDS, *lease),
    )


def keep_graphs(connection: Connection, node: str, *, keeps: bool = True) -> None:
    """Note that the pool is there and runs jobs, so that the graphs that it owns stay its own. With ``keeps=False``, it
    lets others have them."""
    connection.execute(
        "UPDATE workspaces SET graph_until = clock_timestamp() + make_interval(secs => %s) WHERE graph_owner = %s",
        (GRAPH_SECONDS if keeps else 0, node),
    )


def renew(connection: Connection, lease: Lease, seconds: float) -> bool:
    """Hold the lease for so many more seconds. False if it is lost."""
    renewed = connection.execute(
        "UPDATE workspaces SET lease_until = clock_timestamp() + make_interval(secs => %s)"
        " WHERE id = %s AND lease = %s AND lease_owner IS NOT NULL",  # else it was released meanwhile
        (seconds, lease.workspace_id, lease.number),
    )
    return bool(renewed.rowcount)


def require(connection: Connection, lease: Lease) -> None:
    """Lock the workspace's row for the transaction. Raises JobError: TEAM_LEASE_LOST if another worker took it.

    A lease that has ended without another one holds.
    """
    found = connection.execute(
        "SELECT 1 FROM workspaces WHERE id = %s AND lease = %s FOR NO KEY UPDATE", lease
    ).fetchone()
    if found is None:
        raise JobError("TEAM_LEASE_LOST")


_RELEASE = """
UPDATE workspaces SET lease_owner = NULL, lease_until = NULL, due_at = waiting.due_at,
    priority = coalesce(waiting.priority, 0)
FROM (
    SELECT min(CASE state WHEN 'running' THEN '-infinity' ELSE due_at END) AS due_at, max(priority) AS priority
    FROM jobs WHERE workspace_id = %(id)s AND state IN ('waiting', 'running')
) AS waiting
WHERE id = %(id)s AND lease = %(number)s
RETURNING pruned_at < clock_timestamp() - interval '1 day', waiting.due_at IS NOT NULL
"""


def release(connection: Connection, lease: Lease) -> bool:
    """Give the lease up, and note when the workspace's next job is due. Nothing if it is lost. Once a day, what need
    not be kept for ever is removed then. Returns whether jobs wait: then the others are to be told.
    """
    with connection.transaction():
        try:
            require(connection, lease)  # first: a job that is posted meanwhile waits for this, and is not overlooked
        except JobError:
            return False
        found = connection.execute(_RELEASE, {"id": lease.workspace_id, "number": lease.number}).fetchone()
    if found is not None and found[0]:
        connection.execute("UPDATE workspaces SET pruned_at = clock_timestamp() WHERE id = %s", (lease.workspace_id,))
        retention.prune(connection, lease.workspace_id)
    return found is not None and bool(found[1])
