"""Wakes this worker when another machine has changed the workspace, and the others when this one has.

At most ten notices a second are sent; the last one is never left out. When the connection is lost, this worker looks at
once, and then whenever it is tried again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from bridge.team.gateway_team import GatewayTeam
from jobs.errors import JobError

log = logging.getLogger(__name__)

_PAUSE_SECONDS = 0.1
_LISTENER_SECONDS = 1.5
_AGAIN_SECONDS = 5.0


class Wakeups:
    """Listens in a thread of its own. ``tell`` may be called from any thread."""

    def __init__(self, team: GatewayTeam, workspace_id: str, node: str, heard: Callable[[bool], None]) -> None:
        """``heard`` as in ``GatewayTeam.listen``."""
        self._team = team
        self._workspace_id = workspace_id
        self._node = node
        self._heard = heard
        self._stop = threading.Event()
        self._pending = threading.Event()
        self._threads = [
            threading.Thread(target=self._listen, name="team-listen", daemon=True),
            threading.Thread(target=self._tell_all, name="team-tell", daemon=True),
        ]

    def start(self) -> None:
        """Begin to listen."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Send the last notice, and end."""
        self._stop.set()
        self._pending.set()
        listening, telling = self._threads
        if telling.ident is not None:
            telling.join()
            listening.join(_LISTENER_SECONDS)  # a gateway may keep it for longer; it ends with the process

    def tell(self) -> None:
        """Tell the others that something has changed."""
        self._pending.set()

    def _tell_all(self) -> None:
        while True:
            self._pending.wait()
            is_last = self._stop.is_set()
            self._pending.clear()
            try:
                self._team.tell(self._workspace_id)
            except JobError as error:
                log.debug("a notice was not sent: %s", error.code)
                self._pending.set()
                self._stop.wait(_AGAIN_SECONDS)
            if is_last:
                return
            self._stop.wait(_PAUSE_SECONDS)
            if self._stop.is_set():
                self._pending.set()

    def _listen(self) -> None:
        while not self._stop.is_set():
            try:
                self._team.listen(self._workspace_id, self._node, self._heard, self._stop.is_set)
            except JobError as error:
                log.debug("not listening: %s", error.code)
                self._heard(True)
                self._stop.wait(_AGAIN_SECONDS)
