"""A pool of workers, for tests: a real process that has the database's own address."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from harness import PATIENCE, Place, until
from psycopg.conninfo import conninfo_to_dict


class PoolProcess:
    """``cognee-memory pool``, with a configuration of its own, and the database's password in the user's file."""

    def __init__(self, base: Path, dsn: str, *arguments: str, **variables: str) -> None:
        parts = conninfo_to_dict(dsn)
        where = f"{parts['host']}:{parts['port']}"
        store = f"postgresql://{parts['user']}@{where}/{parts['dbname']}?sslmode=disable"
        self.place = Place(base, COGNEE_MEMORY_STORE=store, **variables)
        self.place.environment["PGPASSFILE"] = str(base / "pgpass")
        (base / "pgpass").touch(0o600)
        (base / "pgpass").write_text(f"{where}:*:{parts['user']}:{parts['password']}\n")
        self.folder = base / "copies"
        self.log = base / "pool.log"
        self._arguments = ["-m", "worker.cli", "pool", "--folder", str(self.folder), *arguments]
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, *self._arguments],
                env=self.place.environment,
                cwd=self.place.workspace.root,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )

    def __enter__(self) -> "PoolProcess":
        return self

    def __exit__(self, *_: object) -> None:
        until(lambda: self.process.poll() is not None or self._hears_signals(), "it ends in order when it is told to")
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            assert self.process.wait(PATIENCE) == 0, self.log.read_text()
        finally:
            self.kill()

    def _hears_signals(self) -> bool:
        status = dict(
            line.split(":\t", 1) for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        )
        return bool(int(status["SigCgt"], 16) >> (signal.SIGTERM - 1) & 1)

    def kill(self) -> None:
        """SIGKILL to all its processes."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)

    def copies(self) -> set[str]:
        return {path.name for path in self.folder.iterdir() if path.is_dir()}
