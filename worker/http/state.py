"""The routes of the server itself: health, readiness, settings, diagnostics, and the OpenAPI document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bridge.interface.envelope import SUCCESS
from bridge.settings import Settings, table
from jobs import clock

from .bodies import Query
from .executor import RequestExecutor
from .replies import computed_reply, envelope, reply, route

if TYPE_CHECKING:
    from .schema import Findings, Health, SettingsTable

DESCRIPTION = Path(__file__).parent.with_name("data") / "openapi.json"


def routes(executor: RequestExecutor) -> list[Route]:
    """The routes ``/healthz``, ``/readyz``, ``/v1/settings``, ``/v1/doctor`` and ``/openapi.json``."""

    async def health(request: Request) -> Response:
        Query(request)
        return envelope(_health("alive"))

    async def readiness(request: Request) -> Response:
        Query(request)
        await executor.run(executor.require_ready)
        return envelope(_health("ready"))

    async def settings(request: Request) -> Response:
        Query(request)
        return await computed_reply(executor, _settings)

    async def findings(request: Request) -> Response:
        Query(request)
        return envelope(await executor.run(lambda: _findings(executor), waits=True))

    async def description(request: Request) -> Response:
        Query(request)
        return reply(await executor.run(DESCRIPTION.read_bytes))

    return [
        route("/healthz", get=health),
        route("/readyz", get=readiness),
        route("/v1/settings", get=settings),
        route("/v1/doctor", get=findings),
        route("/openapi.json", get=description),
    ]


def _health(status: Literal["alive", "ready"]) -> Health:
    return {**SUCCESS, "status": status}


def _settings(settings: Settings) -> SettingsTable:
    return {
        **SUCCESS,
        "settings": [
            {"name": row.name, "variable": row.variable, "value": row.value, "source": row.source, "help": row.help}
            for row in table(settings)
        ],
    }


def _findings(executor: RequestExecutor) -> Findings:
    """The report of ``doctor``. The workspace need not be trusted; the report says if it is not."""
    from ..doctor.examination import examine

    # This reply proves that the server answers.
    report = examine(executor.workspace, clock.now(), probe_http=False).as_dict()
    return {**SUCCESS, **report}
