"""A pool runs the jobs of all workspaces of a team, on a host that has no workspace of its own.

Real processes and a real Postgres, which the tests share: a pool runs whatever job it has, so each leaves none.
"""

import os
import signal
import urllib.request
from pathlib import Path
from uuid import uuid4

from harness import until
from inbox_door import job_of
from machines import Team, files_with, remember, remembered, succeeded, summary, titles
from pools import PoolProcess
from postgres import free_port

from bridge.team.rows import Author, Described
from jobs import clock, lifecycle


def test_a_pool_runs_all_workspaces_jobs_and_keeps_so_many_copies(tmp_path: Path, dsn: str) -> None:
    port, team = free_port(), Team(tmp_path, dsn, workers=0)
    place, further = team.machine("laptop"), [str(uuid4()) for _ in range(2)]
    with PoolProcess(tmp_path / "host", dsn, "--workers", "2", "--copies", "2", "--metrics-port", str(port)) as pool:
        with place.worker():
            jobs = [place.submit("ingest", summary(topic, 1)) for topic in ("The queue is a spool", "Receipts stay")]
            assert {place.ended(job_id).state for job_id in jobs} == {"succeeded"}
            until(lambda: len(titles(place)) == 2, "both are here")
            nodes = "SELECT node FROM copies WHERE workspace_id = %s"
            until(lambda: len(team.rows(nodes)) == 2, "the laptop's and the pool's are noted")
        [described] = team.rows("SELECT format, embedder, dimensions FROM workspaces WHERE id = %s")
        for number, workspace_id in enumerate(further):
            with team.gateway.team(team.gateway.token(team.person)) as reached:
                reached.share(Described(workspace_id, "w", *described), str(uuid4()), [], Author("phone"))
                said = summary(f"Invoices of {number} are rounded up", 1)
                job = job_of("a", "ingest", said)
                reached.post(workspace_id, "phone", [(job, lifecycle.accept(job, clock.now()))])
        ended = "SELECT 1 FROM jobs WHERE workspace_id <> %s AND record->>'state' = 'succeeded' AND job_id = 'a'"
        until(lambda: len(team.rows(ended)) == 2, "they have run")
        until(lambda: pool.copies() == set(further), "the oldest copy is removed")
        for number, workspace_id in enumerate(further):
            assert files_with(pool.folder / workspace_id, f"Invoices of {number}")
            assert not files_with(pool.folder / workspace_id, f"Invoices of {1 - number}")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answered:
            text = answered.read().decode()
        assert float(text.partition("\ncognee_memory_pool_free_bytes ")[2].partition("\n")[0]) > 0
        assert 'cognee_memory_pool_jobs_ended_total{kind="ingest",state="succeeded"} 4.0' in text
        assert len(team.rows(nodes)) == 1, "a removed copy is none of the team's any more"


def test_what_an_ended_pool_ran_has_one_effect_and_a_copy_forgets(tmp_path: Path, dsn: str) -> None:
    """One pool is killed and another one stopped in the middle of a job; what was forgotten meanwhile is gone."""
    lease = {"COGNEE_MEMORY_LEASE_SECONDS": "8"}
    team = Team(tmp_path, dsn, workers=0)
    place = team.machine("laptop")
    with place.worker():
        pool = PoolProcess(tmp_path / "host", dsn, **lease)
        memory_id = remembered(place, remember(place, "The quokkazebra is a lock"))
        assert files_with(pool.folder / team.workspace_id, "quokkazebra")
        running = place.submit("noop", {"sleep_ms": 600_000})
        place.in_state(running, "running")
        waiting = remember(place, "Receipts stay")
        pool.kill()
        with pool, PoolProcess(tmp_path / "other", dsn, **lease) as other:
            again = until(lambda: found if (found := place.record(running)) and found.attempt == 2 else None, "again")
            assert again.attempts[0].outcome == "worker_died"
            assert place.cli("jobs", "cancel", running).returncode == 0
            assert place.ended(running).state == "cancelled"
            succeeded(place, waiting)
            assert team.rows("SELECT last_seq FROM workspaces WHERE id = %s") == [(3,)]
            succeeded(place, place.submit("forget", {"memory_ids": [memory_id]}))
            job_id = place.submit("noop", {"sleep_ms": 6000})
            place.in_state(job_id, "running")
            os.killpg(other.process.pid, signal.SIGSTOP)
            pool.start()
            ended = place.ended(job_id)
            assert [attempt.outcome for attempt in ended.attempts] == ["worker_died", "succeeded"]
            until(lambda: not files_with(pool.folder, "quokkazebra"), "the pool has removed it")
            os.killpg(other.process.pid, signal.SIGCONT)
            until(lambda: "another worker has taken over" in other.log.read_text(), "it knows that it lost it")
            assert place.ended(place.submit("noop", {})).state == "succeeded", "it goes on with other jobs"
            assert place.record(job_id) == ended

            def is_removed() -> bool:
                copies = place.json("team", "status")["team"]["copies"]
                return len(copies) == 3 and all(each["forgets"] == 0 for each in copies)

            until(is_removed, "and has said so")
