"""Asking the running worker: what is sent, to whom, and that any doubt at all means answering ourselves."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fake_worker import GOOD, FakeWorker, ok
from harness import PATIENCE, at_once, raising, until

from bridge import retrieve as script, trust
from bridge.interface.arguments import retrieve_arguments
from bridge.reranking.reranker import RerankError
from bridge.search import query_client, reader
from bridge.settings import load
from jobs.errors import JobError


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[FakeWorker]:
    made = FakeWorker(tmp_path)
    yield made
    made.close()


@contextmanager
def patience(seconds: float, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched:
        patched.setattr(query_client, "PATIENCE_SECONDS", seconds)
        yield


def test_the_workers_bytes_are_passed_on_as_they_are(worker: FakeWorker) -> None:
    assert worker.ask() == GOOD


def test_the_question_goes_with_the_token_and_to_this_machine(worker: FakeWorker) -> None:
    worker.ask(query="ü ?", max_results=3)
    head, _, body = worker.requests[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /v1/retrieve?settings=none HTTP/1.1"
    assert {f"Host: 127.0.0.1:{worker.port}", "Authorization: Bearer secret"} < set(lines)
    assert json.loads(body) == {"query": "ü ?", "max_results": 3}


def test_an_answer_in_many_pieces_arrives_whole(worker: FakeWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    body = b'{"success": true, "text": "' + b"x" * 300_000 + b'"}\n'

    def respond(connection: socket.socket) -> None:
        whole = ok(body)
        for place in range(200):  # the head and a little more, a byte at a time
            connection.sendall(whole[place : place + 1])
        connection.sendall(whole[200:])

    worker.respond = respond
    with patience(30, monkeypatch):
        assert worker.ask() == body


HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n"


NO_GOOD_ANSWERS = [
    pytest.param(b"", id="nothing"),
    pytest.param(b"\x00\xff" * 40_000, id="garbage"),
    pytest.param(b"\r\n\r\n", id="empty lines"),
    pytest.param(b"SSH-2.0-OpenSSH_9.6\r\n\r\n", id="another protocol"),
    pytest.param(b"HTTP/1.1 200 OK\r\n", id="half a head"),
    pytest.param(b"HTTP/1.1 200 OK\r\n\r\n" + GOOD, id="no length"),
    pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n" + GOOD, id="a length that is no number"),
    pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n" + GOOD, id="a negative length"),
    pytest.param(ok(GOOD, 10**12), id="a length without measure"),
    pytest.param(ok(GOOD, len(GOOD) + 1), id="too short"),
    pytest.param(ok(GOOD, len(GOOD) - 1), id="too long"),
    pytest.param(HEAD + b"nonsense\r\n\r\n12345", id="a line of the head that is none"),
    pytest.param(HEAD + b"transfer-encoding: chunked\r\n\r\n12345", id="chunked"),
    pytest.param(b"X: y\r\n" * 20_000, id="a head without end"),
    pytest.param(ok(b"[1, 2]\n"), id="a list"),
    pytest.param(ok(b"{}\n"), id="no envelope"),
    pytest.param(ok(b'{"success": false, "error_code": "INTERNAL"}\n'), id="a failure"),
    pytest.param(ok(GOOD[:-2] + b"\n"), id="broken JSON"),
    pytest.param(ok(GOOD[:-1]), id="another form than ours"),
    pytest.param(ok(b"[" * 200_000), id="nested without end"),
    *(
        pytest.param(ok(GOOD).replace(b"200 OK", status), id=status.decode())
        for status in (b"204 No", b"301 Moved", b"400 Bad", b"401 Token", b"403 Host", b"500 Oh", b"503 Busy")
    ),
]


@pytest.mark.parametrize("answer", NO_GOOD_ANSWERS)
def test_anything_but_a_whole_good_answer_means_answering_ourselves(worker: FakeWorker, answer: bytes) -> None:
    worker.respond = lambda connection: connection.sendall(answer)
    assert worker.ask() is None


def test_an_error_of_wrong_usage_is_our_own_to_tell(worker: FakeWorker) -> None:
    worker.respond = lambda connection: connection.sendall(ok(GOOD).replace(b"200 OK", b"400 Bad"))
    assert json.loads(ask_for(worker, query=" "))["error_code"] == "QUERY_EMPTY"


def ask_for(worker: FakeWorker, **arguments: Any) -> bytes:
    return query_client.ask_for("retrieve", str(worker.workspace.root), arguments)


@pytest.mark.parametrize("drip", [b"", b"H"], ids=["silent", "one byte at a time"])
def test_whoever_answers_too_slowly_is_left_in_time(worker: FakeWorker, drip: bytes) -> None:
    left = threading.Event()

    def respond(connection: socket.socket) -> None:
        while not left.wait(0.02):
            connection.sendall(drip)

    worker.respond = respond
    began = time.monotonic()
    assert worker.ask() is None
    took = time.monotonic() - began
    left.set()
    print(f"left after {took * 1000:.0f} ms")
    assert query_client.PATIENCE_SECONDS * 0.9 < took < PATIENCE / 8, "it was waited for, and not for ever"


def test_a_worker_that_does_not_serve_yet_is_told_that_somebody_asks(worker: FakeWorker) -> None:
    worker.heartbeat(http={"serving": False})
    assert worker.ask() is None
    until(lambda: worker.requests == [b""], "a connection without a request")


OTHER_WORKERS = [
    {"embedder": "openai/text-embedding-3-small/1536"},
    {"http": {"url": None}},
    {"http": {"url": 7}},
    {"http": {"url": "http://127.0.0.1:1"}},
    {"http": {"url": "http://127.0.0.1:70000"}},
    {"http": {"serving": None}},
]


@pytest.mark.parametrize("other", OTHER_WORKERS, ids=str)
def test_a_worker_that_says_anything_else_than_expected_is_not_asked(worker: FakeWorker, other: dict[str, Any]) -> None:
    worker.heartbeat(**other)
    assert worker.ask() is None
    assert b"POST" not in b"".join(worker.requests)


@pytest.mark.parametrize("beat", [b"", b"{", b"[]", b"{}", b'{"http": null}', b'{"http": 1, "embedder": 2}', b"\xff"])
def test_a_heartbeat_that_is_none_is_no_worker(worker: FakeWorker, beat: bytes) -> None:
    worker.workspace.spool.heartbeat.write_bytes(beat)
    assert worker.ask() is None


def test_without_a_heartbeat_or_a_token_nobody_is_asked(worker: FakeWorker) -> None:
    worker.workspace.spool.token.unlink()
    assert worker.ask() is None
    worker.token("x" * 1000)
    assert worker.ask() is None
    worker.workspace.spool.heartbeat.unlink()
    assert worker.ask() is None
    assert worker.requests == []


def test_a_dead_workers_heartbeat_is_not_believed(worker: FakeWorker) -> None:
    worker.lock.release()
    assert worker.ask() is None
    assert worker.requests == []


def test_where_http_is_switched_off_nobody_is_asked(worker: FakeWorker) -> None:
    off = load({"config_dir": worker.settings.config_dir, "http": False}, environment={})
    assert query_client.from_worker("retrieve", worker.workspace, off, {"query": "x"}) is None
    assert worker.requests == []


def test_where_each_embedding_is_paid_for_nobody_else_is_asked_for_it(worker: FakeWorker) -> None:
    other = {"embedding_provider": "openai", "embedding_model": "m", "config_dir": worker.settings.config_dir}
    paid = load(other, environment={})
    worker.heartbeat(embedder=paid.embedding.identity)
    assert query_client.from_worker("retrieve", worker.workspace, paid, {"query": "x"}) is None
    worker.heartbeat(embedder=paid.embedding.identity, http={"serving": False})
    assert query_client.from_worker("retrieve", worker.workspace, paid, {"query": "x"}) is None
    assert worker.requests == []


OTHER_ADDRESSES = [
    "http://192.0.2.1:80", "http://localhost:80", "https://127.0.0.1:80", "http://127.0.0.1", "http://127.0.0.1:",
    "http://127.0.0.1:80@example.com", "http://127.0.0.1:80/x", "http://127.0.0.1.example.com:80", "",
    "http://127.0.0.1:0", "http://127.0.0.1:-1", "http://127.0.0.1:65536",
]  # fmt: skip


@pytest.mark.parametrize("url", OTHER_ADDRESSES)
def test_the_token_goes_to_no_other_address(url: str) -> None:
    with pytest.raises(ValueError):
        query_client.port_of(url)


def test_what_the_settings_say_goes_with_the_question(worker: FakeWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGNEE_MEMORY_CONFIG_DIR", str(worker.settings.config_dir))
    monkeypatch.setenv("COGNEE_MEMORY_MAX_RESULTS", "17")
    monkeypatch.setenv("COGNEE_MEMORY_RANKING_PRESET", "long-lived")
    assert ask_for(worker, query="x", max_tokens=9, status=None) == GOOD
    sent = json.loads(worker.requests[0].partition(b"\r\n\r\n")[2])
    assert (sent["max_results"], sent["preset"], sent["max_tokens"]) == (17, "long-lived", 9)
    assert "status" not in sent


def test_only_the_contracts_script_keeps_the_former_preset(worker: FakeWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGNEE_MEMORY_CONFIG_DIR", str(worker.settings.config_dir))
    ask_for(worker, query="x")
    script.respond(str(worker.workspace.root), {"query": "x"})
    sent = [json.loads(request.partition(b"\r\n\r\n")[2])["preset"] for request in worker.requests]
    assert sent == ["long-lived", "contract"]


def test_an_untrusted_workspace_is_unasked(worker: FakeWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process knows another configuration folder, which has never heard of the workspace."""
    monkeypatch.setenv("COGNEE_MEMORY_CONFIG_DIR", str(tmp_path / "elsewhere"))
    found = json.loads(ask_for(worker, query="x"))
    assert (found["error_code"], worker.requests) == ("WORKSPACE_NOT_TRUSTED", [])


