"""One child process, on the worker's side: its pipes, its timeout, and the thread that watches it.

Each direction carries one JSON object per line. The child's stderr is copied to the log, with a rate limit.
"""

from __future__ import annotations

import json
import logging
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import IO, Any, Literal

from bridge.graph.cognee_env import cognee_environment
from bridge.settings import Settings, inherited_environment
from jobs.launch import NO_CONSOLE
from jobs.layout import Workspace

from ..log import pump
from ..processes import resident_bytes
from .protocol import CRITICAL_SECONDS, write_line

log = logging.getLogger(__name__)
child_log = logging.getLogger("child")

Why = Literal["died", "cancelled", "timeout", "memory", "stopped"]

MIB = 1024 * 1024
_SOFT_SECONDS = 1.5  # before the kill; so a cancelled job stops within 2 s
_LOADING_SECONDS = 120.0  # of loading at most, which do not count towards a job's timeout
_WATCH_SECONDS = 0.5
_ANSWER_BYTES = 64 * 1024 * 1024  # as large as a record may be


class ChildProcess:
    """One child process. ``why``: the reason for which it is being ended, or None. ``jobs``: the number of jobs run."""

    def __init__(self, workspace: Workspace, settings: Settings, *, is_pool: bool = False) -> None:
        module = "worker.child.pool_main" if is_pool else "worker.child.main"
        self._popen = subprocess.Popen(
            [sys.executable, "-m", module, str(workspace.root), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=cognee_environment(settings, workspace, inherited_environment()),
            cwd=workspace.root.anchor,
            start_new_session=sys.platform != "win32",  # a Ctrl-C reaches only the worker
            creationflags=NO_CONSOLE,
        )
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        assert self._popen.stderr is not None
        self.pid = self._popen.pid
        self.jobs = 0
        self.why: Why | None = None
        self._most_bytes = settings.child_memory_mib * MIB
        self._input, self._output = self._popen.stdin, self._popen.stdout
        self._lines = _Lines(self._output, self.is_alive)
        self._writing = threading.Lock()
        self._state = threading.Lock()
        self._asked = 0
        self._deadline: float | None = None
        self._loading_since: float | None = time.monotonic()  # until it reports that it has loaded
        self._allowance = _LOADING_SECONDS  # what is left of the time for loading
        self._begun = False  # whether the operation of the running request has begun
        self._in_critical = threading.Event()
        self._wake_watcher = threading.Event()
        threading.Thread(target=pump, args=(self._popen.stderr, child_log), daemon=True, name="child-stderr").start()
        threading.Thread(target=self._watch, daemon=True, name="child-watch").start()

    @property
    def busy(self) -> bool:
        """Whether a request runs."""
        return self._asked > 0

    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._popen.poll() is None

    def is_usable(self) -> bool:
        """Whether the process runs and is not being ended."""
        return self.is_alive() and self.why is None

    @property
    def executing(self) -> bool:
        """Whether the jobs' own operation runs: it has begun, and the child is not loading."""
        return self._begun and self._loading_since is None

    def memory_bytes(self) -> int | None:
        """The resident memory of the process; None if it cannot be read."""
        return resident_bytes(self.pid)

    # --- requests ---

    def begin(self, timeout_seconds: float | None) -> None:
        """Note that a request begins, with its timeout."""
        with self._state:
            if not self._asked:
                self._begun = False
            self._asked += 1
            self._deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        self._wake_watcher.set()

    def finish(self, jobs: int) -> None:
        """Note that a request of so many jobs has ended."""
        with self._state:
            self._asked -= 1
            self._deadline = None
            self.jobs += jobs

    def suspend(self) -> tuple[float | None, bool]:
        """Stop the timeout of the running request, and its loading. Returns the seconds left, None without a timeout,
        and whether it was loading."""
        with self._state:
            was_loading = self._loading_since is not None
            self._end_loading()
            left = None if self._deadline is None else self._deadline - time.monotonic()
            self._deadline = None
        return left, was_loading

    def resume(self, suspended: tuple[float | None, bool]) -> None:
        """Start the timeout and the loading again, as ``suspend`` returned them."""
        left, was_loading = suspended
        with self._state:
            self._deadline = None if left is None else time.monotonic() + left
            self._loading_since = time.monotonic() if was_loading else None
        self._wake_watcher.set()

    def send(self, message: dict[str, Any]) -> None:
        """Write a message as one line. Raises OSError when the pipe is closed."""
        line = json.dumps(message).encode() + b"\n"
        with self._writing:  # also keeps ``_close_input`` from closing the pipe
            write_line(self._input, line)

    def receive(self, on_executing: Callable[[bool], None] = lambda _: None) -> dict[str, Any] | None:
        """The next message for the caller; None when the child has closed its end. Raises ValueError if it is no JSON
        or too long. ``on_executing`` is called when ``executing`` changes."""
        while line := self._lines.next():
            message: dict[str, Any] = json.loads(line)
            before = self.executing
            if "loading" in message:
                self._set_loading(bool(message["loading"]))
            elif "begun" in message:
                self._begun = True
            elif "critical" in message:
                self._in_critical.set()
            else:
                return message
            if self.executing != before:
                on_executing(not before)
        return None

    def _set_loading(self, loading: bool) -> None:
        """Extend the job's deadline by the time of loading, which takes seconds once per process."""
        with self._state:
            if loading:
                self._loading_since, self._allowance = time.monotonic(), _LOADING_SECONDS
            else:
                self._end_loading()
        self._wake_watcher.set()

    def _end_loading(self) -> None:
        if self._loading_since is not None:
            spent = min(time.monotonic() - self._loading_since, self._allowance)
            self._allowance -= spent
            if self._deadline is not None:
                self._deadline += spent
            self._loading_since = None

    # --- watching ---

    def _watch(self) -> None:
        while self.is_alive() and self.why is None:
            with self._state:
                allowance = 0.0 if self._loading_since is None else self._allowance
                left = None if self._deadline is None else self._deadline + allowance - time.monotonic()
                if left is not None and left <= 0:
                    self._begin_end("timeout")  # under the same lock as the check: another request may begin after it
                    return
            if self.busy and (self.memory_bytes() or 0) > self._most_bytes:
                self.end("memory")  # without effect if the request has just ended
            pause = _WATCH_SECONDS if self.busy else None
            self._wake_watcher.wait(pause if left is None else min(_WATCH_SECONDS, left))
            self._wake_watcher.clear()

    # --- ending ---

    def end(self, why: Why) -> None:
        """End the process if a request runs; otherwise do nothing. Does not wait."""
        with self._state:
            if self._asked:
                self._begin_end(why)

    def _begin_end(self, why: Why) -> None:
        if self.why is None:
            self.why = why
            self._wake_watcher.set()
            try:
                threading.Thread(target=self._end, name="child-end").start()
            except RuntimeError:  # the system gives no thread, but ``wait_and_close`` must not wait forever
                self._popen.kill()

    def _end(self) -> None:
        """Close its stdin, so that it ends outside critical sections; kill it if it does not end in time."""
        self._close_input()
        # Without a request it is closing its stores, which is critical too.
        if not self._ended_within(_SOFT_SECONDS) and (self._in_critical.is_set() or not self._asked):
            self._ended_within(CRITICAL_SECONDS - _SOFT_SECONDS)
        if self.is_alive():
            log.error("the child did not leave by itself: killed pid=%d", self.pid)
            self._popen.kill()

    def _ended_within(self, seconds: float) -> bool:
        try:
            self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _close_input(self) -> None:
        if not self._writing.acquire(timeout=0.2):
            return  # another thread is writing to a child that does not read
        try:
            self._input.close()
        except OSError:
            pass  # the child has already ended
        finally:
            self._writing.release()

    def stop(self, wait_seconds: float) -> None:
        """Let the process close its stores and end; kill it after ``wait_seconds``."""
        self._close_input()
        if not self._ended_within(wait_seconds):
            log.error("the child did not end within %g s: killed", wait_seconds)
            self._popen.kill()
        self.wait_and_close()
        log.info("child ended pid=%d", self.pid)

    def wait_and_close(self) -> tuple[Why, int]:
        """Wait for the end of the process. Returns the reason and the exit status."""
        if self.why is None:
            self._popen.kill()  # its pipe is broken, so it cannot answer any more
        status = self._popen.wait()
        self._wake_watcher.set()
        self._close_input()
        self._output.close()
        return self.why or "died", status


class _Lines:
    """Reads complete lines from a pipe, each at most as long as an answer may be.

    It stops when ``is_written`` returns False: the pipe of a dead child may stay open in processes that it started.
    """

    def __init__(self, stream: IO[bytes], is_written: Callable[[], bool]) -> None:
        self._stream = stream
        self._is_written = is_written
        self._rest = bytearray()

    def next(self) -> bytes:
        """The next line; empty at the end. Raises ValueError for a line that is too long."""
        searched = 0
        while (end := self._rest.find(b"\n", searched)) < 0:
            searched = len(self._rest)
            if searched > _ANSWER_BYTES:
                raise ValueError("the child sends a line without an end")
            part = self._read()
            if not part:
                return b""
            self._rest += part
        line = bytes(self._rest[: end + 1])
        del self._rest[: end + 1]
        return line

    def _read(self) -> bytes:
        if sys.platform != "win32":  # there, pipes are not inherited and cannot be polled
            poll = select.poll()
            poll.register(self._stream, select.POLLIN)
            while True:
                is_over = not self._is_written()  # before the poll, so that everything written before the end is read
                if poll.poll(0 if is_over else _WATCH_SECONDS * 1000):
                    break
                if is_over:
                    return b""
        return self._stream.read(65536)
