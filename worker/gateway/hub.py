"""Changes for all who wait: one connection that listens, and no thread for each machine that waits."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from functools import partial
from typing import NamedTuple

from bridge.team import notices
from bridge.team.server import Server
from jobs.errors import JobError

log = logging.getLogger("gateway")

_AGAIN_SECONDS = 2.0


class Heard(NamedTuple):
    """Whether something has changed, and the mark from which to wait on: a time of this machine's clock, so that
    another gateway with about the same time understands it."""

    changed: bool
    mark: float


class _Waiting(NamedTuple):
    token_id: str
    answer: asyncio.Future[bool]


class Hub:
    """Wakes who waits for a workspace. All but ``start`` and ``tell`` belongs to the event loop in which ``start`` was
    called."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._waiting: dict[str, set[_Waiting]] = {}
        self._changed_at: dict[str, float] = {}  # each workspace that has changed since ``_listens_since``
        self._listens_since: float | None = None  # None while notices are not received
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
            self._answer(workspace_id, False)

    def join(self) -> None:
        """After ``stop``, wait until nothing is heard any more."""
        self._thread.join()

    async def wait(self, workspace_id: str, token_id: str, mark: float | None, seconds: float) -> Heard:
        """Wait until the workspace has changed since ``mark``, or so long; without a mark, not at all.

        Raises JobError: TEAM_UNREACHABLE while notices are not received, and what ``end`` is given.
        """
        since = self._listens_since
        if since is not None and (mark is None or max(since, self._changed_at.get(workspace_id, since)) > mark):
            return Heard(True, time.time())
        waiting = _Waiting(token_id, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(workspace_id, set()).add(waiting)
        try:
            changed = False if self._stop.is_set() else await asyncio.wait_for(waiting.answer, seconds)
        except TimeoutError:
            changed = False
        finally:
            others = self._waiting.get(workspace_id, set())
            others.discard(waiting)
            if not others:
                self._waiting.pop(workspace_id, None)
        if not changed and self._listens_since is None:
            raise JobError("TEAM_UNREACHABLE", "The gateway cannot use its database now. Its log says why.")
        return Heard(changed, time.time())

    def tell(self, workspace_id: str) -> None:
        """The workspace has changed. From any thread."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._change, workspace_id)

    def end(self, workspace_id: str, token_id: str, error: JobError) -> None:
        """Who waits for the workspace with this token gets this error. From any thread."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._fail, workspace_id, error, token_id)

    # --- in the event loop ---

    def _change(self, workspace_id: str) -> None:
        self._changed_at[workspace_id] = time.time()
        self._answer(workspace_id, True)

    def _answer(self, workspace_id: str, changed: bool) -> None:
        for _, answer in self._waiting.get(workspace_id, ()):
            if not answer.done():
                answer.set_result(changed)

    def _fail(self, workspace_id: str, error: JobError, token_id: str | None = None) -> None:
        for waiting in self._waiting.get(workspace_id, ()):
            if token_id in (None, waiting.token_id) and not waiting.answer.done():
                waiting.answer.set_exception(error)

    def _listens(self) -> None:
        """What happened before is not known: all look."""
        self._listens_since = time.time()
        self._changed_at.clear()
        for workspace_id in list(self._waiting):
            self._answer(workspace_id, True)

    def _listens_not(self, error: JobError) -> None:
        self._listens_since = None
        for workspace_id in list(self._waiting):
            self._fail(workspace_id, error)

    # --- the thread ---

    def _listen(self) -> None:
        assert self._loop is not None
        begin = partial(self._loop.call_soon_threadsafe, self._listens)
        while not self._stop.is_set():
            try:
                with self._server.connection_of_its_own() as connection:
                    notices.listen(connection, begin, self.tell, self._stop.is_set)
            except JobError as error:
                log.warning("notices are not received: %s", error)
                self._loop.call_soon_threadsafe(self._listens_not, error)
                self._stop.wait(_AGAIN_SECONDS)
