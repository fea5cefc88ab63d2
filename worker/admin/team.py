"""A workspace's team, for operators: share it, join one, leave it, and see how far its copies are.

The worker that runs is stopped before, and started again after the membership has changed: it reads it when it starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, cast
from uuid import UUID, uuid4

from bridge.settings import Settings
from bridge.store import opening
from bridge.team import copy_age, last_try, membership, opening as team_opening, server_clock, unreached
from bridge.team.copies import Copy, Machine, Overview
from bridge.team.membership import Membership
from bridge.team.protocol import Team
from bridge.team.shared_jobs import MOST_FAILED
from jobs import clock, spool
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.states import LIVE

if TYPE_CHECKING:
    from .shapes import TeamCopy, TeamFailedJob, TeamStatus, TeamWorkspace


def share(workspace: Workspace, settings: Settings, name: str | None = None) -> Membership:
    """Make the workspace the team's, as ``name`` or by its folder's: its worker sends all memories when it starts.

    Raises JobError: ARGUMENT_INVALID if it belongs to a team already, SETTING_INVALID, CONFIG_UNWRITABLE and what
    reaching the database raises.
    """
    _require_alone(workspace, settings)
    if name is not None and not (0 < len(name) <= 200 and name.isprintable()):
        raise JobError("ARGUMENT_INVALID", "The name of a workspace has 1 to 200 printable characters.")
    with closing(team_opening.team_of(settings)) as reached:
        reached.time()  # before anything is changed
    known = opening.workspace_id_of(workspace)
    machine = settings.team_machine
    made = known or str(uuid4())
    return membership.join(workspace, settings.config_folder, made, shares=True, name=name, machine=machine)


def join(workspace: Workspace, settings: Settings, id_or_name: str) -> Membership:
    """Make the folder a copy of a workspace of the team.

    Raises JobError: as ``share``; ARGUMENT_INVALID for a name that no workspace has or more than one, TEAM_NOT_SHARED
    for an id that the team does not know, or where memories of another workspace are here.
    """
    _require_alone(workspace, settings)
    with closing(team_opening.team_of(settings)) as reached:
        wanted = _wanted(reached, id_or_name)
        if reached.registered(wanted) is None:
            raise JobError("TEAM_NOT_SHARED", f"The team's database knows no workspace {wanted}.")
    with opening.open_memories(workspace) as here:
        if here.last_number() and opening.workspace_id_of(workspace) != wanted:
            raise JobError("TEAM_NOT_SHARED")
    return membership.join(workspace, settings.config_folder, wanted, machine=settings.team_machine)


def _wanted(reached: Team, id_or_name: str) -> str:
    try:
        return str(UUID(id_or_name))
    except ValueError:
        pass
    found = [each.workspace_id for each in reached.workspaces() if each.name == id_or_name]
    if len(found) == 1:
        return found[0]
    said = f"{len(found)} workspaces are called {id_or_name!r}" if found else f"You see no workspace {id_or_name!r}"
    ids = f" Their ids: {', '.join(found[:10])}." if found else " A name, or an id, is needed."
    raise JobError("ARGUMENT_INVALID", f"{said}.{ids}", remediation="See what there is: cognee-memory team list.")


def _require_alone(workspace: Workspace, settings: Settings) -> None:
    """Raises JobError: ARGUMENT_INVALID if the workspace belongs to a team, SETTING_INVALID for a wrong name of this
    machine."""
    found = membership.membership_of(workspace, settings.config_folder)
    if found is not None:
        raise JobError("ARGUMENT_INVALID", f"The workspace belongs to a team already, as {found.workspace_id}.")
    membership.require_machine(settings.team_machine)


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
    last_try.forget(workspace)
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


def status(workspace: Workspace, settings: Settings, *, patience: float | None = None) -> TeamStatus:
    """The workspace's team; where it is not reached, what is known here, with the error.

    ``patience``: the seconds after which it counts as not reached. Raises JobError: ARGUMENT_INVALID for a workspace
    that belongs to no team, and what reading memory.db raises.
    """
    found = _require_member(workspace, settings)
    is_yet_to_share = found.shares and opening.copy_state(workspace).position is None
    try:
        with closing(team_opening.team_of(settings, patience=patience)) as reached:
            seen = reached.overview(found.workspace_id)
            if seen is None:
                raise unreached.not_shown(is_yet_to_share=is_yet_to_share)
            copies = reached.copies(found.workspace_id)
            access = reached.access(found.workspace_id)
            ahead = server_clock.ahead(reached)
            failed = reached.failed_jobs(found.workspace_id, MOST_FAILED)
    except JobError as error:
        known = known_here(workspace, settings, found, error)
        return {**known, "position": None} if is_yet_to_share else known  # it may have been shared meanwhile
    known = known_here(workspace, settings, found, None)
    machines = {} if access is None else {each.node: each for each in access.machines}
    here = known["position"]
    behind = None if here is None else max(0, seen.last_seq - here)
    return {
        **known,
        "workspace": _workspace(seen),
        "clock_ahead_seconds": round(ahead.total_seconds(), 1),
        "behind": behind,
        "token_ends_at": None if access is None or access.expires_at is None else clock.iso(access.expires_at),
        "copies": [_copy(each, machines.get(each.node), behind, found) for each in copies],
        "failed_jobs": [cast("TeamFailedJob", clock.with_texts(asdict(each))) for each in failed],
    }


def dismiss(workspace: Workspace, settings: Settings, job_ids: Sequence[str] | None) -> int:
    """Remove failed jobs, or all of them, from what the team's operators see. Returns how many. Raises JobError: as
    ``status``, and what reaching the team raises."""
    found = _require_member(workspace, settings)
    with closing(team_opening.team_of(settings)) as reached:
        return reached.dismiss(found.workspace_id, job_ids)


def known_here(workspace: Workspace, settings: Settings, found: Membership, error: JobError | None) -> TeamStatus:
    """What this machine knows of the team without asking it. Raises JobError as reading memory.db."""
    state = opening.copy_state(workspace)
    here = state.position
    return {
        "address": settings.team or "",
        "node": found.node,
        "error": None if error is None else error.as_dict(),
        "workspace": None,
        "has_copy": not copy_age.has_no_copy(workspace),
        "position": None if here is None else here.seq,
        "behind": None,
        "current_at": copy_age.current_at(workspace),
        "clock_ahead_seconds": None,
        "token_ends_at": None,
        "set_aside": [{"table": each.table, "key": each.key, "why": each.why} for each in state.set_aside],
        "copies": [],
        "failed_jobs": [],
    }


def list_workspaces(settings: Settings, limit: int) -> list[TeamWorkspace]:
    """The workspaces of the team: for an operator, who has the database's address, all. Raises JobError:
    SETTING_INVALID, and what reaching it raises."""
    is_operator = settings.team is None and settings.store is not None
    with closing((team_opening.whole_team_of if is_operator else team_opening.team_of)(settings)) as reached:
        return [_workspace(each) for each in reached.workspaces()[:limit]]


def _workspace(seen: Overview) -> TeamWorkspace:
    return {
        "workspace_id": seen.workspace_id,
        "name": seen.name,
        "changes": seen.last_seq,
        "lease_owner": seen.lease_owner,
        "lease_until": None if seen.lease_until is None else clock.iso(seen.lease_until),
        "jobs": {
            "waiting": seen.jobs.get("waiting", 0),
            "running": seen.jobs.get("running", 0),
            "ended": seen.jobs.get("ended", 0),
            "failed": seen.failed,
        },
        "idle_seconds": None if seen.idle_seconds is None else round(seen.idle_seconds, 1),
        "retrying": seen.retrying,
    }


def _copy(seen: Copy, machine: Machine | None, behind: int | None, here: Membership) -> TeamCopy:
    """``behind``: of the copy here, as memory.db has it now; what the team knows of it is older."""
    is_here = seen.node == here.node or seen.node.endswith(f"/{here.node}")  # a gateway puts the person before it
    return {
        **cast("TeamCopy", clock.with_texts(asdict(seen))),
        "behind": seen.behind if behind is None or not is_here else behind,
        "label": None if machine is None else machine.label,
        "has_access": machine is None or machine.has_access,
    }
