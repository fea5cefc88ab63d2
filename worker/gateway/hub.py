"""Notices of changes for all who wait: one connection that listens, and no thread for each machine that waits."""

from __future__ import annotations

import asyncio
import logging
import threading

from bridge.team import notices
from bridge.team.server import Server
from jobs.errors import JobError

log = logging.getLogger("gateway")

_AGAIN_SECONDS = 2.0
_LISTEN_SECONDS = 1.0


class Hub:
    """Wakes who waits for a workspace. ``wait`` belongs to the event loop in which ``start`` was called."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._waiting: dict[str, set[asyncio.Future[bool]]] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="gateway-listen", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Begin to listen."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def stop(self) -> None:
        """Let all go who wait."""
        self._stop.set()
        for workspace_id in list(self._waiting):
            self._wake(workspace_id, False)

    async def wait(self, workspace_id: str, seconds: float) -> bool:
        """Wait for a notice of the workspace. Returns whether one came."""
        notice: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(workspace_id, set()).add(notice)
        try:
            return False if self._stop.is_set() else await asyncio.wait_for(notice, seconds)
        except TimeoutError:
            return False
        finally:
            others = self._waiting.get(workspace_id, set())
            others.discard(notice)
            if not others:
                self._waiting.pop(workspace_id, None)

    def _wake(self, workspace_id: str, came: bool) -> None:
        for notice in self._waiting.get(workspace_id, ()):
            if not notice.done():
                notice.set_result(came)

    def _listen(self) -> None:
        assert self._loop is not None
        while not self._stop.is_set():
            try:
                with self._server.connection_of_its_own() as connection:
                    notices.listen(connection)
                    while not self._stop.is_set():
                        for workspace_id in notices.received(connection, _LISTEN_SECONDS):
                            self._loop.call_soon_threadsafe(self._wake, workspace_id, True)
            except JobError as error:
                log.warning("notices are not received: %s", error)
                self._stop.wait(_AGAIN_SECONDS)
