"""A team without machines: its database as a worker asks it, a workspace there, and the folder of a copy."""

from pathlib import Path
from uuid import uuid4

from inbox_door import job_of

from bridge.team.leases import Lease
from bridge.team.postgres_team import PostgresTeam
from bridge.team.rows import Author, Described
from jobs import clock, lifecycle
from jobs.layout import Workspace


def shared_workspace(team: PostgresTeam, embedder: str = "fake") -> str:
    """The id of a new workspace without memories."""
    found = str(uuid4())
    team.share(Described(found, "w", 8, embedder, 8), str(uuid4()), [], Author("first"))
    return found


def post(team: PostgresTeam, workspace_id: str, job_id: str, node: str = "first") -> None:
    """Post a job that was accepted just now."""
    job = job_of(job_id)
    assert team.post(workspace_id, node, [(job, lifecycle.accept(job, clock.now()))]) == {job_id: "posted"}


def taken(team: PostgresTeam, node: str, *workspace_ids: str) -> Lease:
    """The lease of one of these workspaces, which has a job that is due."""
    lease = team.take(node, workspace_ids, 60.0)
    assert lease is not None
    return lease


def place_of(folder: Path) -> Workspace:
    """A workspace in a folder that may be there."""
    folder.mkdir(exist_ok=True)
    workspace = Workspace(folder)
    workspace.memory.mkdir(mode=0o700, exist_ok=True)
    return workspace
