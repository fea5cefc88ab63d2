"""The person behind a token, and what they may see. Tokens are looked up at each request, so revoking is immediate; for
a request that only waits, see ``polls``."""

from __future__ import annotations

from typing import NamedTuple

from bridge.team import people, unreached
from bridge.team.postgres_team import PostgresTeam
from bridge.team.server import PersonsConnections, Server
from jobs.errors import JobError


class Caller(NamedTuple):
    """Who asks, by which token."""

    person: str
    token_id: str


def caller_of(server: Server, authorization: str | None) -> Caller:
    """The caller of a request. Raises JobError: TEAM_REFUSED."""
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() == "bearer" and token:
        with server.connection() as connection:
            found = people.person_of(connection, token.strip())
        if found is not None:
            return Caller(*found)
    raise unreached.refused_by_gateway()


def unknown() -> JobError:
    """The error for a workspace that is another's, or that there is not."""
    return JobError("TEAM_NOT_SHARED", "There is no such workspace for you.")


def named(caller: Caller, node: str) -> str:
    """A machine's name, which nobody else can take: it begins with the person's."""
    return f"{caller.person}/{node}"


def require_visible(server: Server, caller: Caller, workspace_id: str) -> None:
    """The first wall. Raises JobError: TEAM_NOT_SHARED, whether the workspace is another's or there is none."""
    with PersonsConnections(server, caller.person, workspace_id).connection() as connection:
        if not people.may_see(connection, caller.person, workspace_id):
            raise unknown()


def team_for(server: Server, caller: Caller, workspace_id: str | None) -> PostgresTeam:
    """The team as row-level security shows it to the person: the second wall."""
    return PostgresTeam(PersonsConnections(server, caller.person, workspace_id, caller.token_id))


def require_group(server: Server, caller: Caller, group: str | None) -> None:
    """Raises JobError: ARGUMENT_INVALID for a group that the person is not in."""
    if group is None:
        return
    with server.connection() as connection:
        mine = {each.name: each.groups for each in people.persons(connection)}.get(caller.person, ())
    if group not in mine:
        raise JobError("ARGUMENT_INVALID", f"You are in no group {group!r}.")
