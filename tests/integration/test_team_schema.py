"""The tables of a team are upgraded while a gateway of the former program runs: it stops, and goes on with the new
program; its machines lose nothing.

The newer program is this one with one more migration, put into its processes by a ``sitecustomize`` module.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from harness import Place, at_once, until
from machines import Team, remember, succeeded, titles
from postgres import database

from bridge.team import schema
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


def test_a_former_gateway_stops_at_an_upgrade_and_nothing_is_lost(tmp_path: Path, dsn: str) -> None:
    team = Team(tmp_path, dsn)
    place = team.machine("laptop")
    operator = Place(tmp_path / "operator", COGNEE_MEMORY_STORE=dsn)
    upgrade(operator, tmp_path / "program")
    with place.worker():
        succeeded(place, remember(place, "Invoices are rounded up"))
        assert operator.cli("team", "database").returncode == 0
        until(lambda: "TEAM_NEWER" in place.log() or None, "the machine knows")
        waiting = remember(place, "The queue is a spool")
        place.in_state(waiting, "queued")
        answer = place.json("retrieve", "how are invoices rounded?")
        assert "Invoices" in answer["results"][0]["summary_text"], "what it has is found"
        assert team.rows("SELECT 1 FROM jobs WHERE workspace_id = %s AND job_id = %s", waiting) == [], (
            "it does nothing in tables that it does not know"
        )
        team.gateway.kill()
        team.gateway.start(PYTHONPATH=operator.environment["PYTHONPATH"])
        record = place.ended(waiting)
        assert (record.state, [each.outcome for each in record.attempts]) == ("succeeded", ["succeeded"])
        until(lambda: len(titles(place)) == 2, "all memories are here")


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


def test_an_upgrade_behind_a_long_transaction_lets_others_pass_first(dsn: str, request: pytest.FixtureRequest) -> None:
    made(dsn)
    request.getfixturevalue("newer_program")
    server = Server(dsn)
    with psycopg.connect(dsn) as reader:
        reader.execute("SELECT count(*) FROM cognee_memory.jobs")
        with pytest.raises(JobError, match="TEAM_UNREACHABLE"), server.connection():
            pass
        with psycopg.connect(dsn, options="-c lock_timeout=1s") as other:
            other.execute("SELECT count(*) FROM cognee_memory.jobs")  # nobody waits behind the upgrade
    with server.connection() as connection:
        assert schema.version_of(connection) == schema.VERSION
        assert connection.execute("SELECT note FROM jobs").fetchall() == []
    server.close()


def test_an_upgrade_leaves_each_machine_the_jobs_it_alone_can_run(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has them in its folder, and posts them with what is attached, or runs them."""
    with monkeypatch.context() as former:
        former.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:5])
        former.setattr(schema, "VERSION", 5)
        made(dsn)
    with psycopg.connect(dsn, options="-c search_path=cognee_memory", autocommit=True) as owner:
        owner.execute("INSERT INTO workspaces (id, format) VALUES (gen_random_uuid(), 9)")
        for job_id, runs_on, state in (("any", None, "waiting"), ("capture", "n", "waiting"), ("old", "n", "ended")):
            owner.execute(
                "INSERT INTO jobs (workspace_id, job_id, job_sha256, kind, runs_on, asked_by, priority, state, record)"
                " SELECT id, %s, '', 'capture', %s, 'n', 0, %s, '{}' FROM workspaces",
                (job_id, runs_on, state),
            )
    server = Server(dsn)
    with server.connection() as connection:
        assert connection.execute("SELECT job_id FROM jobs ORDER BY 1").fetchall() == [("any",), ("old",)]
    server.close()


def test_programs_that_start_together_upgrade_once(dsn: str, request: pytest.FixtureRequest) -> None:
    made(dsn)
    request.getfixturevalue("newer_program")

    def start(_: int) -> None:
        with closing(Server(dsn)) as server:
            until(lambda: _is_up(server) or None, "it is upgraded")

    at_once(start, range(6))


def _is_up(server: Server) -> bool:
    try:
        with server.connection() as connection:
            return schema.version_of(connection) == schema.VERSION
    except JobError as error:
        if error.code != "TEAM_UNREACHABLE":
            raise
        return False
