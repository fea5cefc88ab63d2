"""The HTTP application: a route for each path of the table of calls, behind one gate; and what it does with the bodies
of queries and new jobs, which are checked where they are used.
"""

from __future__ import annotations

from typing import Any, get_args

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from bridge.interface.question_arguments import snake_case
from bridge.search.reader import Verb
from jobs.errors import JobError

from ..calls import queue
from ..calls.call import Scope
from ..calls.table import CALLS, MOMENT, QUESTIONS
from . import page, state
from .bodies import bytes_of, object_of, only, require_known
from .executor import RequestExecutor
from .gate import Counted, Gate
from .replies import Endpoint, Respond, answered, computed, computed_reply, envelope, no_route, reply, status_of


def _posts(executor: RequestExecutor, scope: Scope) -> dict[str, Respond]:
    """By the names of the calls. The reply to a query has the bytes that the command line prints."""

    def question(verb: Verb) -> Respond:
        async def ask(request: Request, given: dict[str, Any]) -> Response:
            arguments = _with_known_names(verb, await object_of(request))
            answer, data = await executor.ask(verb, arguments, whole=given["settings"] == "none")
            return reply(data, 200 if answer["success"] else status_of(answer))

        return ask

    async def submit(request: Request, _: dict[str, Any]) -> Response:
        body = await bytes_of(request)
        correlation_id = request.headers.get("x-correlation-id")
        return await computed_reply(
            executor, lambda settings: queue.submit(scope, settings, body, correlation_id), status=202
        )

    async def moment(request: Request, _: dict[str, Any]) -> Response:
        asked = only(await object_of(request), *MOMENT)
        for name, value in asked.items():
            least, most = MOMENT[name].range
            if name == "shown":
                fits = isinstance(value, list) and all(type(each) is int and least <= each <= most for each in value)
            else:
                fits = isinstance(value, str) and len(value) <= most
            if not fits:
                what = "a list of numbers of memories" if name == "shown" else f"a text of at most {most} characters"
                raise JobError("ARGUMENT_INVALID", f"{name} is {what}.")
        said = (asked.get(name, "") for name in ("prompt", "file", "output"))
        prompt, file, output = (text.encode("utf-8", "replace").decode() for text in said)  # without half a character
        shown = asked.get("shown", [])
        return envelope(await executor.moment(prompt, file, output, shown))

    return {**{verb: question(verb) for verb in get_args(Verb)}, "submitJob": submit, "moment": moment}


def _with_known_names(verb: Verb, arguments: dict[str, Any]) -> dict[str, Any]:
    """Raises JobError: ARGUMENT_INVALID for unknown names; the values are checked where they are used."""
    known = list(QUESTIONS[verb])
    for name in arguments:
        if snake_case(name) not in known:
            require_known(name, known)
    return arguments


def app(executor: RequestExecutor, token: str, port: int) -> ASGIApp:
    """The ASGI application for a server on ``port``; clients authenticate with ``token``."""
    scope = Scope(executor.workspace)
    own = {
        **state.responders(executor),
        **_posts(executor, scope),
        **page.responders(executor, token),
    }
    paths: dict[str, dict[str, Endpoint]] = {}
    for call in CALLS:
        respond = own.get(call.name) or computed(executor, scope, call)
        paths.setdefault(call.path, {})[call.method] = answered(call, respond)
    routes = [_route(path, by_method) for path, by_method in paths.items()]
    inner = Starlette(routes=routes, exception_handlers={HTTPException: no_route})
    inner.router.redirect_slashes = False
    return Counted(Gate(inner, token, port), executor.counters)


def _route(path: str, by_method: dict[str, Endpoint]) -> Route:
    """HEAD is answered as GET."""
    methods = {"HEAD": by_method["GET"], **by_method} if "GET" in by_method else by_method

    async def endpoint(request: Request) -> Response:
        return await methods[request.method](request)

    return Route(path, endpoint, methods=list(methods))
