"""What stands around every request: the access check before it, the security headers of its reply, and its count.

A request must come from a program of this user on this machine: it sends the token, it names a loopback address as the
host, and it does not come from another site's page in a browser. Only the page, which contains no data, the sign-in,
which needs a ticket, and the liveness route need no token.
"""

from __future__ import annotations

import hmac
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jobs.errors import JobError

from ..calls.table import CALLS
from ..monitoring.counters import Counters
from .replies import refusal

_METHODS = ("GET", "HEAD", "POST")

_SAFE_METHODS = ("GET", "HEAD")
_OPEN = [(call, call.path.partition("{")[0]) for call in CALLS if call.is_open]
# No reply may be framed, sniffed, cached, used by another site or executed, except as the page's own headers allow.
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Counted:
    """ASGI middleware that counts requests and their time by route template. Unknown paths share one label, so
    clients cannot create new labels."""

    def __init__(self, inner: ASGIApp, counters: Counters) -> None:
        self._inner = inner
        self._counters = counters

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
            self._counters.count("http_requests", template, method, status)
            self._counters.observe("http_request_seconds", time.perf_counter() - began, template)


class Gate:
    """ASGI middleware that refuses a request before its body is read."""

    def __init__(self, inner: ASGIApp, token: str, port: int) -> None:
        self._inner = inner
        self._wanted = f"Bearer {token}".encode()
        self._hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = Headers(scope=scope)
        ambiguous = "transfer-encoding" in given and "content-length" in given

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if ambiguous:  # what follows may be the rest of this body, not a request (RFC 9112, 6.1)
                    headers["connection"] = "close"
            await send(message)

        try:
            self._check(scope["method"], scope["path"], given)
            if ambiguous:
                raise JobError(
                    "ARGUMENT_INVALID", "The body's length is given in two ways.", remediation="Give it in one."
                )
        except JobError as error:
            await refusal(error)(scope, receive, send_with_headers)
        else:
            await self._inner(scope, receive, send_with_headers)

    def _check(self, method: str, path: str, headers: Headers) -> None:
        """Raises JobError: HTTP_FORBIDDEN for another host or site, HTTP_UNAUTHORIZED without the token."""
        # Against DNS rebinding: an attacker's name that resolves to this machine is not in the list.
        hosts = [host.lower() for host in headers.getlist("host")]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            raise JobError("HTTP_FORBIDDEN", "The Host header names another host than this one.")
        # Browsers add these headers to every cross-site request of a page.
        if any(
            origin.lower() not in {f"http://{host}" for host in self._hosts} for origin in headers.getlist("origin")
        ):
            raise JobError("HTTP_FORBIDDEN", "The Origin header names another site.")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not _is_visit(
            method, path, headers
        ):
            raise JobError("HTTP_FORBIDDEN", "A page of another site asks.")
        if not _is_open(method, path):
            authorization = b"\0".join(value.encode("latin-1", "replace") for value in headers.getlist("authorization"))
            if not hmac.compare_digest(authorization, self._wanted):
                raise JobError("HTTP_UNAUTHORIZED")


def _is_open(method: str, path: str) -> bool:
    """Whether the route needs no token."""
    method = "GET" if method == "HEAD" else method
    return any(
        method == call.method and (path == call.path or (begin != call.path and path.startswith(begin)))
        for call, begin in _OPEN
    )


def _is_visit(method: str, path: str, headers: Headers) -> bool:
    """Whether the browser follows a link to the page. ``cognee-memory open`` uses a link in a local file, which is
    cross-site."""
    return path == "/" and method in _SAFE_METHODS and headers.get("sec-fetch-mode") == "navigate"
