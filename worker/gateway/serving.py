"""The gateway's process: its certificates, its address and its end."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn

from bridge.settings import Settings
from bridge.team import opening, unreached
from bridge.team.wire import is_this_machine
from jobs.errors import JobError

from ..connections import BoundedProtocol
from ..log import set_up
from ..pool.running import PoolOptions, running
from ..stop_signals import on_stop
from .access import Limits
from .app import Gateway
from .connections import BACKLOG, bounded_by_files
from .reading import Reading

log = logging.getLogger(__name__)

_CONNECTIONS = 16
_SAME_LINE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Serving:
    """How the gateway is reached. Without ``certificate`` it speaks HTTP: to this machine only, or to a proxy that has
    the certificate. ``copies``: a folder for copies of large workspaces, about which it then answers questions.
    ``pool``: the workers that run jobs in the same process."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None
    behind_proxy: bool = False
    requests_per_minute: float = 1200.0
    mebibytes_per_minute: float = 1024.0
    copies: Path | None = None
    most_copies: int = 100
    pool: PoolOptions | None = None


def serve(settings: Settings, serving: Serving) -> None:
    """Serve until SIGTERM or SIGINT. Jobs that run then end first; a second signal interrupts them.

    Raises JobError: SETTING_INVALID, ARGUMENT_INVALID, WORKER_RUNNING as ``pool.running``, and what reaching the
    database raises."""
    _require_private_way(serving)
    set_up(None, settings.log_level, settings.log_format)
    logging.getLogger().handlers[0].addFilter(OncePerMinute())
    server = opening.server_of(settings, connections=_CONNECTIONS, upgrades=False, tells_reasons=False)
    with server.connection():
        pass  # an error is told before anybody connects
    reading = None
    if serving.copies is not None:
        os.umask(0o077)
        reading = Reading(server, settings, serving.copies, serving.most_copies)
    limits = Limits(serving.requests_per_minute, serving.mebibytes_per_minute * 1024 * 1024)
    is_proxied = serving.certificate is None  # or only this machine reaches it
    gateway = Gateway(server, limits, reading)
    config = uvicorn.Config(
        gateway.application(),
        loop="asyncio",
        http=bounded_by_files(behind_proxy=is_proxied),
        ws="none",
        host=serving.host,
        port=serving.port,
        ssl_certfile=None if serving.certificate is None else str(serving.certificate),
        ssl_keyfile=None if serving.key is None else str(serving.key),
        log_config=None,
        access_log=False,
        proxy_headers=is_proxied,
        forwarded_allow_ips="*" if serving.behind_proxy else "127.0.0.1",
        server_header=False,
        timeout_graceful_shutdown=5,
        backlog=BACKLOG,
        h11_max_incomplete_event_size=16 * 1024,
    )
    if serving.certificate is not None and (why := unreached.invalid_now(serving.certificate)) is not None:
        log.warning("machines will refuse the certificate %s: %s; renew it, and restart", serving.certificate, why)
    http = _Server(config, gateway)
    with running(settings, serving.pool) if serving.pool else nullcontext() as pool:
        if pool is not None:
            gateway.metrics.registry.register(pool.metrics.registry)

        def stop() -> None:
            http.should_exit = True
            if pool is not None:
                pool.stop()

        on_stop(stop)
        http.run()


class _Server(uvicorn.Server):
    """uvicorn's server, but a TLS handshake has as much time as a request's head, and not a minute, and the end does
    not wait for who waits for a change."""

    def __init__(self, config: uvicorn.Config, gateway: Gateway) -> None:
        super().__init__(config)
        self._gateway = gateway

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._gateway.let_go()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """``serve`` says what a signal does."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        if self.config.ssl_certfile is not None:
            create: Any = partial(loop.create_server, ssl_handshake_timeout=BoundedProtocol.head_seconds)
            loop.create_server = create  # type: ignore[method-assign]
        await super().startup(sockets)


def _require_private_way(serving: Serving) -> None:
    if serving.certificate is None and not serving.behind_proxy and not is_this_machine(serving.host):
        raise JobError(
            "ARGUMENT_INVALID",
            "Without a certificate, tokens and memories would cross the network readable.",
            remediation="Give --certificate and --key; or --behind-proxy, where a proxy on this network has them.",
        )


class OncePerMinute(logging.Filter):
    """Lets a line of one cause pass once a minute, with how many were left out."""

    def __init__(self) -> None:
        super().__init__()
        self._causes: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line passes. Warnings and errors only: the others are each about something else."""
        if record.levelno < logging.WARNING:
            return True
        cause = (record.name, str(record.msg).partition("\n")[0])
        at, left_out = self._causes.get(cause, (float("-inf"), 0))
        if record.created - at < _SAME_LINE_SECONDS:
            self._causes[cause] = (at, left_out + 1)
            return False
        if len(self._causes) > 1000:
            self._causes.clear()
        self._causes[cause] = (record.created, 0)
        if left_out:
            record.msg = f"{record.getMessage()} ({left_out} more of this cause since)"
            record.args = ()
        return True
