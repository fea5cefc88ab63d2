"""The child process's main module: runs operations over the stores, one request at a time, until stdin closes.

Only answers are written to the real stdout; the prints of libraries are redirected to stderr.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

from bridge import critical
from bridge.graph.open_stores import Stores
from bridge.interface.envelope import exit_now
from bridge.operations import JobCopy, Outcomes, Progress, run
from bridge.privacy import log_lines
from bridge.privacy.masking import trace
from bridge.settings import Settings, import_numpy, load
from bridge.store.opening import failing_clearly, forgive_opening
from jobs import clock, steps
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lifecycle import Failed

from . import protocol
from .parent_death import ParentDeathGuard, lower_priority
from .protocol import ATTACH, CLOSE, CRITICAL_SECONDS, DELIVER, FOLLOW, FORGOTTEN, MAINTAIN, Answer, encode, write_line

log = logging.getLogger("child")

_REST_SECONDS = 0.25  # between two requests of one backlog there is less


class Pipes:
    """The parent's requests on stdin and the messages to it on stdout.

    The end of stdin means that the parent has ended, or wants this process to end.
    """

    def __init__(self, answers: int, leaving: Callable[[], None] = lambda: None) -> None:
        """``leaving`` is called before the process ends in the middle of a request."""
        self._leaving = leaving
        self._answers = os.fdopen(answers, "wb", buffering=0)
        self._sending = threading.Lock()
        self._requests: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._busy = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, message: Mapping[str, Any]) -> None:
        """Write a message as one line. Thread-safe. Raises OSError when the parent has ended."""
        line = json.dumps(message, ensure_ascii=False).encode() + b"\n"
        with self._sending:
            write_line(self._answers, line)

    def loading(self, is_loading: bool) -> None:
        """Tell the parent whether this process loads something, which counts towards no job's timeout."""
        self.send({"loading": is_loading})

    def answer(self, message: Answer, *, last: bool) -> None:
        """Send the answer of a request. After the ``last`` one nothing runs, so the end of stdin interrupts nothing."""
        if last:
            self._busy.clear()
        with steps.fault_point("child.answer"):
            self.send(message)

    def next(self) -> dict[str, Any] | None:
        """The next request; None after the end of stdin."""
        return self._requests.get()

    def is_idle(self, seconds: float = 0.0) -> bool:
        """Whether no request waits, or comes within so many seconds."""
        return not self._busy.wait(seconds) and self._requests.empty()

    def _read(self) -> None:
        for line in sys.stdin.buffer:
            if not line.endswith(b"\n"):
                break  # the parent died while it wrote a request
            self._busy.set()  # before the request is started, so that an end of stdin in between interrupts it
            self._requests.put(json.loads(line))
        if self._busy.is_set():
            self._leave()
        self._busy.set()  # nobody need wait for another request
        self._requests.put(None)

    def _leave(self) -> None:
        """End the process although a request runs, since no one would read its answer; but wait for the end of a
        critical section first."""
        if not critical.wait(0):
            with suppress(OSError):  # the parent is gone
                self.send({"critical": True})
            critical.wait(CRITICAL_SECONDS)
        self._leaving()
        os._exit(1)


