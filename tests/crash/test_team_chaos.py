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

import pytest
from harness import SOAK, Place, RealWorker, until
from machines import Machines, summary, titles
from postgres import Cluster, cluster

MACHINES = 3
JOBS = 200 if SOAK else 24
BLOWS = 60 if SOAK else 8
WORDS = "upload gateway session token retry index backup invoice font webhook tenant cache shard".split()


class Team(Machines):
    """The machines, each with a worker that is started again whenever it was killed."""

    def __init__(self, folder: Path, server: Cluster) -> None:
        super().__init__(folder, server.dsn)
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


@pytest.mark.parametrize("seed", range(5) if SOAK else range(1))
def test_whatever_dies_jobs_have_one_effect_and_copies_are_equal(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    with cluster() as server:
        team = Team(tmp_path, server)
        try:
            jobs: list[tuple[Place, str]] = []
            blows = sorted(chance.sample(range(JOBS), min(BLOWS, JOBS)))
            for number in range(JOBS):
                place = chance.choice(team.places)
                topic = f"Topic {number}: {' '.join(chance.choices(WORDS, k=8))}"
                jobs.append((place, place.submit("ingest", summary(topic, 1 + number % 28))))
                if number in blows:
                    team.blow(chance)
            records = [place.ended(job_id) for place, job_id in jobs]
            assert [record.state for record in records] == ["succeeded"] * JOBS
            memories = [record.result["memory_id"] for record in records if record.result]
            assert len(set(memories)) == JOBS
            team.assert_all_is_well(job_id for _, job_id in jobs)
            assert len(titles(team.places[0])) == JOBS
            # Equal once each copy has compared its decisions, which it does in an idle moment.
            until(lambda: len({json.dumps(asked(place)) for place in team.places}) == 1, "equal answers")
        finally:
            team.end()


def asked(place: Place) -> list[Any]:
    found = place.json("retrieve", "retry of an upload", "--as-of", "2026-12-01T00:00:00Z")
    return [(hit["memory_id"], hit["final_score"]) for hit in found["results"]]
