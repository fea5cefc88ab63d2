"""Huey's part: a wake is prompt, higher priority goes first, and a message can do nothing but name a job."""

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness import PATIENCE, at_once, sql

from worker.scheduling.huey_queue import Queue


class Looks:
    """What the queue asked to look at; ``gate`` holds the consumer inside a look."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.times: list[float] = []
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self._changed = threading.Condition()

    def look(self, job_id: str) -> None:
        self.entered.set()
        assert self.gate.wait(PATIENCE)
        with self._changed:
            self.seen.append(job_id)
            self.times.append(time.monotonic())
            self._changed.notify_all()

    def wait(self, count: int) -> list[str]:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.seen) >= count, PATIENCE), self.seen
            return list(self.seen)

    def wait_for(self, job_id: str) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: job_id in self.seen, PATIENCE), self.seen


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "queue.db"


@pytest.fixture
def looks() -> Looks:
    return Looks()


Make = Callable[..., Queue]


@pytest.fixture
def made(path: Path, looks: Looks) -> Iterator[Make]:
    """Makes a queue of jobs that wait, as (id, priority), which is stopped at the end."""
    queues: list[Queue] = []

    def make(*waiting: tuple[str, int], look: Callable[[str], None] = looks.look) -> Queue:
        queues.append(Queue(path, look, lambda: list(waiting)))
        return queues[-1]

    yield make
    looks.gate.set()
    for queue in queues:
        queue.stop()


@pytest.fixture
def queue(made: Make) -> Queue:
    return made()


def messages(path: Path) -> list[bytes]:
    connection = sqlite3.connect(path)
    try:
        return [bytes(row[0]) for row in connection.execute("SELECT data FROM task")]
    finally:
        connection.close()


def test_the_file_is_the_users_alone_and_a_message_is_json_with_a_job_id_only(path: Path, queue: Queue) -> None:
    queue.put("job-1", 5)
    (message,) = messages(path)
    found = json.loads(message)
    assert found["args"] == ["job-1"]
    assert found["kwargs"] in ({}, None)
    assert {file.stat().st_mode & 0o077 for file in path.parent.glob("queue.db*")} == {0}


def test_a_queued_pickle_runs_nothing(path: Path, queue: Queue, looks: Looks, caplog: pytest.LogCaptureFixture) -> None:
    """With Huey's own serializer this would run a program of whoever could write the file."""
    target = path.with_name("owned")
    pickle = b"cos\nsystem\n(S'touch " + str(target).encode() + b"'\ntR."
    queue._huey.storage.enqueue(pickle, 100)
    queue.put("a", 0)
    queue.start()
    assert looks.wait(1) == ["a"]
    assert not target.exists()


def test_jobs_are_looked_at_in_the_order_of_priority_then_of_arrival(queue: Queue, looks: Looks) -> None:
    for job_id, priority in (("low", -10), ("first", 0), ("second", 0), ("high", 20), ("third", 0)):
        queue.put(job_id, priority)
    queue.start()
    assert looks.wait(5) == ["high", "first", "second", "third", "low"]


