"""The worker's HTTP endpoint: always listens, but runs a server process only while there are requests.

So an idle worker has neither a server nor a model in memory. A connection waits in the socket's queue until a server
process accepts it; one that arrives while a process ends waits for the next process. No connection is lost. A server
process inherits the listening socket and reads the token from stdin. When stdin closes, it ends.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import secrets
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from bridge.settings import Settings, inherited_environment
from jobs import files
from jobs.launch import NO_CONSOLE
from jobs.layout import Workspace
from jobs.lifecycle import backoff_seconds

from ..log import pump
from ..monitoring.counters import Counters
from ..processes import private_bytes, resident_bytes
from . import READY

if TYPE_CHECKING:
    from jobs.schema import Http


log = logging.getLogger(__name__)
server_log = logging.getLogger("server")

_LINE_BYTES = 1000
# Queries already run in parallel. numpy's own threads would spin while they wait for each other: on a busy machine that
# doubles the time of a query, and on an idle one it gains nothing, since memory bandwidth is the limit.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}

_HOST = "127.0.0.1"
_BACKLOG = 128
_WATCH_SECONDS = 2.0
_STOP_SECONDS = 3.0
# The pause between two attempts to listen, and before the next process after one that died; doubled each time.
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.5, 60.0
_STEADY_SECONDS = 60.0  # the death of a process that lived so long is not counted as a failed start
_MOST_BYTES = 2 * 1024 * 1024 * 1024  # of the process's private memory, without the mapped vectors


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
            while line := stream.readline(_LINE_BYTES):  # a part of a long one
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


class Endpoint:
    """The endpoint. ``start`` listens and starts a thread that starts all server processes: the kernel kills a process
    with the thread that started it, so this one lives as long as the worker."""

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        changed: Callable[[], None] = lambda: None,
        *,
        counters: Counters | None = None,
        most_bytes: int = _MOST_BYTES,
        start_server: Callable[..., ServerProcess] = ServerProcess,
    ) -> None:
        """``changed`` is called when the result of ``describe`` has changed. ``most_bytes`` of private memory end a
        server process."""
        self._workspace = workspace
        self._port = settings.http_port
        self._wanted = settings.http
        self._changed = changed
        self._counters = counters or Counters()
        self._most_bytes = most_bytes
        self._start_server = start_server
        self._token = secrets.token_urlsafe(32)
        self._socket: socket.socket | None = None
        self._url: str | None = None
        self._problem: str | None = None
        self._server: ServerProcess | None = None
        self._deaths = 0  # in a row
        self._stopping = threading.Event()
        self._state_changed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="http", daemon=True)

    def start(self) -> None:
        """Listen and start the thread, unless the setting switches HTTP off."""
        if self._wanted:
            self._woken, self._waker = socket.socketpair()
            self._listen()
            self._thread.start()

    def stop(self) -> None:
        """Close the socket and end the server process, with at most 3 s for running requests."""
        if self._thread.ident is None:
            return
        self._stopping.set()
        self._state_changed.set()
        self._waker.send(b"x")
        self._thread.join()
        self._close()
        self._woken.close()
        self._waker.close()

    @property
    def has_server(self) -> bool:
        """Whether a server process runs, which means a recent request."""
        return self._server is not None

    def describe(self) -> Http | None:
        """The endpoint's part of the heartbeat; None if HTTP is switched off."""
        if not self._wanted:
            return None
        server = self._server
        return {
            "url": self._url,
            "token_file": str(self._workspace.spool.token),
            "serving": server is not None and server.ready.is_set(),
            "server": None if server is None else {"pid": server.pid, "memory_bytes": server.memory_bytes()},
            "problem": self._problem,
        }

    # --- listening ---

    def _listen(self) -> None:
        try:
            self._socket = listen(self._port)
            files.replace_without_sync(self._workspace.spool.token, self._token.encode())
        except (OSError, OverflowError) as error:
            self._close()
            why = getattr(error, "strerror", None) or str(error)
            problem = f"Cannot listen on {_HOST}:{self._port}: {why}"
            if problem != self._problem:
                log.error("no HTTP: %s. The worker goes on without, and tries again", problem)
            self._problem = problem
        else:
            self._problem = None
            self._url = f"http://{_HOST}:{self._socket.getsockname()[1]}"
            log.info("listening on %s", self._url)
        self._changed()

    def _close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = self._url = None

    # --- the thread ---

    def _run(self) -> None:
        tries = 0
        while not self._stopping.is_set():
            if self._socket is None:
                tries += 1
                self._stopping.wait(pause_seconds(tries))
                self._listen()
                continue
            tries = 0
            waiting, _, _ = select.select([self._socket, self._woken], [], [])
            if self._socket in waiting and not self._stopping.is_set():
                self._serve(self._socket)

    def _serve(self, listening: socket.socket) -> None:
        """Start a server process and wait until it has ended."""
        began = time.monotonic()
        self._state_changed.clear()
        try:
            server = self._start_server(self._workspace, listening, self._token, self._state_changed.set)
        except (OSError, RuntimeError) as error:  # the system gives no process or no thread
            self._died(0.0, f"could not be started: {error}")
            return
        self._server = server
        self._counters.count("server_starts")
        log.info("server started pid=%d", server.pid)
        self._watch(server)
        status = server.end(_STOP_SECONDS)
        self._server = None
        self._changed()
        if status == 0 or self._stopping.is_set():
            self._deaths = 0
            log.info("server ended pid=%d", server.pid)
        else:
            self._died(time.monotonic() - began, f"died: pid={server.pid} status={status}")

    def _watch(self, server: ServerProcess) -> None:
        is_announced = False
        while server.is_alive() and not self._stopping.is_set():
            if not is_announced and server.ready.is_set():
                is_announced = True
                self._changed()
            if (server.private_bytes() or 0) > self._most_bytes:
                log.error("server takes too much memory: replaced pid=%d", server.pid)
                return
            self._state_changed.wait(_WATCH_SECONDS)
            self._state_changed.clear()

    def _died(self, lived: float, how: str) -> None:
        """Count and log the death of a server process, and pause: longer after each death in a row."""
        self._counters.count("server_deaths")
        self._deaths = 1 if lived >= _STEADY_SECONDS else self._deaths + 1
        pause = pause_seconds(self._deaths)
        log.error("the server %s; the next one not before %g s have passed", how, pause)
        self._stopping.wait(pause)


def pause_seconds(failures: int) -> float:
    """The pause after ``failures`` failures in a row, from 1 on: 0.5 s, doubled each time, at most 60 s."""
    return backoff_seconds(failures, _FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)


def listen(port: int) -> socket.socket:
    """A listening socket on the loopback address, which other machines cannot reach. Raises OSError."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":  # there, SO_REUSEADDR would let another program take over the port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((_HOST, port))
        listening.listen(_BACKLOG)
    except BaseException:
        listening.close()
        raise
    return listening
