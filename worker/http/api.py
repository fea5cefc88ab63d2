"""The HTTP application: the routes of all modules behind one gate."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from jobs.record_cache import RecordCache

from . import (
    jobs as http_jobs,
    memories as http_memories,
    metrics as http_metrics,
    page as http_page,
    questions as http_questions,
    queue as http_queue,
    state as http_state,
    team as http_team,
)
from .executor import RequestExecutor
from .gate import Gate
from .replies import no_route


def app(executor: RequestExecutor, token: str, port: int) -> ASGIApp:
    """The ASGI application for a server on ``port``; clients authenticate with ``token``."""
    known = RecordCache(executor.workspace.spool)
    routes = [
        *http_state.routes(executor),
        *http_questions.routes(executor),
        *http_queue.routes(executor, known),
        *http_jobs.routes(executor, known),
        *http_memories.routes(executor),
        *http_team.routes(executor),
        *http_metrics.routes(executor),
        *http_page.routes(executor, token),
    ]
    inner = Starlette(routes=routes, exception_handlers={HTTPException: no_route})
    inner.router.redirect_slashes = False
    return http_metrics.Counted(Gate(inner, token, port), executor.figures)
