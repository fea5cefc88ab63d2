"""What the server says of itself: health, readiness, settings, diagnostics, and the OpenAPI document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from starlette.responses import Response

from bridge.interface.envelope import SUCCESS
from bridge.settings import Settings, table
from jobs import clock

from .executor import RequestExecutor
from .replies import Respond, computed_reply, envelope, reply

if TYPE_CHECKING:
    from ..calls.shapes import Findings, Health, SettingRow, SettingsTable

DESCRIPTION = Path(__file__).parent.with_name("data") / "openapi.json"


def responders(executor: RequestExecutor) -> dict[str, Respond]:
    """By the names of the calls."""

    async def health(*_: Any) -> Response:
        return envelope(_health("alive"))

    async def readiness(*_: Any) -> Response:
        await executor.run(executor.require_ready)
        return envelope(_health("ready"))

    async def settings(*_: Any) -> Response:
        return await computed_reply(executor, _settings)

    async def findings(*_: Any) -> Response:
        return envelope(await executor.run(lambda: _findings(executor), waits=True))

    async def description(*_: Any) -> Response:
        return reply(await executor.run(DESCRIPTION.read_bytes))

    return {
        "healthz": health, "readyz": readiness, "settings": settings, "doctor": findings, "openapi": description,
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