class Server:
    """Serves requests. While long work is paused at a safe point, it serves other requests."""

    def __init__(
        self,
        pipes: Pipes,
        stores_of: Callable[[str | None, str | None], Stores],
        close: Callable[[], None] = lambda: None,
    ) -> None:
        """``stores_of`` gives the stores of the workspace that a request names, as its person may see it; ``close``
        closes the last ones. While a request is paused, all others are about its workspace."""
        self._pipes = pipes
        self._stores_of = stores_of
        self._close = close
        self._stores: Stores
        self._depth = 0
        self._ahead = timedelta()  # of the clock that times the jobs
        self._job_files: dict[str, Any] | None = None

    def serve(self) -> None:
        """Serve requests until stdin ends. When none comes for a while, find what the stored memories replace."""
        while (request := self._pipes.next()) is not None:
            self._serve(request)
            while request["kind"] != CLOSE and self._pipes.is_idle(_REST_SECONDS) and self._compare_some():
                pass

    def _serve(self, request: dict[str, Any]) -> None:
        self._depth += 1
        with steps.fault_point("child.receive"):
            copies: list[JobCopy] = request["jobs"]
            if copies:
                self._pipes.send({"begun": True})
        if request["kind"] == CLOSE:
            self._close()
            self._depth -= 1
            self._pipes.answer({"outcomes": {}, "graph_lag": None, "job_files": None}, last=self._depth == 0)
            return
        self._stores = self._stores_of(request["workspace_id"], request["person"])
        self._stores.use_lease(request.get("lease"))
        self._ahead = timedelta(seconds=request.get("ahead", 0.0))
        outcomes = self._outcomes_in_place(request["kind"], copies, self._progress(request["slice_seconds"]))
        self._depth -= 1
        job_files, self._job_files = self._job_files, None
        answer: Answer = {
            "outcomes": {job_id: encode(outcome) for job_id, outcome in outcomes.items()},
            "graph_lag": self._stores.graph.lag(),
            "job_files": job_files,
        }
        self._pipes.answer(answer, last=self._depth == 0)

    def _compare_some(self) -> bool:
        """Whether there may be more to compare. Nobody asked for it, so no error of it may end the process."""
        try:
            with failing_clearly():
                store = self._stores.store_if_open() if self._stores.are_in_place() else None
                return store is not None and _comparison().compare_some(store, self._pipes.is_idle)
        except Exception as error:
            log.warning("what the memories replace was not looked for: %s", trace(error))
            return False

    def _progress(self, slice_seconds: float | None) -> Progress:
        began = time.monotonic()
        said: dict[str, Any] = {}

        def progress(message: dict[str, Any]) -> None:
            nonlocal began, said
            if message != said:
                said = dict(message)
                self._pipes.send({"progress": message})
            if slice_seconds is not None and time.monotonic() - began >= slice_seconds:
                self._yield_control()
                began = time.monotonic()

        return progress

    def _yield_control(self) -> None:
        self._pipes.send({"give_way": True})
        while True:
            request = self._pipes.next()
            if request is None:
                threading.Event().wait()  # the reading thread ends the process
            elif "go_on" in request:
                return
            else:
                self._serve(request)

    def _outcomes_in_place(self, kind: str, copies: list[JobCopy], progress: Progress) -> Outcomes:
        """The outcomes of the operation, or STORE_REPLACED for every job if the stores did not stay in place until its
        end: what it wrote may be lost. In the pause of another request the stores are not opened again, since that
        one still uses them."""
        if self._depth > 1 and not self._stores.are_in_place():
            return _all_failed(copies, JobError("STORE_REPLACED"))
        outcomes = self._outcomes(kind, copies, progress)
        if self._stores.are_in_place():
            return outcomes
        log.warning("the memory's files were removed or replaced during %s: it does not count", kind)
        return _all_failed(copies, JobError("STORE_REPLACED"))

    def _outcomes(self, kind: str, copies: list[JobCopy], progress: Progress) -> Outcomes:
        if len(copies) != 1:
            return self._tried(kind, copies, progress)
        (only,) = copies
        with log_lines.log_context(job_id=only["job_id"], correlation_id=only["correlation_id"], kind=kind):
            return self._tried(kind, copies, progress)

    def _tried(self, kind: str, copies: list[JobCopy], progress: Progress) -> Outcomes:
        try:
            with failing_clearly():
                if self._depth == 1:
                    self._stores.renew()
                    # What FORGOTTEN notes as removed must be what FOLLOW has removed, and nothing that came since. To
                    # attach needs no copy.
                    if self._stores.is_in_team and kind != FORGOTTEN and not kind.startswith(ATTACH):
                        _follow().catch_up(self._stores, clock.now())
                if kind.startswith(ATTACH):
                    from bridge.operations import attachments  # not at the top: only a team's child needs it

                    return attachments.attach(kind.removeprefix(ATTACH), copies, self._stores, progress)
                if kind == FOLLOW:
                    self._job_files = _follow().remove_forgotten(self._stores, progress)
                elif kind == FORGOTTEN:
                    _follow().finish(self._stores, clock.now())
                elif kind == DELIVER:
                    self._stores.graph.deliver_all(seconds=self._stores.settings.slice_seconds)
                elif kind == protocol.COMPARE:
                    self._stores.store.replacements.uncompared(1)
                elif kind == MAINTAIN:
                    self._stores.maintain(clock.now(), progress)
                else:
                    return run(kind, copies, self._stores, clock.now() + self._ahead, progress)
                return {}
        except JobError as error:
            if not copies:  # maintenance has no record that would show the error
                log.warning("%s was not done: %s", kind, error.code)
            return _all_failed(copies, error)
        except Exception as error:
            # The traceback is logged; the record gets only the exception's type, which contains no text of a memory.
            log.error("operation %s failed: %s", kind, trace(error))
            if len(copies) > 1:  # run each alone, so that only the bad ones fail
                return {job: done for each in copies for job, done in self._outcomes(kind, [each], progress).items()}
            failure = JobError("INTERNAL", f"The operation {kind!r} met an unexpected {type(error).__name__}.")
            return _all_failed(copies, failure)


def _follow() -> ModuleType:
    from bridge.operations import follow  # not at the top: only a team's child needs it, with what forgetting imports

    return follow


def _comparison() -> ModuleType:
    from bridge.standing import comparison  # not at the top: a child that only deletes or asks does not need it

    return comparison


def _all_failed(copies: list[JobCopy], error: JobError) -> Outcomes:
    return {each["job_id"]: Failed(error) for each in copies}


def prepare(parent: int) -> tuple[int, Settings]:
    """Make this process a child: it ends with its parent, and only answers go to stdout. Returns the descriptor for
    answers, and the settings."""
    guard = ParentDeathGuard(parent=parent)
    lower_priority()
    answers = os.dup(1)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log_lines.log_to_stderr()
    import_numpy()
    settings = load()
    steps.arm(settings.fault if settings.test_jobs else None)
    critical.on_change(guard.disarm, guard.arm)
    return answers, settings


def main() -> int:
    """``python -m worker.child.main WORKSPACE PARENT``, where PARENT is the worker's process id."""
    answers, settings = prepare(int(sys.argv[2]))
    workspace = Workspace(Path(sys.argv[1]))
    pipes = Pipes(answers, lambda: forgive_opening(workspace))
    with Stores(workspace, settings, pipes.loading) as stores:
        pipes.loading(False)
        Server(pipes, lambda *_: stores, stores.close).serve()
    return 0


if __name__ == "__main__":
    exit_now(main())  # all is closed, and to take an interpreter with cognee apart takes a second of the processor
