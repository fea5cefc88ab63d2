"""Processes that hold cognee, many in a short time: one imports it for the whole run and forks the others, since
importing takes seconds. What they answer is in ``cognee_program``. It is also pytest's plugin that starts that one.
"""

import contextlib
import itertools
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import forked
import pytest
from harness import PATIENCE, Place, until
from job_copies import copy_of

from bridge.graph.cognee_env import cognee_environment
from bridge.settings import USER_HOME, load

_PATHS = "COGNEE_FORKS"  # of the forker that all processes of a run share


class Died(Exception):
    """The process ended instead of answering."""


class EndedByItself(AssertionError):
    """The process ended instead of answering, and nobody had told it to."""


def forker(environment: Mapping[str, str]) -> forked.Forker:
    """With cognee; and at its second path with the client of language models as well, which takes seconds too."""
    modules = ("cognee_imported", "cognee_program"), ("openai.resources", "bridge.graph.cognee_llm")
    return forked.Forker(*modules, environment=environment, keeps=True)


def pytest_configure(config: pytest.Config) -> None:
    if _PATHS not in os.environ:  # not in the processes that xdist starts, which share that of the first one
        shared = forker(os.environ)
        os.environ[_PATHS] = os.pathsep.join(shared.paths)
        config.add_cleanup(shared.close)
        config.add_cleanup(lambda: os.environ.pop(_PATHS))


class Forks:
    """Processes over one workspace. ``start`` gives one that is as fresh as one that has just imported cognee."""

    def __init__(
        self, place: Place, by: forked.Forker | None = None, *,
        with_model: bool = False, asks: bool = False, delivers: bool = True,
    ) -> None:  # fmt: skip
        """``with_model``: texts are embedded by the model that the settings name. ``asks``: a language model is asked.
        ``delivers``: after each job that changes memories, the graph has it as well, as for the next that needs it."""
        self.place = place
        self.delivers = delivers
        paths = by.paths if by else os.environ[_PATHS].split(os.pathsep)
        self._path = paths[asks]
        self._log = place.config.parent / "forks.log"
        self._log.touch()
        self._environment = cognee_environment(load(environment=place.environment), place.workspace, place.environment)
        self._environment[USER_HOME] = place.environment["HOME"]
        self._arguments = [str(place.workspace.root), "model" if with_model else "fake"]

    def start(self, sleep: Callable[[float], None] = time.sleep) -> "Fork":
        ours, its = socket.socketpair()
        with its, self._log.open("ab") as log:
            streams = its, log, log
            pid = forked.ask(self._path, "cognee_program", self._arguments, self._environment, Path("/"), *streams)
        return Fork(self, pid, ours, sleep)

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

    def __init__(self, forks: Forks, pid: int, connection: socket.socket, sleep: Callable[[float], None]) -> None:
        self.pid = pid
        self._forks = forks
        self.place = forks.place
        self._numbers = itertools.count(1)
        self._connection = connection
        self._connection.settimeout(PATIENCE)
        self._lines = connection.makefile("rb")
        self._sleep = sleep
        self._kill_after: float | None = None
        self.was_killed = False

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
        return json.loads(line)

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
        return outcome["result"]

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
