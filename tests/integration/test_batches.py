"""Jobs that run together: a bad one among them fails alone, a crash of many proves nothing about one.

A real child process; jobs of the kind noop are run in batches here, as ingest jobs are.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from harness import Place
from job_copies import copy_of

from bridge.settings import Settings, load
from jobs import clock, lifecycle
from jobs.model import Record, encode
from jobs.parse import parse_job
from worker.child import main, protocol
from worker.child.supervisor import Child
from worker.scheduling import runner
from worker.scheduling.ledger import Ledger
from worker.scheduling.runnable_jobs import LocalJobs
from worker.scheduling.runner import Runner


@dataclass
class Bench:
    """A runner, a ledger and a real child over one spool; ``asked`` lists the jobs of each request."""

    place: Place
    ledger: Ledger
    runner: Runner
    asked: list[list[str]]

    def accept(self, *job_ids: str, expires_at: str | None = None, **payload: Any) -> None:
        fields = {"schema_version": 1, "kind": "noop", "payload": payload, "expires_at": expires_at}
        jobs = [parse_job(job_id, encode({**fields, "job_id": job_id}), test_jobs=True) for job_id in job_ids]
        self.ledger.accept([(job, lifecycle.accept(job, clock.now())) for job in jobs])

    def record(self, job_id: str) -> Record:
        found = self.place.record(job_id)
        assert found is not None
        return found

    def announced(self) -> list[str]:
        return [record.job_id for record in self.ledger.take_announced()]

    def work_off(self) -> None:
        """Look at what has become due until nothing more has."""
        while found := self.announced():
            for job_id in found:
                self.runner.run_if_due(job_id)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    place = Place(tmp_path)
    place.as_ours(monkeypatch)
    monkeypatch.setattr(runner, "BATCHED", frozenset({"noop"}))
    child = Child(place.workspace, load())
    asked: list[list[str]] = []
    ask = child.ask

    def noting(request: dict[str, Any], *rest: Any, **named: Any) -> dict[str, Any]:
        asked.append([job["job_id"] for job in request["jobs"]])
        return ask(request, *rest, **named)

    monkeypatch.setattr(child, "ask", noting)
    now = clock.now()  # it stands still: what is delayed stays delayed
    ledger = Ledger(place.spool, [], now=lambda: now)
    made = Runner(LocalJobs(place.spool, ledger), child, Settings(batch_size=8), now=lambda: now)
    yield Bench(place, ledger, made, asked)
    child.close()


def test_waiting_jobs_of_a_kind_run_together_up_to_the_limit(bench: Bench) -> None:
    bench.accept(*(f"job-{number:02d}" for number in range(10)))
    bench.runner.run_if_due("job-05")
    first = ["job-05", *(f"job-{number:02d}" for number in range(8) if number != 5)]
    assert bench.asked == [first, ["job-08", "job-09"]], "the rest follows at once"
    assert {bench.record(f"job-{number:02d}").state for number in range(10)} == {"succeeded"}


def test_each_job_of_a_batch_has_an_outcome_of_its_own(bench: Bench) -> None:
    bench.accept("bad", outcome="fail")
    bench.accept("later", outcome="retry")
    bench.accept("good", "well")
    bench.runner.run_if_due("good")
    assert len(bench.asked) == 1
    states = {job_id: bench.record(job_id).state for job_id in ("bad", "later", "good", "well")}
    assert states == {"bad": "failed", "later": "retrying", "good": "succeeded", "well": "succeeded"}


def test_after_a_crash_of_many_the_innocent_succeed_and_only_the_culprit_is_poison(bench: Bench) -> None:
    bench.accept("a", "b", "c")
    bench.accept("culprit", outcome="crash")
    bench.accept("d", "e")
    bench.runner.run_if_due("a")
    bench.work_off()
    for job_id in "abcde":
        record = bench.record(job_id)
        assert (record.state, record.crashes) == ("succeeded", 0), job_id
    assert bench.record("culprit").state == "retrying"
    sizes = [len(asked) for asked in bench.asked if "culprit" in asked]
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[0], sizes[-1]) == (6, 1)
    assert bench.record("culprit").crashes == 1


def test_a_job_whose_time_is_over_expires_instead_of_running_and_the_others_run(bench: Bench) -> None:
    bench.accept("a", "b", expires_at="2020-01-01T00:00:00Z")
    bench.accept("c")
    bench.runner.run_if_due("a")
    bench.runner.run_if_due("c")
    assert [bench.record(job_id).state for job_id in "abc"] == ["expired", "expired", "succeeded"]
    assert bench.asked == [["c"]]


def test_a_job_whose_effect_stands_does_not_expire(bench: Bench) -> None:
    """Its next attempt only pays the graph what it is owed."""
    bench.ledger._has_committed = lambda record: record.job_id == "a"
    bench.accept("a", "b", expires_at="2020-01-01T00:00:00Z")
    bench.ledger.apply({"a": lifecycle.Started(), "b": lifecycle.Started()})
    bench.ledger.apply({"a": lifecycle.Interrupted(), "b": lifecycle.Interrupted()})
    bench.runner.run_if_due("a")
    assert [bench.record(job_id).state for job_id in "ab"] == ["succeeded", "expired"]


def test_an_answer_to_a_dead_attempt_changes_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record went on while the child was at it: another attempt is the one that counts."""
    bench.accept("a")
    ask = bench.runner._child.ask

    def slow(request: dict[str, Any], *rest: Any, **named: Any) -> dict[str, Any]:
        answer = ask(request, *rest, **named)
        bench.ledger.apply({"a": lifecycle.Interrupted()})
        bench.ledger.apply({"a": lifecycle.Started()})
        return answer

    monkeypatch.setattr(bench.runner._child, "ask", slow)
    bench.runner.run_if_due("a")
    record = bench.record("a")
    assert (record.state, record.attempt, record.result) == ("running", 2, None)


