"""The tables of a team are upgraded while workers of the former program run: these stop, lose nothing, and go on with
the new program.

The newer program is this one with one more migration, put into its processes by a ``sitecustomize`` module.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from harness import Place, until
from postgres import database

from bridge.team import membership, schema
from bridge.team.server import Server
from jobs.errors import JobError

MIGRATION = "ALTER TABLE jobs ADD note text NOT NULL DEFAULT 'made by the newer program'"


@pytest.fixture
def dsn() -> Iterator[str]:
    with database() as found:
        yield found


def upgrade(place: Place, folder: Path) -> None:
    """Give the machine the newer program."""
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(
        "from bridge.team import schema\n"
        f"schema.MIGRATIONS = (*schema.MIGRATIONS, {MIGRATION!r})\n"
        "schema.VERSION = len(schema.MIGRATIONS)\n"
    )
    place.environment["PYTHONPATH"] = str(folder)


def summary(topic: str) -> dict[str, Any]:
    return {"summary": {"topic": topic, "context": "What was said.", "decisions": [f"{topic}."]}}


def test_a_worker_of_the_former_program_stops_when_the_tables_are_upgraded_and_loses_nothing(
    tmp_path: Path, dsn: str, model_cache: Path
) -> None:
    workspace_id = str(uuid4())
    former, newer = (
        Place(tmp_path / name, COGNEE_MEMORY_STORE=dsn, COGNEE_MEMORY_CACHE_DIR=str(model_cache))
        for name in ("former", "newer")
    )
    membership.join(former.workspace, former.config, workspace_id, shares=True)
    membership.join(newer.workspace, newer.config, workspace_id)
    upgrade(newer, tmp_path / "program")
    with former.worker():
        known = former.submit("ingest", summary("Invoices are rounded up"))
        assert former.ended(known).state == "succeeded"
        with newer.worker():
            until(lambda: "TEAM_NEWER" in former.log() or None, "the worker of the former program knows")
            waiting = former.submit("ingest", summary("The queue is a spool"))
            other = newer.submit("ingest", summary("Tokens last a day"))
            assert newer.ended(other).state == "succeeded", "the newer program works"
            former.in_state(waiting, "queued")
            answer = former.json("retrieve", "how are invoices rounded?")
            assert "Invoices" in answer["results"][0]["summary_text"], "what it has is found"
            with psycopg.connect(dsn, options="-c search_path=cognee_memory") as connection:
                posted = connection.execute("SELECT 1 FROM jobs WHERE job_id = %s", (waiting,)).fetchone()
            assert posted is None, "it does nothing in tables that it does not know"
    upgrade(former, tmp_path / "program")
    with former.worker():
        record = former.ended(waiting)
        assert (record.state, [each.outcome for each in record.attempts]) == ("succeeded", ["succeeded"])
        until(lambda: former.json("memories", "list")["total"] == 3 or None, "all memories are here")


@pytest.fixture
def newer_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, MIGRATION))
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    monkeypatch.setattr(schema, "_LOCK_MILLISECONDS", 200)


def made(dsn: str) -> None:
    """The tables, by the former program."""
    server = Server(dsn)
    with server.connection():
        pass
    server.close()


def test_an_upgrade_that_a_long_transaction_blocks_lets_others_pass_and_is_made_afterwards(
    dsn: str, request: pytest.FixtureRequest
) -> None:
    made(dsn)
    request.getfixturevalue("newer_program")
    server = Server(dsn)
    with psycopg.connect(dsn) as reader:
        reader.execute("SELECT count(*) FROM cognee_memory.jobs")
        with pytest.raises(JobError) as caught, server.connection():
            pass
        assert caught.value.code == "TEAM_UNREACHABLE"
        with psycopg.connect(dsn, options="-c lock_timeout=1s") as other:
            other.execute("SELECT count(*) FROM cognee_memory.jobs")  # nobody waits behind the upgrade
    with server.connection() as connection:
        assert schema.version_of(connection) == schema.VERSION
        assert connection.execute("SELECT note FROM jobs").fetchall() == []
    server.close()


def test_programs_that_start_together_upgrade_once(dsn: str, request: pytest.FixtureRequest) -> None:
    made(dsn)
    request.getfixturevalue("newer_program")
    failed: list[BaseException] = []

    def start() -> None:
        server = Server(dsn)
        try:
            until(lambda: _is_up(server) or None, "it is upgraded")
        except BaseException as error:
            failed.append(error)
        finally:
            server.close()

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def _is_up(server: Server) -> bool:
    try:
        with server.connection() as connection:
            return schema.version_of(connection) == schema.VERSION
    except JobError as error:
        if error.code != "TEAM_UNREACHABLE":
            raise
        return False
