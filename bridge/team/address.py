"""The address of the team's database: what is required of it.

It comes from the setting ``store``, which only the user's own configuration and environment can give. A password is
better kept in a password file of PostgreSQL (``~/.pgpass``, or ``PGPASSFILE``) than in the address.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from jobs.errors import JobError

from ..settings import postgres_host_is_in_environment, postgres_password_file
from .wire import is_this_machine

_REMEDY = "Correct the setting store: docs/team-operations.md."


def conninfo(address: str) -> str:
    """What psycopg connects with. Off this machine, the server's certificate and name are always verified.

    Raises JobError: SETTING_INVALID, without the address, which may have a password.
    """
    parts = _parts(address)
    if not _is_local(parts):
        asked = parts.setdefault("sslmode", "verify-full")
        if asked != "verify-full":
            raise JobError(
                "SETTING_INVALID",
                f"The team's database is on another machine, and sslmode is {asked}: it must be verify-full, so that"
                " nobody else can answer in its place.",
                remediation=_REMEDY,
            )
        parts.setdefault("sslrootcert", "system")
    parts.setdefault("passfile", str(postgres_password_file()))
    return make_conninfo(**parts)


def _parts(address: str) -> dict[str, Any]:
    if not address.startswith(("postgresql://", "postgres://")):
        raise JobError("SETTING_INVALID", "The setting store is no address postgresql://….", remediation=_REMEDY)
    try:
        return {name: value for name, value in conninfo_to_dict(address).items() if value is not None}
    except (ProgrammingError, UnicodeError, ValueError):
        raise JobError(
            "SETTING_INVALID",
            "The setting store cannot be read as an address. In a user's name and a password, write characters such as"
            " @, : and / as %40, %3A and %2F.",
            remediation=_REMEDY,
        ) from None


def _is_local(parts: dict[str, Any]) -> bool:
    """Whether all hosts are this machine: a loopback address, or the folder of a socket. Where the address leaves a
    host out, the driver takes that of its environment or of a service's file: it may be anywhere."""
    hosts = str(parts.get("hostaddr") or parts.get("host") or "").split(",")
    may_be_anywhere = "service" in parts or postgres_host_is_in_environment()
    return all(_is_here(host) if host else not may_be_anywhere for host in hosts)


def _is_here(host: str) -> bool:
    return Path(host).is_absolute() or is_this_machine(host.strip("[]"))
