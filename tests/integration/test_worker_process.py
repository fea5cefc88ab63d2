"""The worker as a process: it takes up what is dropped, survives what kills it, and leaves when asked.

Real processes, real signals. Jobs of the kind noop need no cognee, so these tests are about the engine alone.
"""

import json
import os
import select
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import PATIENCE, Place, RealWorker, git, is_running, processes, until
from inbox_door import file_of

from bridge.settings import load
from jobs import launch
from jobs.kinds import KINDS
from jobs.lock import is_held
from jobs.model import Record
from worker.app import Worker
from worker.inbox.watcher import Watcher

# Long enough that what is seen sooner was seen by an event.
RESCAN = 60.0


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, RealWorker]]:
    """A worker that the tests share which neither stop nor kill it."""
    place = Place(tmp_path_factory.mktemp("shared"), COGNEE_MEMORY_RESCAN_SECONDS=str(RESCAN))
    with place.worker() as worker:
        yield place, worker


@pytest.fixture
def shared(running: tuple[Place, RealWorker]) -> Place:
    return running[0]


def busy(place: Place, worker: RealWorker, sleep_ms: int) -> tuple[str, int]:
    """A job that runs for so long, and the process id of the child that it runs in."""
    job_id = place.submit("noop", {"sleep_ms": sleep_ms})
    place.in_state(job_id, "running")
    place.executing(job_id)
    (child,) = until(worker.children, "the child is there")
    return job_id, child


def outcomes(record: Record) -> list[str | None]:
    return [attempt.outcome for attempt in record.attempts]


# --- taking up ---


def test_a_drop_is_taken_up_by_its_event_within_milliseconds(shared: Place) -> None:
    """A poller sees the record typically within 50 ms; a rescan would take a minute here."""
    delays = []
    for number in range(25):
        job_id = f"prompt-{number}"
        began = time.monotonic()
        shared.submit("noop", {}, job_id=job_id)
        until(lambda job_id=job_id: shared.record(job_id), "the record is there", RESCAN / 2)  # type: ignore[misc]
        delays.append(time.monotonic() - began)
        shared.ended(job_id)
    assert statistics.median(delays) < 0.05
    assert max(delays) < RESCAN / 10


def test_a_file_that_is_written_in_place_is_taken_up_when_it_is_whole(shared: Place) -> None:
    """A writer that does not rename: the event of its closing is enough."""
    job = file_of("in-place")
    with shared.spool.dropped("in-place").open("wb", buffering=0) as file:
        file.write(job[:20])
        file.write(job[20:])
    assert shared.ended("in-place", RESCAN / 2).state == "succeeded"


def test_a_file_that_is_still_being_written_is_left_alone_until_it_is_whole(shared: Place) -> None:
    """No event tells of the rest: the writer keeps the file open."""
    job = file_of("slow-writer")
    with shared.spool.dropped("slow-writer").open("wb", buffering=0) as file:
        file.write(job[:30])
        shared.ended(shared.submit("noop", {}, job_id="zz-after-it"))  # names are looked at in order
        assert shared.spool.dropped("slow-writer").exists()
        file.write(job[30:])
        assert shared.ended("slow-writer", RESCAN / 2).state == "succeeded"


