"""Which workspaces of this user belong to a team: a file in the user's configuration folder for each.

It is named by the workspace's owner id, so no repository can put a workspace into a team, and a moved workspace stays
in its own. A workspace without a file is this machine's alone, whatever the setting ``team`` says.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from jobs import clock, files, state_file
from jobs.errors import JobError
from jobs.layout import Workspace

from .. import trust

_FOLDER = "teams"


@dataclass(frozen=True, slots=True)
class Membership:
    """A workspace in a team. ``node`` names this machine's copy of it, and no other one. ``shares``: whether it came
    from here, so that it is made known to the team, as ``name`` or by its folder's. ``is_pool``: the copy is a pool's,
    which has the database's own address."""

    workspace_id: str
    node: str
    shares: bool
    name: str | None = None
    is_pool: bool = False


def membership_of(workspace: Workspace, config_folder: Path) -> Membership | None:
    """The membership; None for a workspace of this machine alone.

    Raises JobError: SETTING_INVALID for a file that cannot be read, since then nothing may be stored.
    """
    path = trust.entry_path(workspace, config_folder, _FOLDER)
    if path is None:
        return None

    def membership(entry: Any) -> Membership:
        is_pool = bool(entry.get("is_pool"))
        name = None if entry.get("name") is None else str(entry["name"])
        node = f"{'pool-' if is_pool else ''}{entry.get('machine') or socket.gethostname()}/{path.stem[:12]}"
        return Membership(str(UUID(entry["workspace_id"])), node, bool(entry["shares"]), name, is_pool)

    found = state_file.read(path, membership, absent=None, damaged="damaged")
    if isinstance(found, str):
        raise JobError(
            "SETTING_INVALID",
            f"{path} cannot be read, so it is unknown to which team the workspace belongs.",
            remediation="Join again: cognee-memory team join. To leave the team instead, remove the file.",
        )
    return found


def require_machine(name: str | None) -> None:
    """Raises JobError: SETTING_INVALID for a name that a machine cannot have."""
    if name is not None and (not 0 < len(name) <= 64 or not name.isprintable() or "/" in name):
        raise JobError(
            "SETTING_INVALID", f"The setting team_machine is {name[:70]!r}: 1 to 64 characters, without a slash."
        )


def join(
    workspace: Workspace,
    config_folder: Path,
    workspace_id: str,
    *,
    shares: bool = False,
    name: str | None = None,
    machine: str | None = None,
    is_pool: bool = False,
) -> Membership:
    """Note that the workspace belongs to a team. ``name``: the workspace's, instead of its folder's. ``machine``: this
    machine's, instead of the host's.

    Raises JobError: WORKSPACE_NOT_TRUSTED; also as ``trust.write_entry``.
    """
    trust.adopt(workspace, config_folder)
    path = trust.entry_path(workspace, config_folder, _FOLDER)
    assert path is not None
    entry = {
        "workspace_id": workspace_id,
        "shares": shares,
        "name": name,
        "machine": machine,
        "is_pool": is_pool,
        "path": str(workspace.root),
        "joined_at": clock.iso(clock.now()),
    }
    trust.write_entry(path, entry)
    found = membership_of(workspace, config_folder)
    assert found is not None
    return found


def leave(workspace: Workspace, config_folder: Path) -> None:
    """Forget the membership. What is stored stays. Raises JobError: CONFIG_UNWRITABLE."""
    path = trust.entry_path(workspace, config_folder, _FOLDER)
    if path is None:
        return
    try:
        files.remove(path)
    except OSError as error:
        raise JobError("CONFIG_UNWRITABLE", f"{config_folder} cannot be written: {error.strerror}.") from error
