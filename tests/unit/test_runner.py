"""What the runner makes of a job whatever goes wrong beside it: each that was started is brought to a next state."""

import errno
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from harness import raising, until
from inbox_door import job_of

from bridge.settings import Settings
from jobs import clock, files, lifecycle, spool
from jobs.layout import SpoolPaths
from jobs.model import Record
from worker.child import process
from worker.child.supervisor import ChildEnded
from worker.scheduling import recovery
from worker.scheduling.ledger import Ledger
from worker.scheduling.runnable_jobs import LocalJobs, read_executing
from worker.scheduling.runner import MAINTENANCE, Runner

Request = dict[str, Any]
Answer = Callable[[Request, dict[str, Any]], dict[str, Any]]


class ChildInName:
    """Answers as it is told."""

    should_recycle = False
    pid: int | None = 1

    def is_idle(self, seconds: float) -> bool:
        return False

    def __init__(self) -> None:
        self.ended: list[str] = []
        self.answer: Answer = lambda request, options: succeeded(request)

    def ask(self, request: Request, progress: object = None, **options: Any) -> dict[str, Any]:
        return self.answer(request, options)

    def end(self, why: str) -> None:
        self.ended.append(why)

    def stop(self, *, why: str) -> None:
        self.ended.append(why)


def succeeded(request: Request) -> dict[str, Any]:
    return {"outcomes": {job["job_id"]: {"result": {}} for job in request["jobs"]}, "graph_lag": 0}


class Bench:
    """A runner over a spool, and a child that answers as it is told."""

    def __init__(self, folder: Path) -> None:
        self.place = SpoolPaths(folder)
        spool.prepare(self.place)
        self.now = clock.now()
        self.stands: Callable[[Record], bool] = lambda record: False
        self.ledger = Ledger(self.place, [], now=self.clock, has_committed=lambda record: self.stands(record))
        self.child = ChildInName()
        self.woken = 0
        self.runner = Runner(
            LocalJobs(self.place, self.ledger), self.child,  # type: ignore[arg-type]
            Settings(batch_size=4), now=self.clock, on_requeued=self.wake,
        )  # fmt: skip

    def clock(self) -> datetime:
        return self.now

    def wake(self) -> None:
        self.woken += 1

    def accept(self, job_id: str, kind: str = "noop", payload: object = None, **fields: Any) -> None:
        job = job_of(job_id, kind, payload, **fields)
        self.ledger.accept([(job, lifecycle.accept(job, self.now))])

    def run(self, job_id: str, answer: Answer | None = None) -> Record:
        """Run it with a child that answers so from now on; returns its record."""
        self.child.answer = answer or self.child.answer
        self.runner.run_if_due(job_id)
        return self.record(job_id)

    def record(self, job_id: str) -> Record:
        return spool.read_record(self.place, job_id)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "spool")


@pytest.fixture
def ready(bench: Bench) -> Bench:
    """With the accepted job a."""
    bench.accept("a")
    return bench


def test_a_cancelled_job_of_which_nobody_can_say_whether_its_effect_stands_goes_on(ready: Bench) -> None:
    """A store that fails with whatever it may must not leave the job running without a process for ever."""

    def cancelled(request: Request, options: dict[str, Any]) -> dict[str, Any]:
        assert ready.runner.cancel("a") == "running"
        ready.stands = raising(PermissionError(errno.EACCES, "no"))
        raise ChildEnded("cancelled")

    ready.run("a", cancelled)
    assert (ready.record("a").state, ready.child.ended) == ("queued", ["cancelled"])
    assert [record.job_id for record in ready.ledger.take_announced()] == ["a"]


