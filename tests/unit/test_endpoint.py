"""The worker's side of HTTP: listening, the token, and when there is a process that answers."""

import logging
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from harness import until

from bridge.settings import load
from jobs import spool
from jobs.layout import Workspace
from worker.server import endpoint as module
from worker.server.endpoint import Endpoint, ServerProcess, listen, pause_seconds


class FakeServer:
    """A process that takes over whoever waits when it is told to, and ends with the status that it is told."""

    def __init__(self, pid: int, listening: socket.socket, token: str, noticed: Callable[[], None]) -> None:
        self.pid = pid
        self.token = token
        self.ready = threading.Event()
        self.bytes = 1000
        self.status: int | None = None
        self.told_to_end = threading.Event()
        self._listening = listening
        self._noticed = noticed
        self.accepted: list[socket.socket] = []

    def accept(self) -> None:
        self.accepted.append(self._listening.accept()[0])

    def is_ready(self) -> None:
        self.ready.set()
        self._noticed()

    def ends(self, status: int) -> None:
        self.status = status
        self._noticed()

    def is_alive(self) -> bool:
        return self.status is None

    def memory_bytes(self) -> int:
        return self.bytes

    def private_bytes(self) -> int:
        return self.bytes

    def end(self, seconds: float) -> int:
        self.told_to_end.set()
        for connection in self.accepted:
            connection.close()
        return self.status or 0


class Servers:
    """Every process that the endpoint started, in order. ``at_once``: each dies with that status as it starts."""

    def __init__(self, at_once: int | None = None) -> None:
        self.started: list[FakeServer] = []
        self._at_once = at_once

    def __call__(
        self, workspace: Workspace, listening: socket.socket, token: str, noticed: Callable[[], None]
    ) -> ServerProcess:
        made = FakeServer(len(self.started) + 1, listening, token, noticed)
        made.status = self._at_once
        self.started.append(made)
        return cast(ServerProcess, made)

    def count(self, wanted: int) -> FakeServer:
        until(lambda: len(self.started) >= wanted, f"{wanted} processes were started")
        return self.started[wanted - 1]


class Made:
    """An endpoint with processes that are none."""

    def __init__(self, folder: Path, at_once: int | None = None, **settings: Any) -> None:
        self.workspace = Workspace(folder)
        spool.prepare(self.workspace.spool)
        self.servers = Servers(at_once)
        self.changes = 0
        found = load({"config_dir": folder / "config", **settings}, environment={})
        self.endpoint = Endpoint(self.workspace, found, self._changed, most_bytes=10_000, start_server=self.servers)

    def _changed(self) -> None:
        self.changes += 1

    def __enter__(self) -> "Made":
        self.endpoint.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.endpoint.stop()

    def says(self) -> dict[str, Any]:
        return self.endpoint.describe()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", int(self.says()["url"].rpartition(":")[2])), 5)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    with Made(tmp_path) as found:
        yield found


def test_nothing_is_started_until_somebody_connects(made: Made) -> None:
    assert made.says()["server"] is None
    assert made.servers.started == []
    with made.connect():
        made.servers.count(1)
        until(lambda: made.endpoint.has_server, "it is known")


def test_one_process_serves_all_who_come_while_it_lives(made: Made) -> None:
    with made.connect(), made.connect():
        server = made.servers.count(1)
        server.accept()
        server.accept()
        server.is_ready()
        until(lambda: made.says()["serving"], "it serves")
        with made.connect():
            server.accept()
    assert len(made.servers.started) == 1


def test_serving_is_said_only_once_the_model_is_loaded_and_no_longer_than_the_process_lives(made: Made) -> None:
    with made.connect():
        server = made.servers.count(1)
        server.accept()
        until(lambda: made.endpoint.has_server, "it is there")
        assert made.says()["serving"] is False
        before = made.changes
        server.is_ready()
        until(lambda: made.changes > before, "the heartbeat is told")
        assert (made.says()["serving"], made.says()["server"]) == (True, {"pid": 1, "memory_bytes": 1000})
        server.ends(0)
    until(lambda: not made.endpoint.has_server, "it is gone")
    assert (made.says()["serving"], made.says()["server"]) == (False, None)


def test_who_connects_as_a_process_leaves_gets_the_next_one(made: Made) -> None:
    with made.connect():
        first = made.servers.count(1)
        first.accept()
        with made.connect() as late:  # it was never taken over
            first.ends(0)
            made.servers.count(2).accept()
            late.sendall(b"x")
            assert made.servers.started[1].accepted[0].recv(1) == b"x"


