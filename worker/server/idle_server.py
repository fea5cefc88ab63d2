"""The HTTP server in its process: uvicorn on the inherited socket, which ends when idle without losing a connection."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from typing import cast

from uvicorn.config import Config
from uvicorn.server import Server as UvicornServer

from ..connections import BoundedProtocol
from ..http import api as http_api
from ..http.executor import RequestExecutor

log = logging.getLogger("server")

_KEEP_ALIVE_SECONDS = 15
_LEAVING_SECONDS = 2  # for connections that were accepted just before the end
_BACKLOG = 128


class Server(UvicornServer):
    """uvicorn's server, which ends when idle, without losing a connection."""

    def __init__(self, config: Config, answers: RequestExecutor, idle_seconds: float) -> None:
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
    config = Config(
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
