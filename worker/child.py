"""The parent's side of the child process, in which the slow work runs: start, ask, give back.

One JSON object a line each way. The child's stderr goes to the log, line by line, bounded.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import IO, Any

from bridge.cognee_env import cognee_environment
from bridge.settings import Settings, inherited_environment
from jobs.layout import Workspace

log = logging.getLogger(__name__)
child_log = logging.getLogger("child")

_LINE_LIMIT = 2000
_NO_CONSOLE: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)


class ChildDied(Exception):
    """The child ended without an answer."""


class Child:
    """At most one process. ``ask`` starts it when needed; calls come from one thread at a time."""

    def __init__(self, workspace: Workspace, settings: Settings) -> None:
        self._workspace = workspace
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._doomed = False
        self._last_used = time.monotonic()
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def ask(
        self, request: dict[str, Any], progress: Callable[[dict[str, Any]], None] = lambda _: None
    ) -> dict[str, Any]:
        """Send a request and wait for its answer; messages of progress are passed on meanwhile.

        Raises ChildDied when the process ends first.
        """
        with self._lock:
            process = self._running()
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.flush()
                while line := process.stdout.readline():
                    answer: dict[str, Any] = json.loads(line)
                    if "progress" in answer:
                        progress(answer["progress"])
                        continue
                    self._last_used = time.monotonic()
                    return answer
            except (OSError, ValueError) as error:
                log.error("the child's pipe broke: %s", error)
            process.kill()
            status = process.wait()
            process.stdout.close()
            try:
                process.stdin.close()
            except OSError:
                pass  # what it had not read is lost with it
            self._process = None
            log.error("the child died: pid=%d status=%s", process.pid, status)
            raise ChildDied(f"status {status}")

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "worker.child_main", str(self._workspace.root)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=cognee_environment(self._settings, self._workspace, inherited_environment()),
                cwd=self._workspace.root.anchor,
                start_new_session=sys.platform != "win32",  # a Ctrl-C is for the worker alone
                creationflags=_NO_CONSOLE,
            )
            assert self._process.stderr is not None
            threading.Thread(target=_pump, args=(self._process.stderr,), daemon=True, name="child-stderr").start()
            log.info("child started pid=%d", self._process.pid)
            if self._doomed:  # somebody wanted to kill it before it was there
                self._process.kill()
        return self._process

    def is_idle(self, seconds: float) -> bool:
        """Whether there is a process that has had nothing to do for so long."""
        return self._process is not None and not self._lock.locked() and self._unused_seconds() >= seconds

    def _unused_seconds(self) -> float:
        return time.monotonic() - self._last_used

    def kill(self) -> None:
        """End the process at once, whatever it does, and any that is just being started; who waits for its answer
        gets ChildDied."""
        self._doomed = True
        process = self._process
        if process is not None:
            process.kill()

    def stop(self, wait_seconds: float = 30) -> None:
        """Let the process close its stores and end; kill it if it does not."""
        with self._lock:
            if self._process is not None:
                self._end(self._process, wait_seconds)
                self._process = None

    @staticmethod
    def _end(process: subprocess.Popen[bytes], wait_seconds: float) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.close()
        except OSError:
            pass  # it has ended already
        try:
            process.wait(wait_seconds)
        except subprocess.TimeoutExpired:
            log.error("the child did not end within %g s: killed", wait_seconds)
            process.kill()
            process.wait()
        process.stdout.close()
        log.info("child ended pid=%d", process.pid)


def _pump(stream: IO[bytes]) -> None:
    """Move the child's stderr into the log until it closes."""
    with stream:
        while line := stream.readline(_LINE_LIMIT):
            text = line.decode("utf-8", "replace").rstrip()
            if text:
                child_log.info("%s", text)
