"""Questions about a workspace that is too large for a copy here: the team's gateway answers them."""

from __future__ import annotations

from threading import Lock
from typing import Any

from jobs.errors import JobError
from jobs.layout import Workspace

from .. import trust
from . import membership
from .gateway_team import GatewayTeam
from .opening import team_of

_lock = Lock()
_kept: tuple[tuple[str | None, str | None, str | None], GatewayTeam] | None = (
    None  # with its connections, for more questions
)


def ask(workspace: Workspace, verb: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The answer, as this machine would give it from a copy.

    Raises JobError: TEAM_NO_COPY outside of a team, TEAM_READER_BUSY, SETTING_INVALID, TEAM_UNREACHABLE, TEAM_REFUSED,
    TEAM_NOT_SHARED.
    """
    global _kept
    settings = trust.settings_of(workspace)
    found = membership.membership_of(workspace, settings.config_folder)
    if found is None:
        raise JobError("TEAM_NO_COPY")
    reached_by = (settings.team, settings.team_token, settings.team_ca_file)
    with _lock:
        if _kept is None or _kept[0] != reached_by:
            _kept = reached_by, team_of(settings)
        gateway = _kept[1]
    return gateway.answer(found.workspace_id, verb, arguments, str(workspace.root))
