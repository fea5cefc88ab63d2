"""The gateway's way to its clients: slow ones, those that go away, strangers, and what a copy of it answers."""

import asyncio
import errno
import logging
import socket
import tempfile
import threading
from collections.abc import Callable, Coroutine, Generator, Iterator, MutableMapping
from contextlib import ExitStack, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from harness import until
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from bridge.store.team.position import CopyState
from bridge.team.rows import Position
from jobs.errors import JobError
from jobs.layout import Workspace
from worker.gateway import connections, reading as gateway_reading
from worker.gateway.access import Limits
from worker.gateway.connections import GatewayProtocol, OneLength
from worker.gateway.reading import Reading
from worker.gateway.serving import OncePerMinute
from worker.gateway.transfers import Spool, SpoolResponse, keep, received

Message = MutableMapping[str, Any]
SCOPE = {"type": "http", "method": "POST", "path": "/", "headers": [], "asgi": {"spec_version": "2.3"}}


def no_pause(size: int) -> float:
    return 0.0


class Lines:
    """Lines of a snapshot, and whether it has ended."""

    def __init__(self, count: int, size: int = 100_000, failure: Exception | None = None) -> None:
        self.count = count
        self.size = size
        self.failure = failure
        self.taken = 0
        self.has_ended = threading.Event()

    def __call__(self) -> Generator[bytes]:
        try:
            for number in range(self.count):
                self.taken += 1
                yield f"{number}".encode().ljust(self.size, b".") + b"\n"
            if self.failure is not None:
                raise self.failure
            yield b"end\n"
        finally:
            self.has_ended.set()


class Client:
    """Takes whatever is sent."""

    def __init__(self) -> None:
        self.got = bytearray()

    async def take(self, message: Message) -> None:
        self.got.extend(message.get("body", b""))


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def in_time() -> None:
        async with asyncio.timeout(60):
            await story()

    asyncio.run(in_time())


async def never() -> Message:
    await asyncio.Event().wait()
    raise AssertionError


async def sent(lines: Lines, send: Callable[[Message], Coroutine[Any, Any, None]], patience: float = 60.0) -> None:
    spool = Spool(lines())
    await spool.start()
    await SpoolResponse(spool, no_pause, spool.close, patience=patience)(dict(SCOPE), never, send)


def test_all_lines_arrive_in_their_order() -> None:
    lines, client = Lines(50), Client()
    run(lambda: sent(lines, client.take))
    assert client.got == b"".join(Lines(50)())
    assert lines.has_ended.is_set()


def test_the_snapshot_ends_while_the_client_has_taken_nothing() -> None:
    lines = Lines(50)

    async def story() -> None:
        begin = asyncio.Event()

        async def send(message: Message) -> None:
            await begin.wait()

        sending = asyncio.create_task(sent(lines, send))
        await asyncio.to_thread(lines.has_ended.wait)
        assert not sending.done()
        begin.set()
        await sending

    run(story)


def test_a_client_that_takes_nothing_is_given_up_and_its_file_is_closed() -> None:
    lines = Lines(5)
    run(lambda: sent(lines, lambda _: asyncio.Event().wait(), patience=0.05))
    assert lines.has_ended.is_set()


def test_the_snapshot_of_a_client_that_went_away_is_not_read_to_its_end() -> None:
    async def story() -> None:
        spool = Spool(lines())
        await spool.start()
        await spool.close()

    lines = Lines(10**9)
    run(story)
    assert lines.has_ended.is_set()
    assert lines.taken < lines.count


def test_an_error_before_the_first_line_is_raised_and_a_later_one_cuts_the_answer_off() -> None:
    client = Client()

    async def story() -> None:
        spool = Spool(Lines(0, failure=JobError("TEAM_NOT_SHARED"))())
        with pytest.raises(JobError, match="TEAM_NOT_SHARED"):
            await spool.start()
        await spool.close()
        await sent(Lines(3, failure=JobError("TEAM_UNREACHABLE")), client.take)

    run(story)
    assert client.got.startswith(b"0.")
    assert not client.got.endswith(b"end\n")