def tried(bench: Bench, times: int) -> Record:
    """The record of a job that was tried so often; six times is more than an error may be."""
    for _ in range(times):
        bench.runner.run_if_due("a")
        bench.now += timedelta(hours=1)
    return bench.record("a")


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EIO, errno.EACCES])
def test_a_copy_not_readable_now_is_waited_for(ready: Bench, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """It was accepted: too many open files must not make an end of it."""
    ready.ledger.take_announced()
    with monkeypatch.context() as broken:
        broken.setattr(spool, "read_copy", raising(OSError(number, "not now")))
        record = tried(ready, 6)
    assert (record.state, record.error["code"], record.errors) == ("retrying", "SYSTEM_BUSY", 0)
    assert ready.woken == 6, "somebody puts it into the queue when it is due"
    assert ready.run("a").state == "succeeded"


def test_a_child_that_the_system_does_not_start_costs_no_job_its_life(ready: Bench) -> None:

    ready.child.answer = raising(BlockingIOError(errno.EAGAIN, "no more processes"))
    record = tried(ready, 6)
    assert (record.state, record.error["code"], record.errors) == ("retrying", "SYSTEM_BUSY", 0)


def test_a_message_that_came_too_early_since_the_clock_was_set_back_is_repeated(bench: Bench) -> None:
    """The clock goes back a little between "it is due" and the look, and forward again: no pause of minutes."""
    due = bench.now + timedelta(seconds=10)
    bench.accept("a", not_before=clock.iso(due))
    bench.now = due + timedelta(milliseconds=100)
    assert [record.job_id for record in bench.ledger.take_announced()] == ["a"]

    bench.now = due - timedelta(milliseconds=100)
    assert bench.runner.is_stale("a")
    bench.now = due + timedelta(milliseconds=200)
    assert [record.job_id for record in bench.ledger.take_announced()] == ["a"]
    assert not bench.runner.is_stale("a")


def test_long_work_that_is_not_trusted_with_others_stops_with_the_worker_all_the_same(bench: Bench) -> None:
    bench.accept("long", "rebuild", {"what": "index"})
    bench.accept("short", "ask", {"question": "?"})
    bench.ledger.apply({"long": lifecycle.Started()})
    bench.ledger.apply({"long": lifecycle.Crashed()})
    bench.now += timedelta(hours=1)

    def gives_way(request: Request, options: dict[str, Any]) -> dict[str, Any]:
        options["on_pause"]()
        assert bench.child.ended == []
        assert bench.record("short").state == "queued"
        bench.runner.stopping.set()
        options["on_pause"]()
        raise ChildEnded("stopped")

    bench.run("long", gives_way)
    assert (bench.child.ended, bench.record("long").state, bench.record("long").crashes) == (["stopped"], "queued", 1)


def test_a_long_comparison_lets_short_jobs_in_between_but_not_itself_and_no_forgetting(bench: Bench) -> None:
    """A forgetting would change what the comparison has read."""
    for job_id in ("long", "other"):
        bench.accept(job_id, "compact", {"topic_id": job_id})
    bench.accept("short", "ask", {"question": "?"})
    bench.accept("forget", "forget", {"topic_id": "long"})

    def gives_way(request: Request, options: dict[str, Any]) -> dict[str, Any]:
        if request["jobs"][0]["job_id"] == "long":
            options["on_pause"]()
            states = [bench.record(job_id).state for job_id in ("other", "short", "forget")]
            assert states == ["succeeded", "succeeded", "queued"]
        else:
            assert options["on_pause"] is None
        return succeeded(request)

    assert bench.run("long", gives_way).state == "succeeded"


@pytest.mark.parametrize("held", ["paused", "stopping"])
def test_a_paused_or_stopping_runner_begins_nothing_not_even_in_a_pause_of_long_work(bench: Bench, held: str) -> None:
    bench.accept("long", "rebuild", {"what": "index"})
    bench.accept("short", "ask", {"question": "?"})

    def gives_way(request: Request, options: dict[str, Any]) -> dict[str, Any]:
        getattr(bench.runner, held).set()
        options["on_pause"]()
        return succeeded(request)

    bench.child.answer = gives_way
    bench.runner.run_if_due("long")
    bench.runner.run_if_due("short")
    assert [bench.record(job_id).state for job_id in ("long", "short")] == ["succeeded", "queued"]


class UpkeepInName:
    """Says that the graph is due, and notes what failed."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.failures = 0

    def is_due(self, changes: int, idle_seconds: float) -> bool:
        self.asked.append(changes)
        return changes > 1

    def failed(self) -> None:
        self.failures += 1


def test_without_a_job_the_graph_gets_slice_by_slice_what_it_lacks(bench: Bench) -> None:
    lags = iter([40, 10, 0])
    upkeep = bench.runner._upkeep = UpkeepInName()  # type: ignore[assignment]
    bench.child.answer = lambda request, options: {"outcomes": {}, "graph_lag": next(lags)}
    bench.runner.graph_lag = 70
    assert bench.runner.wants_maintenance
    bench.runner.run_if_due(MAINTENANCE)
    assert (bench.runner.graph_lag, upkeep.failures) == (0, 0)
    assert bench.child.ended == ["idle"], "it has loaded cognee, and nothing needs that now"
    assert not bench.runner.wants_maintenance


def test_what_another_child_left_uncompared_is_compared_without_a_job_as_long_as_it_gets_less(bench: Bench) -> None:
    asked: list[str] = []
    left = iter([9, 5, 5])
    bench.child.answer = lambda request, options: asked.append(request["kind"]) or succeeded(request)
    bench.child.is_idle = lambda seconds: True  # type: ignore[method-assign]
    bench.runner._uncompared, bench.runner.has_uncompared = lambda: next(left), True
    while bench.runner.has_uncompared:
        bench.runner.run_if_due(MAINTENANCE)
    assert (asked, bench.child.ended) == (["@compare"] * 3, ["idle"] * 3)


def test_a_job_that_comes_while_the_graph_is_brought_up_to_date_waits_for_one_slice(bench: Bench) -> None:
    asked: list[str] = []

    def answer(request: Request, options: dict[str, Any]) -> dict[str, Any]:
        asked.append(request["kind"])
        assert bench.runner.is_delivering
        bench.accept("long", "rebuild", {"what": "index"})
        return {"outcomes": {}, "graph_lag": 60}

    bench.runner._upkeep = UpkeepInName()  # type: ignore[assignment]
    bench.child.answer = answer
    bench.runner.graph_lag = 70
    bench.runner.run_if_due(MAINTENANCE)
    assert (asked, bench.runner.graph_lag, bench.runner.is_delivering) == (["@pay"], 60, False)


@pytest.mark.parametrize("dies", [False, True])
def test_a_graph_that_cannot_be_brought_up_to_date_is_left_alone_for_a_while(bench: Bench, dies: bool) -> None:
    def answer(request: Request, options: dict[str, Any]) -> dict[str, Any]:
        if dies:
            raise ChildEnded("died")
        return {"outcomes": {}, "graph_lag": 70}

    upkeep = bench.runner._upkeep = UpkeepInName()  # type: ignore[assignment]
    bench.child.answer = answer
    bench.runner.graph_lag = 70
    bench.runner.run_if_due(MAINTENANCE)
    assert (upkeep.failures, bench.runner.is_delivering) == (1, False)


def test_a_cancellation_at_any_instant_is_heeded_or_answered_with_ask_again(bench: Bench) -> None:
    """Before the start, after it, while the child works, and when it has answered."""
    bench.accept("before")
    assert bench.runner.cancel("before") == "cancelled"
    assert bench.run("before").state == "cancelled"

    bench.accept("started")
    bench.ledger.apply({"started": lifecycle.Started()})
    assert (bench.runner.cancel("started"), bench.child.ended) == ("running", [])

    bench.accept("working")

    def working(request: Request, options: dict[str, Any]) -> dict[str, Any]:
        assert not options["is_cancelled"]()
        assert [bench.runner.cancel("working") for _ in range(2)] == ["running", "running"]
        assert options["is_cancelled"]()
        raise ChildEnded("cancelled")

    bench.run("working", working)
    assert (bench.record("working").state, bench.runner.cancel("working")) == ("cancelled", "ended")

    bench.accept("answered")

    def answered(request: Request, options: dict[str, Any]) -> dict[str, Any]:
        assert bench.runner.cancel("answered") == "running"
        return succeeded(request)

    bench.run("answered", answered)
    assert (bench.record("answered").state, bench.runner.cancel("answered")) == ("succeeded", "ended")
    bench.accept("next")
    assert bench.run("next", lambda request, options: succeeded(request)).state == "succeeded", (
        "nothing is left of the former cancellation"
    )


def test_what_stands_is_asked_again_after_the_child_has_ended(ready: Bench) -> None:
    """It may have committed between the cancellation and its end."""

    def commits(request: Request, options: dict[str, Any]) -> dict[str, Any]:
        assert ready.runner.cancel("a") == "running"
        ready.stands = lambda record: True
        raise ChildEnded("cancelled")

    assert ready.run("a", commits).state == "queued"
    assert ready.runner.cancel("a") == "too late"


@pytest.mark.parametrize("which", ["outer", "inner"])
def test_cancelling_one_of_two_nested_jobs_costs_the_other_nothing(bench: Bench, which: str) -> None:
    bench.accept("outer", "rebuild", {"what": "index"})
    bench.accept("inner", "ask", {"question": "?"})

    def nested(request: Request, options: dict[str, Any]) -> dict[str, Any]:
        if request["kind"] == "rebuild":
            options["on_pause"]()
            raise ChildEnded("cancelled", in_pause=True)  # the process that it had is gone
        assert bench.runner.cancel(which) == "running"
        bench.child.pid = None
        raise ChildEnded("cancelled")

    bench.run("outer", nested)
    other = "inner" if which == "outer" else "outer"
    record = bench.record(other)
    assert bench.record(which).state == "cancelled"
    assert (record.state, record.crashes, record.errors, record.attempts[-1].error_code) == ("queued", 0, 0, None)
    assert lifecycle.max_batch_size(record, 2) == 2
    assert bench.runner.running == ()


def test_a_cancellation_and_a_timeout_at_once_are_a_cancellation(ready: Bench) -> None:

    def both(request: Request, options: dict[str, Any]) -> dict[str, Any]:
        ready.runner.cancel("a")
        raise ChildEnded("timeout")

    assert ready.run("a", both).state == "cancelled"


def test_a_cancellation_from_another_thread_waits_for_no_child(ready: Bench) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def slow(request: Request, options: dict[str, Any]) -> dict[str, Any]:
        inside.set()
        assert go_on.wait(30)
        return succeeded(request)

    ready.child.answer = slow
    thread = threading.Thread(target=ready.runner.run_if_due, args=("a",))
    thread.start()
    try:
        assert inside.wait(30)
        assert ready.runner.cancel("a") == "running"
        assert ready.child.ended == ["cancelled"]
    finally:
        go_on.set()
        thread.join()
    until(lambda: ready.record("a").ended, "the job ends as it did")
    assert ready.record("a").state == "succeeded"


def test_a_job_that_its_operation_left_without_an_outcome_does_not_go_round_for_ever(ready: Bench) -> None:
    ready.child.answer = lambda request, options: {"outcomes": {}, "graph_lag": 0}
    record = tried(ready, 4)
    assert (record.state, record.error["code"]) == ("failed", "INTERNAL")


@pytest.mark.parametrize("stands", [True, False])
def test_a_job_that_ran_out_of_time_says_whether_its_effect_stands(bench: Bench, stands: bool) -> None:
    """A failed job whose memory is found all the same would be a status that lies."""
    bench.accept("a", max_attempts=1)

    def timed_out(request: Request, options: dict[str, Any]) -> dict[str, Any]:
        bench.stands = lambda record: stands
        raise ChildEnded("timeout")

    error = bench.run("a", timed_out).error
    assert (error["code"], "its effect is committed" in error["message"]) == ("JOB_TIMEOUT", stands)


@pytest.mark.parametrize("why", ["died", "memory", "timeout"])
def test_a_child_that_cannot_load_ends_no_job_and_the_record_says_what_waits(ready: Bench, why: process.Why) -> None:
    """As after an upgrade under a running worker, whose child does not find its modules."""

    ready.child.answer = raising(ChildEnded(why, executing=False))
    for number in range(6):
        ready.runner.run_if_due("a")
        record = ready.record("a")
        assert record.next_attempt_at is not None, "it waits longer each time"
        assert (record.attempt, record.attempts[-1].repeats) == (number + 1, number + 1)
        ready.now += timedelta(hours=1)
    assert (record.state, record.error["code"], record.errors, record.crashes) == (
        "retrying", "CHILD_START_FAILED", 0, 0,
    )  # fmt: skip
    assert "loading" in record.error["message"]


def test_which_jobs_are_executed_is_on_the_disk_while_they_are(ready: Bench) -> None:
    """Recovery reads it after a death of the worker, which it counts against these jobs alone."""
    noted = []

    def runs(request: Request, options: dict[str, Any]) -> dict[str, Any]:
        for is_executing in (True, False, True):
            options["on_executing"](is_executing)
            noted.append(read_executing(ready.place))
        return succeeded(request)

    ready.run("a", runs)
    assert noted == [{"a": (1, 1)}, {}, {"a": (1, 1)}]
    ready.accept("b")
    ready.runner.run_if_due("b")
    assert noted[3] == {"b": (1, 1)}


class Backlog:
    """Twelve waiting jobs, three batches, and what the records say while the child runs each."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.ids = [f"{number:02}" for number in range(12)]
        self.seen: list[list[str]] = []
        for job_id in self.ids:
            bench.accept(job_id)
        bench.child.answer = self.answer
        bench.runner.run_if_due("00")

    def states(self) -> list[str]:
        states = [self.bench.record(job_id).state for job_id in self.ids]
        return ["".join(state[0] for state in states[at : at + 4]) for at in (0, 4, 8)]

    def answer(self, request: Request, options: dict[str, Any]) -> dict[str, Any]:
        options["on_executing"](True)
        self.seen.append(self.states())
        return succeeded(request)


def test_while_the_child_runs_a_batch_the_next_is_started_and_the_one_before_is_written(bench: Bench) -> None:
    backlog = Backlog(bench)
    assert backlog.seen == [["rrrr", "rrrr", "qqqq"], ["ssss", "rrrr", "rrrr"], ["ssss", "ssss", "rrrr"]]
    assert backlog.states() == ["ssss"] * 3


@pytest.mark.parametrize("why", ["stopping", "paused"])
def test_jobs_started_ahead_wait_once_none_may_start(bench: Bench, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    halted: threading.Event = getattr(bench.runner, why)
    monkeypatch.setattr(Backlog, "answer", lambda self, request, options: answer(self, request, options))

    def answer(backlog: Backlog, request: Request, options: dict[str, Any]) -> dict[str, Any]:
        options["on_executing"](True)
        halted.set()
        return succeeded(request)

    assert Backlog(bench).states() == ["ssss", "qqqq", "qqqq"]
    assert (bench.record("04").attempts[0].outcome, bench.woken) == ("interrupted", 4)


def test_a_job_started_ahead_is_cancelled_at_once_and_not_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    told = Backlog.answer

    def answer(backlog: Backlog, request: Request, options: dict[str, Any]) -> dict[str, Any]:
        asked.extend(job["job_id"] for job in request["jobs"])
        said = told(backlog, request, options)
        if len(backlog.seen) == 1:
            assert bench.runner.cancel("05") == "cancelled"
        return said

    monkeypatch.setattr(Backlog, "answer", answer)
    assert Backlog(bench).states() == ["ssss", "scss", "ssss"]
    assert (asked, bench.child.ended) == ([f"{number:02}" for number in range(12) if number != 5], [])


def test_once_a_batch_died_what_started_ahead_runs_in_the_next(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Backlog.answer

    def answer(backlog: Backlog, request: Request, options: dict[str, Any]) -> dict[str, Any]:
        said = told(backlog, request, options)
        if len(backlog.seen) == 1:
            raise ChildEnded("died")
        return said

    monkeypatch.setattr(Backlog, "answer", answer)
    backlog = Backlog(bench)
    assert backlog.seen[1] == ["qqqq", "rrrr", "qqqq"]
    assert [bench.record("00").attempts[0].together, bench.record("04").attempts[0].outcome] == [4, "succeeded"]


def test_a_note_that_cannot_be_written_stops_no_job(ready: Bench, monkeypatch: pytest.MonkeyPatch) -> None:

    def runs(request: Request, options: dict[str, Any]) -> dict[str, Any]:
        options["on_executing"](True)
        return succeeded(request)

    monkeypatch.setattr(files, "replace_without_sync", raising(OSError(errno.ENOSPC, "full")))
    assert ready.run("a", runs).state == "succeeded"


UNREADABLE = [
    {},
    {"outcomes": {"a": {"result": {}}}},
    {"outcomes": {"a": {"neither": 1}}, "graph_lag": 0},
    {"outcomes": {"a": {"error": {"message": "m"}}}, "graph_lag": 0},
]


@pytest.mark.parametrize("answer", UNREADABLE, ids=["empty", "no graph_lag", "no outcome", "no code"])
def test_an_answer_that_cannot_be_read_leaves_no_job_running(ready: Bench, answer: dict[str, Any]) -> None:
    record = ready.run("a", lambda request, options: answer)
    assert (record.state, record.error["code"]) == ("retrying", "INTERNAL")


def test_a_forget_job_without_the_names_of_its_files_leaves_no_job_running(bench: Bench) -> None:
    bench.accept("a", "forget", {"memory_ids": ["m" * 8]})
    record = bench.run("a")
    assert (record.state, record.error["code"]) == ("retrying", "INTERNAL")


def test_a_job_whose_time_passed_while_its_worker_was_dead_expires_and_is_not_started(bench: Bench) -> None:
    bench.accept("a", expires_at=clock.iso(bench.now + timedelta(minutes=1)))
    bench.ledger.apply({"a": lifecycle.Started()})
    bench.now += timedelta(hours=1)
    live = recovery.recover(bench.place, bench.now, worker_died=True)
    after = Ledger(bench.place, live, now=bench.clock, has_committed=lambda record: False)
    Runner(LocalJobs(bench.place, after), bench.child, Settings(batch_size=4), now=bench.clock).run_if_due("a")  # type: ignore[arg-type]
    record = bench.record("a")
    assert (record.state, len(record.attempts)) == ("expired", 1)
