"""The connections of strangers: bounded for each address and in all, so that who hangs holds up nobody else."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import cast

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from bridge.interface import envelope
from jobs.errors import JobError

from ..connections import BoundedProtocol

BACKLOG = 128  # connections that are accepted at once, before there is room for them
_SPARE = 128  # file descriptors for the database, certificates, copies and the log
_MOST_HELD = 20_000
_MOST_WAITING = 100  # connections of an address that have sent no request yet


class GatewayProtocol(BoundedProtocol):
    """Of too many connections, the oldest without a request is closed: who sends one at once finds room."""

    most = 900
    most_of_address = 225

    def _make_room(self) -> None:
        others = [cast(GatewayProtocol, each) for each in self.connections if each is not self]
        others = [each for each in others if not each.transport.is_closing()]
        own = [each for each in others if each.address == self.address]
        waiting = [each for each in own if each.is_new]
        if len(waiting) >= _MOST_WAITING or len(own) >= self.most_of_address:
            self._close_one(waiting)
        elif len(others) >= self.most:
            self._close_one([each for each in others if each.is_new])

    def _close_one(self, waiting: list[GatewayProtocol]) -> None:
        min(waiting, key=lambda each: each.began, default=self).transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Note from where and when the connection came."""
        peer = transport.get_extra_info("peername")
        self.address = str(peer[0]) if peer else ""
        self.began = time.monotonic()
        super().connection_made(transport)


def bounded_by_files(*, behind_proxy: bool) -> type[GatewayProtocol]:
    """The protocol, for as many connections as this process may have files. A proxy has all of them, so that there is
    no bound for each address behind one."""
    held = max(64, min(_MOST_HELD, _files() - _SPARE - BACKLOG))
    bounds = {"most": held, "most_of_address": held if behind_proxy else held // 4}
    return type("BoundedByFiles", (GatewayProtocol,), bounds)


def _files() -> int:
    """How many files this process may have open, after its own limit was raised to what the system allows."""
    if sys.platform == "win32":
        return 512
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_HELD + _SPARE if hard == resource.RLIM_INFINITY else min(hard, _MOST_HELD + _SPARE)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)


class OneLength:
    """ASGI middleware that refuses a body whose length is given in two ways: what follows may be the rest of it, and
    not a request (RFC 9112, 6.1)."""

    def __init__(self, app: ASGIApp) -> None:
        self._inner = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass the request on."""
        if scope["type"] == "http":
            given = Headers(scope=scope)
            if "transfer-encoding" in given and "content-length" in given:
                error = JobError("ARGUMENT_INVALID", "The body's length is given in two ways.")
                refused = JSONResponse(envelope.failure(error), 400, headers={"connection": "close"})
                await refused(scope, receive, send)
                return
        await self._inner(scope, receive, send)
