"""One HTTP server process, on the worker's side: its start, its readiness, its memory and its end.

It inherits the listening socket and reads the token from stdin. When stdin closes, it ends.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO

from bridge.settings import inherited_environment
from jobs.launch import NO_CONSOLE
from jobs.layout import Workspace

from ..log import pump
from ..process_usage import private_bytes, resident_bytes
from . import READY

log = logging.getLogger(__name__)
server_log = logging.getLogger("server")

_LINE_BYTES = 1000
# Queries already run in parallel. numpy's own threads would spin while they wait for each other: on a busy machine that
# doubles the time of a query, and on an idle one it gains nothing, since memory bandwidth is the limit.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}


class ServerProcess:
    """One server process. ``ready`` is set after it has loaded the model."""

    def __init__(self, workspace: Workspace, listening: socket.socket, token: str, noticed: Callable[[], None]) -> None:
        """``noticed`` is called when the process is ready and when it has ended. Raises OSError."""
        windows = sys.platform == "win32"
        self._noticed = noticed
        self.ready = threading.Event()
        self._popen = subprocess.Popen(
            [
                *(sys.executable, "-m", "worker.server.main", str(workspace.root), str(os.getpid())),
                *([] if windows else [str(listening.fileno())]),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=inherited_environment() | _ONE_THREAD,
            cwd=workspace.root.anchor,
            pass_fds=() if windows else (listening.fileno(),),
            start_new_session=not windows,  # a Ctrl-C reaches only the worker
            creationflags=NO_CONSOLE,
        )
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        assert self._popen.stderr is not None
        self.pid = self._popen.pid
        self._input, self._output = self._popen.stdin, self._popen.stdout
        threading.Thread(target=self._read, daemon=True, name="server-stdout").start()
        threading.Thread(target=pump, args=(self._popen.stderr, server_log), daemon=True, name="server-stderr").start()
        start = {"token": token}
        if sys.platform == "win32":
            start["socket"] = base64.b64encode(listening.share(self.pid)).decode()
        try:
            self._input.write(json.dumps(start).encode() + b"\n")
        except OSError:
            pass  # it has already died, which its exit status shows

    def _read(self) -> None:
        """Read its stdout: the line READY, and perhaps prints of libraries."""
        with self._output as stream:
            while line := _line(stream):
                if line.strip() == READY:
                    self.ready.set()
                    self._noticed()
        self._popen.wait()  # the pipe closes shortly before the process ends
        self._noticed()

    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._popen.poll() is None

    def memory_bytes(self) -> int | None:
        """The resident memory; None if it cannot be read."""
        return resident_bytes(self.pid)

    def private_bytes(self) -> int | None:
        """The resident memory without mapped files, which the system can reclaim; None if it cannot be read."""
        return private_bytes(self.pid)

    def end(self, seconds: float) -> int:
        """Close its stdin, so that it ends, and kill it after ``seconds``. Returns the exit status."""
        try:
            self._input.close()
        except OSError:
            pass  # it has already ended
        try:
            return self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            log.error("the server did not leave by itself: killed pid=%d", self.pid)
            self._popen.kill()
            return self._popen.wait()


def _line(stream: IO[bytes]) -> bytes:
    """A line, or a part of a long one; empty at the end."""
    return stream.readline(_LINE_BYTES)