def test_without_a_worker_the_answer_is_the_same_kind_of_line(tmp_path: Path) -> None:
    data = query_client.ask_for("retrieve", str(tmp_path), {"query": "x"})
    assert data.endswith(b"}\n")
    assert json.loads(data)["results"] == []


@pytest.mark.parametrize("verb", ["retrieve", "explain", "context"])
def test_an_error_is_the_verbs_own_envelope(verb: Any, tmp_path: Path) -> None:
    found = json.loads(query_client.ask_for(verb, str(tmp_path / "nowhere"), {"query": "x"}))
    empty = {"retrieve": "results", "explain": "items", "context": "memories"}[verb]
    assert (found["success"], found["error_code"], found[empty]) == (False, "WORKSPACE_MISSING", [])


def test_a_named_workspace_is_asked_from_a_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as that in which an agent was started long ago."""
    workspace, gone = tmp_path / "workspace", tmp_path / "gone"
    workspace.mkdir()
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert json.loads(query_client.ask_for("retrieve", str(workspace), {"query": "x"}))["success"] is True


def test_those_who_ask_first_all_at_once_share_one_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would load a model of its own."""
    made: list[object] = []
    both = threading.Barrier(2)

    class Slow:
        def __init__(self, *arguments: object, **more: object) -> None:
            made.append(self)
            with contextlib.suppress(threading.BrokenBarrierError):
                both.wait(0.5)  # for another one who is making a second

        def answer(self, *arguments: object) -> dict[str, Any]:
            return {"success": True}

    monkeypatch.setattr(reader, "Reader", Slow)
    monkeypatch.setattr(query_client, "_kept", None)
    at_once(lambda _: query_client.ask_for("retrieve", str(tmp_path), {"query": "x"}), range(2))
    assert len(made) == 1


