"""The supervisor of the child process: starts at most one, sends it one request at a time, and stops it when idle."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Literal, cast

from bridge.settings import Settings
from jobs import steps
from jobs.layout import Workspace

from ..monitoring.counters import Counters
from .process import MIB, ChildProcess, Why
from .protocol import CRITICAL_SECONDS, Answer, Request

if TYPE_CHECKING:
    from jobs.schema import Progress

log = logging.getLogger(__name__)


class ChildEnded(Exception):
    """The child ended without an answer. ``why``: "died", or the reason for which the worker ended it.

    ``in_pause``: it ended while long work was paused for another job, which is then the more likely cause.
    ``executing``: whether the jobs' own operation ran; if not, the child was loading, and no job is the cause.
    """

    def __init__(self, why: Why, *, in_pause: bool = False, executing: bool = True) -> None:
        super().__init__(why)
        self.why: Why = why
        self.in_pause = in_pause
        self.executing = executing


class Child:
    """At most one child process. ``ask`` starts it if necessary. Only one thread may use ``ask``, but any ``end``."""

    def __init__(self, workspace: Workspace, settings: Settings, *, is_pool: bool = False) -> None:
        """``is_pool``: the child works on copies of many workspaces in the folder ``workspace``, by turns:
        ``workspace_id`` says on which, and ``person`` as whom, where row-level security shows each what is theirs."""
        self._workspace = workspace
        self._is_pool = is_pool
        self.workspace_id: str | None = None
        self.person: str | None = None
        self._settings = settings
        self.counters = Counters()
        self._process: ChildProcess | None = None
        self._ended_for_good = False
        self._last_used = time.monotonic()
        self._lock = threading.RLock()  # reentrant: a short job may run in a pause of a long one
        # The kernel kills the child with the thread that started it, so this thread must live as long as the worker.
        self._keeper = ThreadPoolExecutor(1, thread_name_prefix="child-keeper")

    @property
    def pid(self) -> int | None:
        """The process id of the running child; None without one."""
        process = self._process
        return process.pid if process is not None and process.is_alive() else None

    @property
    def memory_bytes(self) -> int | None:
        """The resident memory of the process; None without one."""
        process = self._process
        return process.memory_bytes() if process is not None else None

    def ask(
        self,
        request: Request,
        progress: Callable[[Progress], None] = lambda _: None,
        *,
        timeout_seconds: float | None = None,
        on_pause: Callable[[], object] | None = None,
        is_cancelled: Callable[[], bool] = lambda: False,
        on_executing: Callable[[bool], None] = lambda _: None,
    ) -> Answer:
        """Send a request and wait for its answer; pass each progress message to ``progress``.

        The timeout begins when the child has loaded. ``on_pause``, which may send other requests, is called at a safe
        point after each slice of long work. ``is_cancelled`` is checked after the point from which ``end`` works, so
        that no cancellation is missed. ``on_executing`` is called with True when the jobs' own operation begins, with
        False when it pauses because the child loads something, and with True after that. Raises ChildEnded when the
        child ends without an answer, OSError when it cannot be started.
        """
        with self._lock:
            process = self._running()
            process.begin(timeout_seconds)
            try:
                if self._ended_for_good:
                    process.end("stopped")
                elif is_cancelled():
                    process.end("cancelled")
                slices = None if on_pause is None else self._settings.slice_seconds
                with steps.fault_point("child.send"):
                    of_pool = {"workspace_id": self.workspace_id, "person": self.person}
                    process.send({**request, "slice_seconds": slices, **of_pool})
                while (message := process.receive(on_executing)) is not None:
                    if "progress" in message:
                        progress(message["progress"])
                    elif "give_way" in message:
                        self._yield_control(process, on_pause)
                    else:
                        return cast(Answer, message)
            except (OSError, ValueError) as error:
                if process.why is None:
                    log.error("the child's pipe broke: %s", error)
            except ChildEnded:
                raise
            except BaseException:  # a bug: without this, the child would keep running the request
                self._forget(process)
                raise
            finally:
                self._last_used = time.monotonic()
                process.finish(len(request["jobs"]))
            why, status = self._forget(process)
            level = logging.ERROR if why in ("died", "memory") else logging.INFO
            log.log(level, "the child ended: pid=%d status=%s why=%s", process.pid, status, why)
            raise ChildEnded(why, executing=process.executing)

    def _forget(self, process: ChildProcess) -> tuple[Why, int]:
        ended = process.wait_and_close()
        self.counters.count("child_ends", ended[0])
        if self._process is process:  # otherwise another one was started in a pause
            self._process = None
        return ended

    def _yield_control(self, process: ChildProcess, on_pause: Callable[[], object] | None) -> None:
        suspended = process.suspend()
        if on_pause is not None:
            on_pause()
        if self._process is not process:  # it ended while it ran the other job
            raise ChildEnded(process.why or "died", in_pause=True)
        process.resume(suspended)
        process.send({"go_on": True})

    def _running(self) -> ChildProcess:
        if self._process is not None and not self._process.is_usable():
            self._process.stop(CRITICAL_SECONDS)
            self.counters.count("child_ends", self._process.why or "died")
            self._process = None
        if self._process is None:
            started = self._keeper.submit(ChildProcess, self._workspace, self._settings, is_pool=self._is_pool)
            self._process = started.result()
            self.counters.count("child_starts")
            log.info("child started pid=%d", self._process.pid)
        return self._process

    def start(self) -> None:
        """Start the process before it is asked. A failure is left to ``ask``."""
        with self._lock:
            try:
                self._running()
            except OSError as error:
                log.warning("the child could not be started: %s", error)

    def is_idle(self, seconds: float) -> bool:
        """Whether the process has been idle for at least ``seconds``; False without a process."""
        process = self._process
        return process is not None and not process.busy and time.monotonic() - self._last_used >= seconds

    def end(self, why: Why) -> None:
        """End the running request: at once, or after its critical section. Does not wait; ``ask`` raises ChildEnded."""
        process = self._process
        if process is not None:
            process.end(why)

    def end_for_good(self) -> None:
        """End the running request and all later ones."""
        self._ended_for_good = True
        self.end("stopped")

    @property
    def should_recycle(self) -> bool:
        """Whether the idle process should be recycled: it has run ``child_max_jobs`` jobs, or uses more than half of
        its memory limit."""
        process = self._process
        if process is None or process.busy:
            return False
        grown = (process.memory_bytes() or 0) > self._settings.child_memory_mib * MIB // 2
        return grown or process.jobs >= self._settings.child_max_jobs

    def stop(self, wait_seconds: float = 30, why: Literal["stopped", "worn", "idle"] = "stopped") -> None:
        """Let the process close its stores and end; kill it after ``wait_seconds``. ``why`` is for the counters."""
        with self._lock:
            if self._process is not None:
                self._process.stop(wait_seconds)
                self._process = None
                self.counters.count("child_ends", why)

    def close(self) -> None:
        """Stop the process and the thread that starts processes."""
        self.stop()
        self._keeper.shutdown()
