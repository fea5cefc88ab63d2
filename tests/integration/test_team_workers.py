"""Workers of several machines share a workspace: a job that is dropped on one runs in the service, once, and its record
comes back to where it was dropped.

Real worker processes and a real Postgres. A machine is a folder with a configuration of its own.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import Place, until
from machines import Team, summary
from pools import PoolProcess
from postgres import cluster, database

USES = ("COGNEE_MEMORY_TEAM", "COGNEE_MEMORY_CACHE_DIR")


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    with database() as found:
        yield found


@pytest.fixture
def team(tmp_path: Path, dsn: str, model_cache: Path) -> Team:
    return Team(tmp_path, dsn, model_cache)


def test_what_one_machine_remembers_every_other_one_finds(team: Team) -> None:
    first, second = team.machine("first"), team.machine("second")
    with first.worker(), second.worker():
        jobs = [first.submit("ingest", summary("The queue is a spool", 1))]
        jobs += [second.submit("ingest", summary("Invoices are rounded up", 2))]
        assert first.ended(jobs[0]).state == second.ended(jobs[1]).state == "succeeded"
        for place in (first, second):
            until(lambda place=place: place.json("memories", "list")["total"] == 2 or None, "both memories are here")
            answer = place.json("retrieve", "how are invoices rounded?")
            assert "Invoices" in answer["results"][0]["summary_text"]
    [(changes,)] = team.rows("SELECT count(*) FROM changes WHERE workspace_id = %s")
    assert changes in (2, 3), "the sharing, and both jobs, perhaps together"


def test_a_topic_of_a_private_workspace_is_shared_by_an_act_and_nothing_else_of_it(team: Team) -> None:
    ours, theirs = team.machine("ours"), team.machine("theirs")
    mine = Place(team.folder / "mine")
    mine.environment |= {name: value for name, value in ours.environment.items() if name.startswith(USES)}
    file = team.folder / "auth.jsonl"
    with mine.worker(), ours.worker(), theirs.worker():
        for topic_id, topic in (("auth", "Tokens live an hour"), ("pay", "My pay is between us")):
            job = mine.submit("ingest", {"summary": summary(topic, 1)["summary"] | {"topic_id": topic_id}})
            assert mine.ended(job).state == "succeeded"
        assert mine.json("export", "--topic-id", "auth", "--out", str(file))["counts"]["memory"] == 1
        assert ours.json("import", str(file))["result"]["added"] == 1
        until(lambda: theirs.json("memories", "list")["total"] == 1 or None, "the topic is there")
        assert "Tokens" in theirs.json("retrieve", "tokens")["results"][0]["summary_text"]
        assert theirs.json("memories", "list")["memories"] == ours.json("memories", "list")["memories"]
        [there] = [each["memory_id"] for each in theirs.json("memories", "list")["memories"]]
        assert there in [each["memory_id"] for each in mine.json("memories", "list")["memories"]], "its id stays"
        assert ours.json("import", str(file))["result"]["unchanged"] == 1
    sent = [team.rows(f"SELECT {table}::text FROM {table} WHERE workspace_id = %s") for table in ("rows", "jobs")]
    assert ("Tokens" in repr(sent), "My pay" in repr(sent)) == (True, False)
    told = ours.json("capture", "enable", "codex")
    assert (told["is_shared"], told["summaries"]) == (True, "service")
    assert not mine.json("capture", "enable", "codex")["is_shared"]
    assert "is shared with all who see it" in ours.cli("capture", "enable", "codex").stdout


def test_a_pool_that_was_stopped_beyond_its_lease_changes_nothing_of_the_job(tmp_path: Path, model_cache: Path) -> None:
    lease = {"COGNEE_MEMORY_LEASE_SECONDS": "8"}
    with database() as dsn:
        place = Team(tmp_path, dsn, model_cache, workers=0).machine("only")
        with place.worker(), PoolProcess(tmp_path / "stopped", dsn, model_cache, **lease) as stopped:
            job_id = place.submit("noop", {"sleep_ms": 6000})
            place.in_state(job_id, "running")
            os.killpg(stopped.process.pid, signal.SIGSTOP)
            with PoolProcess(tmp_path / "other", dsn, model_cache, **lease):
                ended = place.ended(job_id)
                assert [attempt.outcome for attempt in ended.attempts] == ["worker_died", "succeeded"]
                os.killpg(stopped.process.pid, signal.SIGCONT)
                until(lambda: "another worker has taken over" in stopped.log.read_text(), "it knows that it lost it")
            more = place.submit("noop", {})
            assert place.ended(more).state == "succeeded", "it goes on with other jobs"
            assert place.record(job_id) == ended


def test_a_job_is_cancelled_where_it_was_dropped_while_another_machine_runs_it(team: Team) -> None:
    first, second = team.machine("first"), team.machine("second")
    with first.worker(), second.worker():
        running = first.submit("noop", {"sleep_ms": 600_000})
        first.in_state(running, "running")
        waiting = first.submit("noop", {})
        for job_id in (waiting, running):
            assert first.cli("jobs", "cancel", job_id).returncode == 0
        assert first.ended(waiting).state == first.ended(running).state == "cancelled"


def test_an_id_that_another_machine_gave_to_another_job_is_refused_and_the_same_job_runs_once(team: Team) -> None:
    first, second = team.machine("first"), team.machine("second")
    with first.worker(), second.worker():
        first.submit("ingest", summary("The queue is a spool", 1), job_id="twice")
        second.submit("ingest", summary("The queue is a spool", 1), job_id="twice")
        second.submit("noop", {}, job_id="mine")
        until(lambda: len(team.rows("SELECT 1 FROM jobs WHERE workspace_id = %s")) == 2 or None, "it is posted")
        first.submit("noop", {"sleep_ms": 1}, job_id="mine")
        refused = first.ended("mine")
        assert (refused.state, refused.error and refused.error["code"]) == ("failed", "JOB_ID_CONFLICT")
        assert first.ended("twice") == second.ended("twice")
        assert second.ended("mine").state == "succeeded"
        assert team.rows("SELECT last_seq FROM workspaces WHERE id = %s") == [(2,)], "one change after the sharing"


def test_while_the_database_is_gone_jobs_wait_and_memories_are_found(tmp_path: Path, model_cache: Path) -> None:
    with cluster() as server:
        team = Team(tmp_path, server.dsn, model_cache)
        place = team.machine("only")
        with place.worker():
            known = place.submit("ingest", summary("Invoices are rounded up", 2))
            assert place.ended(known).state == "succeeded"
            server.kill()
            waiting = place.submit("ingest", summary("The queue is a spool", 1))
            answer = place.json("retrieve", "how are invoices rounded?")
            assert "Invoices" in answer["results"][0]["summary_text"]
            until(lambda: "TEAM_UNREACHABLE" in place.log(), "it knows")
            record = place.in_state(waiting, "queued")
            assert not record.attempts
            server.start()
            assert place.ended(waiting).state == "succeeded"
            assert [attempt.outcome for attempt in place.ended(waiting).attempts] == ["succeeded"]


def files_with(folder: Path, phrase: bytes) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*") if path.is_file() and phrase in path.read_bytes())


def test_what_one_machine_forgets_is_gone_from_the_folders_of_all_and_from_the_rows_of_the_team(team: Team) -> None:
    first, second = team.machine("first"), team.machine("second")
    phrase = "quokkazebra"
    with first.worker(), second.worker() as away:
        told = second.submit("ingest", summary(f"The {phrase} is a lock", 1))
        kept = second.submit("ingest", summary("Invoices are rounded up", 2))
        memory_id = (second.ended(told).result or {})["memory_id"]
        assert second.ended(kept).state == "succeeded"
        for place in (first, second):
            until(lambda place=place: place.json("memories", "list")["total"] == 2 or None, "both memories are here")
        assert files_with(second.workspace.root, phrase.encode())
        os.kill(away.process.pid, signal.SIGSTOP)
        forgotten = first.submit("forget", {"memory_ids": [memory_id]})
        assert first.ended(forgotten).state == "succeeded"
        until(lambda: not files_with(first.workspace.root, phrase.encode()), "it is removed where it was asked for")
        status = first.json("team", "status")["team"]
        assert {each["node"]: each["forgets"] for each in status["copies"]}[team.node_of(second)] > 0
        os.kill(away.process.pid, signal.SIGCONT)

        def is_removed() -> bool:
            copies = first.json("team", "status")["team"]["copies"]
            return all(each["behind"] == each["forgets"] == 0 for each in copies)

        until(is_removed, "every copy has removed it")
        assert files_with(second.workspace.root, phrase.encode()) == []
        assert second.json("memories", "list")["total"] == 1
        assert team.rows(f"SELECT 1 FROM rows WHERE workspace_id = %s AND value::text LIKE '%%{phrase}%%'") == []
        told_of = f"concat(job::text, record::text) LIKE '%%{phrase}%%'"
        assert team.rows(f"SELECT job_id FROM jobs WHERE workspace_id = %s AND {told_of}") == []
        again = second.submit("ingest", summary("Invoices are rounded up", 2))
        assert (second.ended(again).result or {})["duplicate"]


@pytest.mark.parametrize("has_followed", [True, False])
def test_what_is_forgotten_while_a_machine_is_off_is_removed_from_its_folder_when_its_worker_starts(
    team: Team, has_followed: bool
) -> None:
    first, second = team.machine("first"), team.machine("second")
    phrase = "quokkazebra"
    with first.worker():
        with second.worker():
            told = second.submit("ingest", summary(f"The {phrase} is a lock", 1))
            memory_id = (second.ended(told).result or {})["memory_id"]
            for place in (first, second) if has_followed else (first,):
                until(lambda place=place: place.json("memories", "list")["total"] == 1 or None, "it is here")
        assert files_with(second.workspace.root, phrase.encode())
        forgotten = first.submit("forget", {"memory_ids": [memory_id]})
        assert first.ended(forgotten).state == "succeeded"
        with second.worker():
            until(
                lambda: second.json("memories", "list").get("total") == 0,
                "it follows; before, it refuses",
            )
            until(lambda: is_clean(second), "all is removed")
            until(lambda: not files_with(second.workspace.root, phrase.encode()), "no file tells of it", 30)


def is_clean(place: Place) -> bool:
    return all(each["forgets"] == 0 for each in place.json("team", "status")["team"]["copies"])
