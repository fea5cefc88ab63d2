"""What the server says of the program: health, readiness, settings, team, diagnostics, metrics, and its OpenAPI
document.

The team's answer comes from another machine, which may be away. So the team is asked in a thread of its own, by one
request at a time, and no client waits for longer than a few seconds.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from starlette.requests import Request
from starlette.responses import Response

from bridge.interface.envelope import SUCCESS
from bridge.settings import Settings, table
from bridge.team import membership
from jobs import clock
from jobs.errors import JobError

from .executor import RequestExecutor
from .replies import Respond, computed_reply, envelope, reply

if TYPE_CHECKING:
    from bridge.team.membership import Membership

    from ..admin.shapes import TeamStatus
    from ..calls.shapes import Findings, Health, OfTeam, SettingRow, SettingsTable


_PATIENCE_SECONDS = 3.0

DESCRIPTION = Path(__file__).parent.with_name("data") / "openapi.json"


class TeamQuestion:
    """All who ask while an answer is on its way get that one. Used on the event loop."""

    def __init__(self, executor: RequestExecutor) -> None:
        self._executor = executor
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="team")
        self._asked: asyncio.Future[TeamStatus] | None = None

    async def answer(self) -> TeamStatus | None:
        """The status of the workspace's team, or, where it does not answer in time, what is known here and the error;
        None for a workspace without a team. Raises JobError as ``RequestExecutor.work``, and SETTING_INVALID."""
        settings, found = await self._executor.work(self._membership)
        if found is None:
            return None
        if self._asked is None or self._asked.done():
            self._asked = asyncio.get_running_loop().run_in_executor(self._thread, self._ask, settings)
            self._asked.add_done_callback(_looked_at)
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS + 0.5):
                return await asyncio.shield(self._asked)
        except TimeoutError:
            return await self._executor.run(lambda: self._not_reached(settings, found))

    def _membership(self, settings: Settings) -> tuple[Settings, Membership | None]:
        return settings, membership.membership_of(self._executor.workspace, settings.config_folder)

    def _ask(self, settings: Settings) -> TeamStatus:
        from ..admin import team  # only a team needs a client of Postgres

        return team.status(self._executor.workspace, settings, patience=_PATIENCE_SECONDS)

    def _not_reached(self, settings: Settings, found: Membership) -> TeamStatus:
        from ..admin import team

        error = JobError("TEAM_UNREACHABLE", f"The team has not answered within {_PATIENCE_SECONDS:g} s.")
        return team.known_here(self._executor.workspace, settings, found, error)


def _looked_at(asked: asyncio.Future[TeamStatus]) -> None:
    """Take note of an error, also where every client has stopped waiting for it."""
    if not asked.cancelled():
        asked.exception()


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
            lambda settings: render(measure(executor.workspace, settings, executor.counters, clock.now()), accept)
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
