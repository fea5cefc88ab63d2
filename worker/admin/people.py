"""Persons, groups, tokens and rights of a team's gateway, for operators who have the database's own address."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import closing
from typing import Any

from bridge.settings import Settings
from bridge.team import opening, people, schema
from bridge.team.server import Connection
from jobs import clock
from jobs.errors import JobError

Asked = Callable[[Settings, argparse.Namespace], dict[str, Any]]


def _with_database(ask: Callable[[Connection, argparse.Namespace], dict[str, Any]]) -> Asked:
    """The function with a connection to the database, whose tables are created or upgraded if necessary."""

    def asked(settings: Settings, args: argparse.Namespace) -> dict[str, Any]:
        with closing(opening.server_of(settings)) as server, server.connection() as connection:
            return ask(connection, args)

    return asked


def _changed(changed: bool, now: str) -> dict[str, Any]:
    """``now``: what holds after the change, for people."""
    return {"changed": changed, "now": now}


def _group(connection: Connection, group: str) -> str:
    members = [each.name for each in people.persons(connection) if group in each.groups]
    return f"{group}: {', '.join(members) or 'nobody'}"


def _database(connection: Connection, args: argparse.Namespace) -> dict[str, Any]:
    said = [f"The tables have version {schema.VERSION}."]
    if args.gateway_role is not None:
        people.allow_gateway(connection, args.gateway_role)
        said.append(f"{args.gateway_role} has a gateway's rights.")
    if args.host_role is not None:
        people.allow_host(connection, args.host_role)
        said.append(f"{args.host_role} has a host's rights.")
    return _changed(True, " ".join(said))


def _person(connection: Connection, args: argparse.Namespace) -> dict[str, Any]:
    people.add_person(connection, args.person)
    return _changed(True, f"Persons: {', '.join(each.name for each in people.persons(connection))}")


def _remove_person(connection: Connection, args: argparse.Namespace) -> dict[str, Any]:
    is_removed = people.remove_person(connection, args.person)
    return _changed(is_removed, f"{args.person} is removed, and has no tokens and groups any more.")


def _persons(connection: Connection, args: argparse.Namespace) -> dict[str, Any]:
    return {"persons": [{"name": each.name, "groups": list(each.groups)} for each in people.persons(connection)]}


def _member(connection: Connection, args: argparse.Namespace) -> dict[str, Any]:
    people.add_member(connection, args.group, args.person)
    return _changed(True, _group(connection, args.group))


def _remove_member(connection: Connection, args: argparse.Namespace) -> dict[str, Any]:
    is_removed = people.remove_member(connection, args.group, args.person)
    return _changed(is_removed, _group(connection, args.group))


def _token(connection: Connection, args: argparse.Namespace) -> dict[str, Any]:
    return {"token": people.create_token(connection, args.person, args.machine, args.days)}


def _tokens(connection: Connection, args: argparse.Namespace) -> dict[str, Any]:
    return {
        "tokens": [
            {
                "id": each.id,
                "person": each.person,
                "label": each.label,
                "created_at": clock.iso(each.created_at),
                "expires_at": None if each.expires_at is None else clock.iso(each.expires_at),
                "revoked_at": None if each.revoked_at is None else clock.iso(each.revoked_at),
                "last_used_at": None if each.last_used_at is None else clock.iso(each.last_used_at),
            }
            for each in people.tokens(connection)
        ]
    }


def _give(connection: Connection, args: argparse.Namespace) -> dict[str, Any]:
    is_given = people.give(connection, args.id, args.person, args.group)
    seen = [f"the person {args.person}"] * bool(args.person) + [f"the group {args.group}"] * bool(args.group)
    return _changed(is_given, f"{args.id} is seen by {' and '.join(seen) or 'nobody'} through the gateway.")


def _revoke(connection: Connection, args: argparse.Namespace) -> dict[str, Any]:
    if not people.revoke_token(connection, args.token):
        raise JobError(
            "ARGUMENT_INVALID",
            "No token in force has this id: nothing was revoked.",
            remediation="The ids are the first column of: cognee-memory team tokens",
        )
    return _changed(True, "The token is revoked: its machine is refused from now on.")


# By the verb of the command ``team``.
ASKED: dict[str, Asked] = {
    "database": _with_database(_database),
    "person": _with_database(_person),
    "persons": _with_database(_persons),
    "remove-person": _with_database(_remove_person),
    "member": _with_database(_member),
    "remove-member": _with_database(_remove_member),
    "token": _with_database(_token),
    "tokens": _with_database(_tokens),
    "revoke": _with_database(_revoke),
    "give": _with_database(_give),
}
