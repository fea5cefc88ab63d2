"""A database server and its synchronous standby, for tests."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import postgres
import psycopg
from harness import until
from postgres import Cluster
from psycopg.conninfo import conninfo_to_dict

# What pg_rewind needs later: hint bits in the log, and the log since before the servers went apart.
_FOR_REWIND = ("-c", "wal_log_hints=on", "-c", "wal_keep_size=128MB")


class PrimaryAndStandby:
    """A primary and a standby that every commit waits for."""

    def __init__(self, folder: Path, standby_folder: Path) -> None:
        programs = postgres._programs(folder)
        self.primary = Cluster(folder, programs, *_FOR_REWIND)
        self.primary.create()
        self.primary.start()
        self.standby = Cluster(standby_folder, programs)
        self.standby._password = self.primary._password
        postgres._hand_over(standby_folder)
        parts = conninfo_to_dict(self.primary.dsn)
        subprocess.run(
            [
                str(programs / "pg_basebackup"), "-D", str(self.standby.data), "-R", "-X", "stream", "-c", "fast",
                "-h", "127.0.0.1", "-p", str(self.primary.port), "-U", str(parts["user"]),
            ],
            env=os.environ | {"PGPASSWORD": str(parts["password"])}, check=True, capture_output=True,
            cwd=standby_folder, **postgres._unprivileged(),
        )  # fmt: skip
        self.standby.start()
        self.ask(self.primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.ask(self.primary, "SELECT pg_reload_conf()")
        until(
            lambda: self.ask(self.primary, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"),
            "the standby is synchronous",
        )

    @property
    def dsn(self) -> str:
        """An address of both, for whoever can write."""
        parts = conninfo_to_dict(self.primary.dsn)
        hosts = f"127.0.0.1:{self.primary.port},127.0.0.1:{self.standby.port}"
        user = f"{parts['user']}:{parts['password']}"
        return f"postgresql://{user}@{hosts}/{parts['dbname']}?sslmode=disable&target_session_attrs=read-write"

    def rejoin(self) -> None:
        """Make the old primary a standby of the new one."""
        self.ask(self.standby, "CHECKPOINT")  # before it, pg_rewind takes it for a server of the former timeline
        self.primary.stop()
        parts = conninfo_to_dict(self.standby.dsn)
        source = f"host=127.0.0.1 port={self.standby.port} user={parts['user']} dbname={parts['dbname']}"
        done = subprocess.run(
            [
                str(self.primary.programs / "pg_rewind"), "--target-pgdata", str(self.primary.data),
                "--source-server", source, "--write-recovery-conf", "--no-sync",
            ],
            env=os.environ | {"PGPASSWORD": str(parts["password"])}, capture_output=True, text=True, check=False,
            cwd=self.primary.folder, **postgres._unprivileged(),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        self.primary.start()

    def promote(self) -> None:
        """Kill the primary, and make the standby one."""
        self.primary.kill()
        self.ask(self.standby, "SELECT pg_promote()")

    def follows(self) -> None:
        """Wait until the rejoined server has all that the new primary has."""
        assert self.ask(self.primary, "SELECT pg_is_in_recovery()") == [(True,)]
        last = "SELECT last_seq FROM cognee_memory.workspaces"
        until(lambda: self.ask(self.primary, last) == self.ask(self.standby, last), "it follows", 30)

    def is_reached(self, server: Cluster) -> bool:
        """Whether a machine is connected with it."""
        return bool(self.ask(server, "SELECT 1 FROM pg_stat_activity WHERE application_name = 'cognee-memory'"))

    @staticmethod
    def ask(server: Cluster, query: str) -> list[tuple[object, ...]]:
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            cursor = connection.execute(query.encode())
            return cursor.fetchall() if cursor.description else []


@contextmanager
def primary_and_standby() -> Iterator[PrimaryAndStandby]:
    """Both run until the end of the block, unless they are ended before."""
    with (
        tempfile.TemporaryDirectory(prefix="cognee-pg-", ignore_cleanup_errors=True) as first,
        tempfile.TemporaryDirectory(prefix="cognee-pg-", ignore_cleanup_errors=True) as second,
    ):
        pair = PrimaryAndStandby(Path(first), Path(second))
        try:
            yield pair
        finally:
            pair.standby.stop()
            pair.primary.stop()
