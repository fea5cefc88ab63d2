"""The fences of a team: what a worker does that lost its lease, or whose copy is behind, changes nothing.

Each test runs a second time with its fence taken out, and then has to find the damage: so it is known to look at it.
"""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from fake_embedder import FakeEmbedder
from harness import until
from inbox_door import job_of
from team_parts import place_of, post, shared_workspace, taken

from bridge.memory import Content, Memory, Metadata
from bridge.store.team.team_store import TeamStore
from bridge.store.values import AppliedJob
from bridge.team import leases, rows
from bridge.team.gap import Missing
from bridge.team.leases import Lease
from bridge.team.postgres_team import PostgresTeam
from bridge.team.rows import Author, Position, SharedRow
from bridge.team.server import Connection, Server
from jobs import clock, lifecycle
from jobs.errors import JobError
from jobs.lifecycle import CRASH_LIMITS
from worker.pool.team_jobs import TeamJobs

AT = "2026-11-20T12:00:00Z"


@pytest.fixture(scope="module")
def team(dsn: str) -> Iterator[PostgresTeam]:
    team = PostgresTeam(Server(dsn, connections=8))
    yield team
    team.close()


@pytest.fixture
def workspace_id(team: PostgresTeam) -> str:
    return shared_workspace(team)


def expire(team: PostgresTeam, lease: Lease) -> None:
    """As if its holder had been silent for too long."""
    assert team.renew(lease, -1.0)


def nothing(*_: Any, **__: Any) -> None:
    """In the place of a fence."""


# --- the lease ---


def late_outcome(team: PostgresTeam, workspace_id: str) -> str:
    """What the record of a job says after its first worker has lost the lease, and reports a failure afterwards."""
    post(team, workspace_id, "a")
    first, second = (TeamJobs(team, node, CRASH_LIMITS) for node in ("first", "second"))
    lease = taken(team, "first", workspace_id)
    first.hold(lease)
    [started] = first.apply({"a": lifecycle.Started()} if first.next() == "a" else {})
    expire(team, lease)
    second.hold(taken(team, "second", workspace_id))
    assert second.next() == "a", "the second one runs it again"
    [again] = second.apply({"a": lifecycle.Started()})
    assert (again.attempt, again.attempts[0].outcome) == (2, "worker_died")
    second.apply({"a": lifecycle.Succeeded({"by": "second"})}, {"a": again.ticket})
    first.apply({"a": lifecycle.Failed(JobError("INTERNAL"))}, {"a": started.ticket})
    [report] = team.reports("first", workspace_id)
    return str(report.record.state)


def test_a_worker_that_lost_its_lease_does_not_touch_the_record(team: PostgresTeam, workspace_id: str) -> None:
    assert late_outcome(team, workspace_id) == "succeeded"


