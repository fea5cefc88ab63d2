"""From envelopes to answers over HTTP: statuses, what HTTP wants beside them, and tags that spare an answer."""

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
from bridge.privacy.masking import trace
from bridge.settings import Settings
from jobs.errors import JobError, Reaction

from .answers import Answers

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
    "TOPIC_NOT_FOUND": 404,
    "HTTP_TOO_SLOW": 408,
    "CANCEL_TOO_LATE": 409,
    "EMBEDDER_MISMATCH": 409,
    "JOB_ID_CONFLICT": 409,
    "HTTP_TOO_LARGE": 413,
    "HTTP_NOT_JSON": 415,
}
_STATUS_BY_REACTION = {Reaction.REJECT: 422, Reaction.RETRY: 500, Reaction.WAIT: 503, Reaction.GIVE_UP: 500}

# Of this process: another one counts the versions of what it sees from the start again.
_HERE = secrets.token_hex(6)


def status_of(refusal: Refusal) -> int:
    """The status of an answer that is an error."""
    code = refusal["error_code"]
    return _STATUS.get(code) or _STATUS_BY_REACTION[JobError(code).reaction]


def refusal(error: JobError, envelope: Refusal | None = None) -> Response:
    """The error as an answer, of a question in its verb's shape, with what HTTP wants beside it."""
    body = envelope or answer.failure(error)
    response = reply(answer.encoded(body), status_of(body))
    if response.status_code == 401:
        response.headers["www-authenticate"] = 'Bearer realm="cognee-memory"'
    if response.status_code == 503:
        response.headers["retry-after"] = "1"
    if response.status_code in (408, 413):
        response.headers["connection"] = "close"  # the rest of the body may still be on its way
    return response


def reply(data: bytes, status: int = 200) -> Response:
    return Response(data, status, media_type="application/json")


def envelope(success: Success) -> Response:
    """A success that is at hand."""
    return reply(answer.encoded(success))


async def worked(
    answers: Answers, find: Callable[[Settings], Success], *, status: int = 200, waits: bool = False
) -> Response:
    """The answer that is found in a thread. Raises what ``find`` raises, and as ``Answers.work``."""
    data = await answers.work(lambda settings: answer.encoded(find(settings)), waits=waits)
    return reply(data, status)


async def unless_known(
    answers: Answers, request: Request, version: Callable[[], str], find: Callable[[], Success]
) -> Response:
    """As ``worked``; or 304, without finding anything, for who has the answer of this version already."""

    def look(_: Settings) -> tuple[str, bytes | None]:
        tag = f'W/"{_HERE}-{version()}"'  # before the answer, which may be newer and is then given once more
        return tag, None if knows(request, tag) else answer.encoded(find())

    tag, data = await answers.work(look)
    response = Response(status_code=304) if data is None else reply(data)
    response.headers["etag"] = tag
    return response


def knows(request: Request, tag: str) -> bool:
    """Whether whoever asks has the answer with this tag."""
    given = [each.strip() for line in request.headers.getlist("if-none-match") for each in line.split(",")]
    return tag in given or tag.removeprefix("W/") in given or "*" in given


def route(path: str, **methods: Respond) -> Route:
    """What answers at a path, by method: ``get``, which answers HEAD as well, and ``post``.

    Errors are answers, and no text of what was asked gets into the log.
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
            return Response(status_code=400)  # nobody reads it
        except Exception as error:
            log.error("a request failed: %s", trace(error))
            return refusal(answer.unexpected(error))

    return Route(path, endpoint, methods=list(by_method))


async def no_route(request: Request, error: Exception) -> Response:
    """What is answered where there is no such path, or no such method under it."""
    assert isinstance(error, HTTPException)
    response = refusal(JobError("HTTP_NO_ROUTE", f"There is no {request.method} under that path."))
    response.status_code = error.status_code
    response.headers.update(error.headers or {})
    return response
