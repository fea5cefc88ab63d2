"""Builds HTTP replies from envelopes: status codes, headers, and entity tags that avoid sending an unchanged answer.

It also builds routes, so that every error becomes a reply.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from bridge.interface import envelope as answer
from bridge.settings import Settings
from jobs.errors import JobError, Reaction

from .executor import RequestExecutor

if TYPE_CHECKING:
    from bridge.interface.answer_shapes import Refusal, Success

log = logging.getLogger("server")

Respond = Callable[[Request], Awaitable[Response]]

_STATUS = {
    "ARGUMENT_INVALID": 400,
    "QUERY_EMPTY": 400,
    "HTTP_UNAUTHORIZED": 401,
    "HTTP_TICKET_INVALID": 401,
    "HTTP_FORBIDDEN": 403,
    "HTTP_NO_ROUTE": 404,
    "JOB_NOT_FOUND": 404,
    "MEMORY_NOT_FOUND": 404,
    "PLAN_NOT_FOUND": 404,
    "TOPIC_NOT_FOUND": 404,
    "HTTP_TOO_SLOW": 408,
    "CANCEL_TOO_LATE": 409,
    "EMBEDDER_MISMATCH": 409,
    "JOB_ID_CONFLICT": 409,
    "HTTP_TOO_LARGE": 413,
    "HTTP_NOT_JSON": 415,
    "EMBEDDING_CONFIG": 503,
    "MODEL_CORRUPT": 503,
    "MODEL_MISSING": 503,
}
_STATUS_BY_REACTION = {Reaction.REJECT: 422, Reaction.RETRY: 500, Reaction.WAIT: 503, Reaction.GIVE_UP: 500}

# Part of every tag: another process starts its version numbers from the beginning.
_HERE = secrets.token_hex(6)


def status_of(refusal: Refusal) -> int:
    """The HTTP status for an error code."""
    code = refusal["error_code"]
    return _STATUS.get(code) or _STATUS_BY_REACTION[JobError(code).reaction]


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


async def reply_with_etag(
    executor: RequestExecutor, request: Request, version: Callable[[], str], find: Callable[[], Success]
) -> Response:
    """As ``computed_reply``, or 304 without calling ``find`` when the client has the answer of this version."""

    def look(_: Settings) -> tuple[str, bytes | None]:
        tag = f'W/"{_HERE}-{version()}"'  # before the answer: a newer answer under an old tag is only sent once more
        return tag, None if etag_matches(request, tag) else answer.encoded(find())

    tag, data = await executor.work(look)
    response = Response(status_code=304) if data is None else reply(data)
    response.headers["etag"] = tag
    return response


def etag_matches(request: Request, tag: str) -> bool:
    """Whether the client sent this entity tag in ``If-None-Match``."""
    tags = [each.strip() for line in request.headers.getlist("if-none-match") for each in line.split(",")]
    return tag in tags or tag.removeprefix("W/") in tags or "*" in tags


def route(path: str, **methods: Respond) -> Route:
    """A route at ``path``. ``methods`` are ``get``, which also serves HEAD, and ``post``.

    Every error becomes a reply, and no text of a request is logged.
    """
    by_method = {method.upper(): respond for method, respond in methods.items()}
    if "GET" in by_method:
        by_method["HEAD"] = by_method["GET"]

    async def endpoint(request: Request) -> Response:
        try:
            return await by_method[request.method](request)
        except JobError as error:
            return refusal(error)
        except ClientDisconnect:
            return Response(status_code=400)  # the client is gone and reads no reply
        except Exception as error:
            return refusal(answer.unexpected(error, lambda lines: log.error("a request failed: %s", lines)))

    return Route(path, endpoint, methods=list(by_method))


async def no_route(request: Request, error: Exception) -> Response:
    """The reply for an unknown path or method."""
    assert isinstance(error, HTTPException)
    response = refusal(JobError("HTTP_NO_ROUTE", f"There is no {request.method} under that path."))
    response.status_code = error.status_code
    response.headers.update(error.headers or {})
    return response