def test_a_drop_whose_event_was_lost_is_found_by_the_rescan(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """An overflow, a network mount: the folder is what counts."""
    place.as_ours(monkeypatch)
    monkeypatch.setattr(Watcher, "start", lambda self: None)
    worker = Worker(place.workspace, load({"rescan_seconds": 0.05}))
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        until(lambda: place.heartbeat().get("state") == "ready", "the worker is ready")
        assert place.ended(place.submit("noop", {})).state == "succeeded"
    finally:
        worker.stop()
        thread.join(PATIENCE)
    assert not thread.is_alive()


def test_what_was_dropped_before_and_during_the_start_is_found(place: Place) -> None:
    ids = [place.submit("noop", {}) for _ in range(3)]
    worker = place.worker()

    def ready() -> bool:
        ids.append(place.submit("noop", {}))
        return place.heartbeat().get("state") == "ready"

    try:
        until(ready, "the worker is ready")
    finally:
        with worker:
            assert {place.ended(job_id).state for job_id in ids} == {"succeeded"}


# --- the heartbeat and the log ---


def test_the_heartbeat_says_who_works_and_how_it_goes(shared: Place, running: tuple[Place, RealWorker]) -> None:
    job_id, _ = busy(shared, running[1], 1_500)
    waiting = shared.submit("noop", {})

    def look() -> dict[str, object] | None:
        beat = shared.heartbeat()  # the first ones may be of before
        return beat if [each["job_id"] for each in beat["in_flight"]] == [job_id] and beat["counts"]["queued"] else None

    beat = until(look, "the heartbeat shows the running and the waiting job")
    assert beat["pid"] == running[1].process.pid
    assert beat["state"] == "ready"
    assert beat["workspace"] == str(shared.workspace.root)
    assert beat["embedder"] == "fastembed/sentence-transformers/all-MiniLM-L6-v2:int8/384"
    assert beat["llm_configured"] is False
    assert beat["counts"]["running"] == 1
    assert beat["oldest_waiting_seconds"] >= 0
    (flying,) = beat["in_flight"]
    assert (flying["kind"], flying["jobs"]) == ("noop", 1)
    assert {"worker_id", "boot_id", "version", "started_at", "heartbeat_at", "uptime_seconds"} <= set(beat)
    assert {"graph_lag", "http"} <= set(beat)
    shared.ended(waiting)
    until(lambda: shared.heartbeat()["in_flight"] == [], "nothing is in flight")


def test_the_log_names_jobs_and_holds_none_of_their_text(shared: Place) -> None:
    job_id = shared.submit("ingest", {"summary": {"topic": "secret-topic-7", "contexxt": "x"}})
    assert shared.ended(job_id).state == "rejected"
    until(lambda: job_id in shared.log(), "the log names the job")
    assert "secret-topic-7" not in shared.log()


def test_a_log_is_followed_until_nobody_reads_any_more(shared: Place) -> None:
    root = str(shared.workspace.root)
    command = [sys.executable, "-m", "worker.cli", "worker", "logs", "--follow", "--lines", "0", "--json"]
    follow = subprocess.Popen(
        [*command, "--workspace", root], env=shared.environment, cwd=root, stdout=subprocess.PIPE, text=True
    )
    with follow:

        def noticed() -> None:
            """It may begin to look after the first drop."""
            shared.ended(shared.submit("noop", {}))

        noticed()
        until(lambda: (noticed(), select.select([follow.stdout], [], [], 0)[0])[1], "a line came")
        assert "kind=noop" in json.loads(follow.stdout.readline())["line"]
        follow.stdout.close()
        until(lambda: (noticed(), follow.poll() is not None)[1], "it ends with its reader")
        assert follow.returncode == 0


def test_what_the_worker_writes_is_the_users_alone(shared: Place) -> None:
    for path in [shared.spool.root, *shared.spool.root.rglob("*")]:
        if path.name != "start.log":
            assert path.stat().st_mode & 0o077 == 0, path


def test_an_idle_worker_holds_neither_cognee_nor_a_model(running: tuple[Place, RealWorker]) -> None:
    mapped = Path(f"/proc/{running[1].process.pid}/maps").read_text("utf-8", "replace")
    for library in ("onnxruntime", "lancedb", "ladybug", "torch", "tokenizers", "numpy"):
        assert library not in mapped
    done = running[0].python("-c", "import sys, worker.daemon, worker.app; print(*sys.modules)")
    loaded = done.stdout.split()
    assert "worker.app" in loaded, done.stderr
    for part in (
        *("cognee", "numpy", "redis", "psycopg", "pydantic"),
        *("bridge.store.store", "bridge.compaction", "bridge.search", "bridge.operations"),
    ):
        assert not [name for name in loaded if name == part or name.startswith(f"{part}.")]


def test_no_operation_but_those_on_the_graph_imports_cognee(tmp_path: Path) -> None:
    modules = ", ".join(f"bridge.operations.{kind.module}" for kind in KINDS)
    done = Place(tmp_path).python("-c", f"import sys, worker.child.main, {modules}; print(*sys.modules)")
    loaded = done.stdout.split()
    assert "bridge.operations.ingest" in loaded, done.stderr
    assert not [name for name in loaded if name.partition(".")[0] in ("cognee", "lancedb", "ladybug", "litellm")]


def test_an_idle_child_is_given_back_the_heartbeat_goes_on_and_a_worker_without_its_lock_leaves(tmp_path: Path) -> None:
    """Somebody deleted the folder of the lock: a second worker could come, and two must never work side by side."""
    soon = ("CHILD_IDLE", "RESCAN", "HEARTBEAT")
    place = Place(tmp_path, **{f"COGNEE_MEMORY_{name}_SECONDS": "0.1" for name in soon})
    with place.worker() as worker:
        first = place.heartbeat()["heartbeat_at"]
        until(lambda: place.heartbeat()["heartbeat_at"] > first, "another heartbeat, without a change")
        job_id, child = busy(place, worker, 10)
        assert place.ended(job_id).state == "succeeded"
        until(lambda: not is_running(child), "the child has ended")
        assert place.ended(place.submit("noop", {})).state == "succeeded"
        place.spool.lock.unlink()
        assert worker.process.wait(PATIENCE) == 0


# --- one worker ---


def test_a_second_worker_is_refused(shared: Place, running: tuple[Place, RealWorker]) -> None:
    done = shared.python("-m", "worker", "--workspace", str(shared.workspace.root))
    assert done.returncode == 1
    assert "Another worker works on" in done.stderr
    found = shared.json("worker")
    assert (found["success"], found["error_code"]) == (False, "WORKER_RUNNING")
    assert running[1].process.poll() is None
    assert shared.ended(shared.submit("noop", {})).state == "succeeded"


def test_five_who_start_at_once_get_one_worker_between_them(place: Place) -> None:
    job_id = place.submit("noop", {})
    code = f"""
from pathlib import Path
from jobs import launch
from jobs.layout import Workspace
print(launch.start(Workspace(Path({str(place.workspace.root)!r}))))
"""
    starters = [
        subprocess.Popen(
            [sys.executable, "-c", code], env=place.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(5)
    ]
    try:
        said = [starter.communicate(timeout=PATIENCE) for starter in starters]
        assert [error for _, error in said if error] == []
        assert all(starter.returncode == 0 for starter in starters)
        assert b"True\n" in [output for output, _ in said]
        assert place.ended(job_id).state == "succeeded"
        until(lambda: len(_workers_of(place)) == 1, "one worker is left")
        assert launch.start(place.workspace) is False
    finally:
        for starter in starters:
            starter.kill()
        place.cli("worker", "stop")
    until(lambda: not _workers_of(place), "no worker is left")


def _workers_of(place: Place) -> list[int]:
    command = {b"worker", os.fsencode(place.workspace.root)}
    return [pid for pid, words in processes("cmdline") if command <= {*words.split(b"\0")}]


# --- leaving ---


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_the_running_job_finish_and_begins_no_other(place: Place, number: signal.Signals) -> None:
    place.environment["COGNEE_MEMORY_SLICE_SECONDS"] = "60"  # it is no long work, also on a busy machine
    with place.worker() as worker:
        running, child = busy(place, worker, 1_000)
        waiting = place.submit("noop", {})
        place.in_state(waiting, "queued")
        assert worker.stop(number) == 0
        assert not is_held(place.spool.lock)
        record = place.record(running)
        assert (record.state, outcomes(record)) == ("succeeded", ["succeeded"])
        after = place.record(waiting)
        assert (after.state, after.attempts) == ("queued", ())
        assert place.heartbeat()["state"] == "stopped"
        assert not is_running(child)
    with place.worker():
        assert place.ended(waiting).state == "succeeded"


def test_a_second_signal_does_not_wait_for_the_running_job_which_is_taken_up_again(place: Place) -> None:
    with place.worker() as worker:
        running, child = busy(place, worker, 600_000)
        worker.process.send_signal(signal.SIGINT)
        until(lambda: place.heartbeat()["state"] == "exiting", "the first signal was heard")
        worker.process.send_signal(signal.SIGINT)
        assert worker.process.wait(PATIENCE) == 0
        assert not is_running(child)
    record = place.record(running)
    assert (record.state, outcomes(record)) == ("queued", ["interrupted"])


def test_a_signal_is_heard_wherever_the_worker_is_just_then(place: Place) -> None:
    """A handler that ran inside the main thread would wait for ever for a lock which that thread holds."""
    code = """
import os, signal, sys
from pathlib import Path
from bridge.settings import load
from jobs.layout import Workspace
from worker import app, daemon

class Busy(app.Worker):
    def run(self):
        for event in (self._wake, self._stop, self._runner.stopping):
            with event._cond:
                os.kill(os.getpid(), signal.SIGTERM)
        assert self._stop.wait(30)
        print("heard")

app.Worker = Busy
sys.exit(daemon.serve(Workspace(Path(sys.argv[1])), load(), foreground=False))
"""
    done = place.python("-c", code, str(place.workspace.root))
    assert (done.stdout, done.returncode) == ("heard\n", 0), done.stderr


def test_a_worker_stops_when_git_begins_to_track_a_store(place: Place) -> None:
    """A pull replaces ignored files without a question, so the store may be somebody else's by now."""
    root = place.workspace.root
    git(root, "init", "-q", ".")
    with place.worker() as worker:
        running = place.submit("noop", {"sleep_ms": 600_000})
        place.executing(running)
        (root / "main.py").touch()
        git(root, "add", "main.py")
        place.in_state(place.submit("noop", {}), "queued")  # other changes stop nothing
        place.workspace.receipts.mkdir(exist_ok=True)
        (place.workspace.receipts / "pulled.json").touch()
        git(root, "add", "-f", ".cognee_memory/receipts/pulled.json")
        assert worker.process.wait(PATIENCE) == 0
        assert "git tracks .cognee_memory/receipts/pulled.json" in place.log()
    assert place.record(running).state in ("queued", "retrying")  # the child may have seen it before the worker
    assert place.json("ingest", "a", "b")["error_code"] == "WORKSPACE_NOT_TRUSTED"
    git(root, "rm", "-rq", "--cached", ".cognee_memory")
    with place.worker():
        place.executing(running)


def test_stopping_by_command_returns_when_the_worker_has_gone(place: Place) -> None:
    with place.worker() as worker:
        assert place.json("worker", "stop") == {"success": True, "stopped": True}
        assert worker.process.wait(PATIENCE) == 0
    assert place.cli("worker", "status", "--json").returncode == 3


# --- dying ---


def test_after_a_kill_the_child_ends_and_every_job_is_finished_once_even_if_the_queue_was_deleted(place: Place) -> None:
    """The child in the middle of a job or idle: nobody would take its answer."""
    with place.worker() as worker:
        running, child = busy(place, worker, 2_000)
        waiting = [place.submit("noop", {}) for _ in range(10)]
        place.in_state(waiting[-1], "queued")
        worker.kill()
        until(lambda: not is_running(child), "the child has ended", 20)
    assert place.in_state(running, "running").attempt == 1
    assert place.spool.lock.exists()
    assert place.json("status")["worker"]["alive"] is False, "nobody holds it"
    with place.worker() as worker:
        record = place.ended(running)
        assert (record.state, outcomes(record)) == ("succeeded", ["worker_died", "succeeded"])
        assert (record.worker_deaths, record.crashes, record.errors) == (1, 0, 0)
        for job_id in waiting:
            assert outcomes(place.ended(job_id)) == ["succeeded"]
        busy(place, worker, 800)
        waiting = [place.submit("noop", {}) for _ in range(5)]
        place.in_state(waiting[-1], "queued")
        worker.kill()
    for path in place.spool.worker.glob("queue.db*"):
        path.unlink()
    with place.worker() as worker:
        assert {place.ended(job_id).state for job_id in waiting} == {"succeeded"}
        (child,) = until(worker.children, "the child is there, idle")
        worker.kill()
        until(lambda: not is_running(child), "the child has ended", 20)
