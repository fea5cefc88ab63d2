"""The HTTP application: a route for each path of the table of calls, behind one gate."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ..calls.call import Scope
from ..calls.table import CALLS
from . import page, posts, state
from .executor import RequestExecutor
from .gate import Counted, Gate
from .replies import Endpoint, answered, computed, no_route


def app(executor: RequestExecutor, token: str, port: int) -> ASGIApp:
    """The ASGI application for a server on ``port``; clients authenticate with ``token``."""
    scope = Scope(executor.workspace)
    own = {
        **state.responders(executor),
        **posts.responders(executor, scope),
        **page.responders(executor, token),
    }
    paths: dict[str, dict[str, Endpoint]] = {}
    for call in CALLS:
        respond = own.get(call.name) or computed(executor, scope, call)
        paths.setdefault(call.path, {})[call.method] = answered(call, respond)
    routes = [_route(path, by_method) for path, by_method in paths.items()]
    inner = Starlette(routes=routes, exception_handlers={HTTPException: no_route})
    inner.router.redirect_slashes = False
    return Counted(Gate(inner, token, port), executor.figures)


def _route(path: str, by_method: dict[str, Endpoint]) -> Route:
    """HEAD is answered as GET."""
    methods = {"HEAD": by_method["GET"], **by_method} if "GET" in by_method else by_method

    async def endpoint(request: Request) -> Response:
        return await methods[request.method](request)

    return Route(path, endpoint, methods=list(methods))
