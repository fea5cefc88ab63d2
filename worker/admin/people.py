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

_MOST_DAYS = 36_500


def asked(settings: Settings, args: argparse.Namespace) -> dict[str, Any]:
    """The answer of the command ``team VERB``. The tables of the database are created or upgraded if necessary."""
    with closing(opening.server_of(settings)) as server, server.connection() as connection:
        return _BY_VERB[args.verb](connection, args)


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
    return {"persons": [each._asdict() for each in people.persons(connection)]}


def _member(connection: Connection, args: argparse.Namespace) -> dict[str, Any]:
    people.add_member(connection, args.group, args.person)
    return _changed(True, _group(connection, args.group))


def _remove_member(connection: Connection, args: argparse.Namespace) -> dict[str, Any]:
    is_removed = people.remove_member(connection, args.group, args.person)
    return _changed(is_removed, _group(connection, args.group))


def _token(connection: Connection, args: argparse.Namespace) -> dict[str, Any]:
    if args.days is not None and not 0 < args.days <= _MOST_DAYS:
        raise JobError("ARGUMENT_INVALID", f"--days must be more than 0, and at most {_MOST_DAYS:,}.")
    return {"token": people.create_token(connection, args.person, args.machine, args.days)}


def _tokens(connection: Connection, args: argparse.Namespace) -> dict[str, Any]:
    return {"tokens": [clock.with_texts(each._asdict()) for each in people.tokens(connection)]}


def _give(connection: Connection, args: argparse.Namespace) -> dict[str, Any]:
    if not people.give(connection, args.id, args.person, args.group):
        helps = "See the ids: cognee-memory team list."
        raise JobError("ARGUMENT_INVALID", f"No workspace has the id {args.id!r}.", remediation=helps)
    seen = [f"the person {args.person}"] * bool(args.person) + [f"the group {args.group}"] * bool(args.group)
    return _changed(True, f"{args.id} is seen by {' and '.join(seen) or 'nobody'} through the gateway.")


def _revoke(connection: Connection, args: argparse.Namespace) -> dict[str, Any]:
    if not people.revoke_token(connection, args.token):
        raise JobError(
            "ARGUMENT_INVALID",
            "No token in force has this id: nothing was revoked.",
            remediation="The ids are the first column of: cognee-memory team tokens",
        )
    return _changed(True, "The token is revoked: its machine is refused from now on.")


_BY_VERB: dict[str, Callable[[Connection, argparse.Namespace], dict[str, Any]]] = {
    "database": _database,
    "person": _person,
    "persons": _persons,
    "remove-person": _remove_person,
    "member": _member,
    "remove-member": _remove_member,
    "token": _token,
    "tokens": _tokens,
    "revoke": _revoke,
    "give": _give,
}
