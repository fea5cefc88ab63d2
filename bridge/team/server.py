"""Connections to the team's Postgres, and its errors as error codes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psycopg
from psycopg import errors
from psycopg_pool import ConnectionPool, PoolTimeout

from jobs.errors import JobError

from . import schema, unreached

log = logging.getLogger(__name__)

Connection = psycopg.Connection[Any]

logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # it warns of each try to connect, also on a terminal

_CONNECT_SECONDS = 10
_IDLE_SECONDS = 300.0

# A lost server is noticed within seconds, also where no packet says so.
_NETWORK: dict[str, Any] = {
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "application_name": "cognee-memory",
}

# A client that is cut off inside a transaction holds its locks until the server gives it up: after hours, if not told
# otherwise. Keepalives find one whose packets are lost; the timeout, one behind a proxy that answers them.
_OF_SERVER = "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3"
_SILENT_SECONDS = 10
_SILENT_READER_SECONDS = 300  # without locks; a slow laptop may take the gateway's rows this slowly


class Server:
    """The team's database, for the threads of one process. It connects when it is first used."""

    def __init__(
        self,
        dsn: str,
        *,
        connections: int = 4,
        upgrades: bool = True,
        tells_reasons: bool = True,
    ) -> None:
        """``upgrades``: create the schema, or upgrade it; otherwise it must be there in this version. Without
        ``tells_reasons``, errors of the database go to the log alone: whoever asked need not know of it."""
        self._upgrades = upgrades
        self._tells_reasons = tells_reasons
        self._dsn = dsn
        self._arguments: dict[str, Any] = {
            **_NETWORK,
            "autocommit": True,
            "options": f"-c search_path={schema.NAME},pg_catalog"
            f" -c idle_in_transaction_session_timeout={_SILENT_SECONDS}s {_OF_SERVER}",
            "connect_timeout": _CONNECT_SECONDS,
        }
        self._pool = ConnectionPool(
            dsn,
            min_size=0,
            max_size=connections,
            open=False,
            timeout=_CONNECT_SECONDS,
            max_idle=_IDLE_SECONDS,
            kwargs=self._arguments,
            check=self._look,
        )
        self._version: int | None = None  # of the schema, as of the last use

    def _look(self, connection: Connection) -> None:
        """Check a connection of the pool before each use, and read the schema's version by the same query: another
        machine may have upgraded it meanwhile."""
        try:
            self._version = schema.noted(connection)
        except (errors.UndefinedTable, errors.InvalidSchemaName, errors.InsufficientPrivilege):
            self._version = None

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection for the block, in autocommit, with the schema in its present version.

        Raises JobError: TEAM_UNREACHABLE, TEAM_REFUSED, TEAM_NEWER, TEAM_UNUSABLE.
        """
        with failing_clearly(tells_reasons=self._tells_reasons):
            self._open()
            with self._pool.connection() as connection:
                if self._version != schema.VERSION:
                    (schema.bring_up if self._upgrades else schema.require_present)(connection)
                with _left_if_read_only(connection):
                    yield connection

    def _open(self) -> None:
        """Open the pool. It tries to connect for a while and does not say what failed; a first connection made here
        does, at once."""
        if not self._pool.get_stats()["pool_size"]:
            psycopg.connect(self._dsn, **self._arguments).close()
        self._pool.open()

    @contextmanager
    def connection_of_its_own(self) -> Iterator[Connection]:
        """A connection for the block that is not one of the pool's, for who waits on it. Raises as ``connection``."""
        found = failing_clearly(tells_reasons=self._tells_reasons)
        with found, psycopg.connect(self._dsn, **self._arguments) as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A connection that sees one state of the database for the whole block. Raises as ``connection``."""
        with self.connection() as connection, connection.transaction():
            connection.execute(_READ_ONE_STATE)
            yield connection

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


class PersonsConnections:
    """Connections for one request of a person about a workspace: row-level security shows nothing else."""

    def __init__(self, server: Server, person: str, workspace_id: str | None, token_id: str | None = None) -> None:
        self._server = server
        self._settings = (person, workspace_id or "", token_id or "")

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """As ``Server.connection``, with one transaction for the block."""
        with self._server.connection() as connection, connection.transaction():
            name_person(connection, *self._settings)
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """As ``Server.snapshot``."""
        with self._server.snapshot() as connection:
            name_person(connection, *self._settings)
            yield connection

    def connection_of_its_own(self) -> AbstractContextManager[Connection]:
        """Not for a request: the gateway listens for all."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing: the server's connections are for all requests."""


