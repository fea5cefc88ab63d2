"""What is told of a database that cannot be reached or does not let us in: at once, with the server's own words."""

import logging
import time
from typing import Any

import pytest
from postgres import free_port
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from bridge.team.postgres_team import PostgresTeam
from bridge.team.server import Server
from jobs.errors import JobError

MISTAKES: dict[str, tuple[dict[str, Any], str, str]] = {
    "a wrong password": ({"password": "wrong"}, "TEAM_REFUSED", "password authentication failed"),
    "no password": ({"password": None}, "TEAM_REFUSED", "no password supplied"),
    "an unknown user": ({"user": "nobody-here"}, "TEAM_REFUSED", "nobody-here"),
    "an unknown database": ({"dbname": "nowhere"}, "TEAM_REFUSED", "nowhere"),
    "nobody listens": ({"port": free_port()}, "TEAM_UNREACHABLE", "refused"),
}


def address(dsn: str, mistake: dict[str, Any]) -> str:
    return make_conninfo(**{k: v for k, v in (conninfo_to_dict(dsn) | mistake).items() if v is not None})


def error_of(server: Server) -> JobError:
    try:
        with pytest.raises(JobError) as caught:
            PostgresTeam(server).workspaces()
        return caught.value
    finally:
        server.close()


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_address_is_told_at_once_in_the_servers_words(
    mistake: str, dsn: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PGPASSFILE", "/dev/null")
    changed, code, said = MISTAKES[mistake]
    began = time.monotonic()
    error = error_of(Server(address(dsn, changed)))
    assert (error.code, said in error.message) == (code, True), error.message
    assert time.monotonic() - began < 30, "not after its patience"
    assert str(conninfo_to_dict(dsn)["password"]) not in error.message
    assert not [each for each in caplog.records if each.name == "psycopg.pool"], "a terminal shows one message"


def use_while_it_ends(server: Server, other: Server) -> None:
    with server.connection() as connection:
        pid = connection.info.backend_pid
        with other.connection() as killer:
            killer.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
        connection.execute("SELECT 1")


def test_a_server_that_goes_away_within_a_connection_is_not_reached_and_has_refused_nobody(dsn: str) -> None:
    server = Server(dsn)
    other = Server(dsn)
    try:
        with pytest.raises(JobError, match="TEAM_UNREACHABLE"):
            use_while_it_ends(server, other)
    finally:
        server.close()
        other.close()


@pytest.mark.parametrize("mistake", ["a wrong password", "nobody listens"])
def test_a_gateway_tells_its_log_alone_the_reason(mistake: str, dsn: str, caplog: pytest.LogCaptureFixture) -> None:
    changed, _, said = MISTAKES[mistake]
    with caplog.at_level(logging.WARNING):
        error = error_of(Server(address(dsn, changed), tells_reasons=False))
    assert (error.code, said in error.message) == ("TEAM_UNREACHABLE", False), "a token is not refused by it"
    assert said in caplog.text
