"""Who may reach the team through a gateway: persons, their groups and their tokens.

An operator changes this with the database's own address. The gateway only reads it.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from psycopg import errors

from jobs.errors import JobError

from .server import Connection

_PREFIX = "cmt"


class Token(NamedTuple):
    """A token, without its secret. ``last_used_at`` is exact to an hour."""

    id: str
    person: str
    label: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


class Person(NamedTuple):
    """A person and their groups."""

    name: str
    groups: Sequence[str]


def add_person(connection: Connection, name: str) -> None:
    """Make a person known. Raises JobError: ARGUMENT_INVALID for a name that cannot be one."""
    _require_name(name)
    connection.execute("INSERT INTO persons (name) VALUES (%s) ON CONFLICT DO NOTHING", (name,))


def remove_person(connection: Connection, name: str) -> bool:
    """Remove a person with their memberships, and revoke their tokens. Their workspaces stay. Returns whether there was
    one."""
    with connection.transaction():
        connection.execute(
            "UPDATE tokens SET revoked_at = clock_timestamp() WHERE person = %s AND revoked_at IS NULL", (name,)
        )
        connection.execute("UPDATE workspaces SET person = NULL WHERE person = %s", (name,))
        return bool(connection.execute("DELETE FROM persons WHERE name = %s", (name,)).rowcount)


def persons(connection: Connection) -> list[Person]:
    """All persons, by name."""
    found = connection.execute(
        "SELECT name, array_remove(array_agg(group_name ORDER BY group_name), NULL) FROM persons"
        " LEFT JOIN members ON person = name GROUP BY name ORDER BY name"
    )
    return [Person(*row) for row in found]


def add_member(connection: Connection, group: str, person: str) -> None:
    """Put a person into a group, which is made if there is none. Raises JobError: ARGUMENT_INVALID."""
    _require_name(group)
    with connection.transaction():
        connection.execute("INSERT INTO groups (name) VALUES (%s) ON CONFLICT DO NOTHING", (group,))
        try:
            connection.execute(
                "INSERT INTO members (group_name, person) VALUES (%s, %s) ON CONFLICT DO NOTHING", (group, person)
            )
        except errors.ForeignKeyViolation:
            raise _unknown(f"person {person!r}") from None


def remove_member(connection: Connection, group: str, person: str) -> bool:
    """Take a person out of a group. Returns whether they were in it."""
    gone = connection.execute("DELETE FROM members WHERE group_name = %s AND person = %s", (group, person))
    return bool(gone.rowcount)


def create_token(connection: Connection, person: str, label: str, days: float | None) -> str:
    """A new token of a person, for one machine. It is returned this once. Raises JobError: ARGUMENT_INVALID."""
    token_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    made = connection.execute(
        "INSERT INTO tokens (id, person, label, digest, expires_at)"
        " SELECT %s, name, %s, %s, clock_timestamp() + make_interval(secs => %s) FROM persons WHERE name = %s"
        " FOR KEY SHARE",
        (token_id, label, _digest(secret), None if days is None else days * 86400, person),
    )
    if not made.rowcount:
        raise _unknown(f"person {person!r}")
    return f"{_PREFIX}_{token_id}_{secret}"


def revoke_token(connection: Connection, token: str) -> bool:
    """Revoke a token, at once: its id, or the whole of it. Returns whether there was one in force."""
    token_id = token.split("_")[1] if token.startswith(f"{_PREFIX}_") else token
    gone = connection.execute(
        "UPDATE tokens SET revoked_at = clock_timestamp() WHERE id = %s AND revoked_at IS NULL", (token_id,)
    )
    return bool(gone.rowcount)


def tokens(connection: Connection) -> list[Token]:
    """All tokens, by person, also ended ones and those of persons who were removed."""
    found = connection.execute(
        "SELECT id, person, label, created_at, expires_at, revoked_at, last_used_at FROM tokens"
        " ORDER BY person, created_at"
    )
    return [Token(*row) for row in found]


def person_of(connection: Connection, token: str) -> tuple[str, str] | None:
    """The person and the id of a token in force; None for any other text."""
    prefix, _, rest = token.partition("_")
    token_id, _, secret = rest.partition("_")
    if prefix != _PREFIX or not secret:
        return None
    found = _in_force(connection, token_id)
    if found is None or not hmac.compare_digest(bytes(found.digest), _digest(secret)):
        return None
    _note_use(connection, found)
    return found.person, token_id


def is_in_force(connection: Connection, token_id: str) -> bool:
    """Whether the token of this id, which is used, has been neither revoked nor removed, and has not ended."""
    found = _in_force(connection, token_id)
    if found is not None:
        _note_use(connection, found)
    return found is not None


class _InForce(NamedTuple):
    id: str
    person: str
    digest: bytes
    is_use_noted: bool


def _in_force(connection: Connection, token_id: str) -> _InForce | None:
    found = connection.execute(
        "SELECT id, person, digest, last_used_at >= clock_timestamp() - interval '1 hour' FROM tokens"
        " WHERE id = %s AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())",
        (token_id,),
    ).fetchone()
    return None if found is None else _InForce(*found)


def _note_use(connection: Connection, token: _InForce) -> None:
    """Rarely: a write for each request would cost more than the request."""
    if not token.is_use_noted:
        connection.execute("SELECT note_use(%s)", (token.id,))


def may_see(connection: Connection, person: str, workspace_id: str) -> bool:
    """Whether a person may see a workspace: their own, and those of their groups."""
    found = connection.execute(
        "SELECT 1 FROM workspaces WHERE id = %s AND (person = %s OR group_name IN"
        " (SELECT group_name FROM members WHERE members.person = %s))",
        (workspace_id, person, person),
    )
    return found.fetchone() is not None


def give(connection: Connection, workspace_id: str, person: str | None, group: str | None) -> bool:
    """Say whose a workspace is. Returns whether there is one. Raises JobError: ARGUMENT_INVALID."""
    try:
        changed = connection.execute(
            "UPDATE workspaces SET person = %s, group_name = %s WHERE id = %s", (person, group, workspace_id)
        )
    except errors.InvalidTextRepresentation:
        return False  # it is no UUID
    except errors.ForeignKeyViolation:
        raise _unknown("such person or group") from None
    return bool(changed.rowcount)


_OF_WORKSPACES = ("workspaces", "rows", "changes", "jobs", "job_askers", "job_attachments", "copies", "receipts")


def allow_gateway(connection: Connection, role: str) -> None:
    """Give a role of the database the rights of a gateway, and no others: it adds the rows of a workspace that is
    shared, and changes none; no temporary tables either, which every role may make by default. Raises JobError:
    ARGUMENT_INVALID."""
    with connection.transaction():
        _grant(connection, role, "schema_version", "persons", "groups", "members", "tokens")
        connection.execute(
            f'REVOKE UPDATE, DELETE ON rows, changes FROM "{role}"; REVOKE ALL ON receipts FROM "{role}"'.encode()
        )


def allow_host(connection: Connection, role: str) -> None:
    """Give a role of the database the rights of a pool, which reaches it directly: all rows of all workspaces, but no
    table to change, and no persons and tokens. Raises JobError: ARGUMENT_INVALID.
    """
    with connection.transaction():
        _grant(connection, role, "schema_version")
        for table in _OF_WORKSPACES:
            connection.execute(
                f'DROP POLICY IF EXISTS "hosts {role}" ON {table};'
                f' CREATE POLICY "hosts {role}" ON {table} TO "{role}" USING (true)'.encode()
            )


def _grant(connection: Connection, role: str, *read: str) -> None:
    """Let a role change what belongs to workspaces, and read these tables."""
    if not role.isidentifier():
        raise JobError("ARGUMENT_INVALID", f"{role!r} is no name of a role.")
    connection.execute(
        f'GRANT USAGE ON SCHEMA cognee_memory TO "{role}";'
        f' GRANT SELECT, INSERT, UPDATE, DELETE ON {", ".join(_OF_WORKSPACES)} TO "{role}";'
        f' GRANT SELECT ON {", ".join(read)} TO "{role}"'.encode()
    )
    (database,) = connection.execute("SELECT quote_ident(current_database())").fetchone() or ("",)
    connection.execute(f'REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC, "{role}"'.encode())


def _unknown(what: str) -> JobError:
    helps = "See who there is: cognee-memory team persons. Or add one: cognee-memory team person NAME."
    return JobError("ARGUMENT_INVALID", f"There is no {what}.", remediation=helps)


def _require_name(name: str) -> None:
    if not (0 < len(name) <= 64) or not name.isprintable() or "/" in name:
        raise JobError("ARGUMENT_INVALID", f"{name[:70]!r} cannot be a name: 1 to 64 characters, without a slash.")


def _digest(secret: str) -> bytes:
    return sha256(secret.encode()).digest()
