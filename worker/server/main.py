"""The HTTP server's process: keeps the model and the catalogue in memory, and ends when idle.

It inherits the worker's listening socket; connections that arrive after its end wait there for the next process. It
does not import cognee. It begins to load the model before it imports the server, which takes as long: a client waits.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import Any

from bridge import trust
from bridge.embedding.factory import begin
from bridge.interface.envelope import exit_now
from bridge.privacy import log_lines
from bridge.privacy.masking import trace
from bridge.settings import Settings, import_numpy
from bridge.stand_ins import import_without
from jobs.errors import JobError
from jobs.layout import Workspace

from ..child.parent_death import ParentDeathGuard
from . import READY

log = logging.getLogger("server")

_WARM_AFTER_SECONDS = 0.2
_OF_ITS_COMMAND_LINE = {"uvicorn.main": {"Server": None, "main": None, "run": None}, "logging.config": {}}


def _inherited(start: dict[str, Any], arguments: list[str]) -> socket.socket:
    if sys.platform == "win32":
        import base64

        return socket.fromshare(base64.b64decode(start["socket"]))
    return socket.socket(fileno=int(arguments[0]))


def _say_ready() -> None:
    try:
        os.write(1, READY + b"\n")
    except OSError:
        pass  # the worker has ended, and stdin will end this process


def main() -> int:
    """``python -m worker.server.main WORKSPACE PARENT [SOCKET]``, with the token on stdin.

    PARENT is the worker's process id; SOCKET is the socket's descriptor, except on Windows.
    """
    ParentDeathGuard(parent=int(sys.argv[2]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log_lines.log_to_stderr()
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # invalid requests are not worth a line
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        return 0  # the worker has ended
    try:
        _serve(Workspace(Path(sys.argv[1])), json.loads(line))
    except Exception as error:
        log.error("%s", trace(error))
        return 1
    return 0


def _settings(workspace: Workspace) -> Settings | None:
    """The settings; None if they cannot be read, so that clients get that error."""
    try:
        return trust.settings_of(workspace)
    except JobError as error:
        log.error("%s", error)
        return None


def _serve(workspace: Workspace, start: dict[str, Any]) -> None:
    settings = _settings(workspace)
    begun = None if settings is None else (settings.embedding, begin(settings.embedding, stays=True))
    import_numpy()
    import_without("uvicorn", _OF_ITS_COMMAND_LINE)
    from ..http.executor import RequestExecutor
    from .idle_server import server

    answers = RequestExecutor(workspace, _say_ready, begun=begun)
    with _inherited(start, sys.argv[3:]) as listening:
        http_server = server(listening, answers, start["token"], (settings or Settings()).http_idle_seconds)

        # The process starts for a client, whose question usually loads everything; a second one would delay it.
        warming = threading.Timer(_WARM_AFTER_SECONDS, answers.warm)
        warming.daemon = True

        def until_the_end_of_stdin() -> None:
            while sys.stdin.buffer.read(1024):
                pass
            warming.cancel()  # in a team, a question without a worker would start one
            http_server.request_exit()

        warming.start()
        threading.Thread(target=until_the_end_of_stdin, daemon=True, name="stdin").start()
        http_server.run(sockets=[listening])


if __name__ == "__main__":
    exit_now(main())  # a thread may still be loading the model
