"""What the HTTP server lets in, how it answers and with what: the real server on a real socket, over told answers."""

import asyncio
import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from harness import PATIENCE, until
from http_server import TOKEN, Reply, Running

from bridge import trust
from bridge.interface import envelope
from bridge.search.reader import Verb
from bridge.settings import load
from jobs.errors import ERRORS, JobError
from jobs.layout import Workspace
from worker.connections import BoundedProtocol
from worker.http import bodies as http_bodies, executor as http_executor, replies as http_replies
from worker.http.executor import RequestExecutor
from worker.monitoring.counters import Counters
from worker.server import idle_server as module


class Told:
    """Answers with what it was asked, or as it is told; a question that is ``hold`` waits until it is released."""

    def __init__(self) -> None:
        self.workspace = Workspace(Path("/nowhere"))
        self.counters = Counters()
        self.is_ready = True
        self.in_flight = 0
        self.asked_at = time.monotonic()
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.found: dict[str, Any] | Exception | None = None
        self.released = asyncio.Event()

    def require_ready(self) -> None:
        if not self.is_ready:
            raise JobError("NOT_READY", details={"reason": "model"})

    async def run(self, do: Callable[[], Any], *, waits: bool = False) -> Any:
        return do()

    async def moment(self, *asked: Any) -> Any:
        self.asked.append(("moment", asked))
        return envelope.success(context="")

    async def ask(self, verb: Verb, arguments: dict[str, Any], *, whole: bool) -> tuple[dict[str, Any], bytes]:
        self.asked.append((verb, arguments))
        self.whole = whole
        if isinstance(self.found, Exception):
            raise self.found
        self.in_flight += 1
        if arguments.get("query") == "hold":
            await self.released.wait()
        self.in_flight -= 1
        self.asked_at = time.monotonic()
        found = self.found or envelope.success(verb=verb, given=arguments, note="ü – 状态")
        return found, envelope.encoded(found)


def send_on(connection: socket.socket, data: bytes) -> None:
    """Send the same again and again, for as long as it is taken."""
    began = time.monotonic()
    while time.monotonic() - began < 30:
        connection.sendall(data)
        time.sleep(0.01)


def received(connection: socket.socket) -> bytes:
    """All that comes until the other side has closed the connection."""
    try:
        return b"".join(iter(lambda: connection.recv(65536), b""))
    except ConnectionResetError:
        return b""


@contextmanager
def being_answered(running: Running) -> Iterator[None]:
    """Somebody's question is held meanwhile, and answered in the end."""
    found: list[Reply] = []
    asker = threading.Thread(target=lambda: found.append(running.ask(body={"query": "hold"})))
    asker.start()
    until(lambda: running.told.in_flight == 1, "it is being answered")
    yield
    running.loop.call_soon_threadsafe(running.told.released.set)
    asker.join()
    assert found[0].status == 200


@pytest.fixture(scope="module")
def server_for_all() -> Iterator[Running]:
    """Ending one takes longer than most tests."""
    made = Running(Told())
    yield made
    made.close()


@pytest.fixture
def running(server_for_all: Running) -> Running:
    Told.__init__(server_for_all.told)
    return server_for_all


@pytest.mark.parametrize("verb", ["retrieve", "explain", "context"])
def test_a_question_is_passed_on_and_its_answer_is_what_the_command_line_prints(running: Running, verb: str) -> None:
    given = {"query": "ü", "max_results": 3}
    reply = running.ask(f"/v1/{verb}", given)
    assert running.told.asked == [(verb, given)]
    assert reply.data == envelope.encoded(envelope.success(verb=verb, given=given, note="ü – 状态"))
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")


def test_a_question_may_say_that_it_is_whole_without_the_settings_here(running: Running) -> None:
    for query, whole in (("", False), ("?settings=none", True)):
        assert running.ask(f"/v1/retrieve{query}").status == 200
        assert running.told.whole is whole
    for query in ("?settings=", "?settings=all", "?setings=none", "?settings=none&settings=none"):
        assert running.ask(f"/v1/retrieve{query}").code == "ARGUMENT_INVALID"


