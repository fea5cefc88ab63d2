"""The worker's composition root: what is started in which order, and how it ends."""

from __future__ import annotations

import argparse
import logging
import logging.handlers
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bridge import listing, trust
from bridge.settings import Settings
from bridge.traces import trace
from jobs import clock, files, launch
from jobs.errors import JobError
from jobs.layout import Workspace, find_workspace
from jobs.lock import Lock

from . import recovery
from .child import Child
from .control import Control
from .heartbeat import Heartbeat, describe
from .intake import Intake, Limits
from .ledger import Ledger
from .queue import Queue
from .runner import MAINTENANCE, Runner
from .timetable import Timetable
from .version import VERSION
from .watcher import Watcher

log = logging.getLogger(__name__)

_LOG_BYTES, _LOG_FILES = 5 * 1024 * 1024, 3
_GROWING_PAUSE_SECONDS = 0.25
_MAINTENANCE_PAUSE_SECONDS = 30.0
_LAST_PRIORITY = -1000
_SUCCESSOR_PATIENCE_SECONDS = 600.0


class Worker:
    """One workspace's worker. ``run`` returns after ``stop``; the caller holds the lock."""

    def __init__(self, workspace: Workspace, settings: Settings, holds_lock: Callable[[], bool] = lambda: True) -> None:
        self._settings = settings
        self._holds_lock = holds_lock
        place = workspace.spool
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._ledger = Ledger(place, recovery.recover(place, clock.now()), changed=self._changed)
        self._child = Child(workspace, settings)
        self._runner = Runner(
            place,
            self._ledger,
            self._child,
            batch_size=settings.batch_size,
            idle_seconds=settings.child_idle_seconds,
            enqueue=self._enqueue,
            changed=self._changed,
            delayed=self._wake.set,
        )
        self._runner.graph_lag = _graph_lag(workspace)
        self._queue = Queue(place.queue_db, self._runner.look, self._waiting)
        self._next_maintenance = time.monotonic()
        limits = Limits(
            max_job_bytes=settings.max_job_bytes,
            max_active_jobs=settings.max_active_jobs,
            min_free_bytes=settings.min_free_bytes,
            max_attempts=settings.max_attempts,
            partial_write_grace=settings.partial_write_grace,
            test_jobs=settings.test_jobs,
        )
        self._intake = Intake(place, self._ledger, limits, self._enqueue)
        self._control = Control(place, self._ledger, self._enqueue)
        self._timetable = Timetable(self._ledger, self._enqueue)
        self._watcher = Watcher([place.inbox, place.control], self._wake)
        facts = {
            "version": VERSION,
            "workspace": str(workspace.root),
            "embedder": f"{settings.embedding_provider}/{settings.embedding_model}",
            "llm_configured": settings.llm_api_key is not None or settings.llm_endpoint is not None,
            "http": None,
        }
        self._heartbeat = Heartbeat(
            place, facts, settings.heartbeat_seconds, lambda: describe(self._ledger, self._runner)
        )

    def _waiting(self) -> list[tuple[str, int]]:
        """What belongs into the queue now; delayed jobs come by the timetable."""
        return [(r.job_id, r.priority) for r in self._ledger.live() if r.next_attempt_at is None]

    def _enqueue(self, job_id: str, priority: int) -> None:
        self._queue.put(job_id, priority)

    def _changed(self) -> None:
        heartbeat = getattr(self, "_heartbeat", None)
        if heartbeat is not None:
            heartbeat.poke()

    def stop(self) -> None:
        """Finish what runs, begin nothing more; a second call does not wait for it."""
        if self._stop.is_set():
            self._child.kill()
        self._stop.set()
        self._runner.stopping.set()
        self._wake.set()

    def run(self) -> None:
        """Work until ``stop``."""
        self._heartbeat.start()
        for job_id, priority in self._waiting():
            self._enqueue(job_id, priority)
        self._watcher.start()
        self._queue.start()
        log.info("ready: %d jobs taken up", self._ledger.count())
        self._heartbeat.state("ready")
        try:
            while not self._stop.is_set():
                self._wake.clear()
                self._look()
                self._wake.wait(self._pause())
        finally:
            self._heartbeat.state("exiting")
            self._runner.stopping.set()
            self._watcher.stop()
            self._queue.stop()
            self._child.stop()
            self._heartbeat.stop()
            log.info("stopped")

    def _look(self) -> None:
        for look in (self._intake.look, self._control.look, self._timetable.look, self._maintain):
            try:
                look()
            except Exception as error:
                # A full disk, an unreadable folder, a mistake of ours: what is not dealt with waits, and the
                # next look goes on. A worker that ended here would need a babysitter.
                log.error("a look at the spool failed: %s", trace(error))
        if not self._holds_lock():
            log.error("the lock was removed: leaving, so that no second worker works beside this one")
            self.stop()

    def _maintain(self) -> None:
        """Ask the runner's thread for maintenance when there is some, now and then."""
        due = self._runner.graph_lag or self._child.is_idle(self._settings.child_idle_seconds)
        if due and self._runner.running is None and time.monotonic() >= self._next_maintenance:
            self._next_maintenance = time.monotonic() + _MAINTENANCE_PAUSE_SECONDS
            self._queue.put(MAINTENANCE, _LAST_PRIORITY)

    def _pause(self) -> float:
        longest = self._settings.rescan_seconds
        if self._intake.waits_for_growing_files:
            longest = min(longest, _GROWING_PAUSE_SECONDS)
        return self._timetable.seconds_to_next(longest)


