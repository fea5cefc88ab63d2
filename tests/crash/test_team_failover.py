"""The database's primary dies, and its synchronous standby is promoted: nothing that was answered for is lost, nothing
happens twice."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import postgres
import psycopg
import pytest
from harness import Place, until
from postgres import Cluster
from psycopg.conninfo import conninfo_to_dict

from bridge.team import membership

JOBS = 12


# What pg_rewind needs later: hint bits in the log, and the log since before the servers went apart.
_FOR_REWIND = ("-c", "wal_log_hints=on", "-c", "wal_keep_size=128MB")


class Pair:
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


@pytest.fixture
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    import tempfile

    with (
        tempfile.TemporaryDirectory(prefix="cognee-pg-", ignore_cleanup_errors=True) as first,
        tempfile.TemporaryDirectory(prefix="cognee-pg-", ignore_cleanup_errors=True) as second,
    ):
        pair = Pair(Path(first), Path(second))
        yield pair
        pair.standby.stop()
        pair.primary.stop()


class Jobs:
    """Machines that reach both servers, and the jobs that they were given."""

    def __init__(self, pair: Pair, folder: Path, cache: Path) -> None:
        self.pair = pair
        self.places: list[Place] = []
        self.given: list[tuple[Place, str]] = []
        workspace_id = str(uuid4())
        for number in range(2):
            place = Place(
                folder / f"machine-{number}",
                COGNEE_MEMORY_STORE=pair.dsn,
                COGNEE_MEMORY_CACHE_DIR=str(cache),
                COGNEE_MEMORY_LEASE_SECONDS="6",
            )
            membership.join(place.workspace, place.config, workspace_id, shares=number == 0)
            self.places.append(place)

    def give(self, count: int) -> None:
        """Drop further jobs, on each machine in turn."""
        for number in range(len(self.given), len(self.given) + count):
            place = self.places[number % 2]
            content = {"topic": f"Topic {number}", "context": "What was said.", "decisions": [f"Decision {number}."]}
            self.given.append((place, place.submit("ingest", {"summary": content})))

    def ended(self) -> None:
        """Wait until all have succeeded, and all memories are on both machines."""
        records = [place.ended(job_id) for place, job_id in self.given]
        assert [record.state for record in records] == ["succeeded"] * len(self.given)
        for place in self.places:
            until(
                lambda place=place: place.json("memories", "list")["total"] == len(self.given) or None,
                "all memories are here",
            )

    def assert_once(self, server: Cluster) -> None:
        """On this server, no number is missing, and each job has its effect once."""
        seqs = self.pair.ask(server, "SELECT seq FROM cognee_memory.changes ORDER BY seq")
        assert [seq for (seq,) in seqs] == list(range(1, len(seqs) + 1))
        listed = self.pair.ask(server, "SELECT json_array_elements_text(jobs) FROM cognee_memory.changes")
        assert sorted(job for (job,) in listed) == sorted(job_id for _, job_id in self.given), (
            "each has its effect once"
        )


@pytest.fixture
def jobs(pair: Pair, tmp_path: Path, model_cache: Path) -> Jobs:
    return Jobs(pair, tmp_path, model_cache)


def test_what_was_answered_for_is_there_after_the_standby_is_promoted(pair: Pair, jobs: Jobs) -> None:
    with jobs.places[0].worker(), jobs.places[1].worker():
        jobs.give(JOBS // 2)
        first_place, first_job = jobs.given[0]
        assert first_place.ended(first_job).state == "succeeded"
        pair.primary.kill()
        pair.ask(pair.standby, "SELECT pg_promote()")
        promoted = time.monotonic()
        jobs.give(JOBS // 2)
        jobs.ended()
        assert time.monotonic() - promoted < 60
    jobs.assert_once(pair.standby)


def test_an_old_primary_that_comes_back_is_answered_for_by_nobody_and_follows_once_it_is_rejoined(
    pair: Pair, jobs: Jobs
) -> None:
    first, second = jobs.places
    with first.worker(), second.worker():
        jobs.give(4)
        jobs.ended()
        pair.primary.kill()
        pair.ask(pair.standby, "SELECT pg_promote()")
        pair.primary.start()  # as it was: a primary, first in the address, whose standby has left it
        assert pair.ask(pair.primary, "SELECT pg_is_in_recovery()") == [(False,)]
        before = pair.ask(pair.primary, "SELECT count(*) FROM cognee_memory.changes")
        jobs.give(4)
        until(lambda: pair.is_reached(pair.primary), "a machine has taken it for the primary")
        assert pair.ask(pair.primary, "SELECT count(*) FROM cognee_memory.changes") == before, "it acknowledges nothing"
        pair.rejoin()
        jobs.give(4)
        jobs.ended()
        pair.follows()
    jobs.assert_once(pair.standby)
    jobs.assert_once(pair.primary)
