"""Persons, groups, tokens and rights of a team's gateway, for operators who have the database's own address."""

from __future__ import annotations

import argparse
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
        return _asked(connection, args)


def _asked(connection: Connection, args: argparse.Namespace) -> dict[str, Any]:
    match args.verb:
        case "database":
            return _changed(_database(connection, args))
        case "person":
            people.add_person(connection, args.person)
            return _changed(f"Persons: {', '.join(each.name for each in people.persons(connection))}")
        case "persons":
            return {"persons": [each._asdict() for each in people.persons(connection)]}
        case "remove-person":
            is_removed = people.remove_person(connection, args.person)
            return _changed(f"{args.person} is removed, and has no tokens and groups any more.", is_removed)
        case "member":
            people.add_member(connection, args.group, args.person)
            return _changed(_group(connection, args.group))
        case "remove-member":
            is_removed = people.remove_member(connection, args.group, args.person)
            return _changed(_group(connection, args.group), is_removed)
        case "token":
            if args.days is not None and not 0 < args.days <= _MOST_DAYS:
                raise JobError("ARGUMENT_INVALID", f"--days must be more than 0, and at most {_MOST_DAYS:,}.")
            return {"token": people.create_token(connection, args.person, args.machine, args.days)}
        case "tokens":
            return {"tokens": [clock.with_texts(each._asdict()) for each in people.tokens(connection)]}
        case "give":
            return _changed(_give(connection, args))
        case _:  # revoke
            return _changed(_revoke(connection, args))


def _changed(now: str, changed: bool = True) -> dict[str, Any]:
    """``now``: what holds after the change, for people."""
    return {"changed": changed, "now": now}


def _group(connection: Connection, group: str) -> str:
    members = [each.name for each in people.persons(connection) if group in each.groups]
    return f"{group}: {', '.join(members) or 'nobody'}"


def _database(connection: Connection, args: argparse.Namespace) -> str:
    said = [f"The tables have version {schema.VERSION}."]
    if args.gateway_role is not None:
        people.allow_gateway(connection, args.gateway_role)
        said.append(f"{args.gateway_role} has a gateway's rights.")
    if args.host_role is not None:
        people.allow_host(connection, args.host_role)
        said.append(f"{args.host_role} has a host's rights.")
    return " ".join(said)


def _give(connection: Connection, args: argparse.Namespace) -> str:
    if not people.give(connection, args.id, args.person, args.group):
        helps = "See the ids: cognee-memory team list."
        raise JobError("ARGUMENT_INVALID", f"No workspace has the id {args.id!r}.", remediation=helps)
    seen = [f"the person {args.person}"] * bool(args.person) + [f"the group {args.group}"] * bool(args.group)
    return f"{args.id} is seen by {' and '.join(seen) or 'nobody'} through the gateway."


def _revoke(connection: Connection, args: argparse.Namespace) -> str:
    if not people.revoke_token(connection, args.token):
        raise JobError(
            "ARGUMENT_INVALID",
            "No token in force has this id: nothing was revoked.",
            remediation="The ids are the first column of: cognee-memory team tokens",
        )
    return "The token is revoked: its machine is refused from now on."
