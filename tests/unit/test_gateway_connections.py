"""How the gateway bears strangers: silent connections, doubled lengths, wrong tokens, and a log that stays short."""

import asyncio
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import uvicorn
from harness import until
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from jobs.errors import JobError
from worker.gateway import connections
from worker.gateway.connections import GatewayProtocol, OneLength
from worker.gateway.limits import Limits
from worker.gateway.serving import OncePerMinute

ASK = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Bounded(GatewayProtocol):
    most = 12
    most_of_address = 8


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[uvicorn.Server]:
    monkeypatch.setattr(connections, "_MOST_WAITING", 4)
    routes = [Route("/", lambda request: PlainTextResponse("here"), methods=["GET", "POST"])]
    app = Starlette(routes=routes, middleware=[Middleware(OneLength)])
    config = uvicorn.Config(app, http=Bounded, loop="asyncio", lifespan="off", log_config=None, access_log=False)
    listening = socket.create_server(("127.0.0.1", 0))
    running = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(running.serve([listening])))
    thread.start()
    until(lambda: running.started, "it serves")
    yield running
    running.should_exit = True
    thread.join(30)


def connect(server: uvicorn.Server, source: str = "127.0.0.1") -> socket.socket:
    address: Any = server.servers[0].sockets[0].getsockname()
    return socket.create_connection(address, 30, source_address=(source, 0))


def answer(connection: socket.socket, data: bytes = ASK) -> bytes:
    connection.sendall(data)
    said = b""
    while not said.endswith(b"here") and (part := connection.recv(4096)):
        said += part
    return said


def is_closed(connection: socket.socket) -> bool:
    connection.settimeout(0.01)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def test_connections_of_one_address_that_say_nothing_make_room_for_those_that_ask(server: uvicorn.Server) -> None:
    with ExitStack() as stack:
        silent = [stack.enter_context(connect(server)) for _ in range(20)]
        for connection in silent:
            connection.sendall(b"GET / HTTP/1.1\r\nHo")
        until(lambda: sum(map(is_closed, silent)) == 16, "all but the last few are closed")
        assert answer(stack.enter_context(connect(server))).startswith(b"HTTP/1.1 200")


def test_an_address_that_has_all_its_connections_takes_none_of_anothers(server: uvicorn.Server) -> None:
    with ExitStack() as stack:
        other = stack.enter_context(connect(server, "127.0.0.2"))
        assert answer(other).startswith(b"HTTP/1.1 200")
        for _ in range(8):
            assert answer(stack.enter_context(connect(server))).startswith(b"HTTP/1.1 200")
        beyond = stack.enter_context(connect(server))
        until(lambda: is_closed(beyond), "it has its most, and none is silent")
        assert answer(stack.enter_context(connect(server, "127.0.0.2"))).startswith(b"HTTP/1.1 200")
        assert answer(other).startswith(b"HTTP/1.1 200"), "it is still connected"


def test_a_head_that_does_not_come_ends_its_connection(server: uvicorn.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bounded, "head_seconds", 0.2)
    with connect(server) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        until(lambda: is_closed(connection), "it is closed")


def test_a_body_whose_length_is_said_in_two_ways_is_refused_with_all_that_follows(server: uvicorn.Server) -> None:
    with connect(server) as connection:
        head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head + b"2\r\n{}\r\n0\r\n\r\n" + ASK)
        connection.settimeout(30)
        said = b"".join(iter(lambda: connection.recv(4096), b""))
    assert said.startswith(b"HTTP/1.1 400")
    assert (b"connection: close" in said, said.count(b"HTTP/1.1")) == (True, 1)


def test_an_address_that_tries_wrong_tokens_is_limited_and_who_has_a_right_one_there_is_not() -> None:
    limits = Limits(1200, 1024)
    limits.note_right("Bearer ann's")
    for guess in range(20):
        limits.require_trial("here", f"Bearer {guess}", 0.0)
        limits.note_wrong("here", f"Bearer {guess}", 0.0)
    with pytest.raises(JobError) as caught:
        limits.require_trial("here", "Bearer wrong", 0.0)
    assert (caught.value.code, caught.value.details["retry_after_seconds"]) == ("TEAM_LIMITED", 3.0)
    limits.require_trial("here", "Bearer ann's", 0.0)
    limits.require_trial("elsewhere", "Bearer wrong", 0.0)
    limits.require_trial("here", "Bearer wrong", 3.1)


def test_a_machine_that_was_revoked_keeps_nobody_at_its_address_from_a_new_token() -> None:
    limits = Limits(1200, 1024)
    limits.note_right("Bearer ann's")
    limits.note_wrong("here", "Bearer ann's", 0.0)
    for _ in range(100):
        with pytest.raises(JobError, match="TEAM_REFUSED"):
            limits.require_trial("here", "Bearer ann's", 59.0)
    limits.require_trial("here", "Bearer new", 59.0)
    limits.require_trial("here", "Bearer ann's", 60.0)  # looked up again


def test_the_log_says_the_same_once_a_minute_and_how_often_it_was_left_out(caplog: pytest.LogCaptureFixture) -> None:
    seen = OncePerMinute()

    def line(at: float, text: str, *arguments: object, level: int = logging.ERROR) -> logging.LogRecord:
        record = logging.LogRecord("asyncio", level, "", 0, text, arguments, None)
        record.created = at
        return record

    assert seen.filter(line(0, "too many files\nsocket: %s", 1))
    assert not any(seen.filter(line(at, "too many files\nsocket: %s", at)) for at in range(1, 60))
    assert seen.filter(line(5, "something else"))
    assert all(seen.filter(line(at, "done", level=logging.INFO)) for at in range(5))
    last = line(61, "too many files\nsocket: %s", 7)
    assert seen.filter(last)
    assert last.getMessage() == "too many files\nsocket: 7 (59 more of this cause since)"


def test_questions_of_one_person_wait_for_each_other_and_leave_room_for_anothers() -> None:
    asyncio.run(questions_at_once())


async def questions_at_once() -> None:
    limits, asked, held = Limits(1200, 1024), [], asyncio.Event()

    async def ask(person: str) -> None:
        async with limits.question(person):
            asked.append(person)
            await held.wait()

    async with asyncio.TaskGroup() as group:
        for person in ("ann", "ann", "ann", "ann", "bob"):
            group.create_task(ask(person))
        for _ in range(10):
            await asyncio.sleep(0)
        assert sorted(asked) == ["ann", "ann", "bob"]
        held.set()
    assert asked.count("ann") == 4
