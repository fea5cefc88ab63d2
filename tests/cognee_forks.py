"""Processes that hold cognee, many in a short time: one imports it for the whole run and forks the others, since
importing takes seconds. What they answer is in ``cognee_forker``. It is also the plugin of pytest that starts that one.
"""

import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest
from harness import PATIENCE, PROJECT, Place, until
from job_copies import copy_of

from bridge.graph.cognee_env import cognee_environment
from bridge.settings import USER_HOME, load

_FOLDER = "COGNEE_FORKS"
_NAMES = ("plain", "asking")  # of the sockets


class Died(Exception):
    """The process ended instead of answering."""


class EndedByItself(AssertionError):
    """The process ended instead of answering, and nobody had told it to."""


class Forker:
    """The process that forks. It imports cognee when somebody first connects, and ends with this process at the
    latest."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="forks-")  # a socket's path must be short
        self.folder = self._folder.name
        with contextlib.ExitStack() as stack:
            servers = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in _NAMES]
            for name, server in zip(_NAMES, servers, strict=True):
                server.bind(f"{self.folder}/{name}")
                server.listen()
            self._process = subprocess.Popen(
                [sys.executable, PROJECT / "tests" / "cognee_forker.py", *(str(each.fileno()) for each in servers)],
                env={**environment, "PYTHONPATH": f"{PROJECT / 'tests'}:{PROJECT}"},
                cwd="/",
                pass_fds=[each.fileno() for each in servers],
                stdin=subprocess.PIPE,
            )

    def close(self) -> None:
        self._process.communicate(timeout=PATIENCE)
        self._folder.cleanup()


def pytest_configure(config: pytest.Config) -> None:
    if _FOLDER not in os.environ:  # not in the processes that xdist starts, which share that of the first one
        forker = Forker(os.environ)
        os.environ[_FOLDER] = forker.folder
        config.add_cleanup(forker.close)
        config.add_cleanup(lambda: os.environ.pop(_FOLDER))


class Forks:
    """Processes over one workspace. ``start`` gives one that is as fresh as one that has just imported cognee."""

    def __init__(
        self, place: Place, forker: Forker | None = None, *,
        with_model: bool = False, asks: bool = False, delivers: bool = True,
    ) -> None:  # fmt: skip
        """``with_model``: texts are embedded by the model that the settings name. ``asks``: a language model is asked.
        ``delivers``: after each job that changes memories, the graph has it as well, as for the next that needs it."""
        self.place = place
        self.delivers = delivers
        self._socket = f"{forker.folder if forker else os.environ[_FOLDER]}/{_NAMES[asks]}"
        self._log = place.config.parent / "forks.log"
        self._log.touch()
        environment = cognee_environment(load(environment=place.environment), place.workspace, place.environment)
        environment[USER_HOME] = place.environment["HOME"]
        self._first = [str(place.workspace.root), environment, str(self._log), with_model]

    def start(self, sleep: Callable[[float], None] = time.sleep) -> "Fork":
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._socket)
        connection.sendall(json.dumps(self._first).encode() + b"\n")
        return Fork(self, connection, sleep)

    @contextlib.contextmanager
    def last(self) -> Iterator["Fork"]:
        """One after which nobody opens the stores: it is killed at the end, which is quicker than to close them."""
        fork = self.start()
        try:
            yield fork
        finally:
            fork.kill()

    def log(self) -> str:
        return self._log.read_text("utf-8", "replace")


class Fork:
    """A process with the stores of the workspace. As a context it closes them at the end."""

    def __init__(self, forks: Forks, connection: socket.socket, sleep: Callable[[float], None]) -> None:
        self._forks = forks
        self.place = forks.place
        self._numbers = itertools.count(1)
        self._connection = connection
        self._connection.settimeout(PATIENCE)
        self._lines = connection.makefile("rb")
        self._sleep = sleep
        self._kill_after: float | None = None
        self.was_killed = False
        self.pid: int = self._read()[1]

    def __enter__(self) -> "Fork":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.kill()

    def _read(self) -> list[Any]:
        try:
            line = self._lines.readline()
        except ConnectionResetError:
            line = b""
        if not line:
            if not self.was_killed:
                raise EndedByItself(self._forks.log()[-3000:])
            raise Died
        found: list[Any] = json.loads(line)
        return found

    def ask(self, what: str, *arguments: Any) -> Any:
        """Raises Died when the process is killed before it answers."""
        try:
            self._connection.sendall(json.dumps([what, *arguments]).encode() + b"\n")
        except OSError as error:
            raise Died from error
        while True:
            kind, found = self._read()
            if kind == "entered":
                assert self._kill_after is not None
                self._sleep(self._kill_after)
                self._signal()  # what it has answered already is read still
            elif kind == "failed":
                raise AssertionError(f"{found}\n{self._forks.log()[-3000:]}")
            else:
                return found

    def kill_in(self, place: str, nth: int, after: float) -> None:
        """SIGKILL it so long after it has entered the place for the n-th time."""
        self._kill_after = after
        self.ask("watch", place, nth)

    def task(self, kind: str, payload: dict[str, Any], job_id: str = "", **fields: Any) -> dict[str, Any]:
        """A job as the runner would hand it over."""
        return task(job_id or f"job-{next(self._numbers)}", kind, payload, **fields)

    def run(self, kind: str, *tasks: dict[str, Any]) -> list[dict[str, Any]]:
        """The outcome of each task of one batch: ``{"result": …}`` or ``{"error": …}``."""
        found: dict[str, dict[str, Any]] = self.ask("run", kind, tasks)
        if self._forks.delivers and kind in ("ingest", "set_status", "compact", "restore", "migrate", "import"):
            self.ask("deliver_all")
        return [found[task["job_id"]] for task in tasks]

    def result(self, kind: str, payload: dict[str, Any], **fields: Any) -> dict[str, Any]:
        """The result of one job that succeeds."""
        (outcome,) = self.run(kind, self.task(kind, payload, **fields))
        assert "result" in outcome, outcome
        found: dict[str, Any] = outcome["result"]
        return found

    def ingest(self, payload: dict[str, Any], **fields: Any) -> dict[str, Any]:
        return self.result("ingest", payload, **fields)

    def close(self) -> None:
        """Let it close its stores and end. Raises Died when it is killed there."""
        self.ask("close")
        self._end()

    def _signal(self) -> None:
        self.was_killed = True
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._gone()

    def kill(self) -> None:
        self._signal()
        self._end()

    def _gone(self) -> None:
        until(lambda: not Path(f"/proc/{self.pid}").exists(), "the process is gone")

    def _end(self) -> None:
        self._gone()
        self._lines.close()
        self._connection.close()


def summary(topic: str, **fields: Any) -> dict[str, Any]:
    return {"topic": topic, "context": f"What is said of {topic}.", "decisions": [f"Decide {topic}"], **fields}


def task(job_id: str, kind: str, payload: dict[str, Any], **times: str | None) -> dict[str, Any]:
    """A job as the runner would hand it over: ``at`` is when it was accepted."""
    asked = {"at": "2026-11-01T10:00:01Z", "submitted_at": "2026-11-01T10:00:00Z", **times}
    return dict(copy_of(kind, payload, job_id, **asked))
