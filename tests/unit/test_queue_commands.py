"""The commands about the queue without a worker: what they show, what they ask for, and when they ask back."""

from datetime import timedelta
from typing import Any

import pytest
from harness import Place
from in_process import InProcess
from spooled_jobs import spooled

from jobs import clock, lifecycle, spool
from jobs.errors import JobError
from jobs.model import encode
from worker.admin import overview
from worker.terminal import job_requests
from worker.terminal.worker import show_overview

NOW = clock.now()
STARTED = lifecycle.Started()


def failed(code: str, message: str = "") -> lifecycle.Failed:
    return lifecycle.Failed(JobError(code, message))


def job(place: Place, job_id: str, *events: lifecycle.Event, ago: float = 0.0, **fields: Any) -> None:
    at = clock.now() - timedelta(hours=ago)
    spooled(place.spool, job_id, *events, at=at, kind="compact", payload={"topic_id": "t"}, **fields)


def rejected(place: Place, name: str) -> None:
    path = place.spool.inbox / name
    path.write_text("{}")
    error = JobError("NAME_INVALID", "'Bad Name.json' does not name a job.")
    spool.reject(place.spool, path, error, None, clock.iso(clock.now()))


@pytest.fixture
def night(place: InProcess) -> InProcess:
    """Two failures of one cause, one of another, one success, one cancelled, one that waits, one rejected file."""
    job(place, "topic-1", STARTED, failed("TOPIC_NOT_FOUND", "There is no topic 'x'."), ago=3)
    job(place, "topic-2", STARTED, failed("TOPIC_NOT_FOUND", "There is no topic 'y'."), ago=1)
    job(place, "model-1", STARTED, failed("LLM_NOT_CONFIGURED"), ago=2, correlation_id="nightly")
    job(place, "done-1", STARTED, lifecycle.Succeeded({"odd": "result"}), ago=4)
    job(place, "gone-1", lifecycle.Cancelled(), ago=5)
    job(place, "waits-1")
    rejected(place, "Bad Name.json")
    place.submit("check", {}, job_id="dropped-1")
    return place


# --- seeing ---


def test_the_list_shows_jobs_inbox_rejected_files_and_why_jobs_failed(night: InProcess) -> None:
    status, out, err = night.run("jobs", "list")
    lines = out.splitlines()
    assert (status, err) == (0, "")
    jobs = ["waits-1", "topic-2", "model-1", "topic-1", "done-1", "gone-1"]
    assert [line.split()[0] for line in lines[:7]] == ["job", *jobs]
    assert "1 file in the inbox: dropped-1.json" in lines
    assert any(line.startswith("Bad Name.1.json") and "NAME_INVALID" in line for line in lines)
    cause = lines.index(next(line for line in lines if line.startswith("2 jobs failed: TOPIC_NOT_FOUND")))
    expected = ["1 × There is no topic 'x'.", "1 × There is no topic 'y'."]
    assert [line.split("  ")[-1].strip() for line in lines[cause + 1 : cause + 3]] == expected
    assert "cognee-memory jobs dismiss --error TOPIC_NOT_FOUND" in out
    assert "<job_id>" not in out


FILTERS = [
    (["--state", "failed,cancelled"], ["topic-2", "model-1", "topic-1", "gone-1"]),
    (["--state", "failed", "--error", "topic_not_found"], ["topic-2", "topic-1"]),
    (["--contains", "night"], ["model-1"]),
    (["--kind", "check"], []),
    (["--since", "150min"], ["waits-1", "topic-2", "model-1"]),
]


@pytest.mark.parametrize(("options", "expected"), FILTERS)
def test_filters_narrow_the_list(night: InProcess, options: list[str], expected: list[str]) -> None:
    found = night.json("jobs", "list", *options)
    assert [row["job_id"] for row in found["jobs"]] == expected
    assert (found["total"], found["next"], found["in_inbox"]) == (len(expected), None, [])


def test_a_list_goes_on_where_the_former_one_ended(night: InProcess) -> None:
    first = night.json("jobs", "list", "--limit", "4")
    second = night.json("jobs", "list", "--limit", "4", "--after", first["next"])
    assert [row["job_id"] for row in second["jobs"]] == ["done-1", "gone-1"]
    assert (first["total"], second["next"]) == (6, None)
    shown = night.run("jobs", "list", "--limit", "2", "--after", night.json("jobs", "list", "--limit", "2")["next"])[1]
    assert f"6 jobs in all; older ones: --after {first['next']}" in shown


