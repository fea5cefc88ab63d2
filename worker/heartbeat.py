"""The heartbeat: the worker's state and activity, in a file that clients may read at any time.

Only the lock decides whether a worker runs.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from bridge.privacy.masking import trace
from jobs import clock, files
from jobs.layout import SpoolPaths
from jobs.model import encode

from . import processes
from .child.supervisor import Child
from .monitoring.counters import Counters, CountersFile
from .scheduling.ledger import Ledger
from .scheduling.runner import Runner

if TYPE_CHECKING:
    from jobs import schema

log = logging.getLogger(__name__)

_SHORTEST_PAUSE_SECONDS = 0.1  # between two writes, so that many changes cause few of them
_IDLE_SECONDS = 10.0  # between two without work; a third of ``jobs.heartbeat.STALE_SECONDS``


class Heartbeat:
    """Rewrites the file in its own thread: every ``pause_seconds`` while there is a child process, whose memory and
    work it tells, more rarely without one, and soon after ``changed`` is set."""

    def __init__(
        self,
        paths: SpoolPaths,
        facts: schema.WorkerFacts,
        pause_seconds: float,
        activity: Callable[[], schema.WorkerActivity],
        counters: Counters,
        changed: threading.Event,
        holds_lock: Callable[[], bool] = lambda: True,
    ) -> None:
        """``facts`` never change; ``activity`` returns the present activity; ``changed`` is set by any thread when the
        activity has changed. ``counters`` are written to their own file. ``holds_lock``:
        whether this worker still has the workspace's lock; without it, nothing is written, since the files may belong
        to another worker."""
        self._paths = paths
        self._pause = pause_seconds
        self._activity = activity
        self._counters = CountersFile(paths, counters)
        self._state: schema.WorkerState = "starting"
        self._began = time.monotonic()
        self._worker_id = secrets.token_hex(8)
        self._boot_id = processes.boot_id()
        self._started_at = clock.iso(clock.now())
        self._facts = facts
        self._changed = changed
        self._holds_lock = holds_lock
        self._is_idle = False
        self._stopped = threading.Event()
        self._writing = threading.Lock()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def start(self) -> None:
        """Write both files and start the thread."""
        self._write_counters(at_once=True)  # replaces the former worker's counters
        self.write()
        self._thread.start()

    def state(self, state: schema.WorkerState) -> bool:
        """Set the state and write it at once. Returns whether it was written."""
        self._state = state
        return self.write()

    def stop(self) -> None:
        """End the thread and write the state "stopped"."""
        self._stopped.set()
        self._changed.set()
        self._thread.join()
        self._write_counters(at_once=True)
        self.state("stopped")

    def write(self) -> bool:
        """Write the heartbeat. Returns False if that fails, as on a full disk, or if the lock file was removed."""
        if not self._holds_lock():
            return False
        with self._writing:
            activity = self._activity()
            self._is_idle = activity["child"] is None and not activity["in_flight"]
            heartbeat: schema.Heartbeat = {
                "schema_version": 1,
                "worker_id": self._worker_id,
                "pid": os.getpid(),
                "boot_id": self._boot_id,
                "started_at": self._started_at,
                **self._facts,
                "state": self._state,
                "heartbeat_at": clock.iso(clock.now()),
                "uptime_seconds": round(time.monotonic() - self._began, 1),
                **activity,
            }
            try:
                files.replace_without_sync(self._paths.heartbeat, encode(heartbeat))
            except OSError:
                return False  # clients notice the file's age
        return True

    def _beat(self) -> None:
        while not self._stopped.is_set():
            self._changed.wait(max(self._pause, _IDLE_SECONDS) if self._is_idle else self._pause)
            self._changed.clear()
            try:
                self.write()
                self._write_counters()
            except Exception as error:  # without this thread, clients would believe that the worker hangs
                log.error("the heartbeat was not written: %s", trace(error))
            self._stopped.wait(_SHORTEST_PAUSE_SECONDS)

    def _write_counters(self, *, at_once: bool = False) -> None:
        if self._holds_lock():
            self._counters.write(at_once=at_once)


def describe(
    ledger: Ledger,
    runner: Runner,
    child: Child,
    watcher: schema.WatcherState,
    http: schema.Http | None,
    team: schema.WorkerInTeam | None = None,
) -> schema.WorkerActivity:
    """The changing part of the heartbeat."""
    now = clock.now()
    oldest = ledger.oldest_waiting()
    return {
        "counts": ledger.counts(),
        "oldest_waiting_seconds": None if oldest is None else round((now - clock.parse(oldest)).total_seconds(), 1),
        "in_flight": [
            {
                "job_id": running.job_ids[0],
                "kind": running.kind,
                "jobs": len(running.job_ids),
                "seconds": round((now - running.started_at).total_seconds(), 1),
                "progress": running.progress,
            }
            for running in runner.running
        ],
        "graph_lag": runner.graph_lag,
        "child": None if (pid := child.pid) is None else {"pid": pid, "memory_bytes": child.memory_bytes},
        "watcher": watcher,
        "team": team,
        "http": http,
    }
