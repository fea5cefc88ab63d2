"""Processes killed inside cognee: every opening afterwards works, and what was answered for is nowhere lost.

The long form, ``COGNEE_MEMORY_SOAK=1``, kills two hundred times.
"""

import random
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest
from cognee_forks import Died, Fork, Forks, summary, task
from fake_embedder import FakeEmbedder
from harness import SOAK, Place
from questions import answer_to

from bridge.settings import Settings
from bridge.store.opening import reader_of
from bridge.store.values import AppliedJob
from jobs.parse import parse_copy

KILLS = 200 if SOAK else 5

pytestmark = [pytest.mark.cognee, pytest.mark.timeout(1800 if SOAK else 600)]

# Where the kills aim: the place, at which of its entries at most, and how many seconds of it are hit.
AIMS = [
    ("checkpoint", 1, 0.12),
    ("vector commit", 6, 0.15),
    ("graph write", 3, 0.05),
    ("compaction", 2, 0.15),
    ("outbox.deliver", 3, 0.01),
    ("checkpoint", 2, 0.12),
    ("edge write", 3, 0.05),
    ("graph.sync", 3, 0.05),
    ("checkpoint", 1, 0.06),
    ("memory.commit", 3, 0.02),
    ("graph.open", 1, 0.8),
]


@pytest.fixture
def forks(place: Place) -> Forks:
    return Forks(place)


class Story:
    """The jobs that were handed over, and the memories that were answered for."""

    def __init__(self, forks: Forks) -> None:
        self.forks = forks
        self.unanswered: list[dict[str, Any]] = []
        self.acknowledged: dict[str, str] = {}  # topics by memory id
        self.answered: list[tuple[str, str]] = []  # jobs by id and digest
        self._number = 0

    def new(self, count: int) -> list[dict[str, Any]]:
        tasks = []
        for _ in range(count):
            self._number += 1
            tasks.append(task(f"job-{self._number}", "ingest", {"summary": summary(f"Topic{self._number:04d}")}))
        return tasks

    def ingest(self, fork: Fork, tasks: list[dict[str, Any]]) -> None:
        self.unanswered += [given for given in tasks if given not in self.unanswered]
        outcomes = fork.run("ingest", *tasks)
        for given, outcome in zip(tasks, outcomes, strict=True):
            assert "result" in outcome, outcome
            assert not outcome["result"]["duplicate"], "its own first attempt is no other job"
            job = parse_copy(given["job_id"], given["copy"].encode())
            self.acknowledged[outcome["result"]["memory_id"]] = job.payload.summary.topic
            self.answered.append((job.job_id, job.sha256))
            self.unanswered.remove(given)

    def work_until_killed(self, fork: Fork, rng: random.Random) -> None:
        for _ in range(4):
            self.ingest(fork, self.new(rng.randint(1, 3)))
        fork.ask("maintain")
        fork.close()

    def check(self, fork: Fork) -> None:
        """All that was answered for is there; what was not is made good by its next attempt, once."""
        fork.ask("deliver_all")
        assert fork.ask("missing", list(self.acknowledged)) == []
        if self.unanswered:
            self.ingest(fork, list(self.unanswered))
        assert fork.ask("missing", list(self.acknowledged)) == []
        assert fork.ask("count") == len(self.acknowledged) == self._number
        assert fork.ask("lag") == 0
        for memory_id, topic in random.Random(len(self.acknowledged)).sample([*self.acknowledged.items()], 3):
            assert fork.ask("node", memory_id)["topic"] == topic
            now = datetime(2026, 11, 2, tzinfo=UTC)
            found = answer_to(self.forks.place.workspace, FakeEmbedder(), now, Settings(), query=topic)
            assert found["results"][0]["memory_id"] == memory_id
            assert all("are not compared" in each for each in found["warnings"])


def has_checkpoint_leftovers(place: Place) -> bool:
    databases = place.workspace.cognee_system / "databases"
    return any(path.name.endswith((".shadow", ".wal.checkpoint")) for path in databases.iterdir())


def test_after_a_kill_inside_cognee_the_stores_open_and_nothing_answered_for_is_missing(forks: Forks) -> None:
    rng = random.Random(20261121)
    story = Story(forks)
    killed: Counter[str] = Counter()
    hit_checkpoints = 0
    with forks.start() as fork:
        story.ingest(fork, story.new(3))
    for number in range(KILLS):
        place, nth, seconds = AIMS[number % len(AIMS)]
        fork = forks.start()
        if place == "graph.open":
            fork.kill_in(place, 1, rng.uniform(0.0, seconds))
        try:
            story.check(fork)
            if place != "graph.open":
                fork.kill_in(place, rng.randint(1, nth), rng.uniform(0.0, seconds))
            story.work_until_killed(fork, rng)
        except Died:
            killed[place] += 1
            fork.kill()
            hit_checkpoints += has_checkpoint_leftovers(forks.place)
        except BaseException:
            fork.kill()
            raise
    with forks.start() as fork:
        story.check(fork)
    log = forks.log()
    found = {
        "aimed": KILLS, "killed": sum(killed.values()), **killed, "memories": len(story.acknowledged),
        "inside a checkpoint": hit_checkpoints, "set aside": log.count("set aside in"),
    }  # fmt: skip
    print(f"\n{found}")
    assert sum(killed.values()) >= KILLS * 0.8, killed
    assert "not compacted" not in log
    assert all(reader_of(forks.place.workspace).is_applied(AppliedJob(*job)) for job in story.answered)