def test_what_nobody_expected_is_an_answer_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(trust, "settings_of", raising(ZeroDivisionError("a text that must not be shown")))
    assert json.loads(query_client.ask_for("retrieve", str(tmp_path), {"query": "x"}))["error_code"] == "INTERNAL"
    assert "must not be shown" not in capsys.readouterr().err


# --- a reranker ---

USED = {"model": "local:/models/minilm", "hits": 20}


def answered(used: dict[str, Any] | None, *warnings: str, **other: Any) -> bytes:
    ranking = {} if used is None else {"reranker": used}
    return ok(json.dumps({"success": True, "ranking": ranking, "warnings": warnings, **other}).encode() + b"\n")


@pytest.mark.parametrize(
    ("used", "is_taken"),
    [(USED, True), (None, False), (USED | {"hits": 5}, False), (USED | {"model": "local:/other"}, False)],
)
def test_only_our_rerankers_answer_is_passed(worker: FakeWorker, used: dict[str, Any] | None, is_taken: bool) -> None:
    worker.settings = worker.settings.changed(rerank_model="/models/minilm")
    worker.respond = lambda connection: connection.sendall(answered(used))
    assert (worker.ask() is not None) is is_taken


def test_without_a_reranker_no_answer_of_one_is_passed_on(worker: FakeWorker) -> None:
    failed = RerankError("It failed.", "Repair it.").warning
    for answer, is_taken in ((answered(USED), False), (answered(None, failed), False), (answered(None, "other"), True)):
        worker.respond = lambda connection, answer=answer: connection.sendall(answer)
        assert (worker.ask() is not None) is is_taken


def test_an_explanation_without_a_query_needs_no_reranker(worker: FakeWorker) -> None:
    worker.settings = worker.settings.changed(rerank_model="/models/minilm")
    for query, is_taken in ((None, True), ("x", False)):
        about = {"query": query, "ranking": {}, "warnings": []}
        answer = ok(json.dumps({"success": True, "metadata": about}).encode() + b"\n")
        worker.respond = lambda connection, answer=answer: connection.sendall(answer)
        assert (worker.ask() is not None) is is_taken


def test_a_reranker_behind_an_endpoint_is_asked_once(worker: FakeWorker) -> None:
    worker.settings = worker.settings.changed(rerank_model="judge", rerank_endpoint="http://judge.example/")
    worker.respond = lambda connection: connection.sendall(answered({"model": "endpoint:judge", "hits": 20}))
    assert worker.ask() is None
    assert worker.requests == []


@pytest.mark.parametrize("given", [[], ["W"], ["W", "why", "3", "100", "7.5", "true"], ["W", "two words", "", "100"]])
def test_arguments_by_position_are_those_of_the_parser(given: list[str]) -> None:
    assert script.arguments_of(given) == retrieve_arguments(given)


def test_options_and_too_many_arguments_are_the_parsers() -> None:
    assert script.arguments_of(["W", "--query", "why"])[1]["query"] == "why"
    with pytest.raises(JobError, match="most 6 positional"):
        script.arguments_of(["1"] * 7)
