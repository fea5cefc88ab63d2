"""The database's primary dies, and its synchronous standby is promoted: nothing that was answered for is lost, nothing
happens twice."""

import time
from pathlib import Path

from harness import Place, until
from machines import Machines, remember, titles
from postgres import Cluster
from standby import PrimaryAndStandby, primary_and_standby

JOBS = 12


class Jobs(Machines):
    """Machines whose gateway reaches both servers, and the jobs that they were given."""

    def __init__(self, pair: PrimaryAndStandby, folder: Path) -> None:
        super().__init__(folder, pair.dsn)
        self.pair = pair
        self.given: list[tuple[Place, str]] = []
        for number in range(2):
            self.machine(f"machine-{number}")

    def give(self, count: int) -> None:
        """Drop further jobs, on each machine in turn."""
        for number in range(len(self.given), len(self.given) + count):
            place = self.places[number % 2]
            self.given.append((place, remember(place, f"Topic {number}")))

    def ended(self) -> None:
        """Wait until all have succeeded, and all memories are on both machines."""
        records = [place.ended(job_id) for place, job_id in self.given]
        assert [record.state for record in records] == ["succeeded"] * len(self.given)
        for place in self.places:
            until(lambda place=place: len(titles(place)) == len(self.given), "all memories are here")

    def assert_once(self, server: Cluster) -> None:
        """On this server, no number is missing, and each job has its effect once."""
        seqs = self.pair.ask(server, "SELECT seq FROM cognee_memory.changes ORDER BY seq")
        assert [seq for (seq,) in seqs] == list(range(1, len(seqs) + 1))
        listed = self.pair.ask(server, "SELECT json_array_elements_text(jobs) FROM cognee_memory.changes")
        assert sorted(job for (job,) in listed) == sorted(job_id for _, job_id in self.given), "each once"


def test_the_promoted_standby_alone_is_believed_and_has_what_was_answered(tmp_path: Path) -> None:
    """Nobody believes the old primary until it is rejoined."""
    with primary_and_standby() as pair:
        jobs = Jobs(pair, tmp_path)
        first, second = jobs.places
        with first.worker(), second.worker():
            jobs.give(JOBS // 2)
            first_place, first_job = jobs.given[0]
            assert first_place.ended(first_job).state == "succeeded"
            pair.promote()
            promoted = time.monotonic()
            jobs.give(JOBS // 2)
            jobs.ended()
            assert time.monotonic() - promoted < 60
            jobs.assert_once(pair.standby)
            pair.primary.start()  # as it was: a primary, first in the address, whose standby has left it
            jobs.gateway.kill()  # it keeps its connections; one that starts looks at the first of the address
            jobs.gateway.start()
            assert pair.ask(pair.primary, "SELECT pg_is_in_recovery()") == [(False,)]
            before = pair.ask(pair.primary, "SELECT count(*) FROM cognee_memory.changes")
            jobs.give(4)
            until(lambda: pair.is_reached(pair.primary), "the gateway has taken it for the primary")
            now = pair.ask(pair.primary, "SELECT count(*) FROM cognee_memory.changes")
            assert now == before, "it acknowledges nothing"
            pair.rejoin()
            jobs.give(4)
            jobs.ended()
            pair.follows()
        jobs.assert_once(pair.standby)
        jobs.assert_once(pair.primary)
