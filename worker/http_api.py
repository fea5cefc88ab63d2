"""The routes of the worker's HTTP endpoint, and what every request must pass before anything of it is read.

A request has to come from a program of this user on this machine: it knows the token, it asks us by a name of the
loopback address, and it is no page of somebody else's in a browser. Answers are the envelopes of the command line.
"""

from __future__ import annotations

import asyncio
import difflib
import hmac
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, get_args

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bridge import answer, inquiry
from bridge.defaults import ARGUMENTS, snake_case
from bridge.reader import Verb, failure
from bridge.traces import trace
from jobs.errors import JobError, Reaction

from .answers import Answers

log = logging.getLogger("server")

BODY_BYTES = 1024 * 1024
_SKIPPED_BYTES = 8 * BODY_BYTES  # of a body that is too large, read all the same, so that its sender sees our answer
_BODY_SECONDS = 10.0
_OPEN_PATHS = frozenset({"/healthz"})

_STATUS = {
    "ARGUMENT_INVALID": 400,
    "QUERY_EMPTY": 400,
    "HTTP_UNAUTHORIZED": 401,
    "HTTP_FORBIDDEN": 403,
    "HTTP_NO_ROUTE": 404,
    "MEMORY_NOT_FOUND": 404,
    "TOPIC_NOT_FOUND": 404,
    "HTTP_TOO_SLOW": 408,
    "EMBEDDER_MISMATCH": 409,
    "HTTP_TOO_LARGE": 413,
    "HTTP_NOT_JSON": 415,
}
_STATUS_BY_REACTION = {Reaction.REJECT: 422, Reaction.RETRY: 500, Reaction.WAIT: 503, Reaction.GIVE_UP: 500}


def app(answers: Answers, token: str, port: int) -> ASGIApp:
    """Everything that is answered on the port."""

    def question(verb: Verb) -> Route:
        async def ask(request: Request) -> Response:
            try:
                arguments = checked(verb, await body_of(request))
                whole = request.query_params.get("settings") == "none"
                found, data = await answers.ask(verb, arguments, whole=whole)
            except JobError as error:
                return refusal(error, failure(verb, error))
            return _response(data, 200 if found["success"] else status_of(found))

        return Route(f"/v1/{verb}", _answering(ask), methods=["POST"])

    async def health(request: Request) -> Response:
        return _json(answer.success(status="alive"))

    async def readiness(request: Request) -> Response:
        if not answers.is_ready:
            raise JobError("HTTP_BUSY", "The model is still being loaded.")
        return _json(answer.success(status="ready"))

    routes = [
        Route("/healthz", _answering(health), methods=["GET"]),
        Route("/readyz", _answering(readiness), methods=["GET"]),
        *(question(verb) for verb in get_args(Verb)),
    ]
    inner = Starlette(routes=routes, exception_handlers={HTTPException: _no_route})
    inner.router.redirect_slashes = False
    return Gate(inner, token, port)


class Gate:
    """Refuses before anything is read."""

    def __init__(self, inner: ASGIApp, token: str, port: int) -> None:
        self._inner = inner
        self._wanted = f"Bearer {token}".encode()
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._check(scope["path"], Headers(scope=scope))
        except JobError as error:
            await refusal(error)(scope, receive, send)
        else:
            await self._inner(scope, receive, send)

    def _check(self, path: str, headers: Headers) -> None:
        """Raises HTTP_FORBIDDEN, HTTP_UNAUTHORIZED."""
        # A name that an attacker's page made point here would be another one (DNS rebinding).
        if [host.lower() for host in headers.getlist("host")] not in [[host] for host in self._hosts]:
            raise JobError("HTTP_FORBIDDEN", "The Host header names another host than this one.")
        # Browsers send it with whatever a page asks of another site.
        origins = headers.getlist("origin")
        if any(origin.lower() not in {f"http://{host}" for host in self._hosts} for origin in origins):
            raise JobError("HTTP_FORBIDDEN", "The Origin header names another site.")
        if path in _OPEN_PATHS:
            return
        given = headers.get("authorization", "").encode("latin-1", "replace")
        if not hmac.compare_digest(given, self._wanted):
            raise JobError("HTTP_UNAUTHORIZED")


def status_of(found: dict[str, Any]) -> int:
    """The status of an answer that is an error."""
    code = found["error_code"]
    return _STATUS.get(code) or _STATUS_BY_REACTION[JobError(code).reaction]


def refusal(error: JobError, envelope: dict[str, Any] | None = None) -> Response:
    """The error as an answer, of a question in its verb's shape, with what HTTP wants beside it."""
    found = envelope or answer.failure(error)
    response = _json(found, status_of(found))
    if response.status_code == 401:
        response.headers["www-authenticate"] = 'Bearer realm="cognee-memory"'
    if response.status_code == 503:
        response.headers["retry-after"] = "1"
    if response.status_code in (408, 413):
        response.headers["connection"] = "close"  # the rest of the body may still be on its way
    return response


def _json(found: dict[str, Any], status: int = 200) -> Response:
    return _response(answer.encoded(found), status)


def _response(data: bytes, status: int) -> Response:
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
    return Response(data, status, headers, "application/json")


def _answering(respond: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """A route's errors are answers, and no text of what was asked gets into the log."""

    async def endpoint(request: Request) -> Response:
        try:
            return await respond(request)
        except JobError as error:
            return refusal(error)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it
        except Exception as error:
            log.error("a request failed: %s", trace(error))
            return refusal(answer.unexpected(error))

    return endpoint


async def _no_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    response = refusal(JobError("HTTP_NO_ROUTE", f"There is no {request.method} under that path."))
    response.status_code = error.status_code
    response.headers.update(error.headers or {})
    return response


# --- the body ---


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object that was sent. Raises HTTP_NOT_JSON, HTTP_TOO_LARGE, HTTP_TOO_SLOW, ARGUMENT_INVALID."""
    kind, _, parameter = request.headers.get("content-type", "").lower().partition(";")
    # Never what a form of another site's page can send without asking us first.
    if kind.strip() != "application/json" or parameter.strip() not in ("", "charset=utf-8", 'charset="utf-8"'):
        raise JobError("HTTP_NOT_JSON")
    return parsed(await _read(request))


async def _read(request: Request) -> bytes:
    declared = request.headers.get("content-length", "0")
    if int(declared) > _SKIPPED_BYTES:
        raise JobError("HTTP_TOO_LARGE")
    kept = bytearray()
    size = 0
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size <= BODY_BYTES:
                    kept += part
                elif size > _SKIPPED_BYTES:
                    break
    except TimeoutError:
        raise JobError("HTTP_TOO_SLOW") from None
    if size > BODY_BYTES:
        raise JobError("HTTP_TOO_LARGE")
    return bytes(kept)


def parsed(body: bytes) -> dict[str, Any]:
    """Raises ARGUMENT_INVALID."""
    try:
        found = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):  # text that is no UTF-8, and numbers without end, among them
        found = None
    if not isinstance(found, dict):
        raise JobError("ARGUMENT_INVALID", "The body is no JSON object.", remediation="Send one JSON object in UTF-8.")
    return found


def checked(verb: Verb, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments, if there are such; what they may be is checked where they are used. Raises ARGUMENT_INVALID."""
    known = (*ARGUMENTS, *inquiry.ARGUMENTS) if verb == "explain" else ARGUMENTS
    for name in arguments:
        if snake_case(name) not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise JobError(
                "ARGUMENT_INVALID",
                f"There is no argument {name[:80]!r}.{hint}",
                remediation=f"docs/http.md lists what /v1/{verb} takes.",
            )
    return arguments
