"""Builds HTTP replies from envelopes: status codes, headers, and entity tags that avoid sending an unchanged answer.

It also builds endpoints, so that every error becomes a reply.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any, get_args

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from bridge.interface import envelope as answer
from bridge.search.reader import Verb, failure
from bridge.settings import Settings
from jobs.errors import JobError, error_kind

from ..calls.call import Call, Scope
from .bodies import fields_of, object_of, query_of
from .executor import RequestExecutor

if TYPE_CHECKING:
    from bridge.interface.answer_shapes import Refusal, Success

log = logging.getLogger("server")

Endpoint = Callable[[Request], Awaitable[Response]]
Respond = Callable[[Request, dict[str, Any]], Awaitable[Response]]
"""From a request and the values of its path and query to the reply. Errors are raised."""

# Part of every tag: another process starts its version numbers from the beginning.
_HERE = secrets.token_hex(6)


def status_of(refusal: Refusal) -> int:
    """The HTTP status for an error code."""
    return error_kind(refusal["error_code"]).http_status


def refusal(error: JobError, envelope: Refusal | None = None) -> Response:
    """The reply for an error, with the headers that its status needs. A query's error uses the envelope of its verb."""
    body = envelope or answer.failure(error)
    response = reply(answer.encoded(body), status_of(body))
    if response.status_code == 401:
        response.headers["www-authenticate"] = 'Bearer realm="cognee-memory"'
    if response.status_code == 503:
        response.headers["retry-after"] = "1"
    if response.status_code in (408, 413):
        response.headers["connection"] = "close"  # the rest of the body may still arrive
    return response


def reply(data: bytes, status: int = 200) -> Response:
    """A reply of JSON bytes."""
    return Response(data, status, media_type="application/json")


def envelope(success: Success) -> Response:
    """A reply from a success that is already computed."""
    return reply(answer.encoded(success))


async def computed_reply(
    executor: RequestExecutor, find: Callable[[Settings], Success], *, status: int = 200, waits: bool = False
) -> Response:
    """A reply from the envelope that ``find`` computes in a thread. Raises what ``find`` raises, and as
    ``RequestExecutor.work``."""
    data = await executor.work(lambda settings: answer.encoded(find(settings)), waits=waits)
    return reply(data, status)


async def _reply_with_etag(
    executor: RequestExecutor, request: Request, call: Call, scope: Scope, given: dict[str, Any]
) -> Response:
    """As ``computed_reply``, or 304 when the client has the answer of this version."""
    asked = sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:16]

    def look(_: Settings) -> tuple[str, bytes | None]:
        assert call.version is not None
        assert call.function is not None
        # The version is before the answer: a newer answer under an old tag is only sent once more.
        tag = f'W/"{_HERE}-{call.version(scope)}-{asked}"'
        return tag, None if etag_matches(request, tag) else answer.encoded(call.function(scope, **given))

    tag, data = await executor.work(look)
    response = Response(status_code=304) if data is None else reply(data)
    response.headers["etag"] = tag
    return response


def etag_matches(request: Request, tag: str) -> bool:
    """Whether the client sent this entity tag in ``If-None-Match``."""
    tags = [each.strip() for line in request.headers.getlist("if-none-match") for each in line.split(",")]
    return tag in tags or tag.removeprefix("W/") in tags or "*" in tags


def answered(call: Call, respond: Respond) -> Endpoint:
    """The endpoint of a call: its parameters are read, and every error becomes a reply. No text of a request is
    logged."""

    async def endpoint(request: Request) -> Response:
        try:
            return await respond(request, {**request.path_params, **query_of(request, call.arguments)})
        except JobError as error:
            return refusal(error, _failure(call, error))
        except ClientDisconnect:
            return Response(status_code=400)  # the client is gone and reads no reply
        except Exception as error:
            return refusal(answer.unexpected(error, lambda lines: log.error("a request failed: %s", lines)))

    return endpoint


def _failure(call: Call, error: JobError) -> Refusal | None:
    """The envelope of a query's error; None for other calls."""
    return next((failure(verb, error) for verb in get_args(Verb) if verb == call.name), None)


def computed(executor: RequestExecutor, scope: Scope, call: Call) -> Respond:
    """Replies with what the call's function returns."""
    function = call.function
    assert function is not None

    async def respond(request: Request, given: dict[str, Any]) -> Response:
        if call.version is not None:
            return await _reply_with_etag(executor, request, call, scope, given)
        if call.body is not None:
            given |= fields_of(await object_of(request), call.body)
        try:
            return await computed_reply(executor, lambda _: function(scope, **given), waits=call.waits)
        except JobError as error:
            response = refusal(error)
            if 409 in call.errors and response.status_code in (400, 422):
                response.status_code = 409
            return response

    return respond


async def no_route(request: Request, error: Exception) -> Response:
    """The reply for an unknown path or method."""
    assert isinstance(error, HTTPException)
    response = refusal(JobError("HTTP_NO_ROUTE", f"There is no {request.method} under that path."))
    response.status_code = error.status_code
    response.headers.update(error.headers or {})
    return response
