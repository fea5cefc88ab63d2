"""A team's gateway, for tests: a real process over a real Postgres, with a role that row-level security binds."""

import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from harness import PATIENCE, Place, until
from postgres import free_port
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from bridge.team import people
from bridge.team.gateway_team import GatewayTeam
from bridge.team.server import Server
from bridge.team.unreached import trusted


def created_role(connection: Connection[Any], password: str) -> str:
    """The name of a new role. Roles are the server's, which other tests use, too."""
    name = f"role_{secrets.token_hex(8)}"
    connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'".encode())
    return name


class Hosted:
    """A team's database with a gateway: ``address`` is the gateway's, ``dsn`` the operator's. With a certificate, it
    serves the network address ``host``; the key is beside it."""

    def __init__(self, folder: Path, dsn: str, *, host: str = "127.0.0.1", certificate: Path | None = None) -> None:
        self.dsn, self.host, self.certificate = dsn, host, certificate
        self.server = Server(dsn)
        password = secrets.token_urlsafe(16)
        with self.server.connection() as connection:
            role = created_role(connection, password)
            people.allow_gateway(connection, role)
        self._role = (role, password)
        self.gateway_dsn = make_conninfo(**conninfo_to_dict(dsn) | {"user": role, "password": password})
        self.port = free_port()
        # Made once: to load the system's certificates takes as long as dozens of requests.
        self.client = httpx.Client(
            base_url=self.address, timeout=60.0, verify=trusted(self.authority) if certificate else False
        )
        self.folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._place: Place | None = None  # its copies are those of one user
        self._started: tuple[tuple[str, ...], dict[str, str]] = ((), {})

    @property
    def address(self) -> str:
        return f"{'https' if self.certificate else 'http'}://{self.host}:{self.port}"

    @property
    def authority(self) -> str | None:
        """The file of certificates with which the gateway's is checked."""
        return None if self.certificate is None else str(self.certificate)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def log(self) -> str:
        return (self.folder / "gateway.log").read_text()

    def start(self, *options: str, **variables: str) -> None:
        """Start the gateway and wait until it answers; without options, as the last time."""
        self._started = (options, variables) if options else self._started
        options, variables = self._started[0], self._started[1] | variables
        place = self._place = self._place or Place(self.folder / "service")
        if self.certificate is not None:
            certificate, key = str(self.certificate), str(self.certificate.with_suffix(".key"))
            options = ("--host", self.host, "--certificate", certificate, "--key", key, *options)
        user, at, rest = self.dsn.partition("@")
        store = f"postgresql://{':'.join(self._role)}{at}{rest}"
        assert user.startswith("postgresql://"), "the operator's address is one that the program takes, too"
        with (self.folder / "gateway.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    sys.executable, "-m", "worker.cli", "serve", "--port", str(self.port),
                    "--workspace", str(place.workspace.root), *options,
                ],
                env=place.environment
                | {"COGNEE_MEMORY_STORE": store, "COGNEE_MEMORY_POOL_STORE": self.dsn}
                | variables,
                stdout=log, stderr=log,
            )  # fmt: skip
        until(self._answers, "the gateway answers")

    def _answers(self) -> bool:
        assert self._process.poll() is None, self.log
        try:
            return self.client.get("/healthz").status_code == 200
        except httpx.HTTPError:
            return False

    def stop(self) -> int:
        """Ask it to end, and wait. Returns its exit status."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(PATIENCE)

    def kill(self) -> None:
        """End it at once, if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def close(self) -> None:
        """Close the connections of tests."""
        self.client.close()
        self.server.close()

    @contextmanager
    def without_pool(self) -> Iterator[None]:
        """Once it has ended: the gateway alone, for the block; afterwards as it was started."""
        options, variables = started = self._started
        self.start(*options[: options.index("--copies")], **variables)
        yield
        self.kill()
        self._started = started
        self.start()

    def token(self, person: str, *groups: str) -> str:
        """A token of a person, who is made."""
        with self.server.connection() as connection:
            people.add_person(connection, person)
            for group in groups:
                people.add_member(connection, group, person)
            return people.create_token(connection, person, "a machine", None)

    @contextmanager
    def team(self, token: str) -> Iterator[GatewayTeam]:
        team = GatewayTeam(self.address, token)
        try:
            yield team
        finally:
            team.close()


_OF: dict[str, Hosted] = {}  # by the database's address


def gateway_of(
    dsn: str, *, host: str = "127.0.0.1", certificate: Path | None = None, workers: int = 1, **variables: str
) -> Hosted:
    """The service of a database's machines: its gateway, and a pool of so many workers. It is started if need be, and
    runs until ``end_all``."""
    if dsn not in _OF:
        hosted = Hosted(Path(tempfile.mkdtemp(prefix="cognee-gateway-")), dsn, host=host, certificate=certificate)
        pool = ("--copies", str(hosted.folder / "copies"), "--workers", str(workers)) if workers else ()
        hosted.start("--requests-per-minute", "1e9", "--mebibytes-per-minute", "1e9", *pool, **variables)
        _OF[dsn] = hosted
    return _OF[dsn]


def end_all() -> None:
    """End the gateways that ``gateway_of`` has started."""
    while _OF:
        _, hosted = _OF.popitem()
        hosted.kill()
        hosted.close()
        shutil.rmtree(hosted.folder)
