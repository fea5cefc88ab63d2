"""A gateway of a team: its process, over a database of a test, with a role of its own."""

from __future__ import annotations

import secrets
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
from harness import PATIENCE, Place, until
from psycopg.conninfo import conninfo_to_dict

from bridge.team import people
from bridge.team.server import Server


class Gateway:
    """As a context it is there and answers."""

    def __init__(self, folder: Path, dsn: str) -> None:
        self._place = Place(folder / "gateway")
        self._log = folder / "gateway.log"
        self._server = Server(dsn)
        role, password = f"gateway_{secrets.token_hex(4)}", secrets.token_urlsafe(16)
        with self._server.connection() as connection:
            connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{password}'".encode())
            people.allow_gateway(connection, role)
        parts = conninfo_to_dict(dsn)
        place = f"{parts['host']}:{parts['port']}/{parts['dbname']}?sslmode=disable"
        self._place.environment["COGNEE_MEMORY_STORE"] = f"postgresql://{role}:{password}@{place}"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]

    def __enter__(self) -> Gateway:
        root = str(self._place.workspace.root)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "worker.cli", "serve", "--port", str(self.port), "--workspace", root],
                env=self._place.environment, stdout=log, stderr=log,
            )  # fmt: skip
        until(self._answers, "the gateway answers")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(PATIENCE)
        self._server.close()

    def _answers(self) -> bool:
        assert self._process.poll() is None, self._log.read_text()
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/healthz").status_code == 200
        except httpx.HTTPError:
            return False

    def token(self, person: str) -> str:
        """A token of a person, who is made."""
        with self._server.connection() as connection:
            people.add_person(connection, person)
            return people.create_token(connection, person, "a machine", None)
