"""The middleware that counts all requests."""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..monitoring.counters import Counters

_METHODS = ("GET", "HEAD", "POST")


class Counted:
    """ASGI middleware that counts requests and their time by route template. Unknown paths share one label, so
    clients cannot create new labels."""

    def __init__(self, inner: ASGIApp, figures: Counters) -> None:
        self._inner = inner
        self._figures = figures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        status = "none"  # the client disconnected before the reply

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        try:
            await self._inner(scope, receive, noting)
        finally:
            template = getattr(scope.get("route"), "path", "other")
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._figures.count("http_requests", template, method, status)
            self._figures.observe("http_request_seconds", time.perf_counter() - began, template)
