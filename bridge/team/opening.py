"""Reaches the team that the settings name: the only module that chooses how."""

from __future__ import annotations

import os
import stat
from importlib.util import find_spec
from typing import TYPE_CHECKING

from jobs.errors import JobError

from ..settings import Settings, user_file

if TYPE_CHECKING:
    from .protocol import Team
    from .server import Server


def team_of(settings: Settings, *, patience: float | None = None) -> Team:
    """The team. Nothing is connected yet. ``patience``: for who would rather know soon that it is not reached, the
    seconds to wait for it. Raises JobError: SETTING_INVALID."""
    require_private(settings)
    if settings.team is not None:
        if settings.team_token is None:
            raise JobError("SETTING_INVALID", "The setting team_token is missing: the token for the team's gateway.")
        from .gateway_team import GatewayTeam

        waits = {} if patience is None else {"patience": patience}
        return GatewayTeam(settings.team, settings.team_token, ca_file=settings.team_ca_file, **waits)
    require_driver()
    from .postgres_team import PostgresTeam

    return PostgresTeam(server_of(settings, patience=patience))


def server_of(settings: Settings, *, patience: float | None = None, connections: int = 4) -> Server:
    """The team's database itself, as ``team_of``. Raises JobError: SETTING_INVALID."""
    require_private(settings)
    require_driver()
    if settings.store is None:
        raise JobError(
            "SETTING_INVALID",
            "The workspace belongs to a team, and neither team nor store says where the team is.",
            remediation="Set one of them in the user's config.toml: docs/team.md.",
        )
    from . import address
    from .server import Server

    return Server(address.conninfo(settings.store), patience=patience, connections=connections)


def shown_address(settings: Settings) -> str:
    """Where the team is, for people, without a password."""
    if settings.team is not None:
        return settings.team
    if settings.store is None:
        return ""
    require_driver()
    from . import address

    return address.shown(settings.store)


def require_driver() -> None:
    """Raises JobError: TEAM_NOT_INSTALLED, unless the extra ``team`` is installed: the driver of the database."""
    if find_spec("psycopg_pool") is None:
        raise JobError("TEAM_NOT_INSTALLED")


def require_private(settings: Settings) -> None:
    """Raises JobError: SETTING_INVALID where other users can read the file that has the password or the token."""
    secrets = ("store", "pool_store", "team_token")
    if os.name == "nt" or "config.toml" not in map(settings.sources.get, secrets):
        return
    path = user_file(settings)
    if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise JobError(
            "SETTING_INVALID",
            f"Other users of this machine can read {path}, which says how to reach the team.",
            remediation=f"Run: chmod 600 {path}",
        )
