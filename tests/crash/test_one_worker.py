"""One worker a workspace, whoever starts it and however it leaves; and no drop is stranded between two of them."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from harness import PATIENCE, SOAK, Place, until

from jobs import client, launch, spool
from jobs.lock import is_held


def asker(place: Place, job_id: str) -> subprocess.Popen[bytes]:
    """A program that submits a job as all do: it drops, looks whether a worker is there, and starts one if not."""
    code = (
        "import sys; from pathlib import Path; from jobs import client, launch; from jobs.layout import Workspace;"
        "w = Workspace(Path(sys.argv[1]));"
        "client.submit(w.spool, 'noop', {}, job_id=sys.argv[2]);"
        "launch.start(w, leave_when_idle=True)"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, str(place.workspace.root), job_id],
        env=place.environment,
        cwd=Path(__file__).parents[2],
    )


def stop_whoever_works(place: Place) -> None:
    while launch.is_alive(place.workspace):
        pid = place.heartbeat().get("pid")
        if pid is not None:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


@pytest.mark.parametrize("attempt", range(20 if SOAK else 1))
def test_of_two_workers_that_start_at_once_one_works_and_one_says_why_not(place: Place, attempt: int) -> None:
    two = [place.worker(), place.worker()]
    try:
        loser = until(lambda: next((w for w in two if w.process.poll() is not None), None), "one of them gives up")
        winner = two[1 - two.index(loser)].ready()
        loser.said.seek(0)
        assert b"Another worker works on" in loser.said.read()
        assert place.ended(place.submit("noop", {})).attempt == 1
        assert winner.process.poll() is None
    finally:
        for worker in two:
            worker.discard()


def test_a_worker_that_has_nothing_to_do_leaves_by_itself_and_the_next_drop_starts_one(tmp_path: Path) -> None:
    place = Place(tmp_path, COGNEE_MEMORY_WORKER_IDLE_SECONDS="0.2", COGNEE_MEMORY_RESCAN_SECONDS="0.1")
    try:
        for job_id in ("first", "second"):
            assert asker(place, job_id).wait(PATIENCE) == 0
            assert place.ended(job_id).state == "succeeded"
            until(lambda: not is_held(place.spool.lock), "it has left")
            assert place.heartbeat()["state"] == "stopped"
    finally:
        stop_whoever_works(place)


def test_a_worker_that_was_started_by_hand_stays(tmp_path: Path) -> None:
    place = Place(tmp_path, COGNEE_MEMORY_WORKER_IDLE_SECONDS="0.1", COGNEE_MEMORY_RESCAN_SECONDS="0.05")
    with place.worker() as worker:
        uptime = place.heartbeat()["uptime_seconds"]
        until(lambda: place.heartbeat()["uptime_seconds"] > uptime + 1.5, "some time has passed")
        assert worker.process.poll() is None


@pytest.mark.timeout(600)
def test_no_drop_is_stranded_by_workers_that_are_just_leaving(tmp_path: Path) -> None:
    """Workers with next to no patience, and askers that come one after another: each job is run by somebody."""
    place = Place(tmp_path, COGNEE_MEMORY_WORKER_IDLE_SECONDS="0.02", COGNEE_MEMORY_RESCAN_SECONDS="0.02")
    jobs = [f"job-{number:03d}" for number in range(60 if SOAK else 8)]
    try:
        for job_id in jobs:
            assert asker(place, job_id).wait(PATIENCE) == 0
        assert {place.ended(job_id).state for job_id in jobs} == {"succeeded"}
        assert {place.ended(job_id).attempt for job_id in jobs} == {1}
    finally:
        stop_whoever_works(place)


def test_a_drop_beside_a_draining_worker_is_run_by_its_one_successor(place: Place) -> None:
    worker = place.worker().ready()
    try:
        long = place.submit("noop", {"sleep_ms": 5000})
        place.in_state(long, "running")
        client.request(place.spool, "drain")
        until(lambda: place.heartbeat()["state"] == "draining", "it drains")
        askers = [asker(place, f"late-{number}") for number in range(5)]
        assert [each.wait(PATIENCE) for each in askers] == [0] * 5
        assert worker.process.wait(PATIENCE) == 0
        assert place.ended(long).state == "succeeded"
        assert {place.ended(f"late-{number}").state for number in range(5)} == {"succeeded"}
        assert launch.is_alive(place.workspace)
    finally:
        worker.discard()
        stop_whoever_works(place)


def test_a_pause_lets_what_runs_finish_and_lasts_until_it_is_ended(place: Place) -> None:
    place.spool.request("drain").mkdir(parents=True)  # a folder, which is no request, keeps no worker from starting
    with place.worker():
        first = place.submit("noop", {"sleep_ms": 2000})
        place.in_state(first, "running")
        assert place.json("jobs", "pause")["obeyed"]
        assert place.heartbeat()["state"] == "paused"
        assert place.ended(first).state == "succeeded"
        second = place.submit("noop", {})
        assert place.in_state(second, "queued").attempt == 0
    with place.worker_in_state("paused"):
        assert place.record(second).state == "queued"
        assert place.json("jobs", "resume")["obeyed"]
        assert place.ended(second).state == "succeeded"


def test_a_drain_works_off_what_is_due_takes_nothing_more_in_leaves_and_is_not_obeyed_by_the_next(place: Place) -> None:
    with place.worker() as worker:
        due = [place.submit("noop", {"sleep_ms": 100}) for _ in range(3)]
        later = place.submit("noop", {}, not_before="2099-01-01T00:00:00Z")
        for job_id in (*due, later):
            until(lambda job_id=job_id: place.record(job_id), "it is accepted")  # type: ignore[misc]
        assert place.json("jobs", "drain")["drained"]
        assert worker.process.wait(PATIENCE) == 0
        assert {place.ended(job_id).state for job_id in due} == {"succeeded"}
        assert place.record(later).state == "queued"
        assert place.heartbeat()["state"] == "stopped"
    client.request(place.spool, "drain")  # meant for the former worker
    with place.worker() as worker:
        assert place.ended(place.submit("noop", {})).state == "succeeded"
        assert worker.process.poll() is None


@pytest.mark.timeout(600)
def test_what_is_dropped_while_the_worker_stands_still_is_found_when_it_goes_on(tmp_path: Path) -> None:
    """The watcher's queue overflows long before; the scan is the truth."""
    count = 20_000 if SOAK else 1000
    place = Place(tmp_path, COGNEE_MEMORY_MAX_ACTIVE_JOBS="100000")
    with place.worker() as worker:
        worker.process.send_signal(signal.SIGSTOP)
        drops = tmp_path / "drops"
        drops.mkdir()
        for number in range(count):
            job_id = f"job-{number:05d}"
            (drops / job_id).write_text(
                f'{{"schema_version": 1, "job_id": "{job_id}", "kind": "noop", "payload": {{}}}}', "ascii"
            )
            (drops / job_id).rename(place.spool.dropped(job_id))
        worker.process.send_signal(signal.SIGCONT)
        until(lambda: place.heartbeat()["counts"].get("succeeded", 0) >= count, "all have run", seconds=280)
        assert spool.inbox(place.spool) == []
        assert {record.state for record in spool.records(place.spool)} == {"succeeded"}


def test_a_queue_file_that_is_removed_under_the_worker_loses_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.worker():
        place.submit("noop", {"sleep_ms": 2000}, job_id="first")
        place.in_state("first", "running")
        waiting = [place.submit("noop", {}) for _ in range(10)]
        for path in place.spool.worker.glob("queue.db*"):
            path.unlink()
        assert {place.ended(job_id).state for job_id in waiting} == {"succeeded"}
        assert place.ended(place.submit("noop", {})).state == "succeeded"


def test_a_folder_that_cannot_be_written_stops_the_worker_for_as_long_as_it_is_so(place: Place) -> None:
    """Whoever may write anything is stopped by a file in the folder's place all the same."""
    with place.worker() as worker:
        moved = place.workspace.root / "moved"
        shutil.move(place.spool.results, moved)
        place.spool.results.write_bytes(b"")
        job_id = place.submit("noop", {})
        until(lambda: "Not a directory" in place.log(), "it says so")
        assert place.spool.dropped(job_id).exists()
        place.spool.results.unlink()
        shutil.move(moved, place.spool.results)
        assert place.ended(job_id).state == "succeeded"
        assert worker.process.poll() is None
