"""The process that answers over HTTP: it keeps the model and the catalogue warm, and leaves when nobody asks.

Its listening socket is the worker's, which keeps it: what comes after this process has left waits there for the next.
It loads no cognee. What the routes do is the affair of ``http_api``.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from bridge import trust
from bridge.privacy import log_lines
from bridge.privacy.masking import trace
from bridge.settings import Settings
from jobs.errors import JobError
from jobs.layout import Workspace

from ..child.parent_death import ParentDeathGuard
from ..http import api as http_api
from ..http.answers import Answers
from .process import READY

log = logging.getLogger("server")

_HEAD_SECONDS = 10.0  # for the head of a request to arrive, whole
_KEEP_ALIVE_SECONDS = 15
_LEAVING_SECONDS = 2  # for whoever was let in just before we leave
_BACKLOG = 128
# Without a descriptor left, asyncio turns in place at the next connection. macOS gives a process 256 of them.
_MOST_CONNECTIONS = 100


class Protocol(H11Protocol):
    """uvicorn's, with a limit on how long a connection may take to say what it wants, and on how many there are."""

    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > _MOST_CONNECTIONS:
            self.transport.abort()
        self._time_the_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._time_the_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_timing()

    @property
    def is_new(self) -> bool:
        """Whether it was let in and has asked nothing yet."""
        return self.cycle is None

    def _time_the_head(self) -> None:
        """One timer from the first byte on, whatever trickles in; none while a request is being answered."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_timing()
        elif self._head_timer is None and not self.transport.is_closing():
            self._head_timer = self.loop.call_later(_HEAD_SECONDS, self._give_up)

    def _stop_timing(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self._head_timer = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()


class Server(uvicorn.Server):
    """uvicorn's, which leaves by itself, and loses nobody by it."""

    def __init__(self, config: uvicorn.Config, answers: Answers, idle_seconds: float) -> None:
        super().__init__(config)
        self._answers = answers
        self._idle_seconds = idle_seconds
        self._told = False

    def leave(self) -> None:
        """The worker is gone, or wants us to be."""
        self._told = True
        self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        answers = self._answers
        if not answers.in_flight and time.monotonic() - answers.asked_at >= self._idle_seconds:
            log.info("nobody asked for %g s: leaving", self._idle_seconds)
            self.should_exit = True
        return await super().on_tick(counter)

    def _lets_in(self) -> bool:
        """Whether somebody was let in who has not asked yet."""
        return any(cast(Protocol, connection).is_new for connection in self.server_state.connections)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        await asyncio.sleep(0.01)  # what was accepted already becomes a connection
        deadline = time.monotonic() + (0 if self._told else _LEAVING_SECONDS)
        while self._lets_in() and time.monotonic() < deadline:  # noqa: ASYNC110 - connections tell nobody
            await asyncio.sleep(0.01)
        await super().shutdown(sockets)


def server(listening: socket.socket, answers: Answers, token: str, idle_seconds: float) -> Server:
    """A server on a socket that listens already; ``run(sockets=[listening])`` serves."""
    app = http_api.app(answers, token, listening.getsockname()[1])
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http=Protocol,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_LEAVING_SECONDS,
        h11_max_incomplete_event_size=16 * 1024,
    )
    return Server(config, answers, idle_seconds)


def _inherited(start: dict[str, Any], arguments: list[str]) -> socket.socket:
    if sys.platform == "win32":
        import base64

        return socket.fromshare(base64.b64decode(start["socket"]))
    return socket.socket(fileno=int(arguments[0]))


def _say_ready() -> None:
    try:
        os.write(1, READY + b"\n")
    except OSError:
        pass  # the worker is gone, and so are we in a moment


def main() -> int:
    """``python -m worker.server.main WORKSPACE PARENT [SOCKET]``; the token comes through stdin."""
    ParentDeathGuard(parent=int(sys.argv[2]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log_lines.log_to_stderr()
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # what a client sends amiss is no news
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        return 0  # the worker has gone meanwhile
    status = 0
    try:
        _serve(Workspace(Path(sys.argv[1])), json.loads(line))
    except Exception as error:
        log.error("%s", trace(error))
        status = 1
    # Not through the interpreter's own end: a thread may still be loading the model.
    sys.stderr.flush()
    os._exit(status)


def _idle_seconds(workspace: Workspace) -> float:
    """What the settings say. Where they cannot be read, whoever asks is told why: none is left waiting."""
    try:
        return trust.settings_of(workspace).http_idle_seconds
    except JobError as error:
        log.error("%s", error)
        return Settings().http_idle_seconds


def _serve(workspace: Workspace, start: dict[str, Any]) -> None:
    answers = Answers(workspace, _say_ready)
    with _inherited(start, sys.argv[3:]) as listening:
        made = server(listening, answers, start["token"], _idle_seconds(workspace))

        def until_the_end_of_stdin() -> None:
            while sys.stdin.buffer.read(1024):
                pass
            made.leave()

        threading.Thread(target=until_the_end_of_stdin, daemon=True, name="stdin").start()
        threading.Thread(target=answers.warm, daemon=True, name="warm").start()
        made.run(sockets=[listening])


if __name__ == "__main__":
    sys.exit(main())
