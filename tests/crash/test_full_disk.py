"""A full disk: new drops are rejected, accepted jobs wait, and work goes on by itself once there is room."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import SOAK, Place, until
from scenario import assert_all_is_well, drop_everything
from side_by_side import SideBySide
from small_disk import fill, small_disk

from jobs import spool, steps

MIB = 1024 * 1024

STEPS = [
    name for name, process in steps.STEPS.items() if process == "worker" and name not in ("queue.put", "child.send")
]
EVERYDAY = ["copy.write", "record.accept", "record.start", "record.end", "reason.write", "copy.reopen"]


@pytest.mark.parametrize("step", STEPS if SOAK else EVERYDAY)
def test_a_refused_step_only_delays_work(side_by_side: SideBySide, request: pytest.FixtureRequest, step: str) -> None:
    """It goes on running, loses nothing, and the next one finishes what it could not."""
    side_by_side(request, refuse_a_step, step)


def refuse_a_step(place: Place, step: str) -> None:
    drop_everything(place)
    with place.faulty(f"enospc@before:{step}"), place.worker() as worker:
        until(lambda: "No space left on device" in place.log(), "the disk refuses")
        uptime = place.heartbeat()["uptime_seconds"]
        until(lambda: place.heartbeat()["uptime_seconds"] > uptime + 1, "it goes on")
        assert worker.process.poll() is None
    with place.worker():
        assert_all_is_well(place)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", 24) as folder:
        yield folder


def test_on_a_full_disk_drops_are_rejected_with_the_reason_and_accepted_jobs_wait(disk: Path) -> None:
    place = Place(disk, COGNEE_MEMORY_MIN_FREE_BYTES=str(4 * MIB))
    with place.worker() as worker:
        accepted = [place.submit("noop", {"sleep_ms": 300}, job_id=f"accepted-{number}") for number in range(5)]
        for job_id in accepted:
            until(lambda job_id=job_id: place.record(job_id), "it is accepted")  # type: ignore[misc]
        ballast = fill(disk, but_for=2 * MIB)
        late = place.submit("noop", {}, job_id="late")
        record = place.ended(late)
        assert (record.state, record.error["code"]) == ("rejected", "DISK_FULL")
        ballast.unlink()
        assert {place.ended(job_id).state for job_id in accepted} == {"succeeded"}
        spool.drop(place.spool, "late", (place.spool.rejected / "late.1.json").read_bytes())
        assert place.in_state("late", "succeeded").generation == 2
        assert worker.process.poll() is None


def test_with_not_a_byte_left_nothing_is_half_written_and_work_goes_on_once_there_is_room(disk: Path) -> None:
    place = Place(disk, COGNEE_MEMORY_MIN_FREE_BYTES="0")
    with place.worker() as worker:
        jobs = [place.submit("noop", {"sleep_ms": 200}, job_id=f"job-{number}") for number in range(10)]
        place.in_state(jobs[0], "running", "succeeded")
        ballast = fill(disk, but_for=0)
        until(lambda: "records cannot be written" in place.log() or "No space" in place.log(), "the disk refuses")
        for path in (*place.spool.results.glob("[!.]*.json"), *place.spool.active.glob("[!.]*.json")):
            assert path.read_bytes().endswith(b"}\n"), path
        ballast.unlink()
        records = [place.ended(job_id) for job_id in jobs]
        assert {(r.state, r.generation, r.errors, r.crashes) for r in records} == {("succeeded", 1, 0, 0)}
        assert worker.process.poll() is None
