"""What a running job does to its process, the worker survives; and what it is told, it obeys in time."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import Place, RealWorker, is_running, until

from jobs import client
from jobs.model import Record


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Of tests that leave its worker as they found it."""
    return Place(tmp_path_factory.mktemp("running"))


@pytest.fixture(scope="module")
def worker(place: Place) -> Iterator[RealWorker]:
    with place.worker() as running:
        yield running


@pytest.fixture
def alone(tmp_path: Path) -> Place:
    return Place(tmp_path)


def noop(place: Place, **payload: Any) -> str:
    return place.submit("noop", payload)


def running(place: Place, job_id: str) -> Record:
    """The record once the job runs in a child that is past its start."""
    record = place.in_state(job_id, "running")
    place.executing(job_id)
    until(lambda: (place.heartbeat().get("in_flight") or [{}])[0].get("progress"), "it is at work")
    return record


def cancel(place: Place, job_id: str) -> float:
    """Ask for the end of a job; returns the seconds until the worker had dealt with the request."""
    began = time.monotonic()
    client.cancel(place.spool, job_id)
    assert not client.unhandled(place.spool, [place.spool.cancel(job_id)], 30)
    return time.monotonic() - began


def test_a_running_job_ends_within_two_seconds_of_its_cancellation(place: Place, worker: RealWorker) -> None:
    job_id = noop(place, sleep_ms=60_000)
    running(place, job_id)
    assert cancel(place, job_id) < 2.5  # the two seconds, and the look of this test
    record = place.ended(job_id)
    assert (record.state, record.attempts[-1].outcome) == ("cancelled", "cancelled")
    assert place.ended(noop(place)).state == "succeeded"


def test_a_job_that_hangs_altogether_is_cancelled_all_the_same(place: Place, worker: RealWorker) -> None:
    job_id = noop(place, outcome="hang")
    place.in_state(job_id, "running")
    (child,) = until(worker.children, "the child is there")
    until(lambda: "T" in Path(f"/proc/{child}/stat").read_text("ascii").rpartition(")")[2].split()[0], "it hangs")
    assert cancel(place, job_id) < 4
    assert place.ended(job_id).state == "cancelled"
    assert not is_running(child)


@pytest.mark.parametrize(
    ("seconds", "at_least", "at_most", "ends"),
    [(3, 2.0, 5.0, {"cancelled", "succeeded"}), (60, 8.0, 14.0, {"cancelled"})],
    ids=["a short one", "an endless one"],
)
def test_a_critical_section_is_waited_for_but_no_longer_than_ten_seconds(
    place: Place, worker: RealWorker, seconds: int, at_least: float, at_most: float, ends: set[str]
) -> None:
    """A job that is done with the section may just be quicker than its end: then it was too late."""
    job_id = noop(place, outcome="critical", sleep_ms=seconds * 1000)
    running(place, job_id)
    assert at_least < cancel(place, job_id) < at_most
    assert place.ended(job_id).state in ends
    assert place.ended(noop(place)).state == "succeeded"


def test_cancelling_one_job_of_a_batch_changes_nobody_elses_count(place: Place, worker: RealWorker) -> None:
    """The others end their attempt as interrupted and run again."""
    job_id = noop(place, sleep_ms=60_000)
    running(place, job_id)
    others = [noop(place) for _ in range(5)]
    cancel(place, job_id)
    for other in others:
        record = place.ended(other)
        assert (record.state, record.errors, record.crashes) == ("succeeded", 0, 0)
    assert worker.process.poll() is None


def test_a_job_that_takes_longer_than_it_may_is_ended_and_tried_again(place: Place, worker: RealWorker) -> None:
    job_id = place.submit("noop", {"sleep_ms": 60_000}, timeout_seconds=0.5, max_attempts=2)
    record = place.ended(job_id)
    assert (record.state, record.error["code"], record.errors, record.crashes) == ("failed", "JOB_TIMEOUT", 2, 0)
    assert place.ended(noop(place)).state == "succeeded"


def test_the_start_of_the_child_does_not_count_towards_a_timeout(tmp_path: Path) -> None:
    """A child that is slow to start, and a job that may take less time than that."""
    slow = tmp_path / "slow"
    slow.mkdir()
    (slow / "sitecustomize.py").write_text("import sys, time\nif 'worker.child.main' in sys.orig_argv: time.sleep(4)\n")
    place = Place(tmp_path, PYTHONPATH=str(slow))
    with place.worker():
        record = place.ended(place.submit("noop", {"sleep_ms": 10}, timeout_seconds=3, max_attempts=1))
    assert record.state == "succeeded"
    assert (record.elapsed_ms or 0) >= 3000


