"""The network between a machine and its team, or a pool and the database, fails: it is cut, or holds what is sent and
tells nobody."""

import contextlib
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from harness import SOAK, Place, until
from machines import LEASE_SECONDS, Machines, files_with, remember, remembered, result_of, succeeded, titles
from network import Link, port_of
from pools import PoolProcess
from postgres import database

from bridge.team import copy_age
from jobs import clock


@pytest.fixture
def dsn() -> Iterator[str]:
    """One for each test: a pool runs whatever job its database has."""
    with database() as found:
        yield found


class CutOff(Machines):
    """A laptop, and pools, of which one is behind a link."""

    def __init__(self, folder: Path, dsn: str, link: Link) -> None:
        super().__init__(folder, dsn, workers=0)
        self.link = link
        self.here = self.machine("here")

    def pool(self, name: str, dsn: str) -> PoolProcess:
        """A pool that reaches the database by this address."""
        lease = f"{LEASE_SECONDS:g}"
        return PoolProcess(self.folder / name, dsn, COGNEE_MEMORY_LEASE_SECONDS=lease)


@pytest.fixture
def cut_off(tmp_path: Path, dsn: str) -> Iterator[CutOff]:
    with Link(port_of(dsn)) as link:
        yield CutOff(tmp_path, dsn, link)


# --- a pool that is cut off in the middle of a job ---

# What it sends at a moment of a job.
MOMENTS = {
    "before the commit": b"format, lease FROM workspaces",
    "in the commit, with the row locked": b"INSERT INTO rows",
    "at the start of the job, with the row locked": b"UPDATE jobs SET state",
}


@pytest.mark.parametrize("moment", MOMENTS if SOAK else list(MOMENTS)[:2])
def test_a_pool_that_is_cut_off_is_replaced_and_what_it_sends_changes_nothing(cut_off: CutOff, moment: str) -> None:
    """It is cut off while it runs a job, another one does it, and the link heals."""
    team, here, link = cut_off, cut_off.here, cut_off.link
    with here.worker(), contextlib.ExitStack() as pools:
        cut = pools.enter_context(team.pool("cut", link.dsn(team.dsn)))
        known = remember(here, "What was said before")
        succeeded(here, known)
        link.hold_at(MOMENTS[moment])
        job_id = remember(here, "What was said when the link went down")
        try:
            until(link.is_held.is_set, "the link is held")
            pools.enter_context(team.pool("other", team.dsn))
            held = time.monotonic()
            here.in_state(job_id, "succeeded")  # the link is held until then
            print(f"taken over after {time.monotonic() - held:.1f} s")
        finally:
            link.heal()  # else its worker could not end
        until(lambda: "another worker has taken over" in cut.log.read_text(), "it knows that it lost the lease")
        after = remember(here, "What was said after it healed")
        succeeded(here, after)
        team.assert_all_is_well([known, job_id, after])
        assert len(titles(here)) == 3
    record = here.ended(job_id)
    *cut, done = [attempt.outcome for attempt in record.attempts]
    assert done == "succeeded"
    assert cut == ([] if "start" in moment else ["worker_died"])


# --- a machine that is away for a day ---


@pytest.fixture
def offline(tmp_path: Path, dsn: str) -> Iterator[tuple[Machines, Place, Place, Link]]:
    """A team, its machines of which the second is behind a link, and the link."""
    team = Machines(tmp_path, dsn)
    with Link(team.gateway.port) as link:
        yield team, team.machine("here"), team.machine("away", port=link.port), link


def age(place: Place, days: float, copy_days: float = 30.0) -> None:
    """Make the copy of a machine as old as if it had been away for so long."""
    copy_age.note_current(place.workspace, clock.now() - timedelta(days=days), copy_days, 0, "")


def test_after_a_day_offline_both_have_all_but_what_either_forgot(offline: tuple[Machines, Place, Place, Link]) -> None:
    team, here, away, link = offline
    secrets = ["The quokkazebra sleeps", "The wombatlynx runs", "The lemurheron sings"]
    with here.worker():
        jobs = [remember(here, topic) for topic in (*secrets, "Invoices are rounded up")]
        ids = [remembered(here, job_id) for job_id in jobs]
        with away.worker():
            team.until_equal()
            link.cut()
            until(lambda: "TEAM_UNREACHABLE" in away.log(), "it knows that it is offline")
            # Both forget the first; each forgets one of its own choice; both set the status of the last.
            both = [place.submit("forget", {"memory_ids": [ids[0]]}) for place in (here, away)]
            mine = here.submit("forget", {"memory_ids": [ids[1]]})
            theirs = away.submit("forget", {"memory_ids": [ids[2]]})
            drafts = here.submit("set_status", {"memory_id": ids[3], "status": "Draft"})
            for job_id in (both[0], mine, drafts):
                succeeded(here, job_id)
            active = away.submit("set_status", {"memory_id": ids[3], "status": "Active"})
            jobs += [remember(here, "Said here meanwhile"), remember(away, "Said away meanwhile")]
            same = [remember(place, "Said on both sides") for place in (here, away)]
            succeeded(here, jobs[-2])
            assert remembered(here, same[0])
            away.in_state(jobs[-1], "queued")

            age(away, 1)
            answer = away.json("retrieve", "who sleeps?")
            assert "quokkazebra" in answer["results"][0]["summary_text"], "forgotten elsewhere"
            assert any("since" in warning for warning in answer["warnings"])
            age(away, 31)
            refused = away.json("retrieve", "who sleeps?")
            assert (refused["success"], refused["error_code"]) == (False, "TEAM_COPY_TOO_OLD")

            link.heal()
            for job_id in (theirs, active, jobs[-1]):
                succeeded(away, job_id)
            again = away.ended(both[1])
            assert again.state == "succeeded" or (again.error or {})["code"] == "MEMORY_NOT_FOUND", again
            assert result_of(away.ended(same[1]))["duplicate"]
            team.until_equal()
            team.assert_all_is_well([*jobs, mine, theirs, same[0]])
            kept = ["Invoices are rounded up", "Said away meanwhile", "Said here meanwhile", "Said on both sides"]
            for place in (here, away):
                assert titles(place) == kept
                assert place.json("memories", "show", ids[3])["memory"]["status"] == "Active"
            until(lambda: "warnings" in (found := away.json("retrieve", "invoices")) and not found["warnings"], "new")
            for place in (here, away):
                for word in ("quokkazebra", "wombatlynx", "lemurheron"):
                    until(lambda w=word, p=place: not files_with(p.workspace.root, w), f"{word} is gone")  # type: ignore[misc]
