"""What the child is told of jobs: whole copies of those that may run together, and no job that fails the others."""

from collections.abc import Callable
from typing import Any

import pytest
from inbox_door import job_of

from jobs import clock, lifecycle, spool
from jobs.layout import SpoolPaths, Workspace
from jobs.model import Record
from worker.scheduling.ledger import Ledger
from worker.scheduling.runnable_jobs import LocalJobs
from worker.scheduling.tasks import Tasks, read_tasks

NOW = clock.parse("2026-11-20T12:00:00Z")


@pytest.fixture
def place(workspace: Workspace) -> SpoolPaths:
    return workspace.spool


def accept(place: SpoolPaths, job_id: str, payload: dict[str, Any] | None = None, **fields: Any) -> Record:
    job = job_of(job_id, payload=payload, **fields)
    record = lifecycle.accept(job, NOW)
    spool.accept(place, [(job, record)])
    return record


def ids(tasks: Tasks) -> list[str]:
    return [task["job_id"] for task in tasks.jobs]


def reading(place: SpoolPaths) -> Callable[[str], bytes]:
    return LocalJobs(place, Ledger(place, [])).read


def test_a_task_says_all_that_an_operation_may_depend_on(place: SpoolPaths) -> None:
    """The times of the job, never that of the attempt: so that a retry says the same."""
    payload = {"outcome": "succeed", "sleep_ms": 0}
    record = accept(place, "a", payload, submitted_at="2026-11-20T11:59:00Z")
    copy = place.copy("a").read_text("utf-8")
    assert '"submitted_at":"2026-11-20T11:59:00Z"' in copy
    assert read_tasks(reading(place), [record]) == Tasks(
        [{"job_id": "a", "copy": copy, "accepted_at": "2026-11-20T12:00:00Z", "correlation_id": "a"}], None, {}
    )


def test_tasks_come_in_the_order_of_the_batch_and_its_shortest_timeout_is_that_of_all(place: SpoolPaths) -> None:
    batch = [accept(place, "b", timeout_seconds=9), accept(place, "c"), accept(place, "a", timeout_seconds=2.5)]
    assert ids(read_tasks(reading(place), batch)) == ["b", "c", "a"]
    assert read_tasks(reading(place), batch).timeout_seconds == 2.5
    assert read_tasks(reading(place), batch[1:2]).timeout_seconds is None


def break_copy(place: SpoolPaths, job_id: str, how: str) -> None:
    path = place.copy(job_id)
    match how:
        case "gone":
            path.unlink()
        case "cut":
            path.write_bytes(path.read_bytes()[:20])
        case "link":
            path.rename(place.root / "elsewhere")
            path.symlink_to(place.root / "elsewhere")
        case "folder":
            path.unlink()
            path.mkdir()
        case "another's":
            path.write_bytes(path.read_bytes().replace(b'"bad"', b'"good"'))


@pytest.mark.parametrize("how", ["gone", "cut", "link", "folder", "another's"])
def test_a_copy_that_cannot_be_read_fails_its_job_alone(place: SpoolPaths, how: str) -> None:
    batch = [accept(place, job_id) for job_id in ("a", "bad", "b")]
    break_copy(place, "bad", how)
    tasks = read_tasks(reading(place), batch)
    assert ids(tasks) == ["a", "b"]
    (error,) = tasks.lost.values()
    assert list(tasks.lost) == ["bad"]
    assert (error.code, error.remediation, error.retryable) == ("JOB_NOT_FOUND", "Submit the job again.", False)


def test_where_every_copy_is_lost_there_is_nothing_to_run(place: SpoolPaths) -> None:
    batch = [accept(place, job_id) for job_id in ("a", "b")]
    for job_id in ("a", "b"):
        break_copy(place, job_id, "gone")
    tasks = read_tasks(reading(place), batch)
    assert (tasks.jobs, tasks.timeout_seconds, set(tasks.lost)) == ([], None, {"a", "b"})


def test_a_job_that_takes_its_time_runs_alone(place: SpoolPaths) -> None:
    slow = accept(place, "slow", {"sleep_ms": 50}, timeout_seconds=7)
    quick = accept(place, "quick", timeout_seconds=3)
    assert ids(read_tasks(reading(place), [quick, slow])) == ["quick"], "the slow one has a turn of its own"
    alone = read_tasks(reading(place), [slow, quick])
    assert (ids(alone), alone.timeout_seconds) == (["slow"], 7)


def test_a_lost_copy_before_a_job_that_runs_alone_is_told_all_the_same(place: SpoolPaths) -> None:
    batch = [accept(place, "gone"), accept(place, "slow", {"sleep_ms": 50})]
    break_copy(place, "gone", "gone")
    tasks = read_tasks(reading(place), batch)
    assert (ids(tasks), set(tasks.lost)) == (["slow"], {"gone"})


def test_a_job_of_a_kind_for_tests_that_was_accepted_runs_though_they_are_off_now(place: SpoolPaths) -> None:
    assert ids(read_tasks(reading(place), [accept(place, "a")])) == ["a"]
