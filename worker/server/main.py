"""The HTTP server's process: keeps the model and the catalogue in memory, and ends when idle.

It inherits the worker's listening socket; connections that arrive after its end wait there for the next process. It
does not import cognee. The routes are in ``worker.http``.
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

from bridge import trust
from bridge.privacy import log_lines
from bridge.privacy.masking import trace
from bridge.settings import Settings
from jobs.errors import JobError
from jobs.layout import Workspace

from ..child.parent_death import ParentDeathGuard
from ..connections import BoundedProtocol
from ..http import api as http_api
from ..http.executor import RequestExecutor
from .process import READY

log = logging.getLogger("server")

_KEEP_ALIVE_SECONDS = 15
_LEAVING_SECONDS = 2  # for connections that were accepted just before the end
_BACKLOG = 128


class Server(uvicorn.Server):
    """uvicorn's server, which ends when idle, without losing a connection."""

    def __init__(self, config: uvicorn.Config, answers: RequestExecutor, idle_seconds: float) -> None:
        super().__init__(config)
        self._answers = answers
        self._idle_seconds = idle_seconds
        self._exit_requested = False

    def request_exit(self) -> None:
        """End soon: the worker has ended, or asks for it. May be called from any thread."""
        self._exit_requested = True
        self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Called by uvicorn ten times a second. Returns whether to exit, also when idle for ``idle_seconds``."""
        answers = self._answers
        if not answers.in_flight and time.monotonic() - answers.asked_at >= self._idle_seconds:
            log.info("no request for %g s: stopping", self._idle_seconds)
            self.should_exit = True
        return await super().on_tick(counter)

    def _has_new_connections(self) -> bool:
        """Whether a connection was accepted that has sent no request yet."""
        return any(cast(BoundedProtocol, connection).is_new for connection in self.server_state.connections)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting, let the accepted connections send their requests, and shut down."""
        for server in self.servers:
            server.close()
        await asyncio.sleep(0.01)  # so that accepted sockets become connections
        deadline = time.monotonic() + (0 if self._exit_requested else _LEAVING_SECONDS)
        while self._has_new_connections() and time.monotonic() < deadline:  # noqa: ASYNC110 - connections have no event
            await asyncio.sleep(0.01)
        await super().shutdown(sockets)


def server(listening: socket.socket, answers: RequestExecutor, token: str, idle_seconds: float) -> Server:
    """A server for a listening socket; ``run(sockets=[listening])`` serves it."""
    app = http_api.app(answers, token, listening.getsockname()[1])
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http=BoundedProtocol,
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
        pass  # the worker has ended, and stdin will end this process


def main() -> int:
    """``python -m worker.server.main WORKSPACE PARENT [SOCKET]``, with the token on stdin.

    PARENT is the worker's process id; SOCKET is the socket's descriptor, except on Windows.
    """
    ParentDeathGuard(parent=int(sys.argv[2]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log_lines.log_to_stderr()
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # invalid requests are not worth a line
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        return 0  # the worker has ended
    status = 0
    try:
        _serve(Workspace(Path(sys.argv[1])), json.loads(line))
    except Exception as error:
        log.error("%s", trace(error))
        status = 1
    # Without Python's finalisation, since a thread may still be loading the model.
    sys.stderr.flush()
    os._exit(status)


def _idle_seconds(workspace: Workspace) -> float:
    """``http_idle_seconds`` from the settings; the default if they cannot be read, so that clients get that error."""
    try:
        return trust.settings_of(workspace).http_idle_seconds
    except JobError as error:
        log.error("%s", error)
        return Settings().http_idle_seconds


def _serve(workspace: Workspace, start: dict[str, Any]) -> None:
    answers = RequestExecutor(workspace, _say_ready)
    with _inherited(start, sys.argv[3:]) as listening:
        http_server = server(listening, answers, start["token"], _idle_seconds(workspace))

        def until_the_end_of_stdin() -> None:
            while sys.stdin.buffer.read(1024):
                pass
            http_server.request_exit()

        threading.Thread(target=until_the_end_of_stdin, daemon=True, name="stdin").start()
        threading.Thread(target=answers.warm, daemon=True, name="warm").start()
        http_server.run(sockets=[listening])


if __name__ == "__main__":
    sys.exit(main())
