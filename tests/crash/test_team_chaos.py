"""A team whose workers, gateway and database are killed and stopped at random, while jobs are dropped on all machines.

Afterwards: every job has succeeded, with one memory each; no number is missing; all copies have the same rows and give
the same answers. The long form runs with ``make soak``.
"""

import contextlib
import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
from harness import SOAK, Place, RealWorker, until
from machines import Machines, shared_rows
from postgres import Cluster, cluster

MACHINES = 3
JOBS = 200 if SOAK else 24
BLOWS = 60 if SOAK else 8
WORDS = "upload gateway session token retry index backup invoice font webhook tenant cache shard".split()


class Team(Machines):
    """The machines, each with a worker that is started again whenever it was killed."""

    def __init__(self, folder: Path, server: Cluster, cache: Path) -> None:
        super().__init__(folder, server.dsn, cache)
        self.server = server
        for number in range(MACHINES):
            self.machine(f"machine-{number}")
        self.workers: list[RealWorker | None] = [place.worker() for place in self.places]

    def blow(self, chance: random.Random) -> None:
        """Something bad."""
        kind = chance.choice(["kill", "kill", "kill child", "stop", "database", "gateway"])
        if kind == "database":
            self.server.kill()
            self.server.start()
            return
        if kind == "gateway":
            self.gateway.kill()
            self.gateway.start()
            return
        number = chance.randrange(MACHINES)
        worker = self.workers[number]
        if kind == "kill":
            worker.kill()
            self.workers[number] = self.places[number].worker()
            return
        victims = worker.children() if kind == "kill child" else [*worker.children(), worker.process.pid]
        for pid in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL if kind == "kill child" else signal.SIGSTOP)
        if kind == "stop":
            time.sleep(chance.choice([0.5, 8.0]))  # within the lease, and beyond it
            for pid in victims:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def end(self) -> None:
        for worker in self.workers:
            if worker is not None:
                worker.stop()
                worker.kill()


def summary(number: int, chance: random.Random) -> dict[str, Any]:
    words = " ".join(chance.choices(WORDS, k=8))
    return {
        "summary": {
            "topic": f"Topic {number}",
            "context": f"{words}.",
            "decisions": [f"Decision {number}: {words}."],
            "created_at": f"2026-11-{1 + number % 28:02}T12:00:00Z",
        }
    }


@pytest.mark.parametrize("seed", range(5) if SOAK else range(1))
def test_whatever_dies_jobs_have_one_effect_and_copies_are_equal(tmp_path: Path, model_cache: Path, seed: int) -> None:
    chance = random.Random(seed)
    with cluster() as server:
        team = Team(tmp_path, server, model_cache)
        try:
            jobs: list[tuple[Place, str]] = []
            blows = sorted(chance.sample(range(JOBS), min(BLOWS, JOBS)))
            for number in range(JOBS):
                place = chance.choice(team.places)
                jobs.append((place, place.submit("ingest", summary(number, chance))))
                if number in blows:
                    team.blow(chance)
            records = [place.ended(job_id) for place, job_id in jobs]
            assert [record.state for record in records] == ["succeeded"] * JOBS
            memories = [record.result["memory_id"] for record in records if record.result]
            assert len(set(memories)) == JOBS
            with psycopg.connect(server.dsn, options="-c search_path=cognee_memory") as connection:
                numbers = [seq for (seq,) in connection.execute("SELECT seq FROM changes ORDER BY seq")]
                assert numbers == list(range(1, len(numbers) + 1)), "no number is missing"
                listed = [job for (each,) in connection.execute("SELECT jobs FROM changes") for job in each]
                assert sorted(listed) == sorted(job_id for _, job_id in jobs), "each effect is one change's"
                (count,) = connection.execute(
                    "SELECT count(*) FROM rows WHERE tbl = 'memories' AND value IS NOT NULL"
                ).fetchone() or (0,)
                assert count == JOBS
            until(
                lambda: len({json.dumps(shared_rows(place), default=repr) for place in team.places}) == 1,
                "equal copies",
            )
            # Equal once each copy has compared its decisions, which it does in an idle moment.
            until(lambda: len({json.dumps(asked(place)) for place in team.places}) == 1, "equal answers")
        finally:
            team.end()


def asked(place: Place) -> list[Any]:
    found = place.json("retrieve", "retry of an upload", "--as-of", "2026-12-01T00:00:00Z")
    return [(hit["memory_id"], hit["final_score"]) for hit in found["results"]]
