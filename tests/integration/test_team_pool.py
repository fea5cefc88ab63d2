"""A pool runs the jobs of all workspaces of a team, on a host that has no workspace of its own.

Real processes and a real Postgres.
"""

from __future__ import annotations

import signal
import sqlite3
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import httpx
import pytest
from gateways import Hosted
from harness import PATIENCE, Place, until
from llm_server import LlmServer
from machines import Team, summary
from pools import PoolProcess
from postgres import database, free_port
from team_machines import files_with

from jobs.layout import Workspace


@pytest.fixture
def dsn() -> Iterator[str]:
    """One for each test: a pool runs whatever job its database has."""
    with database() as found:
        yield found


def test_a_pool_runs_the_jobs_of_all_workspaces_and_keeps_so_many_copies(
    tmp_path: Path, dsn: str, model_cache: Path
) -> None:
    teams = [Team(tmp_path / str(number), dsn, model_cache, workers=0) for number in range(3)]
    port = free_port()
    with PoolProcess(
        tmp_path / "host", dsn, model_cache, "--workers", "2", "--copies", "2", "--metrics-port", str(port)
    ) as pool:
        for number, team in enumerate(teams):
            place = team.machine("laptop")
            with place.worker():
                jobs = [
                    place.submit("ingest", summary("The queue is a spool", 1)),
                    place.submit("ingest", summary(f"Invoices of {number} are rounded up", 2)),
                ]
                assert {place.ended(job_id).state for job_id in jobs} == {"succeeded"}
                until(lambda place=place: place.json("memories", "list")["total"] == 2 or None, "both are here")
                answer = place.json("retrieve", "how are invoices rounded?")
                assert f"Invoices of {number}" in answer["results"][0]["summary_text"]
                owners = {copy["node"] for copy in place.json("team", "status")["team"]["copies"]}
                assert len(owners) == 2, "the laptop's and the pool's"
        until(lambda: len(pool.copies()) == 2 or None, "the oldest copies are removed")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answered:
            text = answered.read().decode()
        assert 'cognee_memory_pool_jobs_ended_total{kind="ingest",state="succeeded"} 6.0' in text
        copies = teams[0].rows("SELECT node FROM copies WHERE workspace_id = %s")
        assert len(copies) == 1, "a removed copy is none of the team's any more"


def test_one_service_is_gateway_and_pool_and_its_end_leaves_no_job_running(
    tmp_path: Path, dsn: str, model_cache: Path
) -> None:
    hosted = Hosted(tmp_path, dsn)
    options = ("--copies", str(tmp_path / "copies"), "--workers", "2")
    hosted.start(*options, COGNEE_MEMORY_CACHE_DIR=str(model_cache))
    try:
        team = Team(tmp_path, dsn, model_cache, workers=0)
        place = team.machine(
            "laptop", COGNEE_MEMORY_TEAM=hosted.address, COGNEE_MEMORY_TEAM_TOKEN=hosted.token("ann", "backend")
        )
        with place.worker():
            job_id = place.submit("ingest", summary("The queue is a spool", 1))
            assert place.ended(job_id).state == "succeeded"
            until(lambda: place.json("memories", "list")["total"] == 1 or None, "it is here")
            metrics = httpx.get(hosted.address + "/metrics").text
            assert 'cognee_memory_pool_jobs_ended_total{kind="ingest",state="succeeded"} 1.0' in metrics
            assert 'cognee_memory_gateway_requests_total{operation="post",outcome="ok"}' in metrics
            running = place.submit("noop", {"sleep_ms": 600_000})
            place.in_state(running, "running")
            assert hosted.stop() == 0
            left = team.rows(
                "SELECT record->>'state', lease_owner FROM jobs JOIN workspaces ON workspaces.id = workspace_id"
                " WHERE workspace_id = %s AND job_id = %s",
                running,
            )
            assert left == [("queued", None)], "it waits for another worker, who need not wait for the lease's end"
    finally:
        hosted.stop()


def test_what_a_killed_pool_ran_has_its_effect_once_and_what_is_forgotten_leaves_the_copies_of_a_stopped_one(
    tmp_path: Path, dsn: str, model_cache: Path
) -> None:
    team = Team(tmp_path, dsn, model_cache, workers=0)
    place = team.machine("laptop")
    with place.worker():
        pool = PoolProcess(tmp_path / "host", dsn, model_cache, COGNEE_MEMORY_LEASE_SECONDS="6")
        running = place.submit("noop", {"sleep_ms": 600_000})
        place.in_state(running, "running")
        waiting = place.submit("ingest", summary("The quokkazebra is a lock", 1))
        pool.kill()
        with pool:
            pool.start()
            again = until(lambda: found if (found := place.record(running)) and found.attempt == 2 else None, "again")
            assert again.attempts[0].outcome == "worker_died"
            assert place.cli("jobs", "cancel", running).returncode == 0
            assert place.ended(running).state == "cancelled"
            memory_id = (place.ended(waiting).result or {})["memory_id"]
            assert team.rows("SELECT last_seq FROM workspaces WHERE id = %s") == [(2,)]
            assert files_with(pool.folder / team.workspace_id, "quokkazebra")
        with PoolProcess(tmp_path / "other", dsn, model_cache):
            assert place.ended(place.submit("forget", {"memory_ids": [memory_id]})).state == "succeeded"
        with pool:
            pool.start()

            def is_removed() -> bool:
                copies = place.json("team", "status")["team"]["copies"]
                return len(copies) == 3 and all(each["forgets"] == 0 for each in copies)

            until(is_removed, "the pool has removed it")
        assert files_with(pool.folder, "quokkazebra") == []


def test_a_question_of_the_graph_is_answered_by_the_pool_that_owns_the_graph_and_by_no_laptop(
    tmp_path: Path, dsn: str, model_cache: Path
) -> None:
    with LlmServer() as model, ExitStack() as running:
        team = Team(tmp_path, dsn, model_cache, workers=0)
        place = team.machine("laptop")
        owner = "SELECT graph_owner FROM workspaces WHERE id = %s"
        running.enter_context(place.worker())
        pools = [PoolProcess(tmp_path / name, dsn, model_cache, **model.environment()) for name in ("one", "other")]
        for pool in pools:
            running.enter_context(pool)
        assert place.ended(place.submit("ingest", summary("The queue is a spool", 1))).state == "succeeded"
        assert answered(place)
        before = team.rows(owner)
        pools.sort(key=lambda pool: not has_graph(Workspace(pool.folder / team.workspace_id)))
        owning, further = pools
        assert not has_graph(Workspace(further.folder / team.workspace_id))
        owning.process.send_signal(signal.SIGTERM)
        assert owning.process.wait(PATIENCE) == 0
        assert "spool" in answered(place), "its first graph has all memories"
        assert team.rows(owner) != before, "a pool that ends lets it go"
        assert has_graph(Workspace(further.folder / team.workspace_id))
        assert not has_graph(place.workspace)
        assert waiting_for_graph(place) == 0, "nothing waits for a graph that never was"


def answered(place: Place) -> str:
    """The answer to a question of the graph."""
    record = place.ended(place.submit("ask", {"question": "What is the queue?"}))
    assert record.state == "succeeded", record.error
    return str(record.result)


def waiting_for_graph(place: Place) -> int:
    with closing(sqlite3.connect(place.workspace.memory_db)) as connection:
        [count] = connection.execute("SELECT count(*) FROM outbox").fetchone()
        return int(count)


def has_graph(workspace: Workspace) -> bool:
    return any((workspace.cognee_system / "databases").glob("*"))