BEYOND: list[dict[str, Any]] = [
    {"prompt": "a" * 100_001}, {"file": "a" * 4_097}, {"output": "a" * 100_001}, {"output": None}, {"shown": None},
    {"shown": [0]}, {"shown": [2**53 + 1]}, {"shown": [True]},
]  # fmt: skip


def test_a_moment_is_passed_on_as_far_as_the_document_allows(running: Running) -> None:
    within = {"prompt": "a" * 100_000, "file": "a" * 4_096, "output": "a" * 100_000, "shown": [1, 2**53]}
    assert running.ask("/v1/moment", body=within).status == 200
    assert running.told.asked == [("moment", tuple(within.values()))]
    for given in BEYOND:
        assert running.ask("/v1/moment", body=given).outcome == (400, "ARGUMENT_INVALID"), given


def test_an_answer_says_nothing_of_the_server_and_is_kept_by_nobody(running: Running) -> None:
    headers = running.ask().headers
    assert "server" not in headers
    assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff")
    assert not any(name.startswith("access-control") for name in headers)


# --- who is let in ---


@pytest.mark.parametrize("path", ["/v1/retrieve", "/v1/explain", "/v1/context", "/readyz", "/", "/nowhere"])
@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN[:-1], TOKEN + "x", "ü"])
def test_without_the_token_nothing_is_told_not_even_what_is(running: Running, path: str, token: str | None) -> None:
    reply = running.ask(path, token=token)
    assert (reply.status, reply.code) == (401, "HTTP_UNAUTHORIZED")
    assert reply.headers["www-authenticate"].startswith("Bearer")
    assert running.told.asked == []


@pytest.mark.parametrize("value", [f"bearer {TOKEN}", f"Basic {TOKEN}", TOKEN, f"Bearer  {TOKEN}"])
def test_the_token_in_another_form_is_none(running: Running, value: str) -> None:
    assert running.ask(token=None, Authorization=value).status == 401


def test_that_it_lives_is_told_without_the_token(running: Running) -> None:
    reply = running.ask("/healthz", method="GET", token=None)
    assert (reply.status, json.loads(reply.data)["status"]) == (200, "alive")


def test_that_it_is_ready_is_told_once_the_model_is_loaded(running: Running) -> None:
    running.told.is_ready = False
    reply = running.ask("/readyz", method="GET")
    assert (reply.status, reply.code, reply.headers["retry-after"]) == (503, "NOT_READY", "1")
    running.told.is_ready = True
    assert running.ask("/readyz", method="GET").status == 200


@pytest.mark.parametrize(
    "host", ["example.com", "example.com:{port}", "127.0.0.1", "127.0.0.1:1", "localhost", "localhost.:{port}", "",
             "127.0.0.1:{port}.example.com", "0.0.0.0:{port}", "127.0.0.1:{port}@example.com"]
)  # fmt: skip
@pytest.mark.parametrize("path", ["/v1/retrieve", "/healthz", "/", "/assets/app.js", "/v1/session"])
def test_a_name_that_was_made_to_point_here_is_refused(running: Running, host: str, path: str) -> None:
    """DNS rebinding: a page of example.com that asks example.com, which now is this machine."""
    assert running.ask(path, Host=host.format(port=running.port)).outcome == (403, "HTTP_FORBIDDEN")
    assert running.told.asked == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_this_machines_own_names_are_served(running: Running, host: str) -> None:
    assert running.ask(Host=f"{host}:{running.port}").status == 200


def test_a_request_without_or_with_two_hosts_is_refused(running: Running) -> None:
    head = f"POST /v1/retrieve HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 0\r\n"
    own = f"Host: 127.0.0.1:{running.port}\r\n"
    for hosts in ("", own + own, own + "Host: example.com\r\n"):
        assert running.raw(f"{head}{hosts}\r\n".encode()).split(b" ")[1] in (b"400", b"403")
    assert running.raw(f"{head.replace('HTTP/1.1', 'HTTP/1.0')}\r\n".encode()).split(b" ")[1] == b"403"
    assert running.told.asked == []


@pytest.mark.parametrize("origin", ["http://example.com", "https://127.0.0.1:{port}", "http://127.0.0.1", "null", ""])
def test_a_page_of_another_site_is_refused(running: Running, origin: str) -> None:
    assert running.ask(Origin=origin.format(port=running.port)).outcome == (403, "HTTP_FORBIDDEN")


