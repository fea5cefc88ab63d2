"""Who is let in, and what every answer carries: looked at before anything of a request is read.

A request has to come from a program of this user on this machine: it knows the token, it asks us by a name of the
loopback address, and it is no page of somebody else's in a browser. Without the token there is the page, which holds
no data, and whether we live.
"""

from __future__ import annotations

import hmac

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jobs.errors import JobError

from .replies import refusal

_LOOKING = ("GET", "HEAD")

# Nothing that we answer may be framed, sniffed, kept by another site's page, or run, but what the page itself allows.
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Gate:
    """Refuses before anything is read."""

    def __init__(self, inner: ASGIApp, token: str, port: int) -> None:
        self._inner = inner
        self._wanted = f"Bearer {token}".encode()
        self._hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            self._check(scope["method"], scope["path"], Headers(scope=scope))
        except JobError as error:
            await refusal(error)(scope, receive, send_with_headers)
        else:
            await self._inner(scope, receive, send_with_headers)

    def _check(self, method: str, path: str, headers: Headers) -> None:
        """Raises HTTP_FORBIDDEN, HTTP_UNAUTHORIZED, ARGUMENT_INVALID."""
        # A name that an attacker's page made point here would be another one (DNS rebinding).
        hosts = [host.lower() for host in headers.getlist("host")]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            raise JobError("HTTP_FORBIDDEN", "The Host header names another host than this one.")
        # Browsers send these with whatever a page asks of another site.
        if any(
            origin.lower() not in {f"http://{host}" for host in self._hosts} for origin in headers.getlist("origin")
        ):
            raise JobError("HTTP_FORBIDDEN", "The Origin header names another site.")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not _is_visit(
            method, path, headers
        ):
            raise JobError("HTTP_FORBIDDEN", "A page of another site asks.")
        if "transfer-encoding" in headers and "content-length" in headers:  # where does the next request begin?
            raise JobError("ARGUMENT_INVALID", "The body's length is given in two ways.", remediation="Give it in one.")
        if not _is_open(method, path):
            given = b"\0".join(value.encode("latin-1", "replace") for value in headers.getlist("authorization"))
            if not hmac.compare_digest(given, self._wanted):
                raise JobError("HTTP_UNAUTHORIZED")


def _is_open(method: str, path: str) -> bool:
    """Whether the token is not needed."""
    if method in _LOOKING:
        return path in ("/", "/healthz") or path.startswith("/assets/")
    return method == "POST" and path == "/v1/session"


def _is_visit(method: str, path: str, headers: Headers) -> bool:
    """Whether somebody follows a link to the page: that of ``cognee-memory open`` stands in a file."""
    return path == "/" and method in _LOOKING and headers.get("sec-fetch-mode") == "navigate"
