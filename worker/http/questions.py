"""The routes of queries: ``retrieve``, ``explain`` and ``context``. A reply has the bytes that the command line
prints."""

from __future__ import annotations

from typing import Any, get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bridge.argument_table import ARGUMENTS, EXPLAIN_ARGUMENTS, RETRIEVE_ARGUMENTS
from bridge.interface.question_arguments import snake_case
from bridge.search.reader import Verb, failure
from jobs.errors import JobError

from .bodies import Query, object_of, require_known
from .executor import RequestExecutor
from .replies import refusal, reply, route, status_of

_ARGUMENTS = {"retrieve": RETRIEVE_ARGUMENTS, "explain": EXPLAIN_ARGUMENTS, "context": ARGUMENTS}


def routes(executor: RequestExecutor) -> list[Route]:
    """One route for each verb."""
    return [_question(executor, verb) for verb in get_args(Verb)]


def _question(executor: RequestExecutor, verb: Verb) -> Route:
    async def ask(request: Request) -> Response:
        try:
            whole = Query(request, "settings").choice("settings", ["none"]) == "none"
            arguments = checked(verb, await object_of(request))
            answer, data = await executor.ask(verb, arguments, whole=whole)
        except JobError as error:
            return refusal(error, failure(verb, error))
        return reply(data, 200 if answer["success"] else status_of(answer))

    return route(f"/v1/{verb}", post=ask)


def checked(verb: Verb, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a query. Raises JobError: ARGUMENT_INVALID for unknown names; the values are checked where
    they are used."""
    known = list(_ARGUMENTS[verb])
    for name in arguments:
        if snake_case(name) not in known:
            require_known(name, known)
    return arguments
