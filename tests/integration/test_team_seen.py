"""What operators see of a team: on the terminal, over HTTP, in the metrics and by doctor.

Real worker processes and a real Postgres.
"""

from __future__ import annotations

import json
import re
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from harness import PATIENCE, Place, until
from machines import Team, summary
from network import Link
from postgres import cluster, database


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    with database() as found:
        yield found


@pytest.fixture
def team(tmp_path: Path, dsn: str, model_cache: Path) -> Team:
    return Team(tmp_path, dsn, model_cache)


def asked(place: Place, path: str) -> dict[str, Any]:
    """The answer of the worker's HTTP interface."""
    found: dict[str, Any] = json.loads(fetched(place, path))
    return found


def fetched(place: Place, path: str) -> bytes:
    url = until(lambda: place.heartbeat()["http"]["url"], "the worker listens")
    request = urllib.request.Request(url + path, headers={"Authorization": f"Bearer {place.spool.token.read_text()}"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return bytes(answer.read())


def status_of(place: Place) -> dict[str, Any]:
    found: dict[str, Any] = place.json("team", "status")["team"]
    return found


def test_a_job_that_failed_is_seen_from_every_machine_without_its_texts(team: Team) -> None:
    first, second = team.machine("first"), team.machine("second")
    with first.worker(), second.worker():
        assert first.ended(first.submit("ingest", summary("The queue is a spool", 1))).state == "succeeded"
        failed = second.submit("noop", {"outcome": "fail"}, max_attempts=1, correlation_id="quokkazebra")
        assert second.ended(failed).state == "failed"
        seen = until(lambda: status_of(first) if status_of(first)["failed_jobs"] else None, "it is seen")
        assert asked(first, "/v1/team")["team"]["failed_jobs"] == seen["failed_jobs"]
    [job] = seen["failed_jobs"]
    assert (job["job_id"], job["kind"], job["asked_by"]) == (failed, "noop", team.node_of(second))
    assert job["error_code"]
    assert "quokkazebra" not in str(seen)
    assert seen["error"] is None
    assert seen["workspace"]["jobs"]["failed"] == 1
    text = first.cli("team", "status").stdout
    assert failed in text
    assert "1 failed" in text


def test_a_failed_job_that_is_to_run_again_is_no_failed_job_any_more(team: Team) -> None:
    first = team.machine("first")
    with first.worker():
        failed = first.submit("noop", {"outcome": "fail"}, max_attempts=1)
        assert first.ended(failed).state == "failed"
        until(lambda: status_of(first)["failed_jobs"], "it is seen")
        team.hold_jobs()
        assert first.cli("jobs", "retry", failed).returncode == 0
        seen = until(lambda: status_of(first) if not status_of(first)["failed_jobs"] else None, "it waits")
        assert (seen["workspace"]["jobs"]["waiting"], seen["workspace"]["jobs"]["failed"]) == (1, 0)
        team.hold_jobs(holds=False)
        until(lambda: status_of(first)["failed_jobs"], "it has failed again")


def test_a_persons_slip_is_no_failure_and_a_failed_job_is_dismissed(team: Team) -> None:
    first, second = team.machine("first"), team.machine("second")
    with first.worker(), second.worker():
        assert first.ended(first.submit("ingest", summary("The queue is a spool", 1))).state == "succeeded"
        slip = second.ended(second.submit("forget", {"topic_id": "gone"}))
        assert (slip.state, (slip.error or {}).get("code")) == ("failed", "TOPIC_NOT_FOUND")
        failed = second.submit("noop", {"outcome": "fail"}, max_attempts=1)
        assert second.ended(failed).state == "failed"
        until(lambda: [each["job_id"] for each in status_of(first)["failed_jobs"]] == [failed], "it alone is seen")
        assert status_of(first)["workspace"]["jobs"]["failed"] == 1
        until(lambda: first.json("team", "dismiss", failed)["dismissed"] == 1, "its machine knows of its end")
        assert not status_of(second)["failed_jobs"]
        assert status_of(first)["workspace"]["jobs"]["failed"] == 0


def test_a_copy_that_was_not_seen_for_a_week_is_silent_and_what_it_may_hold_is_counted(team: Team) -> None:
    first, second = team.machine("first"), team.machine("second")
    with first.worker():
        with second.worker():
            told = first.submit("ingest", summary("The queue is a spool", 1))
            memory_id = (first.ended(told).result or {})["memory_id"]
            until(lambda: second.json("memories", "list")["total"] == 1 or None, "it is there")
            until(lambda: all(each["forgets"] == 0 for each in status_of(first)["copies"]) or None, "all is noted")
            assert first.cli("team", "status").stdout.count("0 texts") == 3, "nothing was forgotten yet"
        away(team, second, "6 days 23 hours")
        assert not copy_of(team, first, second)["is_silent"]
        assert first.ended(first.submit("forget", {"memory_ids": [memory_id]})).state == "succeeded"

        def is_counted() -> bool:  # until the gateway has noticed that it waits no more
            away(team, second, "7 days 1 hour")
            seen = copy_of(team, first, second)
            return (seen["is_silent"], seen["forgotten"]) == (True, 1)

        until(is_counted, "it is counted")
        found = {each["code"]: each for each in first.json("doctor")["findings"]}
        assert found["TEAM_COPY_HOLDS_FORGOTTEN"]["subject"] == team.node_of(second)
        with second.worker():
            until(lambda: copy_of(team, first, second)["forgotten"] == 0 or None, "it has removed it")
        assert not copy_of(team, first, second)["is_silent"]


def away(team: Team, place: Place, interval: str) -> None:
    """As if the machine had been seen last so long ago."""
    team.change(
        "UPDATE copies SET seen_at = clock_timestamp() - %s::interval WHERE workspace_id = %s AND node = %s",
        interval,
        team.workspace_id,
        team.node_of(place),
    )


def copy_of(team: Team, asking: Place, place: Place) -> dict[str, Any]:
    [found] = [each for each in status_of(asking)["copies"] if each["node"] == team.node_of(place)]
    return dict(found)


def test_jobs_that_no_worker_takes_are_found_by_doctor(team: Team) -> None:
    first = team.machine("first")
    with first.worker():
        waiting = first.submit("noop", {}, not_before="2027-01-01T00:00:00Z")
        first.in_state(waiting, "queued")
        until(lambda: team.rows("SELECT 1 FROM jobs WHERE workspace_id = %s"), "it is posted")
        assert status_of(first)["workspace"]["idle_seconds"] is None, "it is not due"
    assert "TEAM_JOBS_WAIT" not in codes(first)
    team.hold_jobs()
    team.change(
        "UPDATE jobs SET due_at = '-infinity', changed_at = clock_timestamp() - interval '11 minutes'"
        " WHERE workspace_id = %s",
        team.workspace_id,
    )
    assert status_of(first)["workspace"]["idle_seconds"] > 600
    assert "TEAM_JOBS_WAIT" in codes(first)


def codes(place: Place) -> set[str]:
    return {each["code"] for each in place.json("doctor")["findings"]}


def test_while_the_team_is_not_reached_its_status_is_what_is_known_here_and_why(
    tmp_path: Path, model_cache: Path
) -> None:
    with cluster() as server:
        team = Team(tmp_path, server.dsn, model_cache)
        first = team.machine("first")
        with first.worker():
            assert first.ended(first.submit("ingest", summary("The queue is a spool", 1))).state == "succeeded"
            known = until(lambda: status_of(first) if status_of(first)["behind"] == 0 else None, "it is current")
            server.kill()
            seen = status_of(first)
            assert seen["error"]["code"] == "TEAM_UNREACHABLE"
            assert (seen["position"], seen["behind"], seen["workspace"]) == (known["position"], None, None)
            text = first.cli("team", "status").stdout
            assert "TEAM_UNREACHABLE" in text
            over_http = asked(first, "/v1/team")["team"]
            assert over_http["error"]["code"] == "TEAM_UNREACHABLE"
            assert {**over_http, "error": seen["error"]} == seen
            assert "answered from this machine's copy" in text


def test_a_team_that_does_not_answer_is_told_within_seconds_and_no_other_route_waits(
    tmp_path: Path, dsn: str, model_cache: Path
) -> None:
    team = Team(tmp_path, dsn, model_cache)
    with Link(team.gateway.port) as link, ThreadPoolExecutor(12) as clients:
        first = team.machine("first", port=link.port)
        with first.worker():
            reached = until(lambda: asked(first, "/v1/team")["team"]["workspace"], "it is reached")
            assert reached["name"]
            link.hold()

            def others_are_answered_first() -> bool:
                began = time.monotonic()
                waiting = [clients.submit(asked, first, "/v1/team") for _ in range(12)]
                assert asked(first, "/v1/status")["success"]
                assert asked(first, "/v1/topics")["success"]
                were_first = not any(each.done() for each in waiting)
                assert {each.result()["team"]["error"]["code"] for each in waiting} == {"TEAM_UNREACHABLE"}
                assert time.monotonic() - began < 30, "about 3 s on a quiet machine"
                return were_first

            until(others_are_answered_first, "no other route waits: on a busy machine, not at each time")
            link.heal()
            until(lambda: asked(first, "/v1/team")["team"]["error"] is None or None, "it is reached again")


def figure(place: Place, name: str) -> float | None:
    """A metric without labels."""
    found = re.search(rf"^cognee_memory_{name} (\S+)$", fetched(place, "/metrics").decode(), re.MULTILINE)
    return None if found is None else float(found[1])


def test_the_metrics_tell_whether_the_team_is_reached_and_how_old_the_copy_is(
    tmp_path: Path, dsn: str, model_cache: Path
) -> None:
    team = Team(tmp_path, dsn, model_cache)
    with Link(team.gateway.port) as link:
        first = team.machine("first", port=link.port)
        with first.worker():
            assert first.ended(first.submit("ingest", summary("The queue is a spool", 1))).state == "succeeded"
            until(lambda: figure(first, "team_copy_age_seconds") is not None or None, "the copy is current")
            assert figure(first, "team_reached") == 1
            link.cut()
            until(lambda: figure(first, "team_reached") == 0 or None, "it is not reached")
            assert first.heartbeat()["team"]["problem"] == "TEAM_UNREACHABLE"
            age = figure(first, "team_copy_age_seconds")
            assert age is not None
            until(lambda: (figure(first, "team_copy_age_seconds") or 0) > age or None, "the copy grows old")
            link.heal()
            until(lambda: figure(first, "team_reached") == 1 or None, "it is reached again")