def test_the_counts_and_causes_are_of_all_that_fit_not_of_the_page_alone(night: InProcess) -> None:
    found = night.json("jobs", "list", "--limit", "1")
    assert found["counts"] == {"queued": 1, "failed": 3, "succeeded": 1, "cancelled": 1}
    expected = [("TOPIC_NOT_FOUND", 2), ("LLM_NOT_CONFIGURED", 1)]
    assert [(cause["code"], cause["count"]) for cause in found["causes"]] == expected
    assert night.json("jobs", "causes")["causes"] == found["causes"]


@pytest.mark.parametrize("option", [["--state", "odd"], ["--kind", "odd"], ["--error", "odd"], ["--since", "odd"]])
def test_a_filter_that_means_nothing_is_wrong_usage(place: InProcess, option: list[str]) -> None:
    assert place.run("jobs", "list", *option)[0] == 2


def test_a_job_is_shown_with_what_was_asked_its_attempts_and_the_way_out(night: InProcess) -> None:
    night.spool.log.write_text("one\n2026 failed job_id=model-1 code=X\nthree\n")
    status, out, _ = night.run("jobs", "show", "model", "--log")
    shown = {line.split("  ")[0]: line.split("  ", 1)[-1].strip() for line in out.splitlines() if line.strip()}
    assert status == 0
    assert (shown["job"], shown["kind"], shown["asked"]) == ("model-1", "compact", "topic_id: t")
    assert shown["state"] == "failed, 2 h ago"
    assert shown["why"].startswith("LLM_NOT_CONFIGURED: ")
    assert "cognee-memory jobs retry model-1" in shown["remedy"]
    assert shown["correlation"] == "nightly"
    assert "1  failed LLM_NOT_CONFIGURED" in out
    assert "  2026 failed job_id=model-1 code=X" in out
    assert "three" not in out


def test_a_job_as_an_object_has_its_record_and_its_kept_copy(night: InProcess) -> None:
    found = night.json("jobs", "show", "model-1", "--log")
    assert (found["job"]["state"], found["asked"]["payload"], found["in_flight"]) == ("failed", {"topic_id": "t"}, None)
    assert found["log"] == []
    night.spool.ended_copy("model-1").unlink()
    assert night.json("jobs", "show", "model-1")["asked"] is None
    assert "Its copy was removed: submit it again." in night.run("jobs", "show", "model-1")[1]
    assert night.json("jobs", "show", "dropped")["job"] == {"job_id": "dropped-1", "state": "in the inbox"}


def test_lines_of_rotated_logs_are_found_the_oldest_first(night: InProcess) -> None:
    for name, text in (("worker.log.2", "a model-1\n"), ("worker.log.1", "b model-1\n"), ("worker.log", "c model-1\n")):
        (night.spool.worker / name).write_text(text)
    assert night.json("jobs", "show", "model-1", "--log")["log"] == ["a model-1", "b model-1", "c model-1"]


def test_a_damaged_record_is_called_damaged(night: InProcess) -> None:
    night.spool.record("torn").write_text("{")
    for verb in ("show", "wait"):
        found = night.json("jobs", verb, "torn")
        assert (found["error_code"], "damaged" in found["error"]) == ("JOB_NOT_FOUND", True), verb
        assert "cognee-memory doctor" in found["remediation"]


@pytest.mark.parametrize("content", ["{}", '{"payload": []}', "[]", "half"])
def test_a_damaged_copy_is_shown_as_none(night: InProcess, content: str) -> None:
    night.spool.ended_copy("model-1").write_text(content)
    assert night.json("jobs", "show", "model-1")["asked"] is None
    assert night.run("jobs", "show", "model-1")[0] == 0


def test_a_request_is_reported_where_the_worker_has_no_heartbeat(capsys: pytest.CaptureFixture[str]) -> None:
    job_requests.requested({"obeyed": True, "request": "pause", "worker": {"alive": True, "heartbeat": None}})
    assert capsys.readouterr().out == "pause: done; the worker is starting\n"


@pytest.mark.parametrize("command", [("history",), ("jobs", "list"), ("memories", "list")])
def test_a_limit_below_one_is_wrong_usage(place: InProcess, command: tuple[str, ...]) -> None:
    for limit in ("0", "-3"):
        assert place.run(*command, "--limit", limit)[0] == 2


