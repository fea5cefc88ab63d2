"""One process that answers over HTTP, as the worker sees it: its start, what it says, its memory, its end.

It gets the listening socket, and the token through its stdin. The end of that pipe tells it to leave.
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

import psutil

from bridge.settings import inherited_environment
from jobs.layout import Workspace

from ..log import pump

log = logging.getLogger(__name__)
server_log = logging.getLogger("server")

READY = b"ready"  # the line that says that the model is loaded
_LINE_BYTES = 1000
# Questions run beside each other already. numpy's threads would wait for one another in each of them, turning in
# place: on a busy machine that doubles the time of a question, and a quiet one gains nothing at the memory's limit.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
_NO_CONSOLE: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)


class ServerProcess:
    """``noticed`` is called when it is ready and when it has ended."""

    def __init__(self, workspace: Workspace, listening: socket.socket, token: str, noticed: Callable[[], None]) -> None:
        """Raises OSError."""
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
            start_new_session=not windows,  # a Ctrl-C is for the worker alone
            creationflags=_NO_CONSOLE,
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
            pass  # it has died already, as its exit status will tell

    def _read(self) -> None:
        """Its stdout: one word of ours, and perhaps what some library prints."""
        with self._output as stream:
            while line := _line(stream):
                if line.strip() == READY:
                    self.ready.set()
                    self._noticed()
        self._popen.wait()  # its pipe closes a moment before it has ended
        self._noticed()

    def is_alive(self) -> bool:
        return self._popen.poll() is None

    def memory_bytes(self) -> int | None:
        try:
            return int(psutil.Process(self.pid).memory_info().rss)
        except psutil.Error:
            return None

    def private_bytes(self) -> int | None:
        """Resident memory without what is mapped from files, which the system takes back when it needs room."""
        try:
            found = psutil.Process(self.pid).memory_info()
        except psutil.Error:
            return None
        return int(found.rss) - int(getattr(found, "shared", 0))

    def end(self, seconds: float) -> int:
        """Tell it to leave, kill it if it does not in so many seconds; its exit status."""
        try:
            self._input.close()
        except OSError:
            pass  # it has ended already
        try:
            return self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            log.error("the server did not leave by itself: killed pid=%d", self.pid)
            self._popen.kill()
            return self._popen.wait()


def _line(stream: IO[bytes]) -> bytes:
    """A line, or a part of a long one; nothing at the end."""
    return stream.readline(_LINE_BYTES)
