"""The question for the status of the workspace's team.

Its answer comes from another machine, which may be away. So the team is asked in a thread of its own, by one request at
a time, and no client waits for longer than a few seconds.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from bridge.settings import Settings
from bridge.team import membership
from jobs.errors import JobError

from .executor import RequestExecutor

if TYPE_CHECKING:
    from bridge.team.membership import Membership

    from ..admin.shapes import TeamStatus

_PATIENCE_SECONDS = 3.0


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