@pytest.mark.parametrize("outcome", ["crash", "segfault", "flood"])
def test_the_worker_survives_what_a_job_does_to_its_process(place: Place, worker: RealWorker, outcome: str) -> None:
    bad, good = noop(place, outcome=outcome), noop(place)
    assert place.ended(good).state == "succeeded"
    if outcome == "flood":
        assert place.ended(bad).state == "succeeded"
        assert "lines of output were left out" in until(lambda: place.log(), "the log")
        assert place.spool.log.stat().st_size < 4 * 1024 * 1024
    else:
        assert place.in_state(bad, "retrying", "failed").crashes >= 1
        cancel(place, bad)
    assert worker.process.poll() is None
    assert place.ended(noop(place)).state == "succeeded"


def test_a_job_that_takes_too_much_memory_is_ended_before_the_machine_suffers(tmp_path: Path) -> None:
    place = Place(tmp_path, COGNEE_MEMORY_CHILD_MEMORY_MIB="400", COGNEE_MEMORY_MAX_CRASHES="1")
    with place.worker() as worker:
        record = place.ended(noop(place, outcome="swell"))
        assert (record.state, record.error["code"]) == ("failed", "POISON")
        assert record.attempts[-1].error_code == "CHILD_TOO_LARGE"
        assert place.ended(noop(place)).state == "succeeded"
        assert worker.process.poll() is None


def test_an_out_of_memory_kill_of_the_child_is_a_crash_and_no_more(place: Place, worker: RealWorker) -> None:
    job_id = noop(place, sleep_ms=5000)
    running(place, job_id)
    (child,) = worker.children()
    os.kill(child, signal.SIGKILL)
    record = place.ended(job_id)
    assert (record.state, record.crashes, record.errors) == ("succeeded", 1, 0)


def test_a_job_that_ends_its_process_thrice_is_poison_its_fellows_succeed(place: Place, worker: RealWorker) -> None:
    """Fifty at once, one of them bad: no crash is counted for anybody else."""
    jobs = [noop(place, outcome="crash" if number == 25 else "succeed") for number in range(50)]
    records = {job_id: place.ended(job_id, seconds=120) for job_id in jobs}
    bad = records.pop(jobs[25])
    assert (bad.state, bad.error["code"], bad.crashes) == ("failed", "POISON", 3)
    assert {(r.state, r.crashes, r.errors) for r in records.values()} == {("succeeded", 0, 0)}


def test_a_child_is_replaced_after_its_share_of_jobs(tmp_path: Path) -> None:
    place = Place(tmp_path, COGNEE_MEMORY_CHILD_MAX_JOBS="3", COGNEE_MEMORY_BATCH_SIZE="1")
    with place.worker() as worker:
        assert place.ended(noop(place)).state == "succeeded"
        (first,) = worker.children()
        for _ in range(4):
            assert place.ended(noop(place)).state == "succeeded"
        assert first not in until(worker.children, "a child is there")
        until(lambda: not is_running(first), "the former child has gone")


def test_no_child_outlives_its_worker_though_it_stands_still(alone: Place) -> None:
    with alone.worker() as worker:
        running(alone, noop(alone, sleep_ms=60_000))
        (child,) = worker.children()
        os.kill(child, signal.SIGSTOP)
        worker.kill()
        until(lambda: not is_running(child), "the child has gone", seconds=30)


def test_a_job_that_takes_the_worker_with_it_again_and_again_is_poison(tmp_path: Path) -> None:
    place = Place(tmp_path, COGNEE_MEMORY_MAX_WORKER_DEATHS="2")
    job_id = noop(place, sleep_ms=60_000)
    for _ in range(2):
        worker = place.worker().ready()
        running(place, job_id)
        worker.kill()
    with place.worker():
        record = place.ended(job_id)
    assert (record.state, record.error["code"], record.worker_deaths) == ("failed", "POISON", 2)


def test_a_stop_in_order_is_counted_for_nothing(alone: Place) -> None:
    """Long work gives way at its next safe point and is taken up by the next worker."""
    job_id = alone.submit("noop", {"sleep_ms": 5000})
    with alone.worker():
        running(alone, job_id)
    record = alone.record(job_id)
    assert (record.state, record.worker_deaths, record.crashes) == ("queued", 0, 0)
    with alone.worker():
        assert alone.ended(job_id).state == "succeeded"


def test_short_work_starts_beside_long_work(place: Place, worker: RealWorker) -> None:
    """Within a slice of the long work, which goes on afterwards as the same attempt."""
    long = noop(place, sleep_ms=15_000)
    running(place, long)
    short = place.submit("set_status", {"memory_id": "unknown", "status": "Draft"})
    assert place.ended(short).state in ("failed", "retrying")
    assert place.record(long).state == "running"
    after = place.ended(long)
    assert (after.state, len(after.attempts)) == ("succeeded", 1)