def name_person(connection: Connection, person: str, workspace_id: str, token_id: str) -> None:
    """Show the transaction what the person may see of this workspace, and nothing else."""
    connection.execute(_SET_PERSON, (person, workspace_id, token_id))


@contextmanager
def _left_if_read_only(connection: Connection) -> Iterator[None]:
    """Close a connection to a server that only reads now: another one has taken its place, perhaps under its name."""
    try:
        yield
    except errors.ReadOnlySqlTransaction:
        connection.close()
        raise


_READ_ONE_STATE = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;"
    f" SET LOCAL idle_in_transaction_session_timeout = '{_SILENT_READER_SECONDS}s'"
).encode()
# For the transaction: nothing of a person is left on a connection, also where a pooler gives it to another request.
_SET_PERSON = (
    "SELECT set_config('cognee_memory.person', %s, true), set_config('cognee_memory.workspace', %s, true),"
    " set_config('cognee_memory.token', %s, true)"
)


@contextmanager
def failing_clearly(*, tells_reasons: bool = True) -> Iterator[None]:
    """Raise errors of Postgres as JobError: TEAM_UNREACHABLE, TEAM_REFUSED, TEAM_UNUSABLE. Other errors pass.

    No message has a password or a part of a memory. Without ``tells_reasons``, the log has it instead.
    """
    try:
        yield
    except (psycopg.Error, PoolTimeout) as error:
        found = _error_of(error)
        if tells_reasons:
            raise found from None
        if isinstance(error, psycopg.DataError):  # a number out of range, or a text that is no time: the request's
            raise JobError("ARGUMENT_INVALID", "The request has a value that no column takes.") from None
        log.warning("%s", found)
        code = "TEAM_UNUSABLE" if found.code == "TEAM_UNUSABLE" else "TEAM_UNREACHABLE"
        raise JobError(code, "The gateway cannot use its database now. Its log says why.") from None


def _error_of(error: Exception) -> JobError:
    if isinstance(error, _REFUSALS) or _is_password_wrong(error):
        remedy = "Check the setting store, the password file, and the rights of the database's role."
        return JobError("TEAM_REFUSED", f"The team's database refused access: {_said(error)}.", remediation=remedy)
    if isinstance(error, _OUTAGES):
        return unreached.of_database(_said(error))
    return JobError("TEAM_UNUSABLE", f"The team's database answered with an error: {_said(error)}.")


_REFUSALS = (errors.InvalidPassword, errors.InvalidAuthorizationSpecification, errors.InsufficientPrivilege)
# Also of a server that is ended or full, or a standby: it is reached again once there is a primary.
_OUTAGES = (
    psycopg.OperationalError,
    PoolTimeout,
    errors.IdleInTransactionSessionTimeout,
    errors.ReadOnlySqlTransaction,
)


_NOT_CONNECTED = "connection failed: "


def _is_password_wrong(error: Exception) -> bool:
    """Whether a connection was not made since the server wanted a password and had none, or refused after it had one.
    Such an error has no code."""
    if not isinstance(error, psycopg.OperationalError) or not str(error).startswith(_NOT_CONNECTED):
        return False
    connection = error.pgconn
    return connection is not None and bool(connection.needs_password or connection.used_password)


def _said(error: Exception) -> str:
    """What the server said, without details that may quote a row."""
    if isinstance(error, PoolTimeout):
        return "no connection in time"
    said = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    if said:
        return f"{type(error).__name__}: {said}"
    if isinstance(error, psycopg.OperationalError) and str(error).startswith(_NOT_CONNECTED):  # of the last address
        first, *_ = str(error).rpartition("failed: ")[2].split("\n")  # then it asks whether the server runs
        return (" ".join(first.split())[:300] or type(error).__name__).rstrip(".")
    return type(error).__name__