def test_processes_that_die_are_followed_after_growing_pauses_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    counted: list[int] = []

    def pause(failures: int) -> float:
        counted.append(failures)
        return 0.001

    monkeypatch.setattr(module, "pause_seconds", pause)
    with caplog.at_level(logging.ERROR), Made(tmp_path, at_once=-9) as made, made.connect():
        made.servers.count(5)
    assert counted[:5] == [1, 2, 3, 4, 5]
    assert "the server died: pid=1 status=-9" in caplog.text


def test_until_a_process_is_started_again_the_worker_may_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "pause_seconds", lambda failures: 1000.0)
    with Made(tmp_path, at_once=1) as made, made.connect():
        made.servers.count(1)
    assert not made.endpoint._thread.is_alive()
    assert len(made.servers.started) == 1


def test_a_process_that_cannot_be_started_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "pause_seconds", lambda failures: 0.001)
    made = Made(tmp_path)
    refusals = iter([OSError(11, "Resource temporarily unavailable"), RuntimeError("can't start new thread")])

    def start(*arguments: Any) -> ServerProcess:
        for error in refusals:
            raise error
        return made.servers(*arguments)

    made.endpoint._start_server = start
    with made, made.connect():
        made.servers.count(1).accept()


def test_the_end_of_a_process_is_noticed_at_once(tmp_path: Path) -> None:
    """Its pipes close a moment before it has ended: whoever is told too early finds it alive, and is told no more."""
    alive: list[bool] = []
    made = threading.Event()
    with listen(0) as listening:
        server = ServerProcess(
            Workspace(tmp_path), listening, "token", lambda: alive.append(made.wait(10) and server.is_alive())
        )
        made.set()
        assert server.end(60) == 0
        until(lambda: alive and not alive[-1], "its end is told")


def test_a_process_that_grows_beyond_measure_is_ended_and_its_work_goes_on(made: Made) -> None:
    with made.connect():
        server = made.servers.count(1)
        server.accept()
        server.bytes = 20_000
        server.is_ready()
        assert server.told_to_end.wait(10)
    with made.connect():
        made.servers.count(2)


def test_the_pauses_double_up_to_a_minute() -> None:
    assert [pause_seconds(failures) for failures in (1, 2, 3, 4)] == [0.5, 1.0, 2.0, 4.0]
    assert pause_seconds(8) == pause_seconds(1_000_000) == 60.0


def test_the_token_is_the_users_alone_and_another_one_at_each_start(tmp_path: Path) -> None:
    tokens = []
    for _ in range(2):
        with Made(tmp_path) as made:
            path = made.workspace.spool.token
            assert made.says()["token_file"] == str(path)
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            tokens.append(path.read_text("ascii"))
            with made.connect():
                assert made.servers.count(1).token == tokens[-1]
    assert len(set(tokens)) == 2
    assert min(map(len, tokens)) >= 43  # 256 bits


def test_the_socket_is_no_other_machines_to_reach(made: Made) -> None:
    assert made.endpoint._socket.getsockname()[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_said_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tries = threading.Semaphore(0)

    def pause(failures: int) -> float:
        tries.release()
        return 0.01

    monkeypatch.setattr(module, "pause_seconds", pause)
    with listen(0) as other, caplog.at_level(logging.ERROR):
        port = other.getsockname()[1]
        with Made(tmp_path, http_port=port) as made:
            for _ in range(3):
                assert tries.acquire(timeout=10)
            assert (made.says()["url"], made.says()["serving"]) == (None, False)
            assert f"127.0.0.1:{port}" in made.says()["problem"]
            other.close()
            until(lambda: made.says()["url"] == f"http://127.0.0.1:{port}", "it listens")
            assert made.says()["problem"] is None
            with made.connect():
                made.servers.count(1)
    assert caplog.text.count("no HTTP") == 1, "once, not at each try"


def test_a_port_that_is_none_is_said(tmp_path: Path) -> None:
    with Made(tmp_path, http_port=700_000) as made:
        assert "700000" in made.says()["problem"]


def test_a_stopped_worker_frees_its_port_at_once(tmp_path: Path) -> None:
    with Made(tmp_path) as made:
        port = int(made.says()["url"].rpartition(":")[2])
        connection = made.connect()
        made.servers.count(1).accept()
    connection.close()
    listen(port).close()


def test_switched_off_there_is_neither_socket_nor_token(tmp_path: Path) -> None:
    with Made(tmp_path, http=False) as made:
        assert made.endpoint.describe() is None
        assert not made.workspace.spool.token.exists()
        assert made.endpoint._socket is None


def test_an_endpoint_that_was_never_started_holds_nothing(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.endpoint.stop()
    assert made.says()["url"] is None
