"""A team whose machines are killed beside each of its steps, or whose disks are full: nothing answered for is lost, and
each job has its effect once."""

import contextlib
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import postgres
import pytest
from harness import SOAK, Place, until
from machines import Machines, pause, remember, result_of, seq_of, succeeded, titles
from postgres import Cluster
from small_disk import fill, small_disk

from jobs import steps

EVERYDAY = ["after:team.share", "before:team.attach", "after:team.attach", "after:team.commit", "before:team.apply",
            "after:team.record"]  # fmt: skip
POINTS = steps.TEAM_POINTS if SOAK else EVERYDAY
TALK = "## User\n\nWe decided to keep the queue of {} in SQLite, since it survives a crash.\n\n## Assistant\n\nNoted.\n"


# --- kills ---


@contextlib.contextmanager
def killed_at(place: Place, point: str) -> Iterator[None]:
    """A worker of the machine that runs into a kill in the block; it is gone afterwards."""
    before = place.log().count("child ended")
    with place.faulty(f"kill@{point}"):
        worker = place.worker()
    try:
        yield
        if steps.TEAM_STEPS[point.split(":")[1]] == "worker":
            until(lambda: worker.process.poll() == -signal.SIGKILL, f"the worker is killed\n{place.log_end()}", 60)
        else:
            until(lambda: place.log().count("child ended") > before, f"the child is killed\n{place.log_end()}", 60)
    finally:
        worker.kill()  # else each next child would run into it as well


@contextlib.contextmanager
def service_killed_at(team: Machines, point: str) -> Iterator[None]:
    """A service whose child runs into a kill in the block; afterwards it runs as before."""
    team.gateway.kill()
    team.gateway.start(COGNEE_MEMORY_FAULT=f"kill@{point}")
    before = team.gateway.log.count("the child ended")
    try:
        yield
        until(lambda: team.gateway.log.count("the child ended") > before, f"it is killed\n{team.gateway.log}", 60)
    finally:
        team.gateway.kill()
        team.gateway.start()


@pytest.mark.parametrize("sharing", [point for point in POINTS if point.endswith(":team.share")])
def test_a_kill_beside_any_step_of_a_team_changes_nothing(tmp_path: Path, dsn: str, sharing: str) -> None:
    team = Machines(tmp_path, dsn)
    first, second = team.machine("first"), team.machine("second")
    with killed_at(first, sharing):
        jobs = [(first, remember(first, "Said before it was shared"))]
    with first.worker():
        for point in (point for point in POINTS if not point.endswith(":team.share")):
            jobs.append((first, remember(first, f"Said before {point}")))
            succeeded(*jobs[-1])
            if point.endswith(":team.apply"):
                with killed_at(second, point):
                    pass
            elif point.endswith(":team.commit"):
                with service_killed_at(team, point):
                    jobs.append((first, remember(first, f"Said at {point}")))
            elif point.endswith(":team.attach"):
                (second.workspace.root / f"{len(jobs)}.md").write_text(TALK.format(point))
                with killed_at(second, point):
                    jobs.append((second, second.submit("capture", {"file": f"{len(jobs)}.md"})))
            else:
                with killed_at(second, point):
                    jobs.append((second, remember(second, f"Said at {point}")))
        with second.worker():
            jobs.append((second, remember(second, "Said after it")))
            assert_undisturbed(team, jobs)


def assert_undisturbed(team: Machines, jobs: list[tuple[Place, str]]) -> None:
    """All is as the jobs would have left it without a kill."""
    assert len({stored(place, job_id) for place, job_id in jobs}) == len(jobs)
    team.assert_all_is_well([job_id for _, job_id in jobs])
    for place in team.places:
        assert len(titles(place)) == len(jobs)
    assert {record.generation for place, job_id in jobs if (record := place.record(job_id))} == {1}


def stored(place: Place, job_id: str) -> str:
    """The id of the memory that a job has stored."""
    result = result_of(succeeded(place, job_id))
    return str(result["memory_id"] if "memory_id" in result else result["items"][0]["memories"][0]["memory_id"])


# --- full disks ---


def test_a_copy_on_a_full_disk_stays_and_follows_with_room(tmp_path: Path, dsn: str) -> None:
    team = Machines(tmp_path, dsn)
    here = team.machine("here")
    with small_disk(tmp_path / "disk", 24) as disk:
        full = team.machine("full", base=disk, COGNEE_MEMORY_MIN_FREE_BYTES="0")
        with here.worker(), full.worker() as worker:
            jobs = [remember(here, "Invoices are rounded up")]
            succeeded(here, jobs[0])
            team.until_equal()
            pause(full)  # it follows, and runs no jobs
            ballast = fill(disk)
            before = seq_of(full)
            jobs += [remember(here, f"Said meanwhile, number {number}: {'x' * 2000}") for number in range(12)]
            for job_id in jobs:
                succeeded(here, job_id)
            until(
                lambda: "No space left" in full.log() or "DISK_FULL" in full.log(), f"it says why\n{full.log_end()}", 30
            )
            assert seq_of(full) >= before
            assert worker.process.poll() is None
            ballast.unlink()
            team.assert_all_is_well(jobs)
            answer = full.json("retrieve", "how are invoices rounded?")
            assert "Invoices" in answer["results"][0]["summary_text"]


def all_have_ended(place: Place, jobs: list[str], server: Cluster) -> bool:
    """Whether all jobs have ended. A server that has ended, since it could not write its log, is started again."""
    if server._server.poll() is not None:
        server.start()
    return all((record := place.record(job_id)) is not None and record.ended for job_id in jobs)


def test_while_the_servers_disk_is_full_jobs_wait_and_answers_stay(tmp_path: Path) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="cognee-pg-", ignore_cleanup_errors=True) as name,
        small_disk(Path(name), 160),
    ):
        folder = Path(name)
        server = Cluster(folder, postgres._programs(folder), "-c", "min_wal_size=32MB", "-c", "max_wal_size=48MB")
        server.create()
        server.start()
        try:
            team = Machines(tmp_path, server.dsn)
            place = team.machine("only")
            with place.worker():
                jobs = [remember(place, "Invoices are rounded up")]
                succeeded(place, jobs[0])
                ballast = fill(folder)
                waiting = [place.submit("noop", {}) for _ in range(150)]  # more than the pages have room for
                jobs.append(remember(place, "Said while the disk was full"))
                until(lambda: "DiskFull" in place.log() or "TEAM_UNREACHABLE" in place.log(), "it says why", 60)
                answer = place.json("retrieve", "how are invoices rounded?")
                assert "Invoices" in answer["results"][0]["summary_text"]
                ballast.unlink()
                until(lambda: all_have_ended(place, [*waiting, *jobs], server), "they run once there is room")
                for job_id in jobs:
                    succeeded(place, job_id)
                team.assert_all_is_well(jobs)
        finally:
            server.stop()
