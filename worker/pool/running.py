"""A pool in a process, its own or a gateway's: the lock of its folder, its metrics, its signals and its end."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
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
from .pool import Pool

_CONNECTIONS_OF_A_WORKER = 2


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