def test_a_page_of_our_own_is_served(running: Running) -> None:
    assert running.ask(Origin=f"http://127.0.0.1:{running.port}").status == 200


@pytest.mark.parametrize(
    "kind",
    [None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx",
     "text/plain; application/json", "application/json; charset=utf-16"],
)  # fmt: skip
def test_what_a_form_of_another_site_can_send_is_refused(running: Running, kind: str | None) -> None:
    assert running.ask(Content_Type=kind).outcome == (415, "HTTP_NOT_JSON")


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON", "application/json; charset=UTF-8"])
def test_json_by_any_spelling_is_read(running: Running, kind: str) -> None:
    assert running.ask(Content_Type=kind).status == 200


def test_a_browser_that_asks_whether_it_may_is_told_no(running: Running) -> None:
    reply = running.ask(method="OPTIONS", Origin="http://example.com", Access_Control_Request_Method="POST")
    assert reply.status == 403
    assert not any(name.startswith("access-control") for name in reply.headers)


# --- what is sent ---


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"7", b"null", b'"text"', b"\xff\xfe{}", b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}"],
    ids=lambda body: repr(body[:12]),
)  # fmt: skip
def test_a_body_that_is_no_object_is_wrong_usage(running: Running, body: bytes) -> None:
    assert running.ask(body=body).outcome == (400, "ARGUMENT_INVALID")
    assert running.told.asked == []


def test_an_unknown_argument_is_refused_with_the_nearest_known_one(running: Running) -> None:
    reply = running.ask(body={"query": "x", "max_result": 3})
    assert (reply.status, reply.code) == (400, "ARGUMENT_INVALID")
    assert "max_results" in json.loads(reply.data)["error"]
    assert running.ask(body={"query": "x", "ids": [1]}).status == 400
    assert running.ask(body={"query": "x", "maxResults": 3}).status == 200, "as TypeScript writes it"
    assert running.ask("/v1/explain", {"query": "x", "ids": [1], "limit": 3}).status == 200


def test_a_body_of_a_megabyte_is_read_and_a_larger_one_refused(running: Running) -> None:
    def body(size: int) -> bytes:
        return b'{"query": "' + b"x" * (size - 13) + b'"}'

    assert len(body(http_bodies.BODY_BYTES)) == http_bodies.BODY_BYTES
    assert running.ask(body=body(http_bodies.BODY_BYTES)).status == 200
    for size in (http_bodies.BODY_BYTES + 1, 4 * http_bodies.BODY_BYTES):
        assert running.ask(body=body(size)).outcome == (413, "HTTP_TOO_LARGE")
    assert running.ask().status == 200


def test_a_body_without_measure_is_refused_before_it_is_read(running: Running) -> None:
    head = f"POST /v1/retrieve HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
    head += "Content-Type: application/json\r\n"
    assert running.raw(f"{head}Content-Length: {10**12}\r\n\r\n".encode()).startswith(b"HTTP/1.1 413 ")
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    with running.connect() as connection:
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        with pytest.raises(OSError):  # the connection is closed under it
            send_on(connection, chunk)


@pytest.mark.parametrize("path", ["/v1", "/v1/retrieve/", "/v1/../v1/retrieve", "/docs", "//", "/%00", "/v1/ü"])
def test_nothing_else_is_there(running: Running, path: str) -> None:
    reply = running.ask(path.encode().decode("latin-1") if path.isascii() else "/v1/%C3%BC")
    assert (reply.status, reply.code) == (404, "HTTP_NO_ROUTE")


@pytest.mark.parametrize("data", [b"\x16\x03\x01\x02\x00", b"GET\r\n\r\n", b"A" * 20_000 + b"\r\n"])
def test_what_is_no_request_is_refused_and_the_others_are_answered(running: Running, data: bytes) -> None:
    assert running.raw(data).startswith(b"HTTP/1.1 400 ")
    assert running.ask().status == 200


ASKERS = [("127.0.0.1", TOKEN, b"400"), ("127.0.0.1", "wrong", b"401"), ("evil", TOKEN, b"403")]
LENGTHS = ["Transfer-Encoding: chunked\r\nContent-Length: 5", "Content-Length: 5\r\nTransfer-Encoding: chunked"]


