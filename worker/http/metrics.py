"""The measurements for Prometheus, and the middleware that counts all requests."""

from __future__ import annotations

import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jobs import clock

from ..monitoring.counters import Counters
from .executor import RequestExecutor
from .replies import Respond

_METHODS = ("GET", "HEAD", "POST")


def responders(executor: RequestExecutor) -> dict[str, Respond]:
    """By the name of the call."""

    async def scrape(request: Request, _: dict[str, Any]) -> Response:
        from ..monitoring.measurements import measure  # not at the top: the first question would wait for psutil
        from ..monitoring.metrics import render

        accept = request.headers.get("accept", "")
        data, content_type = await executor.work(
            lambda settings: render(measure(executor.workspace, settings, executor.figures, clock.now()), accept)
        )
        return Response(data, headers={"content-type": content_type})

    return {"metrics": scrape}


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
