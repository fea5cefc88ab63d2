"""What a machine does with jobs that its team does not take. A real Postgres; one answer of it is replaced."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from inbox_door import job_of
from team_parts import shared_workspace, taken

from bridge.team import retention
from bridge.team.membership import Membership
from bridge.team.postgres_team import PostgresTeam
from bridge.team.server import Server
from bridge.team.shared_jobs import Posted
from jobs import clock, lifecycle, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.lifecycle import accept
from jobs.model import Job, Record
from worker.scheduling.ledger import Ledger
from worker.team.exchange import Exchange, MachineJobs


class Picky(PostgresTeam):
    """Takes no request that has the job ``bad``."""

    def post(self, workspace_id: str, node: str, jobs: Sequence[tuple[Job, Record]]) -> dict[str, Posted]:
        if any(job.job_id == "bad" for job, _ in jobs):
            raise JobError("ARGUMENT_INVALID", "The job is of a kind that this gateway does not know.")
        return super().post(workspace_id, node, jobs)


@pytest.fixture
def team(dsn: str) -> Iterator[Picky]:
    team = Picky(Server(dsn))
    yield team
    team.close()


@pytest.fixture
def workspace_id(team: Picky) -> str:
    return shared_workspace(team)


@pytest.fixture
def place(tmp_path: Path) -> SpoolPaths:
    paths = Workspace(tmp_path).spool
    spool.prepare(paths)
    return paths


def exchange_of(
    place: SpoolPaths, team: PostgresTeam, workspace_id: str, *job_ids: str, kind: str = "forget", **payload: Any
) -> tuple[Exchange, Ledger]:
    ledger = Ledger(place, [])
    jobs = [job_of(each, kind, payload or {"topic_id": "t"}) for each in job_ids]
    ledger.accept([(job, accept(job, clock.now())) for job in jobs])
    membership = Membership(workspace_id, "node", shares=False)
    exchange = Exchange(place, ledger, team, membership, MachineJobs(place, ledger).stays)
    return exchange, ledger


class Behind(PostgresTeam):
    """The team, as a machine sees it whose clock is two hours ahead."""

    def time(self) -> datetime:
        return super().time() - timedelta(hours=2)


@pytest.mark.parametrize("hours", [2, 50], ids=["just now", "two days ago, offline"])
def test_a_wrong_clocks_job_has_the_teams_time(place: SpoolPaths, team: Picky, workspace_id: str, hours: int) -> None:
    """Its own dates it keeps."""
    now = clock.now()
    dropped_at = clock.iso(now + timedelta(hours=2 - hours))  # by the wrong clock
    given = {"topic": "t", "context": "c", "created_at": "2026-01-01T00:00:00Z"}
    job = job_of("a", "ingest", {"summary": given}, submitted_at=dropped_at)
    ledger = Ledger(place, [])
    ledger.accept([(job, accept(job, now + timedelta(hours=2 - hours)))])
    membership = Membership(workspace_id, "node", shares=False)
    Exchange(place, ledger, Behind(team._server), membership, lambda record: False).run()
    [posted] = team.due(taken(team, "node", workspace_id), "node", 10)
    for moment in (posted.job["submitted_at"], posted.record.submitted_at, posted.record.accepted_at):
        assert abs(clock.parse(moment) - (now - timedelta(hours=hours))) < timedelta(seconds=20)
    assert posted.job["payload"]["summary"]["created_at"] == given["created_at"]
    assert posted.record.job_sha256 == job.sha256


def test_no_job_counts_as_submitted_later_than_now(place: SpoolPaths, team: Picky, workspace_id: str) -> None:
    """As one that was dropped before the clock was put right."""
    later = clock.now() + timedelta(hours=2)
    job = job_of("a", "check", submitted_at=clock.iso(later))
    team.post(workspace_id, "node", [(job, accept(job, later))])
    [posted] = team.due(taken(team, "node", workspace_id), "node", 10)
    assert clock.parse(posted.job["submitted_at"]) <= team.time()


def test_a_job_that_the_team_refuses_ends_and_stops_no_other(place: SpoolPaths, team: Picky, workspace_id: str) -> None:
    exchange, ledger = exchange_of(place, team, workspace_id, "a", "bad", "c")
    exchange.run()
    refused = ledger.find("bad")
    assert (refused.state, refused.error["code"]) == ("failed", "ARGUMENT_INVALID")
    assert {job_id: exchange.cancel(job_id) for job_id in ("a", "c")} == {"a": "running", "c": "running"}
    exchange.write(exchange.reports())
    assert {job_id: record.state for job_id in ("a", "c") if (record := ledger.find(job_id))} == dict.fromkeys(
        ("a", "c"), "cancelled"
    ), "the team knew them, and their end came back"


def test_a_job_for_a_workspace_that_the_team_no_longer_has_can_be_cancelled(place: SpoolPaths, team: Picky) -> None:
    exchange, ledger = exchange_of(place, team, str(uuid4()), "a")
    with pytest.raises(JobError, match="TEAM_NOT_SHARED"):
        exchange.run()
    assert exchange.cancel("a") == "cancelled"
    assert ledger.find("a") is None or ledger.live() == []


def posted(team: PostgresTeam, workspace_id: str) -> list[str]:
    """The ids of the jobs that the team has."""
    with team._server.connection() as connection:
        rows = connection.execute("SELECT job_id FROM jobs WHERE workspace_id = %s", (workspace_id,))
        return [job_id for (job_id,) in rows]


def attached(team: PostgresTeam, workspace_id: str, job_id: str) -> bytes:
    return b"".join(team.attachment(workspace_id, job_id))


def attach(team: PostgresTeam, workspace_id: str, job_id: str, *parts: bytes, upto: int | None = None) -> bool:
    """Attach these parts to the job, in this order, or the first ones of them. Returns whether all are there."""
    digest = sha256(b"".join(parts)).hexdigest()
    sent = [team.attach(workspace_id, job_id, digest, at, len(parts), part) for at, part in enumerate(parts[:upto])]
    return sent[-1]


def test_a_job_is_not_posted_before_its_needs_are_attached(place: SpoolPaths, team: Picky, workspace_id: str) -> None:
    exchange, ledger = exchange_of(place, team, workspace_id, "a", kind="cognify", paths=["notes.md"])
    for upto in (0, 1):
        if upto:
            assert not attach(team, workspace_id, "a", b"one", b"two", upto=upto)
        exchange.run()
        assert list(exchange.unattached) == ["a"]
        assert posted(team, workspace_id) == []
        exchange.post_again(exchange.unattached.pop("a"))
    assert attach(team, workspace_id, "a", b"one", b"two")
    exchange.run()
    assert posted(team, workspace_id) == ["a"]
    assert not exchange.unattached
    assert [record.state for record in ledger.live()] == ["queued"]


def test_attaching_twice_is_once_and_of_two_readings_the_last_whole_one_stays(team: Picky, workspace_id: str) -> None:
    assert not attach(team, workspace_id, "a", b"old one", b"old two", upto=1)
    for _ in range(2):
        assert attach(team, workspace_id, "a", b"one", b"two")
    assert attached(team, workspace_id, "a") == b"onetwo"
    assert attach(team, workspace_id, "a", b"old one", b"old two")
    assert attached(team, workspace_id, "a") == b"old oneold two"
    with pytest.raises(JobError, match="not whole"):
        attached(team, workspace_id, "b")


def test_attachments_end_with_a_job_and_a_retry_wants_them(place: SpoolPaths, team: Picky, workspace_id: str) -> None:
    exchange, ledger = exchange_of(place, team, workspace_id, "a", kind="import", path="all.jsonl")
    attach(team, workspace_id, "a", b"one")
    exchange.run()
    lease = taken(team, "pool", workspace_id)
    [due] = team.due(lease, "pool", 9)
    attach(team, workspace_id, "a", b"another")
    running = lifecycle.step(due.record, lifecycle.Started(), clock.now())
    team.write(lease, [running])
    assert attached(team, workspace_id, "a") == b"one"
    team.write(lease, [lifecycle.step(running, lifecycle.Failed(JobError("IMPORT_INVALID")), clock.now())])
    with pytest.raises(JobError):
        attached(team, workspace_id, "a")
    exchange.write(exchange.reports())
    assert ledger.live() == []
    ledger.replay("a")
    exchange.run()
    assert list(exchange.unattached) == ["a"]


def test_what_was_attached_to_a_job_that_never_came_is_removed_after_a_week(team: Picky, workspace_id: str) -> None:
    for job_id in ("old", "new"):
        attach(team, workspace_id, job_id, b"one")
    with team._server.connection() as connection:
        connection.execute("UPDATE job_attachments SET attached_at = attached_at - interval '8 d' WHERE job_id = 'old'")
        retention.prune(connection, workspace_id)
        left = connection.execute("SELECT job_id FROM job_attachments WHERE workspace_id = %s", (workspace_id,))
        assert left.fetchall() == [("new",)]


def test_a_job_that_changes_no_memory_is_not_posted(place: SpoolPaths, team: Picky, workspace_id: str) -> None:
    exchange, ledger = exchange_of(place, team, workspace_id, "a", "b", kind="capture", dryRun=True)
    exchange.run()
    assert posted(team, workspace_id) == []
    jobs = MachineJobs(place, ledger)
    assert jobs.next() == "a"
    assert jobs.kinds_due() == ["capture"]
    assert [record.job_id for record in jobs.due("capture", 9)] == ["a", "b"]
    ledger.apply({"a": lifecycle.Cancelled()})
    assert jobs.next() == "b"