@pytest.mark.parametrize(("host", "token", "status"), ASKERS)
@pytest.mark.parametrize("lengths", LENGTHS)
def test_behind_two_lengths_no_answer(running: Running, lengths: str, host: str, token: str, status: bytes) -> None:
    """It may be the rest of the body: the connection closes, so that no request can hide in another one."""
    head = f"POST /v1/retrieve HTTP/1.1\r\nHost: {host}:{running.port}\r\nAuthorization: Bearer {token}\r\n"
    first = f"{head}Content-Type: application/json\r\n{lengths}\r\n\r\n0\r\n\r\n"
    second = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\n\r\n"
    found = running.raw((first + second).encode())
    assert found.startswith(b"HTTP/1.1 " + status)
    assert b"connection: close" in found.lower()
    assert found.count(b"HTTP/1.1 ") == 1
    assert running.ask().status == 200


# --- errors ---


ERROR_STATUSES = [
    ("ARGUMENT_INVALID", 400), ("QUERY_EMPTY", 400), ("MEMORY_NOT_FOUND", 404), ("TOPIC_NOT_FOUND", 404),
    ("EMBEDDER_MISMATCH", 409), ("METADATA_BROKEN", 422), ("MODEL_MISSING", 503), ("STORE_BUSY", 503),
    ("STORE_UNREADABLE", 503), ("INTERNAL", 500), ("SETTING_INVALID", 500),
]  # fmt: skip


@pytest.mark.parametrize(("code", "status"), ERROR_STATUSES)
def test_an_error_has_its_status_and_the_same_envelope(running: Running, code: str, status: int) -> None:
    running.told.found = {**envelope.failure(JobError(code)), "results": []}
    reply = running.ask()
    assert (reply.status, reply.code) == (status, code)
    assert json.loads(reply.data)["results"] == []


def test_every_error_has_a_status_of_an_error() -> None:
    for code in ERRORS:
        assert 400 <= http_replies.status_of(envelope.failure(JobError(code))) < 600


def test_too_many_questions_are_sent_away_with_when_to_come_again(running: Running) -> None:
    running.told.found = JobError("HTTP_BUSY")
    reply = running.ask()
    assert (reply.status, reply.code, reply.headers["retry-after"]) == (503, "HTTP_BUSY", "1")


def test_the_unexpected_is_an_answer_and_its_text_unlogged(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    running.told.found = ZeroDivisionError("a text that must not be shown")
    reply = running.ask()
    assert (reply.status, reply.code) == (500, "INTERNAL")
    assert b"must not be shown" not in reply.data
    assert "must not be shown" not in caplog.text
    assert "ZeroDivisionError" in caplog.text


# --- connections ---


def test_a_connection_is_kept_for_the_next_question(running: Running) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=PATIENCE)
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    sockets = set()
    for number in range(3):
        connection.request("POST", "/v1/retrieve", json.dumps({"query": str(number)}), headers)
        sockets.add(id(connection.sock))
        assert json.loads(connection.getresponse().read())["given"] == {"query": str(number)}
    connection.close()
    assert len(sockets) == 1


def test_whoever_hangs_holds_nobody_up_and_is_left_in_time(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedProtocol, "head_seconds", 1.0)
    monkeypatch.setattr(http_bodies, "_BODY_SECONDS", 1.0)
    head = f"POST /v1/retrieve HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
    body = f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    hanging = [running.connect() for _ in range(40)]
    for number, connection in enumerate(hanging):
        connection.sendall([b"", b"P", head.encode(), body.encode()][number % 4])
    assert running.ask().status == 200
    for number, connection in enumerate(hanging):
        found = received(connection)
        assert found.startswith(b"HTTP/1.1 408 ") if number % 4 == 3 else found == b""
        connection.close()