# --- asking ---


def test_filters_ask_back_and_without_a_person_nothing_is_done(night: InProcess) -> None:
    for options in (["--json"], []):
        status, out, err = night.run("jobs", "retry", "--state", "failed", *options)
        assert status == 1
        assert "NOT_CONFIRMED" in out + err
        assert "3 jobs would be affected" in out + err
    assert not night.spool.control.is_dir() or list(night.spool.control.iterdir()) == []


def test_with_yes_all_that_fit_are_asked_for_but_not_what_was_cancelled(night: InProcess) -> None:
    found = night.json("jobs", "retry", "--kind", "compact", "--yes", "--no-start")
    assert (found["success"], found["requested"], found["skipped"]) == (True, 3, [])
    assert [job["job_id"] for job in found["jobs"]] == ["topic-1", "model-1", "topic-2"]
    assert sorted(path.name for path in night.spool.control.iterdir()) == [
        "retry-model-1.json", "retry-topic-1.json", "retry-topic-2.json"
    ]  # fmt: skip
    found = night.json("jobs", "retry", "--state", "cancelled", "--yes", "--no-start")
    assert [job["job_id"] for job in found["jobs"]] == ["gone-1"]


def test_what_came_with_a_repository_runs_only_where_it_or_its_error_is_named(night: InProcess) -> None:
    for name, code in (("brought-1", "FILE_NOT_TRUSTED"), ("brought-2", "FILE_TRACKED"), ("full-1", "BACKLOG_FULL")):
        dropped = spool.drop(night.spool, name, encode({"schema_version": 1, "job_id": name, "kind": "noop"}))
        now = clock.now()
        record = lifecycle.reject(name, JobError(code), now, 1)
        spool.reject(night.spool, dropped, JobError(code), record, clock.iso(now))
    assert retried(night, "--state", "rejected") == ["full-1"]
    assert "brought" not in " ".join(retried(night, "--since", "9999d"))
    assert retried(night, "--error", "FILE_NOT_TRUSTED") == ["brought-1"]
    again = night.json("jobs", "retry", "brought-2", "--no-start")
    assert again["success"]
    assert again["job_id"] != "brought-2"


def retried(place: InProcess, *filters: str) -> list[str]:
    found = place.json("jobs", "retry", *filters, "--yes", "--no-start")
    return [job["job_id"] for job in found["jobs"]]


def test_several_are_named_and_one_that_is_refused_makes_the_exit_status(night: InProcess) -> None:
    status, out, err = night.run("jobs", "retry", "topic-1", "done-1", "model", "--no-start")
    assert status == 1
    assert "PARTLY_REFUSED: 1 job of 3 refused." in err
    assert "left done-1: ARGUMENT_INVALID" in out
    assert "2 jobs run again, 1 left." in out
    assert night.spool.retry("topic-1").exists()


def test_one_that_is_named_answers_for_itself(night: InProcess) -> None:
    found = night.json("jobs", "retry", "topic-1", "--no-start")
    assert found == {
        "success": True, "job_id": "topic-1", "requested": True, "obeyed": False, "state": "failed",
        "worker_started": False,
    }  # fmt: skip
    assert night.json("jobs", "retry", "done-1", "--no-start")["error_code"] == "ARGUMENT_INVALID"
    assert night.json("jobs", "cancel", "done-1") == {
        "success": True, "job_id": "done-1", "requested": False, "obeyed": True, "state": "succeeded"
    }  # fmt: skip


NOT_MEANT = [
    ["retry"],
    ["retry", "topic-1", "--state", "failed"],
    ["retry", "--state", "succeeded", "--yes"],
    ["cancel"],
    ["cancel", "--state", "failed", "--yes"],
]


@pytest.mark.parametrize("arguments", NOT_MEANT)
def test_what_cannot_be_meant_is_wrong_usage(night: InProcess, arguments: list[str]) -> None:
    assert night.run("jobs", *arguments)[0] == 2


def test_cancelling_by_filter_means_what_waits_or_runs(night: InProcess) -> None:
    found = night.json("jobs", "cancel", "--kind", "compact", "--yes")
    assert [job["job_id"] for job in found["jobs"]] == ["waits-1"]
    assert night.json("jobs", "cancel", "--kind", "ask", "--yes")["jobs"] == []
    assert "No job matches." in night.run("jobs", "cancel", "--kind", "ask")[1]


