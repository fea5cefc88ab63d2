"""The gateway's process: its certificates, its address and its end."""

from __future__ import annotations

import ipaddress
import logging
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from bridge.settings import Settings
from bridge.team import address
from bridge.team.server import Server
from jobs.errors import JobError

from .app import Gateway
from .limits import Limits
from .reading import Reading

_CONNECTIONS = 16


@dataclass(frozen=True, slots=True)
class Serving:
    """How the gateway is reached. Without ``certificate`` it speaks HTTP: to this machine only, or to a proxy that has
    the certificate. ``copies``: a folder for copies of large workspaces, about which it then answers questions."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None
    behind_proxy: bool = False
    requests_per_minute: float = 1200.0
    mebibytes_per_minute: float = 1024.0
    copies: Path | None = None
    most_copies: int = 100


def serve(settings: Settings, serving: Serving) -> None:
    """Serve until SIGTERM or SIGINT. Raises JobError: SETTING_INVALID, ARGUMENT_INVALID, and what reaching the
    database raises."""
    if settings.store is None:
        raise JobError("SETTING_INVALID", "The setting store is missing: the address of the team's database.")
    _require_private_way(serving)
    log_to_stderr()
    server = Server(address.conninfo(settings.store), connections=_CONNECTIONS, upgrades=False, tells_reasons=False)
    with server.connection():
        pass  # an error is told before anybody connects
    reading = None
    if serving.copies is not None:
        os.umask(0o077)
        reading = Reading(server, settings, serving.copies, serving.most_copies)
    limits = Limits(serving.requests_per_minute, serving.mebibytes_per_minute * 1024 * 1024)
    uvicorn.run(
        Gateway(server, limits, reading).application(),
        host=serving.host,
        port=serving.port,
        ssl_certfile=None if serving.certificate is None else str(serving.certificate),
        ssl_keyfile=None if serving.key is None else str(serving.key),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=5,
    )


def _require_private_way(serving: Serving) -> None:
    if serving.certificate is not None or serving.behind_proxy:
        return
    try:
        is_local = serving.host == "localhost" or ipaddress.ip_address(serving.host).is_loopback
    except ValueError:
        is_local = False
    if not is_local:
        raise JobError(
            "ARGUMENT_INVALID",
            "Without a certificate, tokens and memories would cross the network readable.",
            remediation="Give --certificate and --key; or --behind-proxy, where a proxy on this network has them.",
        )


def log_to_stderr() -> None:
    """Log lines to stderr: the gateway's, its audit, and the server's."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s", force=True
    )
