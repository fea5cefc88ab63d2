"""The parent's side of the slow work: one child process at most, asked one thing at a time."""

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
    """The child ended without an answer. ``why``: by itself, or for what it was ended.

    ``between``: while another job ran in between, which is the more likely reason.
    """

    def __init__(self, why: Why, *, between: bool = False) -> None:
        super().__init__(why)
        self.why: Why = why
        self.between = between


class Child:
    """At most one process. ``ask`` starts it when needed; asking is for one thread at a time, ``end`` for any."""

    def __init__(self, workspace: Workspace, settings: Settings, figures: Counters | None = None) -> None:
        self._workspace = workspace
        self._settings = settings
        self._figures = figures or Counters()
        self._process: ChildProcess | None = None
        self._ended_for_good = False
        self._last_used = time.monotonic()
        self._lock = threading.RLock()  # reentrant: a job may run in between another one
        # The kernel ends the child with the thread that started it: it has to be one that stays.
        self._keeper = ThreadPoolExecutor(1, thread_name_prefix="child-keeper")

    @property
    def pid(self) -> int | None:
        process = self._process
        return process.pid if process is not None and process.is_alive() else None

    @property
    def memory_bytes(self) -> int | None:
        """Resident memory of the process; None without one."""
        process = self._process
        return process.memory_bytes() if process is not None else None

    def ask(
        self,
        request: Request,
        progress: Callable[[Progress], None] = lambda _: None,
        *,
        timeout_seconds: float | None = None,
        between: Callable[[], object] | None = None,
        unwanted: Callable[[], bool] = lambda: False,
    ) -> Answer:
        """Send a request and wait for its answer; messages of progress are passed on meanwhile.

        The timeout counts from when the child is ready. With ``between`` the child stops now and then at a safe
        point for as long as that call takes, and may be asked something else in it. ``unwanted`` is looked at once
        ``end`` would work. Raises ChildEnded.
        """
        with self._lock:
            process = self._running()
            process.begin(timeout_seconds)
            try:
                if self._ended_for_good:
                    process.end("stopped")
                elif unwanted():
                    process.end("cancelled")
                slices = None if between is None else self._settings.slice_seconds
                with steps.fault_point("child.send"):
                    process.send({**request, "slice_seconds": slices})
                while (message := process.receive()) is not None:
                    if "progress" in message:
                        progress(message["progress"])
                    elif "give_way" in message:
                        self._yield_control(process, between)
                    else:
                        return cast(Answer, message)
            except (OSError, ValueError) as error:
                if process.why is None:
                    log.error("the child's pipe broke: %s", error)
            except ChildEnded:
                raise
            except BaseException:  # a mistake of ours: it would go on with a request that nobody waits for
                self._forget(process)
                raise
            finally:
                self._last_used = time.monotonic()
                process.finish(len(request["jobs"]))
            why, status = self._forget(process)
            level = logging.ERROR if why in ("died", "memory") else logging.INFO
            log.log(level, "the child ended: pid=%d status=%s why=%s", process.pid, status, why)
            raise ChildEnded(why)

    def _forget(self, process: ChildProcess) -> tuple[Why, int]:
        ended = process.clear_away()
        self._figures.count("child_ends", ended[0])
        if self._process is process:  # else another one was started in between
            self._process = None
        return ended

    def _yield_control(self, process: ChildProcess, between: Callable[[], object] | None) -> None:
        suspended = process.suspend()
        if between is not None:
            between()
        if self._process is not process:  # it ended under the other job
            raise ChildEnded(process.why or "died", between=True)
        process.resume(suspended)
        process.send({"go_on": True})

    def _running(self) -> ChildProcess:
        if self._process is not None and not self._process.is_usable():
            self._process.stop(CRITICAL_SECONDS)
            self._figures.count("child_ends", self._process.why or "died")
            self._process = None
        if self._process is None:
            self._process = self._keeper.submit(ChildProcess, self._workspace, self._settings).result()
            self._figures.count("child_starts")
            log.info("child started pid=%d", self._process.pid)
        return self._process

    def is_idle(self, seconds: float) -> bool:
        """Whether there is a process that has had nothing to do for so long."""
        process = self._process
        return process is not None and not process.busy and time.monotonic() - self._last_used >= seconds

    def end(self, why: Why) -> None:
        """End what runs, at once but for a critical section, without waiting; who asked gets ChildEnded."""
        process = self._process
        if process is not None:
            process.end(why)

    def end_for_good(self) -> None:
        """End what runs, and whatever is asked from now on."""
        self._ended_for_good = True
        self.end("stopped")

    @property
    def should_recycle(self) -> bool:
        """Whether the process has done its share of jobs or has grown: another one should go on."""
        process = self._process
        if process is None or process.busy:
            return False
        grown = (process.memory_bytes() or 0) > self._settings.child_memory_mib * MIB // 2
        return grown or process.jobs >= self._settings.child_max_jobs

    def stop(self, wait_seconds: float = 30, why: Literal["stopped", "worn", "idle"] = "stopped") -> None:
        """Let the process close its stores and end; kill it if it does not."""
        with self._lock:
            if self._process is not None:
                self._process.stop(wait_seconds)
                self._process = None
                self._figures.count("child_ends", why)

    def close(self) -> None:
        """Stop the process, and the thread that starts them."""
        self.stop()
        self._keeper.shutdown()
