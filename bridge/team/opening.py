"""Reaches the team that the settings name: the only module that chooses how."""

from __future__ import annotations

from jobs.errors import JobError

from ..settings import Settings
from . import address
from .protocol import Team


def team_of(settings: Settings) -> Team:
    """The team. Nothing is connected yet. Raises JobError: SETTING_INVALID."""
    if settings.store is None:
        raise JobError(
            "SETTING_INVALID",
            "The workspace belongs to a team, and the setting store, the address of the team's database, is missing.",
            remediation="Set it in the user's config.toml: docs/team.md.",
        )
    from .postgres_team import PostgresTeam
    from .server import Server

    return PostgresTeam(Server(address.conninfo(settings.store)))