# --- at a glance ---


def test_the_status_says_how_all_stands_and_what_to_do_next(night: InProcess) -> None:
    found = night.json("status")
    assert found["jobs"]["counts"] == {"queued": 1, "failed": 3, "succeeded": 1, "cancelled": 1}
    assert (found["waiting_in_inbox"], found["rejected_files"], found["paused"]) == (1, 1, False)
    expected = ["cognee-memory worker start", "cognee-memory jobs causes", "cognee-memory jobs list --state rejected"]
    assert [line.partition(":")[0] for line in found["advice"]] == expected
    out = night.run("status")[1]
    assert "queue      1 queued, 1 succeeded, 3 failed, 1 cancelled" in out
    assert "2 jobs failed: TOPIC_NOT_FOUND" in out
    assert "next: cognee-memory worker start: 2 jobs wait, and no worker runs" in out


def standing(**other: Any) -> dict[str, Any]:
    beat = {"heartbeat_at": clock.iso(NOW), "state": "ready"}
    whole: dict[str, Any] = {
        "worker": {"alive": True, "heartbeat": beat},
        "paused": False,
        "jobs": {"counts": {"succeeded": 3}, "causes": [], "oldest_waiting_seconds": None},
        "waiting_in_inbox": 0,
        "rejected_files": 0,
        "team_copy_at": None,
        "team_problem": None,
        "memory": {"memories": 3, "uncompared": 0},
        "memory_error": None,
        "disk": {"free_bytes": 10, "min_free_bytes": 5},
    }
    return {**whole, **other}


COUNTED = [
    (True, {"queued": 2, "running": 1}, 0, ["queue 2 queued, 1 running"]),
    (False, {"queued": 2, "running": 1}, 0, ["queue 2 queued", "cut off 1 job, which the next worker runs again"]),
    (False, {"rejected": 8}, 8, ["queue 8 rejected"]),
    (False, {"rejected": 8}, 9, ["queue 8 rejected", "rejected 8 jobs and 1 other file"]),
    (False, {}, 1, ["queue empty", "rejected 1 file"]),
]


@pytest.mark.parametrize(("alive", "counts", "files", "shown"), COUNTED)
def test_the_status_counts_each_job_and_each_rejected_file_once(
    alive: bool, counts: dict[str, int], files: int, shown: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a worker no job runs, and a rejected job has a file."""
    worker = {"alive": alive, "heartbeat": {"state": "ready", "pid": 1, "in_flight": ()}}
    jobs = {"counts": counts, "causes": [], "oldest_waiting_seconds": None}
    found = standing(worker=worker, jobs=jobs, rejected_files=files, memory={"memories": 0, "uncompared": 0})
    found |= {"workspace": "w", "advice": [], "graph_installed": True}
    show_overview(found)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert [line for line in lines if line.startswith(("queue", "cut off", "rejected"))] == shown


def test_where_all_is_well_nothing_is_advised() -> None:
    assert overview.advice(standing(), NOW) == []


ADVISED = [
    ({"disk": {"free_bytes": 1, "min_free_bytes": 5}}, "free some disk space"),
    ({"paused": True}, "cognee-memory jobs resume"),
    (
        {"worker": {"alive": True, "heartbeat": {"heartbeat_at": clock.iso(NOW - timedelta(minutes=5))}}},
        "cognee-memory doctor",
    ),
    ({"worker": {"alive": False, "heartbeat": None}, "waiting_in_inbox": 1}, "cognee-memory worker start: 1 job waits"),
    ({"jobs": {"counts": {"expired": 1}}}, "cognee-memory jobs causes"),
    ({"rejected_files": 1}, "cognee-memory jobs list --state rejected"),
    ({"jobs": {"counts": {}}, "memory": {"memories": 0, "uncompared": 0}}, "cognee-memory ingest"),
    ({"worker": {"alive": False}, "memory": {"memories": 3, "uncompared": 2}}, "cognee-memory worker start: 2 mem"),
]


@pytest.mark.parametrize(("wrong", "command"), ADVISED)
def test_each_thing_that_is_wrong_has_its_advice(wrong: dict[str, Any], command: str) -> None:
    [line] = overview.advice(standing(**wrong), NOW)
    assert line.startswith(command)