def test_without_the_fence_it_stands(team: PostgresTeam, workspace_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The late outcome: so the fence is needed."""
    monkeypatch.setattr(leases, "require", nothing)
    assert late_outcome(team, workspace_id) != "succeeded"


def test_a_lease_that_is_held_is_nobody_elses_and_one_that_ended_is(team: PostgresTeam, workspace_id: str) -> None:
    post(team, workspace_id, "a")
    lease = taken(team, "first", workspace_id)
    assert team.take("second", [workspace_id], 60) is None
    assert team.renew(lease, 60)
    expire(team, lease)
    other = taken(team, "second", workspace_id)
    assert other.number > lease.number
    assert not team.renew(lease, 60)
    team.release(lease)
    assert team.renew(other, 60), "the former holder gives nothing up"
    team.release(other)
    assert not team.renew(other, 60), "it comes after the release"
    assert team.take("first", [workspace_id], 60) is not None


def test_who_listens_to_all_workspaces_is_woken_by_a_notice_alone(team: PostgresTeam, workspace_id: str) -> None:
    woken, looked = [], []
    is_there = threading.Event()

    def wake() -> None:
        woken.append(time.monotonic())
        is_there.set()

    def is_stopped() -> bool:
        looked.append(1)
        return len(looked) > 3

    listening = threading.Thread(target=team.listen_to_all, args=(wake, is_stopped))
    listening.start()
    assert is_there.wait(60), "once it listens"
    team.tell(workspace_id)
    listening.join(60)
    assert len(woken) == 2


def test_a_job_run_before_the_database_was_restored_waits_there_again(team: PostgresTeam, workspace_id: str) -> None:
    job = job_of("again", "feedback", {"memory_id": "m", "verdict": "helpful"})
    running = lifecycle.step(lifecycle.accept(job, clock.now()), lifecycle.Started(), clock.now())
    assert running.state == "running"
    team.post(workspace_id, "first", [(job, running)])
    [due] = team.due(taken(team, "first", workspace_id), "first", 10)
    assert due.record.state == "queued"


def test_a_workspace_with_many_jobs_does_not_keep_the_others_waiting(team: PostgresTeam) -> None:
    busy, other = shared_workspace(team), shared_workspace(team)
    for number in range(5):
        post(team, busy, f"b{number}")
    team.release(taken(team, "first", busy, other))
    post(team, other, "o")
    assert [taken(team, "first", busy, other).workspace_id for _ in range(2)] == [other, busy]


def test_ended_jobs_and_changes_are_not_kept_for_ever(team: PostgresTeam, workspace_id: str, dsn: str) -> None:
    for job_id in ("old", "new", "waits"):
        post(team, workspace_id, job_id)
    for number in range(3):
        at = team.registered(workspace_id)
        team.commit(workspace_id, at.position, [], [f"job-{number}"], Author("first"), 8)
    with psycopg.connect(dsn, options="-c search_path=cognee_memory", autocommit=True) as connection:
        connection.execute("UPDATE jobs SET state = 'ended' WHERE job_id IN ('old', 'new')")
        connection.execute("UPDATE jobs SET changed_at = 'epoch' WHERE job_id <> 'new'")
        connection.execute("UPDATE changes SET at = 'epoch' WHERE seq <> 3")

        def left() -> tuple[list[str], list[int]]:
            team.release(taken(team, "first", workspace_id))
            jobs = connection.execute("SELECT job_id FROM jobs WHERE workspace_id = %s ORDER BY 1", (workspace_id,))
            changes = connection.execute("SELECT seq FROM changes WHERE workspace_id = %s ORDER BY 1", (workspace_id,))
            return [each for (each,) in jobs], [each for (each,) in changes]

        assert left() == (["new", "old", "waits"], [1, 2, 3, 4]), "it was looked at today"
        connection.execute("UPDATE workspaces SET pruned_at = 'epoch' WHERE id = %s", (workspace_id,))
        assert left() == (["new", "waits"], [3, 4])


def test_a_job_that_is_posted_while_the_lease_is_given_up_is_due(team: PostgresTeam, workspace_id: str) -> None:
    post(team, workspace_id, "a")
    lease = taken(team, "first", workspace_id)
    jobs = TeamJobs(team, "first", CRASH_LIMITS)
    jobs.hold(lease)
    assert jobs.next() == "a"
    [started] = jobs.apply({"a": lifecycle.Started()})
    jobs.apply({"a": lifecycle.Succeeded({})}, {"a": started.ticket})
    post(team, workspace_id, "b")
    team.release(lease)
    assert taken(team, "second", workspace_id).number > lease.number


def test_who_finds_no_job_knows_when_one_may_be_due(team: PostgresTeam) -> None:
    workspace_id = shared_workspace(team, "its own model")

    def due(node: str) -> float | None:
        assert team.take(node, [workspace_id], 0.001) is None, "no job is due"
        return team.due_in(node, [workspace_id])

    assert due("first") is None
    job = job_of("later")
    later = replace(lifecycle.accept(job, clock.now()), next_attempt_at=clock.iso(clock.now() + timedelta(hours=1)))
    team.post(workspace_id, "first", [(job, later)])
    assert 3500 < (due("first") or 0) <= 3600
    post(team, workspace_id, "a")
    lease = taken(team, "first", workspace_id)
    assert 50 < (due("second") or 0) <= 60, "the holder may die"
    jobs = TeamJobs(team, "first", CRASH_LIMITS)
    jobs.hold(lease)
    jobs.apply({"a": lifecycle.Started()} if jobs.next() == "a" else {})
    assert 50 < (due("second") or 0) <= 60, "it runs"
    assert 50 < (team.due_in("second", embedder="its own model", format_=8) or 0) <= 60
    assert team.due_in("second", embedder="another", format_=8) is None


def test_a_job_of_the_graph_may_be_due_once_its_owner_is_gone(team: PostgresTeam, workspace_id: str, dsn: str) -> None:
    job = job_of("a", "ask", {"question": "why?"})
    team.post(workspace_id, "first", [(job, lifecycle.accept(job, clock.now()))])
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "UPDATE cognee_memory.workspaces SET graph_owner = 'first',"
            " graph_until = clock_timestamp() + interval '90 s' WHERE id = %s",
            (workspace_id,),
        )
    assert team.take("second", [workspace_id], 60.0) is None
    assert 80 < (team.due_in("second", [workspace_id]) or 0) <= 90
    assert team.take("first", [workspace_id], 60.0) is not None


@pytest.mark.parametrize(("seq", "lacks"), [(0, Missing(3, True)), (1, Missing(2, True)), (2, Missing(1, False))])
def test_what_a_copy_lacks_is_told_in_numbers(team: PostgresTeam, workspace_id: str, seq: int, lacks: Missing) -> None:
    tombstone = SharedRow("tombstones", '["x"]', {"id": "x", "forgotten_at": AT})
    positions = [Position(0, "")]
    positions.append(team.registered(workspace_id).position)
    for row in (tombstone, SharedRow("memories", "[1]", None)):
        positions.append(team.commit(workspace_id, positions[-1], [row], [], Author("first"), 8))
    assert team.missing(workspace_id, positions[seq]) == lacks
    assert team.missing(workspace_id, positions[-1]) == Missing(0, forgets=False)
    assert team.missing(workspace_id, Position(2, str(uuid4()))) == Missing(3, forgets=False), "of another history"
    assert team.missing(str(uuid4()), positions[seq]) is None


# --- the position ---


def memory(words: str) -> Memory:
    return Memory(str(uuid4()), 0, "summary", Metadata("t", created_at=AT), AT, Content(words, f"{words}."))


def two_writers(folder: Path, team: PostgresTeam) -> tuple[list[str], list[str]]:
    """Two machines that open the same state, and both add a memory for the same job. Returns what they answered: ids,
    or codes of errors; and the ids that the team has then.
    """
    workspace_id, embedder, job = str(uuid4()), FakeEmbedder(), AppliedJob("a", "0" * 64)
    first = TeamStore(place_of(folder / "1"), embedder, team, workspace_id, Author("first"), may_share=True)
    second = TeamStore(place_of(folder / "2"), embedder, team, workspace_id, Author("second"))
    second.catch_up()
    post(team, workspace_id, "a")
    lease = taken(team, "first", workspace_id)
    first.use_lease(lease.number)
    expire(team, lease)
    other = taken(team, "second", workspace_id)
    second.use_lease(other.number)
    [due] = team.due(other, "second", 1)
    team.write(other, [lifecycle.step(due.record, lifecycle.Started(), clock.now())])
    answered = []
    for store, words in ((second, "The second"), (first, "The first")):
        try:
            [added] = store.add([(memory(words), None)], AT, [job])
            answered.append(added.id)
        except JobError as error:
            answered.append(error.code)
    for store in (first, second):
        store.close()
    third = TeamStore(place_of(folder / "3"), embedder, team, workspace_id, Author("third"))
    third.catch_up()
    found = third.all_ids()
    third.close()
    return answered, found


def test_what_a_paused_worker_commits_after_another_one_is_refused(tmp_path: Path, team: PostgresTeam) -> None:
    answered, found = two_writers(tmp_path, team)
    assert answered[1] in ("TEAM_CONFLICT", "TEAM_LEASE_LOST")
    assert found == [answered[0]]


def test_the_position_alone_refuses_it_too(tmp_path: Path, team: PostgresTeam, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TeamStore, "use_lease", nothing)
    answered, found = two_writers(tmp_path, team)
    assert answered[1] == "TEAM_CONFLICT"
    assert found == [answered[0]]


def test_without_fences_a_memory_is_lost(tmp_path: Path, team: PostgresTeam, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was answered for: so the fences are needed."""
    fenced = rows.commit

    def unfenced(connection: Connection, workspace_id: str, before: Position, *rest: Any) -> Position:
        """A commit for whatever position the workspace has."""
        found = rows.registered(connection, workspace_id)
        return fenced(connection, workspace_id, found.position, *rest)

    monkeypatch.setattr(TeamStore, "use_lease", nothing)
    monkeypatch.setattr(vars(PostgresTeam)["commit"], "function", unfenced)
    answered, found = two_writers(tmp_path, team)
    assert len(answered) == 2
    assert not set(answered) <= set(found)


# --- the feed ---


def test_a_reader_by_number_misses_no_change_of_writers_at_the_same_time(team: PostgresTeam, workspace_id: str) -> None:
    """What numbers from a sequence would not keep, since they are given before they are committed."""
    writers, each = 6, 15
    done = threading.Event()

    def write(writer: int) -> None:
        for number in range(each):
            row = SharedRow("tombstones", f'["{writer}-{number}"]', {"id": f"{writer}-{number}", "forgotten_at": AT})
            while True:
                found = team.registered(workspace_id)
                try:
                    team.commit(workspace_id, found.position, [row], [], Author(str(writer)), 8)
                    break
                except JobError as error:
                    if error.code != "TEAM_CONFLICT":
                        raise

    def read() -> set[str]:
        seen: set[str] = set()
        position, is_last = Position(0, ""), False
        while True:
            with team.incoming(workspace_id, position) as found:
                seen |= {row.key for _, row in found.rows}
                position = found.registered.position
            if is_last:
                return seen
            is_last = done.is_set()

    with ThreadPoolExecutor(writers + 1) as pool:
        reader = pool.submit(read)
        for written in [pool.submit(write, writer) for writer in range(writers)]:
            written.result()
        done.set()
        assert len(reader.result()) == writers * each
    found = team.registered(workspace_id)
    assert found.position.seq == 1 + writers * each, "no number is left out"


def test_a_server_that_only_reads_is_left_and_reached_again_once_it_writes(dsn: str, workspace_id: str) -> None:
    """As in a failover, where the former primary goes on as a standby under the same name for a while."""
    with psycopg.connect(dsn, autocommit=True) as operator:
        name = operator.info.dbname
        operator.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on".encode())
        team = PostgresTeam(Server(dsn))

        def is_noted() -> bool:
            try:
                team.note_copy(workspace_id, "first", 1, "0", True)
            except JobError as error:
                if error.code == "TEAM_UNREACHABLE":  # which is waited for
                    return False
                raise
            return True

        try:
            assert not is_noted()
            operator.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only".encode())
            until(is_noted, "no connection to the server that only read is kept", 10)
        finally:
            operator.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only".encode())
            team.close()


def test_a_record_with_a_text_that_postgresql_cannot_store_ends_its_job(team: PostgresTeam, workspace_id: str) -> None:
    """The name of a file need not be UTF-8, and an error may quote it."""
    post(team, workspace_id, "a")
    lease = taken(team, "first", workspace_id)
    [due] = team.due(lease, "first", 1)
    started = lifecycle.step(due.record, lifecycle.Started(), clock.now())
    error = JobError("PATH_INVALID", "There is no file na\udcefve\0.md.")
    team.write(lease, [lifecycle.step(started, lifecycle.Failed(error), clock.now())])
    [report] = team.reports("first", workspace_id)
    assert (report.record.state, report.record.error["message"]) == ("failed", "There is no file na?ve?.md.")
    assert [each.job_id for each in team.failed_jobs(workspace_id, 10)] == ["a"]
