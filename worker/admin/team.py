"""A workspace's team, for operators: share it, join one, leave it, and see how far its copies are.

The worker that runs is stopped before, and started again after the membership has changed: it reads it when it starts.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any, TypedDict
from uuid import UUID, uuid4

from bridge.settings import Settings
from bridge.store import opening
from bridge.team import copy_age, membership, opening as team_opening
from bridge.team.copies import Overview
from bridge.team.membership import Membership
from jobs import clock, spool
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.states import LIVE


class TeamCopy(TypedDict):
    """A machine's copy. ``behind``: the changes that it has not applied. ``forgets``: the changes since which copies of
    forgotten texts may be left there."""

    node: str
    behind: int
    forgets: int
    version: str
    seen_at: str


class TeamWorkspace(TypedDict):
    """A workspace of the team. ``jobs``: their number by state: waiting, running, ended."""

    workspace_id: str
    name: str
    changes: int
    lease_owner: str | None
    lease_until: str | None
    jobs: dict[str, int]


class TeamStatus(TypedDict):
    """The team of this workspace, as the database and this machine see it.

    ``behind``: the changes that the copy here has not applied; None before it has any.
    """

    address: str
    node: str
    workspace: TeamWorkspace | None
    behind: int | None
    copies: list[TeamCopy]


def share(workspace: Workspace, settings: Settings) -> Membership:
    """Make the workspace the team's: its worker sends all memories when it starts.

    Raises JobError: ARGUMENT_INVALID if it belongs to a team already, SETTING_INVALID, CONFIG_UNWRITABLE and what
    reaching the database raises.
    """
    _require_none(workspace, settings)
    with closing(team_opening.team_of(settings)) as reached:
        reached.time()  # before anything is changed
    known = opening.workspace_id_of(workspace)
    return membership.join(workspace, settings.config_folder, known or str(uuid4()), shares=True)


def join(workspace: Workspace, settings: Settings, workspace_id: str) -> Membership:
    """Make the folder a copy of a workspace of the team.

    Raises JobError: as ``share``; ARGUMENT_INVALID for an id that is none, TEAM_NOT_SHARED for one that the team does
    not know, or where memories of another workspace are here.
    """
    _require_none(workspace, settings)
    try:
        wanted = str(UUID(workspace_id))
    except ValueError:
        raise JobError("ARGUMENT_INVALID", f"{workspace_id!r} is no workspace's id.") from None
    with closing(team_opening.team_of(settings)) as reached:
        if reached.registered(wanted) is None:
            raise JobError("TEAM_NOT_SHARED", f"The team's database knows no workspace {wanted}.")
    with opening.open_memories(workspace) as here:
        if here.last_number() and opening.workspace_id_of(workspace) != wanted:
            raise JobError("TEAM_NOT_SHARED")
    return membership.join(workspace, settings.config_folder, wanted)


def _require_none(workspace: Workspace, settings: Settings) -> None:
    found = membership.membership_of(workspace, settings.config_folder)
    if found is not None:
        raise JobError("ARGUMENT_INVALID", f"The workspace belongs to a team already, as {found.workspace_id}.")


def leave(workspace: Workspace, settings: Settings) -> None:
    """Make the workspace this machine's alone, with all memories that its copy has. The team keeps its own.

    The caller has stopped the worker. Raises JobError: ARGUMENT_INVALID if it belongs to no team, or while jobs of it
    wait, which would then run here and there.
    """
    found = _require_member(workspace, settings)
    waiting = sum(1 for record in spool.records(workspace.spool) if record.state in LIVE)
    if waiting:
        raise JobError(
            "ARGUMENT_INVALID",
            f"{waiting} jobs of this machine wait or run in the team.",
            remediation="Wait for their end, or cancel them: cognee-memory jobs list.",
        )
    opening.leave_team(workspace)
    membership.leave(workspace, settings.config_folder)
    copy_age.forget(workspace)
    try:
        with closing(team_opening.team_of(settings)) as reached:
            reached.remove_copy(found.workspace_id, found.node)
    except JobError:
        pass  # the database cannot be reached: there the copy is one that was not seen for long


def _require_member(workspace: Workspace, settings: Settings) -> Membership:
    found = membership.membership_of(workspace, settings.config_folder)
    if found is None:
        raise JobError(
            "ARGUMENT_INVALID",
            "The workspace belongs to no team.",
            remediation="Share it: cognee-memory team share. Or join one: cognee-memory team join ID.",
        )
    return found


def status(workspace: Workspace, settings: Settings) -> TeamStatus:
    """The workspace's team. Raises JobError: ARGUMENT_INVALID if it belongs to none, and what reaching it raises."""
    found = _require_member(workspace, settings)
    with closing(team_opening.team_of(settings)) as reached:
        seen = reached.overview(found.workspace_id)
        machines = reached.copies(found.workspace_id)
    here = opening.copy_state(workspace).position
    return {
        "address": team_opening.shown_address(settings),
        "node": found.node,
        "workspace": None if seen is None else _workspace(seen),
        "behind": None if here is None or seen is None else max(0, seen.last_seq - here.seq),
        "copies": [
            {
                "node": each.node,
                "behind": each.behind,
                "forgets": each.forgets,
                "version": each.version,
                "seen_at": clock.iso(each.seen_at),
            }
            for each in machines
        ],
    }


def list_workspaces(settings: Settings, limit: int) -> list[TeamWorkspace]:
    """The workspaces of the team. Raises JobError as ``status``."""
    with closing(team_opening.team_of(settings)) as reached:
        return [_workspace(each) for each in reached.workspaces(limit)]


def _workspace(seen: Overview) -> TeamWorkspace:
    states: dict[str, Any] = {"waiting": 0, "running": 0, "ended": 0} | seen.jobs
    return {
        "workspace_id": seen.workspace_id,
        "name": seen.name,
        "changes": seen.last_seq,
        "lease_owner": seen.lease_owner,
        "lease_until": None if seen.lease_until is None else clock.iso(seen.lease_until),
        "jobs": states,
    }
