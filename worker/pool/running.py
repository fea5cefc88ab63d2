"""A pool in a process, its own or a gateway's: its workers, and what is done for all of them (leases are renewed,
copies follow); the lock of its folder, its metrics, its signals and its end.
"""

from __future__ import annotations

import logging
import os
import shutil
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from prometheus_client import start_http_server

from bridge.settings import Settings
from bridge.team import membership, opening
from bridge.team.postgres_team import PostgresTeam
from jobs import files, steps
from jobs.errors import JobError
from jobs.lock import Lock

from ..log import set_up
from ..stop_signals import on_stop
from .copies import Copies
from .pool_worker import PoolMetrics, PoolWorker

log = logging.getLogger(__name__)

_ROUND_SECONDS = 1.0
_PAUSE_SECONDS = 0.5  # between two notices of a workspace: each makes all its machines look
_LOOK_SECONDS = 30.0
_LISTEN_AGAIN_SECONDS = 5.0

_CONNECTIONS_OF_A_WORKER = 2


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
            with suppress(OSError):
                self.metrics.free.set(shutil.disk_usage(self._copies.folder).free)
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


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """``folder`` holds the copies, at most ``copies`` of them. ``metrics_port``: for Prometheus, at the address
    ``metrics_host``."""

    folder: Path
    workers: int = 1
    copies: int = 1000
    metrics_port: int | None = None
    metrics_host: str = "127.0.0.1"


def run(settings: Settings, options: PoolOptions) -> None:
    """Run jobs until SIGTERM or SIGINT; at the second one, running jobs are interrupted. Raises as ``running``."""
    set_up(None, settings.log_level, settings.log_format)
    with running(settings, options) as pool:
        on_stop(pool.stop)
        if options.metrics_port is not None:
            start_http_server(options.metrics_port, addr=options.metrics_host, registry=pool.metrics.registry)
        pool.wait()


@contextmanager
def running(settings: Settings, options: PoolOptions) -> Iterator[Pool]:
    """A pool that runs, until its ``stop``: the end of the block waits for its end.

    Raises JobError: SETTING_INVALID without the database's own address, WORKER_RUNNING for a folder that another pool
    uses, and what reaching the database raises. Raises OSError for a folder that cannot be written.
    """
    settings = settings.changed(store=settings.pool_store or settings.store)
    os.umask(0o077)
    steps.arm(settings.fault if settings.test_jobs else None)
    files.make_folder(options.folder)
    lock = Lock(options.folder / "lock")
    if not lock.acquire():
        raise JobError("WORKER_RUNNING", f"Another pool uses {options.folder}.")
    with lock:
        connections = 2 + _CONNECTIONS_OF_A_WORKER * options.workers
        server = opening.server_of(settings, connections=connections)
        with server.connection():
            pass  # an error is told before anything runs
        membership.require_machine(settings.team_machine)
        copies = Copies(
            options.folder, settings.config_folder, options.copies, machine=settings.team_machine, is_pool=True
        )
        pool = Pool(
            _name(options.folder, settings.team_machine), PostgresTeam(server), copies, settings, options.workers
        )
        pool.start()
        try:
            yield pool
        finally:
            pool.join()


def _name(folder: Path, machine: str | None) -> str:
    """The pool's name, the same after each start."""
    path = folder / "name"
    try:
        own = path.read_text().strip()
    except FileNotFoundError:
        own = uuid4().hex[:12]
        files.replace(path, own.encode())
    return f"pool-{machine or socket.gethostname()}/{own}"