def test_a_wake_is_prompt(queue: Queue, looks: Looks) -> None:
    """Polling would take 50 ms on the average; most of a hundred wakes take a few."""
    queue.start()
    delays = []
    for number in range(60):
        began = time.monotonic()
        queue.put(str(number), 0)
        looks.wait(number + 1)
        delays.append(looks.times[-1] - began)
    assert sorted(delays)[len(delays) // 2] < 0.025


def test_messages_of_many_threads_all_arrive(queue: Queue, looks: Looks) -> None:
    queue.start()

    def put(start: int) -> None:
        for number in range(start, start + 25):
            queue.put(str(number), 0)

    at_once(put, (0, 25, 50, 75))
    assert sorted(looks.wait(100), key=int) == [str(number) for number in range(100)]


def test_a_look_that_raises_does_not_stop_the_next(made: Make) -> None:
    seen: list[str] = []
    done = threading.Event()

    def look(job_id: str) -> None:
        seen.append(job_id)
        if job_id == "bad":
            raise RuntimeError(job_id)
        done.set()

    queue = made(look=look)
    queue.put("bad", 5)
    queue.put("good", 0)
    queue.start()
    assert done.wait(PATIENCE)
    assert seen == ["bad", "good"]


def test_stopping_lets_the_running_look_finish_and_begins_no_other(queue: Queue, looks: Looks) -> None:
    looks.gate.clear()
    queue.put("a", 5)
    queue.put("b", 0)
    queue.start()
    assert looks.entered.wait(PATIENCE)
    stopping = threading.Thread(target=queue.stop)
    stopping.start()
    assert queue._consumer.stop_flag.wait(PATIENCE)
    assert looks.seen == []
    looks.gate.set()
    stopping.join(PATIENCE)
    assert not stopping.is_alive()
    assert looks.seen == ["a"]


def test_a_new_queue_begins_empty_whatever_lay_there(path: Path, made: Make, looks: Looks) -> None:
    """The records are put into it anew: what an earlier worker left would only be looked at twice."""
    first = made()
    first.put("old", 0)
    first.stop()
    path.write_bytes(b"\0" * 10_000)
    path.with_name("queue.db-wal").write_bytes(b"not a log")
    second = made()
    second.put("new", 0)
    second.start()
    assert looks.wait(1) == ["new"]


def test_stopping_an_idle_queue_is_prompt_and_leaves_no_thread_behind(path: Path, looks: Looks) -> None:
    before = set(threading.enumerate())
    queue = Queue(path, looks.look)
    queue.start()
    queue.put("a", 0)
    looks.wait(1)
    began = time.monotonic()
    queue.stop()
    assert time.monotonic() - began < PATIENCE / 8
    assert [thread for thread in set(threading.enumerate()) - before if thread.is_alive()] == []


def test_a_file_that_breaks_under_a_worker_is_made_anew_with_all_waiting(path: Path, made: Make, looks: Looks) -> None:
    """What waits is the records' to say: the queue may forget a message, never a job."""
    queue = made(("waiting", 0))
    queue.start()
    queue.put("first", 0)
    looks.wait(1)
    sql(path, "DROP TABLE task")
    queue.put("second", 5)
    looks.wait_for("waiting")  # behind "second", if the consumer was the first to notice
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "harm",
    [Path.unlink, lambda path: sql(path, "DROP TABLE task"), lambda path: sql(path, "DELETE FROM task")],
    ids=["removed", "overwritten", "emptied"],
)
def test_a_file_removed_overwritten_or_emptied_under_the_worker_is_found_by_a_look_and_has_everything_that_waits(
    path: Path, made: Make, looks: Looks, harm: Callable[[Path], object]
) -> None:
    """An open database that has no name any more goes on working, and would be lost with the process."""
    queue = made(("first", 0), ("second", 5))
    queue.put("first", 0)
    harm(path)
    queue.reconcile()
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(messages(path)) == 2
    queue.start()
    assert looks.wait(2) == ["second", "first"]


def test_a_queue_that_is_well_is_left_alone(path: Path, looks: Looks) -> None:
    asked: list[int] = []
    queue = Queue(path, looks.look, lambda: asked.append(1) or [("a", 0)])  # type: ignore[func-returns-value]
    queue.put("a", 0)
    for _ in range(3):
        queue.reconcile()
    assert (len(messages(path)), asked) == (1, [])
    queue.stop()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_consumer_whose_thread_died_is_replaced(made: Make, looks: Looks) -> None:
    """Else jobs would be accepted and never run, until somebody restarted the worker."""

    def look(job_id: str) -> None:
        if job_id == "deadly":
            raise SystemExit
        looks.look(job_id)

    queue = made(look=look)
    queue.start()
    (_, thread) = queue._consumer.worker_threads[0]
    queue.put("deadly", 0)
    thread.join(PATIENCE)
    assert not thread.is_alive()
    queue.put("next", 0)
    queue.reconcile()
    assert looks.wait(1) == ["next"]


def test_after_the_end_a_look_at_an_empty_queue_waits_for_nothing(queue: Queue) -> None:
    """The thread may be just about to look when the queue is stopped, and then nobody wakes it any more."""
    queue._huey.storage.end()
    began = time.monotonic()
    assert queue._huey.storage.dequeue() is None
    assert time.monotonic() - began < PATIENCE / 8
