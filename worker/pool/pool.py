"""The workers of a pool, and what is done for all of them: leases are renewed, copies follow, others are told."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque

from bridge.settings import Settings
from bridge.team.postgres_team import PostgresTeam
from jobs.errors import JobError

from .copies import Copies
from .pool_metrics import PoolMetrics
from .pool_worker import PoolWorker

log = logging.getLogger(__name__)

_ROUND_SECONDS = 1.0
_PAUSE_SECONDS = 0.5  # between two notices of a workspace: each makes all its machines look
_LOOK_SECONDS = 30.0
_LISTEN_AGAIN_SECONDS = 5.0


class Pool:
    """Starts and stops the threads. ``name`` tells this pool from all others of the team."""

    def __init__(self, name: str, team: PostgresTeam, copies: Copies, settings: Settings, workers: int) -> None:
        self._name = name
        self._team = team
        self._copies = copies
        self._lock = threading.Lock()
        self._behind: deque[str] = deque()
        self._changed: set[str] = set()
        self._looked_at = 0.0
        self._stop = threading.Event()
        self._attention = threading.Event()  # others are to be told
        self.metrics = PoolMetrics()
        self._workers = [
            PoolWorker(number, name, team, copies, settings, self.metrics, self._next_to_follow, self._note_change)
            for number in range(workers)
        ]
        self._threads = [
            threading.Thread(target=self._look_after, name="pool-leases", daemon=True),
            threading.Thread(target=self._listen, name="pool-listen", daemon=True),
        ]

    def start(self) -> None:
        """Start all workers."""
        for worker in self._workers:
            worker.start()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Start no more jobs; the second call also ends the running ones, which other workers run again."""
        for worker in self._workers:
            worker.stop(at_once=self._stop.is_set())
        self._stop.set()
        self._attention.set()

    def wait(self) -> None:
        """Wait for ``stop``."""
        self._stop.wait()

    def join(self) -> None:
        """Wait for the workers' end, and let others have the graphs. Without a ``stop`` before, it is one."""
        if not self._stop.is_set():
            self.stop()
        for worker in self._workers:
            worker.join()
        self._threads[0].join()
        try:
            self._tell_all()
            self._team.keep_graphs(self._name, keeps=False)
        except JobError as error:
            log.warning("the team was not told of the end: %s", error)
        self._team.close()

    # --- for the workers ---

    def _next_to_follow(self) -> str | None:
        """A workspace whose copy has to follow. One that is in use follows there: nobody waits for a long job."""
        with self._lock:
            while self._behind:
                if not self._copies.is_in_use(workspace_id := self._behind.popleft()):
                    return workspace_id
        return None

    def _note_change(self, workspace_id: str, *, at_once: bool) -> None:
        with self._lock:
            self._changed.add(workspace_id)
        if at_once:
            self._attention.set()

    # --- threads ---

    def _look_after(self) -> None:
        """Every second, or when others are to be told: renew leases, cancel, tell; at times: look which copies are
        behind. Until the workers ended: their leases must hold while they finish."""
        while not self._stop.is_set() or any(worker.is_running for worker in self._workers):
            for worker in self._workers:
                try:
                    worker.look_after()
                except JobError as error:
                    log.warning("a lease could not be renewed: %s", error)
                except Exception:  # this thread must not end before the workers
                    log.exception("a lease could not be renewed")
            try:
                self._tell_all()
                if time.monotonic() - self._looked_at > _LOOK_SECONDS and not self._stop.is_set():
                    self._look()
            except (JobError, OSError) as error:
                log.warning("the team cannot be asked: %s", error)
            self.metrics.is_reached.set(all(worker.problem is None for worker in self._workers))
            self.metrics.copies.set(len(self._copies.positions()))
            self._attention.wait(_ROUND_SECONDS)
            self._attention.clear()
            time.sleep(_PAUSE_SECONDS)

    def _look(self) -> None:
        """Find the copies that are behind, or that the team no longer has."""
        known = self._copies.positions()
        there = self._team.positions(list(known))
        for workspace_id in known.keys() - there.keys():
            self._copies.remove(workspace_id, lambda gone: None)
        behind = [
            workspace_id
            for workspace_id, position in there.items()
            if known[workspace_id].position != position or not known[workspace_id].has_removed_all
        ]
        with self._lock:
            self._behind = deque(behind)
        self.metrics.behind.set(len(behind))
        self._team.keep_graphs(self._name)
        self._looked_at = time.monotonic()
        if behind:
            self._wake_all()

    def _tell_all(self) -> None:
        with self._lock:
            changed, self._changed = self._changed, set()
        try:
            for workspace_id in list(changed):
                self._team.tell(workspace_id)
                changed.remove(workspace_id)
        finally:
            with self._lock:
                self._changed |= changed  # the next time

    def _listen(self) -> None:
        while not self._stop.is_set():
            try:
                self._team.listen_to_all(self._wake_all, self._stop.is_set)
            except JobError as error:
                log.debug("not listening: %s", error.code)
                self._stop.wait(_LISTEN_AGAIN_SECONDS)

    def _wake_all(self) -> None:
        for worker in self._workers:
            worker.wake.set()
