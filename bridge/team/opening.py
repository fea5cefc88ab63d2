"""Opens the team that the settings name: members reach it by its gateway, the service by its database."""

from __future__ import annotations

import os
import stat
from importlib.util import find_spec
from typing import TYPE_CHECKING

from jobs.errors import JobError

from ..settings import Settings, user_file

if TYPE_CHECKING:
    from .gateway_team import GatewayTeam
    from .postgres_team import PostgresTeam
    from .server import Server


def team_of(settings: Settings, *, patience: float | None = None) -> GatewayTeam:
    """The team, by its gateway. Nothing is connected yet. ``patience``: the seconds after which the gateway counts as
    not reached; by default, those of ``GatewayTeam``. Raises JobError: SETTING_INVALID."""
    require_private(settings)
    if settings.team is None:
        raise JobError(
            "SETTING_INVALID",
            "The setting team is missing: the address of the team's gateway. The setting store, if there is one, is for"
            " gateways, pools and operators.",
            remediation="Ask an operator for the address and a token, and set team and team_token in the user's"
            " config.toml: docs/team.md.",
        )
    if settings.team_token is None:
        raise JobError("SETTING_INVALID", "The setting team_token is missing: the token for the team's gateway.")
    from .gateway_team import GatewayTeam

    waits = {} if patience is None else {"patience": patience}
    return GatewayTeam(settings.team, settings.team_token, ca_file=settings.team_ca_file, **waits)


def server_of(settings: Settings, *, connections: int = 4, upgrades: bool = True, tells_reasons: bool = True) -> Server:
    """The team's database itself, for gateways, pools and operators. The options are those of ``Server``. Raises
    JobError: SETTING_INVALID, TEAM_NOT_INSTALLED."""
    require_private(settings)
    require_driver()
    if settings.store is None:
        raise JobError(
            "SETTING_INVALID",
            "The setting store is missing: the address of the team's database.",
            remediation="Set it in the user's config.toml: docs/team-operations.md.",
        )
    from . import address
    from .server import Server

    return Server(
        address.conninfo(settings.store), connections=connections, upgrades=upgrades, tells_reasons=tells_reasons
    )


def whole_team_of(settings: Settings) -> PostgresTeam:
    """All of the team, for a pool or an operator, by its database. Raises as ``server_of``."""
    server = server_of(settings)
    from .postgres_team import PostgresTeam

    return PostgresTeam(server)


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