def test_a_full_disk_is_told_as_one_that_may_have_room_later(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, data: bytes) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        def seek(self, *place: int) -> None: ...

        def close(self) -> None: ...

    async def story() -> None:
        spool = Spool(Lines(2)())
        with pytest.raises(JobError, match="TEAM_UNREACHABLE"):
            await spool.start()
        await spool.close()

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", lambda size: Full())
    run(story)


def body(parts: list[bytes]) -> Request:
    left = list(parts)

    async def receive() -> Message:
        if not left:
            await never()
        part = left.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(left) or part != b"last"}

    return Request(dict(SCOPE), receive)


def test_a_body_is_kept_whole_and_each_part_of_it_is_counted() -> None:
    counted: list[int] = []

    def pause(size: int) -> float:
        counted.append(size)
        return 0.0

    async def story() -> None:
        with tempfile.TemporaryFile() as kept:
            await keep(received(body([b"a" * 2_000_000, b"b", b"last"]), 10**7, pause), kept)
            assert kept.read() == b"a" * 2_000_000 + b"blast"

    run(story)
    assert [size for size in counted if size] == [2_000_000, 1, 4]


@pytest.mark.parametrize(("parts", "code"), [([b"1234567890", b"1"], "HTTP_TOO_LARGE"), ([b"1"], "HTTP_TOO_SLOW")])
def test_a_body_that_is_too_large_or_does_not_come_is_refused(parts: list[bytes], code: str) -> None:
    async def story() -> None:
        with tempfile.TemporaryFile() as kept, pytest.raises(JobError, match=code):
            await keep(received(body(parts), 10, no_pause, patience=0.05), kept)

    run(story)


# --- how it bears strangers, and a log that stays short ---


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


# --- its own copies ---


def reading(here: int | None, there: int) -> Any:
    """With a copy at one position, of a workspace at another one."""
    known = {} if here is None else {"w": CopyState(Position(here, "a"), 0)}
    made = Reading.__new__(Reading)
    team = SimpleNamespace(registered=lambda _: SimpleNamespace(position=Position(there, "b")))
    reader = SimpleNamespace(answer=lambda *_: {"success": True, "warnings": []})
    made._team = lambda *_: team  # type: ignore[method-assign,assignment,return-value]
    made._want = lambda *_: None  # type: ignore[method-assign]
    made._reader = lambda _: reader  # type: ignore[method-assign,assignment,return-value]
    made._copies = SimpleNamespace(positions=lambda: known)  # type: ignore[assignment]
    return made


def test_an_answer_says_how_many_changes_its_copy_lacks() -> None:
    [warning] = reading(3, 5).answer("ann", "w", "retrieve", {}, "/here")["warnings"]
    assert "lacks the last 2 changes" in warning
    assert reading(5, 5).answer("ann", "w", "retrieve", {}, "/here")["warnings"] == []


@pytest.mark.parametrize("here", [None, 0])
def test_without_a_copy_it_asks_for_patience(here: int | None) -> None:
    with pytest.raises(JobError, match="TEAM_READER_BUSY"):
        reading(here, 5).answer("ann", "w", "retrieve", {}, "/here")


def test_a_current_copy_is_opened_while_its_memories_are_not_compared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its child compares what is open when nothing else is asked."""
    made = reading(5, 5)
    made._team("ann", "w").note_copy = lambda *_: None
    made._child, made._wanted, made._is_stopped, made._lock = SimpleNamespace(), {}, False, threading.Condition()
    copy = SimpleNamespace(workspace=Workspace(tmp_path / "w"), membership=SimpleNamespace(node="n"))
    made._copies.folder, made._copies.remove_oldest = tmp_path, lambda _: None
    made._copies.use = lambda _: nullcontext(copy)
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "person").write_text("ann")
    monkeypatch.setattr(gateway_reading, "_LOOK_SECONDS", 0)
    monkeypatch.setattr(gateway_reading, "uncompared_in", lambda place: 3)
    monkeypatch.setattr("worker.team.copy_follower.follow", lambda child: setattr(made, "_is_stopped", True))
    made._run()
    assert (made._child.workspace_id, made._child.person) == ("w", "ann")
