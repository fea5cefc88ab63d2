"""The routes of the server itself: health, readiness, settings, diagnostics, and the OpenAPI document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bridge.interface.envelope import SUCCESS
from bridge.settings import Settings, table
from jobs import clock

from .answers import Answers
from .bodies import Query
from .replies import envelope, reply, route, worked

if TYPE_CHECKING:
    from .schema import Findings, Health, SettingsTable

DESCRIPTION = Path(__file__).parent.with_name("data") / "openapi.json"


def routes(answers: Answers) -> list[Route]:
    """The routes ``/healthz``, ``/readyz``, ``/v1/settings``, ``/v1/doctor`` and ``/openapi.json``."""

    async def health(request: Request) -> Response:
        Query(request)
        return envelope(_health("alive"))

    async def readiness(request: Request) -> Response:
        Query(request)
        await answers.run(answers.require_ready)
        return envelope(_health("ready"))

    async def settings(request: Request) -> Response:
        Query(request)
        return await worked(answers, _settings)

    async def findings(request: Request) -> Response:
        Query(request)
        return envelope(await answers.run(lambda: _findings(answers), waits=True))

    async def description(request: Request) -> Response:
        Query(request)
        return reply(await answers.run(DESCRIPTION.read_bytes))

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


def _findings(answers: Answers) -> Findings:
    """The report of ``doctor``. The workspace need not be trusted; the report says if it is not."""
    from ..doctor.examination import examine

    # This reply proves that the server answers.
    report = examine(answers.workspace, clock.now(), probe_http=False).as_dict()
    return cast("Findings", {**SUCCESS, **report})  # a finding has fields that are not published
