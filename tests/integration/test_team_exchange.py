"""What a machine does with jobs that its team does not take. A real Postgres; one answer of it is replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import uuid4

import pytest
from postgres import database

from bridge.team.membership import Membership
from bridge.team.postgres_team import PostgresTeam
from bridge.team.rows import Author, Described
from bridge.team.server import Server
from bridge.team.shared_jobs import Posted
from jobs import clock, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.lifecycle import accept
from jobs.model import Job, Record, encode
from jobs.parse import parse_job
from worker.scheduling.ledger import Ledger
from worker.team.exchange import Exchange


class Picky(PostgresTeam):
    """Takes no request that has the job ``bad``."""

    def post(self, workspace_id: str, node: str, jobs: Sequence[tuple[Job, Record]]) -> dict[str, Posted]:
        if any(job.job_id == "bad" for job, _ in jobs):
            raise JobError("ARGUMENT_INVALID", "The job is of a kind that this gateway does not know.")
        return super().post(workspace_id, node, jobs)


@pytest.fixture
def team() -> Iterator[Picky]:
    with database() as dsn:
        team = Picky(Server(dsn))
        yield team
        team.close()


@pytest.fixture
def place(tmp_path: Path) -> SpoolPaths:
    paths = Workspace(tmp_path).spool
    spool.prepare(paths)
    return paths


def exchange_of(place: SpoolPaths, team: PostgresTeam, workspace_id: str, *job_ids: str) -> tuple[Exchange, Ledger]:
    ledger = Ledger(place, [])
    files = {each: {"schema_version": 1, "job_id": each, "kind": "check", "payload": {}} for each in job_ids}
    jobs = [parse_job(job_id, encode(file)) for job_id, file in files.items()]
    ledger.accept([(job, accept(job, clock.now())) for job in jobs])
    exchange = Exchange(place, ledger, team, Membership(workspace_id, "node", shares=False))
    exchange.has_copy = True
    return exchange, ledger


def test_one_job_that_the_team_refuses_ends_and_holds_up_no_other(place: SpoolPaths, team: Picky) -> None:
    workspace_id = str(uuid4())
    team.share(Described(workspace_id, "w", 8, "fake", 8), str(uuid4()), [], Author("node"))
    exchange, ledger = exchange_of(place, team, workspace_id, "a", "bad", "c")
    exchange.run()
    refused = ledger.find("bad")
    assert refused is not None
    assert refused.error is not None
    assert (refused.state, refused.error["code"]) == ("failed", "ARGUMENT_INVALID")
    assert {job_id: exchange.cancel(job_id) for job_id in ("a", "c")} == {"a": "running", "c": "running"}
    exchange.run()
    assert {job_id: record.state for job_id in ("a", "c") if (record := ledger.find(job_id))} == dict.fromkeys(
        ("a", "c"), "cancelled"
    ), "the team knew them, and their end came back"


def test_a_job_for_a_workspace_that_the_team_no_longer_has_can_be_cancelled(place: SpoolPaths, team: Picky) -> None:
    exchange, ledger = exchange_of(place, team, str(uuid4()), "a")
    with pytest.raises(JobError, match="TEAM_NOT_SHARED"):
        exchange.run()
    assert exchange.cancel("a") == "cancelled"
    assert ledger.find("a") is None or ledger.live() == []