def test_too_many_connections_are_closed_and_the_others_kept(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever they come from: opening one needs no token."""
    monkeypatch.setattr(BoundedProtocol, "most", 5)
    held = [running.connect() for _ in range(5)]
    until(lambda: len(running.server.server_state.connections) == 5, "they are let in")
    for _ in range(20):
        with running.connect() as late:
            assert received(late) == b""
    for connection in held:
        connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\n\r\n".encode())
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        connection.close()
    until(lambda: not running.server.server_state.connections, "they have gone")
    assert running.ask().status == 200


def test_a_head_that_trickles_in_is_left_in_time_too(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedProtocol, "head_seconds", 0.5)
    with running.connect() as connection, pytest.raises(OSError):
        send_on(connection, b"P")


def test_a_second_request_never_whole_is_left_in_time(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedProtocol, "head_seconds", 0.5)
    head = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\n"
    with running.connect() as connection:
        connection.sendall(f"{head}\r\n".encode())
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        connection.sendall(head.encode())
        assert b"HTTP" not in received(connection)


def test_a_slow_answer_outlives_the_time_for_a_head(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedProtocol, "head_seconds", 0.2)
    with being_answered(running):
        time.sleep(0.5)  # the time itself is what is tried


# --- leaving ---


def test_it_leaves_when_nobody_asks_and_not_while_it_answers() -> None:
    running = Running(Told(), idle_seconds=0.3)
    try:
        with being_answered(running):
            time.sleep(0.8)  # more than its idle time
            assert running.runs
        until(lambda: not running.runs, "it leaves")
    finally:
        running.close()


def test_who_was_let_in_just_before_it_leaves_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LEAVING_SECONDS", 10)
    running = Running(Told(), idle_seconds=0.3)
    try:
        with running.connect() as early:
            until(lambda: running.server.should_exit, "it is about to leave")
            body = b'{"query": "x"}'
            head = f"POST /v1/retrieve HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
            early.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 14\r\n\r\n".encode() + body)
            assert early.recv(65536).startswith(b"HTTP/1.1 200 ")
        until(lambda: not running.runs, "it leaves")
    finally:
        running.close()


def test_who_comes_while_it_leaves_is_left_for_the_next() -> None:
    running = Running(Told(), idle_seconds=0.1)
    until(lambda: not running.runs, "it has left")
    with running.connect() as late:  # our own socket listens on, as the worker's does
        late.sendall(b"x")
        connection, _ = running.listening.accept()
        assert connection.recv(1) == b"x"
        connection.close()
    running.close()


def test_told_to_leave_it_finishes_what_it_answers() -> None:
    running = Running(Told())
    with being_answered(running):
        running.server.request_exit()
    running.close()


def test_the_token_is_compared_as_text_of_any_kind(running: Running) -> None:
    head = f"POST /v1/retrieve HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\nConnection: close\r\n"
    for value in (b"Bearer \xff\xfe", b"Bearer " + b"x" * 10_000, b""):
        found = running.raw(head.encode() + b"Authorization: " + value + b"\r\nContent-Length: 0\r\n\r\n")
        assert found.split(b" ")[1] in (b"400", b"401")


# --- what it answers with: the settings as they are now, a bound, and when it is ready ---


class FakeReader:
    """Says with which arguments it was asked. With a ``problem`` there is no model."""

    problem = False
    held: threading.Event | None = None

    def __init__(
        self, workspace: Workspace, embedding: Any, embedder: Any = None, reranking: Any = None, **_: Any
    ) -> None:
        self.embedding, self.reranking = embedding, reranking

    def answer(self, verb: str, arguments: dict[str, Any], now: datetime) -> dict[str, Any]:
        if self.held is not None:
            self.held.wait(30)
        if self.problem:
            return envelope.failure(JobError("MODEL_MISSING"))
        return envelope.success(verb=verb, model=self.embedding.identity, **arguments)


class Made:
    def __init__(self, folder: Path, **options: Any) -> None:
        self.workspace = Workspace(folder / "workspace")
        self.workspace.root.mkdir()
        self.said: list[str] = []
        trust.adopt(self.workspace, load().config_folder)
        self.settings = trust.settings_of(self.workspace)
        self.answers = RequestExecutor(self.workspace, lambda: self.said.append("ready"), **options)

    def ask(self, *, whole: bool = False, **arguments: Any) -> dict[str, Any]:
        return asyncio.run(self.answers.ask("retrieve", arguments, whole=whole))[0]

    @property
    def config(self) -> Path:
        folder = self.settings.config_folder
        folder.mkdir(exist_ok=True)
        return folder / "config.toml"


@pytest.fixture(autouse=True)
def _fake_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_executor, "Reader", FakeReader)
    monkeypatch.setattr(FakeReader, "problem", False)
    monkeypatch.setattr(FakeReader, "held", None)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


def test_whoever_brings_the_settings_along_gets_nothing_of_ours(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting that the asker has not is one that he has not, whatever this process was started with."""
    monkeypatch.setenv("COGNEE_MEMORY_HALF_LIFE_DAYS", "30")
    assert made.ask(query="x")["half_life_days"] == 30
    found = made.ask(whole=True, query="x", maxTokens=7, status=None)
    assert found.keys() - {"success", "verb", "model"} == {"query", "max_tokens"}


def test_what_was_not_given_comes_from_the_settings_as_they_are_at_the_question(made: Made) -> None:
    """But for a default that depends on the question: it is left to the search."""
    assert "max_results" not in made.ask(query="x")
    made.workspace.env_file.write_text("COGNEE_MEMORY_MAX_RESULTS=7\n")
    assert made.ask(query="x")["max_results"] == 7
    made.workspace.env_file.unlink()
    made.config.write_text("max_results = 8\n")
    assert made.ask(query="x")["max_results"] == 8
    assert made.ask(query="x", max_results=9)["max_results"] == 9


def test_another_model_in_the_settings_is_used_from_the_next_question_on(made: Made) -> None:
    before = made.ask(query="x")["model"]
    made.config.write_text('embedding_provider = "openai"\nembedding_model = "m"\nembedding_dimensions = 3\n')
    assert (before, made.ask(query="x")["model"]) == (made.settings.embedding.identity, "openai/m/3")


@pytest.mark.parametrize("from_the_start", [False, True])
def test_a_setting_that_cannot_be_read_is_said_until_it_is_mended(made: Made, from_the_start: bool) -> None:
    made.config.write_text('max_results = "many"\n')
    if from_the_start:
        made.answers = RequestExecutor(made.workspace, lambda: None)
        made.answers.warm()
    for _ in range(2):
        assert made.ask(query="x")["error_code"] == "SETTING_INVALID"
    made.config.write_text("max_results = 6\n")
    assert made.ask(query="x")["max_results"] == 6


def test_a_workspace_that_is_no_longer_this_users_is_closed(made: Made) -> None:
    """Such as after a checkout that brought the memory of somebody else."""
    trust.adopt(made.workspace, made.settings.config_folder)
    assert made.ask(query="x")["success"] is True
    marker = made.workspace.owner_marker(made.workspace.memory)
    own = marker.read_text("ascii")
    marker.write_text("f" * 32, "ascii")
    (made.workspace.memory / "memory.db").write_bytes(b"")
    assert made.ask(query="x")["error_code"] == "WORKSPACE_NOT_TRUSTED"
    marker.write_text(own, "ascii")
    assert made.ask(query="x")["success"] is True


def test_what_a_workspace_may_say_holds_as_soon_as_it_is_trusted(made: Made) -> None:
    trust.adopt(made.workspace, made.settings.config_folder)
    names = "EMBEDDING_PROVIDER=openai\nEMBEDDING_MODEL=m\nEMBEDDING_DIMENSIONS=3\n"
    made.workspace.env_file.write_text(names, "utf-8")
    assert made.ask(query="x")["model"] == made.settings.embedding.identity
    trust.adopt(made.workspace, made.settings.config_folder, trusted=True)
    assert made.ask(query="x")["model"] == "openai/m/3"


def test_it_is_ready_when_the_model_is_loaded_and_says_so_once(made: Made) -> None:
    assert not made.answers.is_ready
    made.answers.warm()
    made.answers.warm()
    made.ask(query="x")
    assert (made.answers.is_ready, made.said) == (True, ["ready"])


def test_without_a_model_it_is_ready_once_a_question_was_answered(
    made: Made, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as missing:
        missing.setattr(FakeReader, "problem", True)
        made.answers.warm()
        assert made.ask(query="x")["success"] is False
        assert not made.answers.is_ready
        with pytest.raises(JobError, match="MODEL_MISSING") as caught:
            made.answers.require_ready()
        assert (caught.value.code, caught.value.details) == ("NOT_READY", {"reason": "model"})
    (line,) = caplog.records
    assert line.__dict__["fields"] == {"code": "MODEL_MISSING"}, "said once, however often it is tried"
    made.ask(query="x")
    assert (made.answers.is_ready, made.said) == (True, ["ready"])


def test_what_was_missing_may_be_there_when_it_is_asked_again(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(JobError, match="still being loaded"):
        made.answers.require_ready()
    with monkeypatch.context() as missing:
        missing.setattr(FakeReader, "problem", True)
        made.answers.warm()
    with pytest.raises(JobError, match="No worker"):
        made.answers.require_ready()
    assert made.answers.is_ready


def test_questions_are_measured_and_the_one_that_warms_is_none(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    made.answers.warm()
    made.ask(query="x")
    monkeypatch.setattr(FakeReader, "problem", True)
    made.ask(query="x")
    found = made.answers.counters.as_dict()
    ((verb, taken),) = found["histograms"]["question_seconds"]
    assert (verb, sum(taken["counts"])) == ("retrieve", 2)
    assert found["counters"] == {"question_errors": [["retrieve", "MODEL_MISSING", 1]]}


def test_too_much_at_once_is_sent_away_and_nothing_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Made(tmp_path, most_at_once=3)
    held = threading.Event()
    monkeypatch.setattr(FakeReader, "held", held)

    async def all_at_once() -> list[Any]:
        asked = [asyncio.create_task(made.answers.ask("retrieve", {"query": str(n)})) for n in range(5)]
        await asyncio.sleep(0)
        busy = made.answers.in_flight
        held.set()
        return [busy, *await asyncio.gather(*asked, return_exceptions=True)]

    busy, *found = asyncio.run(all_at_once())
    assert busy == 3
    assert [found.code if isinstance(found, JobError) else found[0]["query"] for found in found] == [
        "0", "1", "2", "HTTP_BUSY", "HTTP_BUSY",
    ]  # fmt: skip
    assert made.answers.in_flight == 0


def test_waiting_questions_share_one_look_at_the_settings(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later one looks again."""
    made.ask(query="x")
    looks, stamp = list[int](), http_executor._stamp
    monkeypatch.setattr(http_executor, "_stamp", lambda *given: looks.append(1) or stamp(*given))

    async def together() -> None:
        with made.answers._renewing:
            asked = [asyncio.create_task(made.answers.ask("retrieve", {"query": str(n)})) for n in range(5)]
            await asyncio.sleep(0)
        await asyncio.gather(*asked)

    asyncio.run(together())
    assert len(looks) == 1
    made.ask(query="x")
    assert len(looks) == 2


def test_the_time_of_the_last_question_is_when_it_was_answered(made: Made) -> None:
    before = made.answers.asked_at
    until(lambda: made.ask(query="x") and made.answers.asked_at > before, "the time moves")


def test_a_server_whose_workspace_is_gone_or_another_one_does_not_answer(made: Made) -> None:
    """An empty success would say that nothing is known."""
    root = made.workspace.root
    assert made.ask(query="x")["success"]
    former = root.rename(root.with_name("moved"))
    assert made.ask(query="x")["error_code"] == "WORKSPACE_MOVED"
    root.mkdir()
    trust.adopt(made.workspace, made.settings.config_folder)
    assert made.ask(query="x")["error_code"] == "WORKSPACE_MOVED"
    with pytest.raises(JobError, match="WORKSPACE_MOVED"):
        made.answers.require_ready()
    root.rename(root.with_name("other"))
    former.rename(root)
    assert made.ask(query="x")["success"]


def test_another_reranker_is_asked_from_the_next_question_on(made: Made) -> None:
    def reader() -> Any:
        made.ask(query="x")
        return made.answers._in_use.reader

    made.ask(query="x")
    before = reader()
    made.config.write_text('rerank_model = "/models/minilm"\n')
    after = reader()
    assert (before.reranking, after.reranking.identity) == (None, "local:/models/minilm")
    assert reader() is after
    made.config.write_text('rerank_model = "/models/minilm"\nrerank_hits = 5\n')
    assert reader().reranking.hits == 5
