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


class Pair:
    """A primary and a standby that every commit waits for."""

    def __init__(self, folder: Path, standby_folder: Path) -> None:
        programs = postgres._programs(folder)
        self.primary = Cluster(folder, programs)
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


def test_what_was_answered_for_is_there_after_the_standby_is_promoted(
    pair: Pair, tmp_path: Path, model_cache: Path
) -> None:
    workspace_id = str(uuid4())
    places = []
    for number in range(2):
        place = Place(
            tmp_path / f"machine-{number}", COGNEE_MEMORY_STORE=pair.dsn, COGNEE_MEMORY_CACHE_DIR=str(model_cache)
        )
        membership.join(place.workspace, place.config, workspace_id, shares=number == 0)
        places.append(place)
    with places[0].worker(), places[1].worker():
        jobs = []
        for number in range(JOBS):
            place = places[number % 2]
            content = {"topic": f"Topic {number}", "context": "What was said.", "decisions": [f"Decision {number}."]}
            jobs.append((place, place.submit("ingest", {"summary": content})))
            if number == JOBS // 2:
                first_place, first_job = jobs[0]
                assert first_place.ended(first_job).state == "succeeded"
                pair.primary.kill()
                pair.ask(pair.standby, "SELECT pg_promote()")
                promoted = time.monotonic()
        records = [place.ended(job_id) for place, job_id in jobs]
        assert time.monotonic() - promoted < 60
        assert [record.state for record in records] == ["succeeded"] * JOBS
        for place in places:
            until(lambda place=place: place.json("memories", "list")["total"] == JOBS or None, "all memories are here")
    seqs = pair.ask(pair.standby, "SELECT seq FROM cognee_memory.changes ORDER BY seq")
    assert [seq for (seq,) in seqs] == list(range(1, len(seqs) + 1))
    listed = pair.ask(pair.standby, "SELECT json_array_elements_text(jobs) FROM cognee_memory.changes")
    assert sorted(job for (job,) in listed) == sorted(job_id for _, job_id in jobs), "each job has its effect once"
