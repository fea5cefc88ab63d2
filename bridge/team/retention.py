"""What the team's database need not keep for ever, once a day for each workspace: ended jobs, and notes about changes.

Memories are never removed by it. That a job had its effect is noted for longer than its record: a machine that was away
for months posts its jobs again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .server import Connection


JOBS_DAYS = 90
"""For which an ended job is kept; also the answer to a machine that asked and was not seen since."""
CHANGES_DAYS = 180
"""For which it is known who made a change. A copy that is further behind asks for all rows."""

EFFECTS_DAYS = 365
"""For which it is noted that a job had its effect."""

ATTACHMENTS_DAYS = 7
"""For which something is kept that was attached to a job that never came."""


def prune(connection: Connection, workspace_id: str) -> None:
    """Remove what is older. Several workers may do it at a time."""
    connection.execute(
        "DELETE FROM jobs WHERE workspace_id = %s AND state = 'ended'"
        " AND changed_at < clock_timestamp() - make_interval(days => %s)",
        (workspace_id, JOBS_DAYS),
    )
    connection.execute(
        "DELETE FROM changes USING workspaces WHERE workspaces.id = workspace_id AND workspace_id = %s"
        " AND seq < last_seq AND at < clock_timestamp() - make_interval(days => %s)",
        (workspace_id, CHANGES_DAYS),
    )
    connection.execute(
        "DELETE FROM rows WHERE workspace_id = %s AND tbl = 'effects'"
        " AND (value IS NULL OR (value->>'at')::timestamptz < clock_timestamp() - make_interval(days => %s))",
        (workspace_id, EFFECTS_DAYS),
    )
    connection.execute(
        "DELETE FROM job_attachments AS a WHERE workspace_id = %s"
        " AND attached_at < clock_timestamp() - make_interval(days => %s) AND NOT EXISTS"
        " (SELECT 1 FROM jobs AS j WHERE j.workspace_id = a.workspace_id AND j.job_id = a.job_id AND state <> 'ended')",
        (workspace_id, ATTACHMENTS_DAYS),
    )
