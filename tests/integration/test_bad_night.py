"""An operator at the terminal: what went wrong is found, understood and run again by commands alone."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from harness import PATIENCE, Place, until


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    place = Place(tmp_path_factory.mktemp("night"), COGNEE_MEMORY_MAX_ACTIVE_JOBS="20")
    with place.worker():
        yield place


def noop(place: Place, job_id: str, outcome: str = "succeed", sleep_ms: int = 0, **fields: Any) -> str:
    return place.submit("noop", {"outcome": outcome, "sleep_ms": sleep_ms}, job_id=job_id, **fields)


def watching(place: Place, *options: str) -> subprocess.Popen[str]:
    """``jobs watch`` beside us, once it looks."""
    root = str(place.workspace.root)
    command = [sys.executable, "-m", "worker.cli", "jobs", "watch", "--interval", "0.1", "--workspace", root, *options]
    return subprocess.Popen(command, env=place.environment, cwd=root, stdout=subprocess.PIPE, text=True)


def test_what_was_rejected_for_want_of_room_is_dropped_anew(place: Place) -> None:
    assert place.json("jobs", "pause")["obeyed"] is True
    for number in range(24):
        noop(place, f"job-{number:02}")
    until(lambda: len(list(place.spool.rejected.glob("*.reason.json"))) == 4, "four are too many")
    listed = place.json("jobs", "list", "--state", "rejected")
    assert [cause["code"] for cause in listed["causes"]] == ["BACKLOG_FULL"]
    assert (listed["total"], listed["rejected"]["total"]) == (4, 4)
    assert "resume" in " ".join(place.json("status")["advice"])
    assert place.json("jobs", "resume")["obeyed"] is True
    until(lambda: place.json("status")["jobs"]["counts"].get("succeeded") == 20, "there is room again")
    again = place.json("jobs", "retry", "--error", "backlog_full", "--yes")
    assert (again["success"], len(again["jobs"]), again["skipped"]) == (True, 4, [])
    for number in range(24):
        assert place.ended(f"job-{number:02}").state == "succeeded"
    assert place.json("jobs", "list")["rejected"]["total"] == 0


def test_a_failure_is_seen_as_it_happens_and_is_the_exit_status_of_who_looked_on(place: Place) -> None:
    place.json("jobs", "pause")
    noop(place, "seen-good")
    noop(place, "seen-bad", "fail", correlation_id="ticket-7")
    for job_id in ("seen-good", "seen-bad"):
        place.in_state(job_id, "queued")
    with watching(place, "--json", "--until-idle", "--contains", "seen") as watch:
        assert watch.stdout is not None
        begun = json.loads(watch.stdout.readline())
        place.json("jobs", "resume")
        *events, answer = map(json.loads, watch.stdout.read().splitlines())
        assert watch.wait(PATIENCE) == 1
    assert (begun["event"], begun["worker"], begun["counts"]) == ("start", "paused", {"queued": 2})
    ends = {event["job"]["job_id"]: event["job"]["state"] for event in events if event["event"] == "job"}
    assert ends == {"seen-good": "succeeded", "seen-bad": "failed"}
    assert (answer["error_code"], answer["ended"]) == ("JOBS_FAILED", {"succeeded": 1, "failed": 1})


def test_a_failed_job_is_understood_and_run_again(place: Place) -> None:
    noop(place, "wrong-1", "fail", correlation_id="ticket-8")
    place.ended("wrong-1")
    shown = place.cli("jobs", "show", "wrong", "--log").stdout
    for part in ("TEST_FAILURE", "ticket-8", "outcome: fail", "job_id=wrong-1", "cognee-memory jobs retry wrong-1"):
        assert part in shown
    again = place.json("jobs", "retry", "wrong-1")
    assert (again["job_id"], again["requested"], again["obeyed"]) == ("wrong-1", True, True)
    assert place.in_state("wrong-1", "failed").generation == 2


def test_running_jobs_are_shown_with_their_progress_and_cancelled_by_filter(place: Place) -> None:
    noop(place, "long-1", sleep_ms=120_000)
    noop(place, "long-2", sleep_ms=120_000)
    place.in_state("long-1", "running")
    until(lambda: place.json("jobs", "show", "long-1")["in_flight"], "the heartbeat tells of it")
    assert "running" in place.cli("worker", "status").stdout
    found = place.json("jobs", "cancel", "--contains", "long", "--yes")
    assert (found["success"], sorted(job["state"] for job in found["jobs"])) == (True, ["cancelled", "cancelled"])


def test_a_log_is_followed_until_nobody_reads_any_more(place: Place) -> None:
    root = str(place.workspace.root)
    command = [sys.executable, "-m", "worker.cli", "worker", "logs", "--follow", "--lines", "0", "--json"]
    follow = subprocess.Popen(
        [*command, "--workspace", root], env=place.environment, cwd=root, stdout=subprocess.PIPE, text=True
    )
    with follow:
        assert follow.stdout is not None
        number = 0

        def line() -> str:
            assert follow.stdout is not None
            return follow.stdout.readline()

        def noticed() -> None:
            """It may begin to look after the first drop."""
            nonlocal number
            number += 1
            place.ended(noop(place, f"noticed-{number}"))

        noticed()
        until(lambda: (noticed(), _has_output(follow))[1], "a line came")
        assert "noticed" in json.loads(line())["line"]
        follow.stdout.close()
        until(lambda: (noticed(), follow.poll() is not None)[1], "it ends with its reader")
        assert follow.returncode == 0


def _has_output(process: subprocess.Popen[str]) -> bool:
    assert process.stdout is not None
    return bool(select.select([process.stdout], [], [], 0)[0])
