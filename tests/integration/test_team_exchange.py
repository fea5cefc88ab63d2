"""What a machine does with jobs that its team does not take. A real Postgres; one answer of it is replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from postgres import database

from bridge.team import wire
from bridge.team.membership import Membership
from bridge.team.postgres_team import PostgresTeam
from bridge.team.protocol import CALLS
from bridge.team.rows import Author, Described
from bridge.team.server import Server
from bridge.team.shared_jobs import Posted
from jobs import clock, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.lifecycle import CrashLimits, accept
from jobs.model import Job, Record, encode
from jobs.parse import parse_job
from worker.scheduling.ledger import Ledger
from worker.team import file_texts
from worker.team.exchange import Exchange
from worker.team.team_jobs import TeamJobs


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


def exchange_of(
    place: SpoolPaths, team: PostgresTeam, workspace_id: str, *job_ids: str, kind: str = "check", **payload: Any
) -> tuple[Exchange, Ledger]:
    ledger = Ledger(place, [])
    files = {each: {"schema_version": 1, "job_id": each, "kind": kind, "payload": payload} for each in job_ids}
    jobs = [parse_job(job_id, encode(file)) for job_id, file in files.items()]
    ledger.accept([(job, accept(job, clock.now())) for job in jobs])
    exchange = Exchange(place, ledger, team, Membership(workspace_id, "node", shares=False))
    exchange.has_copy = True
    return exchange, ledger


class Behind(PostgresTeam):
    """The team, as a machine sees it whose clock is two hours ahead."""

    def time(self) -> datetime:
        return super().time() - timedelta(hours=2)


@pytest.mark.parametrize("hours", [2, 50], ids=["just now", "two days ago, offline"])
def test_a_job_of_a_machine_whose_clock_is_wrong_has_the_teams_time_and_its_own_dates(
    place: SpoolPaths, team: Picky, hours: int
) -> None:
    workspace_id = str(uuid4())
    team.share(Described(workspace_id, "w", 8, "fake", 8), str(uuid4()), [], Author("node"))
    now = clock.now()
    dropped_at = clock.iso(now + timedelta(hours=2 - hours))  # by the wrong clock
    given = {"topic": "t", "context": "c", "created_at": "2026-01-01T00:00:00Z"}
    file = {"schema_version": 1, "job_id": "a", "kind": "ingest", "payload": {"summary": given}}
    job = parse_job("a", encode(file | {"submitted_at": dropped_at}))
    ledger = Ledger(place, [])
    ledger.accept([(job, accept(job, now + timedelta(hours=2 - hours)))])
    exchange = Exchange(place, ledger, Behind(team._server), Membership(workspace_id, "node", shares=False))
    exchange.has_copy = True
    exchange.run()
    lease = team.take("node", [workspace_id], 30)
    assert lease is not None
    [posted] = team.due(lease, "node", 10)
    assert posted.job is not None
    for moment in (posted.job["submitted_at"], posted.record.submitted_at, posted.record.accepted_at):
        assert abs(clock.parse(moment) - (now - timedelta(hours=hours))) < timedelta(seconds=20)
    assert posted.job["payload"]["summary"]["created_at"] == given["created_at"]
    assert posted.record.job_sha256 == job.sha256


def test_no_job_counts_as_submitted_later_than_now(place: SpoolPaths, team: Picky) -> None:
    """As one that was dropped before the clock was put right."""
    workspace_id = str(uuid4())
    team.share(Described(workspace_id, "w", 8, "fake", 8), str(uuid4()), [], Author("node"))
    later = clock.now() + timedelta(hours=2)
    job = replace(parse_job("a", encode({"schema_version": 1, "job_id": "a", "kind": "check", "payload": {}})),
                  submitted_at=clock.iso(later))  # fmt: skip
    team.post(workspace_id, "node", [(job, accept(job, later))])
    lease = team.take("node", [workspace_id], 30)
    assert lease is not None
    [posted] = team.due(lease, "node", 10)
    assert posted.job is not None
    assert clock.parse(posted.job["submitted_at"]) <= team.time()


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


def test_files_that_a_job_names_are_posted_as_texts_of_the_machine_where_it_was_dropped(
    place: SpoolPaths, team: Picky
) -> None:
    workspace_id = str(uuid4())
    team.share(Described(workspace_id, "w", 8, "fake", 8), str(uuid4()), [], Author("node"))
    (place.root.parent / "notes.md").write_text("The key is ghp_1234567890abcdefghij1234567890ABCDEF.")
    exchange, ledger = exchange_of(place, team, workspace_id, "a", kind="cognify", paths=["notes.md"])
    exchange.run()
    exchange._posted.clear()
    exchange.run()
    assert [record.state for record in ledger.live()] == ["queued"], "posting it again is posting it once"
    lease = team.take("other", [workspace_id], 60)
    assert lease is not None
    [shared] = team.due(lease, "other", 9)
    assert shared.job is not None
    assert list(shared.job["payload"]) == ["texts"]
    assert shared.job["payload"]["texts"][0].startswith("The key is ")
    assert "ghp_12345" not in str(shared.job)


@pytest.mark.parametrize(("size", "code"), [(None, "ARGUMENT_INVALID"), (file_texts.MOST_BYTES + 1, "FILE_TOO_LARGE")])
def test_a_job_whose_files_cannot_be_posted_ends_with_the_reason(
    place: SpoolPaths, team: Picky, size: int | None, code: str
) -> None:
    workspace_id = str(uuid4())
    team.share(Described(workspace_id, "w", 8, "fake", 8), str(uuid4()), [], Author("node"))
    if size is not None:
        (place.root.parent / "notes.md").write_text("x" * size)
    exchange, ledger = exchange_of(place, team, workspace_id, "a", kind="cognify", paths=["notes.md"])
    exchange.run()
    ended = ledger.find("a")
    assert ended is not None
    assert ended.error is not None
    assert (ended.state, ended.error["code"]) == ("failed", code)


def test_a_posted_job_that_names_files_is_refused_by_gateway_and_worker(place: SpoolPaths, team: Picky) -> None:
    workspace_id = str(uuid4())
    team.share(Described(workspace_id, "w", 8, "fake", 8), str(uuid4()), [], Author("node"))
    file = {"schema_version": 1, "job_id": "a", "kind": "cognify", "payload": {"paths": ["secret.md"]}}
    job = parse_job("a", encode(file))
    record = accept(job, clock.now())
    post = CALLS["post"]
    with pytest.raises(JobError, match="may not name files"):
        wire.parsed(post.body, encode(post.request(workspace_id, "n", [(job, record)])))
    team.post(workspace_id, "n", [(job, record)])  # as a machine with the database's address could
    jobs = TeamJobs(team, "mine", CrashLimits())
    lease = team.take("mine", [workspace_id], 60)
    assert lease is not None
    jobs.hold(lease)
    assert jobs.next() == "a"
    with pytest.raises(JobError, match="may not name files"):
        jobs.read("a")
