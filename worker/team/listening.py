"""Listens for changes of the workspace, in a thread of its own. When the connection is lost, this worker looks at once,
and then whenever it is tried again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from bridge.team.gateway_team import GatewayTeam
from jobs.errors import JobError

log = logging.getLogger(__name__)

_STOP_SECONDS = 1.5
_AGAIN_SECONDS = 5.0


class Listening:
    """Starts and stops the thread."""

    def __init__(self, team: GatewayTeam, workspace_id: str, node: str, heard: Callable[[bool], None]) -> None:
        """``heard`` as in ``GatewayTeam.listen``."""
        self._team = team
        self._workspace_id = workspace_id
        self._node = node
        self._heard = heard
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="team-listen", daemon=True)

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def stop(self) -> None:
        """End. A gateway may keep the thread for longer; it ends with the process."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(_STOP_SECONDS)

    def _listen(self) -> None:
        while not self._stop.is_set():
            try:
                self._team.listen(self._workspace_id, self._node, self._heard, self._stop.is_set)
            except JobError as error:
                log.debug("not listening: %s", error.code)
                self._heard(True)
                self._stop.wait(_AGAIN_SECONDS)