def _graph_lag(workspace: Workspace) -> int | None:
    """What the graph is owed from before this start. A store that cannot be read is each job's error, not ours."""
    try:
        return listing.counts(workspace)["graph_lag"]
    except JobError as error:
        log.error("the memory store cannot be read: %s", error)
        return None


def serve(workspace: Workspace, settings: Settings, *, foreground: bool, successor: bool = False) -> int:
    """Take the lock, work until a signal, let go. A successor waits for a worker that is leaving.

    Raises WORKER_RUNNING, WORKSPACE_NOT_TRUSTED.
    """
    os.umask(0o077)
    trust.adopt(workspace, settings.config_folder)
    lock = Lock(workspace.spool.lock)
    deadline = time.monotonic() + (_SUCCESSOR_PATIENCE_SECONDS if successor else 0)
    while not lock.acquire():
        if time.monotonic() < deadline and launch.is_leaving(workspace):
            time.sleep(0.1)
            continue
        raise JobError("WORKER_RUNNING", f"Another worker works on {workspace.root}.")
    with lock:
        files.remove(workspace.spool.heartbeat)  # a former worker's: its process id may be anybody's by now
        _log_to(workspace.spool.log, settings.log_level, foreground=foreground)
        worker = Worker(workspace, settings, lock.is_in_place)

        _on_signals(worker.stop)
        worker.run()
    return 0


def _on_signals(stop: Callable[[], None]) -> None:
    """Call ``stop`` at each SIGTERM and SIGINT, in a thread of its own: a handler would run inside whatever the
    main thread is doing, and wait for ever for a lock that the main thread holds."""
    reader, writer = socket.socketpair()
    writer.setblocking(False)

    def listen() -> None:
        with reader, writer:
            while reader.recv(1):
                stop()

    threading.Thread(target=listen, name="signals", daemon=True).start()
    signal.set_wakeup_fd(writer.fileno())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: None)


def _log_to(path: Path, level: str, *, foreground: bool) -> None:
    rotated = logging.handlers.RotatingFileHandler(path, maxBytes=_LOG_BYTES, backupCount=_LOG_FILES, encoding="utf-8")
    path.chmod(0o600)
    handlers: list[logging.Handler] = [rotated]
    if foreground:
        handlers.append(logging.StreamHandler(sys.stderr))
    logging.basicConfig(
        level=level, handlers=handlers, format="%(asctime)s %(levelname)-7s %(name)s %(message)s", force=True
    )
    logging.getLogger("huey").setLevel(logging.WARNING)


def main(argv: Sequence[str] | None = None) -> int:
    """``python -m worker``: used to start a detached worker."""
    parser = argparse.ArgumentParser(prog="python -m worker")
    parser.add_argument("--workspace", required=True)
    parser.add_argument("--detached", action="store_true")
    parser.add_argument("--successor", action="store_true", help="wait for a worker that is leaving")
    given = parser.parse_args(argv)
    try:
        workspace = find_workspace(given.workspace, Path.cwd())
        settings = trust.settings_of(workspace)
        return serve(workspace, settings, foreground=not given.detached, successor=given.successor)
    except JobError as error:
        print(f"{error.message} {error.remediation}", file=sys.stderr)  # noqa: T201 - the asker reads it
        return 1
    except OSError as error:
        print(f"The workspace cannot be worked on: {error}.", file=sys.stderr)  # noqa: T201
        return 1