def test_a_job_that_has_crashed_alone_is_never_run_with_others_again(bench: Bench) -> None:
    """Else each of its attempts would interrupt a whole batch, and halve it again."""
    bench.accept("culprit", outcome="crash")
    bench.runner.run_if_due("culprit")
    bench.accept("a", "b", "c")
    tomorrow = clock.now() + timedelta(days=1)
    bench.runner._now = bench.ledger._now = lambda: tomorrow
    bench.runner.run_if_due("a")
    bench.runner.run_if_due("culprit")
    assert bench.asked == [["culprit"], ["a", "b", "c"], ["culprit"]]


def test_a_stale_or_doubled_message_does_nothing(bench: Bench) -> None:
    bench.accept("a")
    for job_id in ("a", "a", "nobody"):
        bench.runner.run_if_due(job_id)
    assert bench.asked == [["a"]]
    assert len(bench.record("a").attempts) == 1


def test_an_outcome_is_the_same_at_both_ends_of_the_pipe() -> None:
    from jobs.errors import JobError

    error = JobError("METADATA_BROKEN", "Line 3.", remediation="Mend it.", details={"line": 3})
    through = json.loads(json.dumps(protocol.encode(lifecycle.Failed(error))))
    found = protocol.decode(through)
    assert isinstance(found, lifecycle.Failed)
    assert found.error.as_dict() == error.as_dict()
    through = json.loads(json.dumps(protocol.encode(lifecycle.Succeeded({"n": 1}))))
    assert protocol.decode(through) == lifecycle.Succeeded({"n": 1})


def test_an_unexpected_error_of_many_is_tried_with_each_alone(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """One bad item must not use up the attempts of the rest."""
    tasks = [copy_of("noop", {}, job_id, at="") for job_id in ("a", "bad", "b")]
    tried: list[list[str]] = []

    def run(kind: str, some: list[main.JobCopy], *_: Any) -> dict[str, lifecycle.Succeeded | lifecycle.Failed]:
        tried.append([each["job_id"] for each in some])
        if any(each["job_id"] == "bad" for each in some):
            raise KeyError("a secret text of the memory")
        return {each["job_id"]: lifecycle.Succeeded({}) for each in some}

    monkeypatch.setattr(main, "run", run)
    server = main.Server(None, None)  # type: ignore[arg-type]
    server._stores = None  # type: ignore[assignment]
    found = server._outcomes("ingest", tasks, lambda _: None)
    assert tried == [["a", "bad", "b"], ["a"], ["bad"], ["b"]]
    assert (found["a"], found["b"]) == (lifecycle.Succeeded({}), lifecycle.Succeeded({}))
    bad = found["bad"]
    assert isinstance(bad, lifecycle.Failed)
    assert bad.error.code == "INTERNAL"
    assert "secret" not in bad.error.message
