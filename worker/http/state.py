"""What the server says of the program: health, readiness, settings, team, diagnostics, metrics, and its OpenAPI
document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from starlette.requests import Request
from starlette.responses import Response

from bridge.interface.envelope import SUCCESS
from bridge.settings import Settings, table
from jobs import clock

from .executor import RequestExecutor
from .replies import Respond, computed_reply, envelope, reply
from .team import TeamQuestion

if TYPE_CHECKING:
    from ..calls.shapes import Findings, Health, OfTeam, SettingRow, SettingsTable

DESCRIPTION = Path(__file__).parent.with_name("data") / "openapi.json"


def responders(executor: RequestExecutor) -> dict[str, Respond]:
    """By the names of the calls."""
    team_question = TeamQuestion(executor)

    async def health(*_: Any) -> Response:
        return envelope(_health("alive"))

    async def readiness(*_: Any) -> Response:
        await executor.run(executor.require_ready)
        return envelope(_health("ready"))

    async def settings(*_: Any) -> Response:
        return await computed_reply(executor, _settings)

    async def team(*_: Any) -> Response:
        found: OfTeam = {**SUCCESS, "team": await team_question.answer()}
        return envelope(found)

    async def findings(*_: Any) -> Response:
        return envelope(await executor.run(lambda: _findings(executor), waits=True))

    async def metrics(request: Request, _: Any) -> Response:
        from ..monitoring.measurements import measure  # not at the top: the first question would wait for psutil
        from ..monitoring.metrics import render

        accept = request.headers.get("accept", "")
        data, content_type = await executor.work(
            lambda settings: render(measure(executor.workspace, settings, executor.figures, clock.now()), accept)
        )
        return Response(data, headers={"content-type": content_type})

    async def description(*_: Any) -> Response:
        return reply(await executor.run(DESCRIPTION.read_bytes))

    return {
        "healthz": health, "readyz": readiness, "settings": settings, "team": team, "doctor": findings,
        "metrics": metrics, "openapi": description,
    }  # fmt: skip


def _health(status: Literal["alive", "ready"]) -> Health:
    return {**SUCCESS, "status": status}


def _settings(settings: Settings) -> SettingsTable:
    return {**SUCCESS, "settings": [cast("SettingRow", row._asdict()) for row in table(settings)]}


def _findings(executor: RequestExecutor) -> Findings:
    """The report of ``doctor``. The workspace need not be trusted; the report says if it is not."""
    from ..doctor.examination import examine

    # This reply proves that the server answers.
    report = examine(executor.workspace, clock.now(), probe_http=False).as_dict()
    return {**SUCCESS, **report}
