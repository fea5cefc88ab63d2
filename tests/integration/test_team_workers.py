"""Workers of several machines share a workspace: a job that is dropped on one runs in the service, once, and its record
comes back to where it was dropped; and what operators see: on the terminal, over HTTP, in the metrics and by doctor.

Real worker processes and a real Postgres. A machine is a folder with a configuration of its own. Most tests share two
machines whose workers run, so each brings topics and jobs that no other has.
"""

import os
import re
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from harness import Place, until
from machines import Team, files_with, summary, titles
from network import Link
from postgres import cluster

USES = ("COGNEE_MEMORY_TEAM", "COGNEE_MEMORY_CACHE_DIR")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, dsn: str) -> Iterator[Team]:
    """Two machines whose workers run. A job waits already when the first one shares the workspace."""
    team = Team(tmp_path_factory.mktemp("shared"), dsn)
    first, second = team.machine("first"), team.machine("second")
    waits = first.submit("noop", {})
    with first.worker(), second.worker():
        assert first.ended(waits).state == "succeeded"
        until(lambda: team.rows("SELECT 1 FROM changes WHERE workspace_id = %s"), "it is shared")
        yield team


@contextmanager
def further(team: Team, name: str) -> Iterator[Place]:
    """One more machine, which is none of the team's any more at the end."""
    place = team.machine(name)
    try:
        yield place
    finally:
        team.places.remove(place)
        team.change("DELETE FROM copies WHERE workspace_id = %s AND node = %s", team.workspace_id, team.node_of(place))


def succeeded(place: Place, kind: str, payload: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The result of a job that succeeds."""
    record = place.ended(place.submit(kind, payload, **fields))
    assert record.state == "succeeded", record
    return dict(record.result or {})


def remembered(place: Place, topic: str, day: int = 1) -> str:
    """The id of a memory that a job has stored."""
    return str(succeeded(place, "ingest", summary(topic, day))["memory_id"])


def until_known(place: Place, *topics: str) -> None:
    until(lambda: set(topics) <= set(titles(place)), f"it has {topics}")


def asked(place: Place, path: str) -> dict[str, Any]:
    """The answer of the worker's HTTP interface."""
    return dict(place.asked("GET", path).raise_for_status().json())


def status_of(place: Place) -> dict[str, Any]:
    return place.json("team", "status")["team"]


def told(place: Place) -> dict[str, Any]:
    """The same over HTTP, which costs no process each time, once the team answers in time."""

    def look() -> dict[str, Any] | None:
        found: dict[str, Any] = asked(place, "/v1/team")["team"]
        return found if found["error"] is None else None

    return until(look, "the team answers")


def failed_jobs(status: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By their ids."""
    return {each["job_id"]: each for each in status["failed_jobs"]}


def codes(place: Place) -> set[str]:
    return {each["code"] for each in place.json("doctor")["findings"]}


# --- jobs and memories ---


def test_a_topic_of_a_private_workspace_is_shared_by_an_act_and_nothing_else_of_it(shared: Team) -> None:
    ours, theirs = shared.places
    mine = Place(shared.folder / "mine")
    mine.environment |= {name: value for name, value in ours.environment.items() if name.startswith(USES)}
    file = shared.folder / "auth.jsonl"
    with mine.worker():
        for topic_id, topic in (("auth", "Tokens live an hour"), ("pay", "My pay is between us")):
            succeeded(mine, "ingest", {"summary": summary(topic, 1)["summary"] | {"topic_id": topic_id}})
        assert mine.json("export", "--topic-id", "auth", "--out", str(file))["counts"]["memory"] == 1
        assert ours.json("import", str(file))["result"]["added"] == 1
        until_known(theirs, "Tokens live an hour")
        assert "Tokens" in theirs.json("retrieve", "tokens")["results"][0]["summary_text"]
        there = {each["title"]: each["memory_id"] for each in theirs.json("memories", "list")["memories"]}
        here = [each["memory_id"] for each in mine.json("memories", "list")["memories"]]
        assert there["Tokens live an hour"] in here, "its id stays"
        assert ours.json("import", str(file))["result"]["unchanged"] == 1
    sent = [shared.rows(f"SELECT {table}::text FROM {table} WHERE workspace_id = %s") for table in ("rows", "jobs")]
    assert ("Tokens" in repr(sent), "My pay" in repr(sent)) == (True, False)
    told = ours.json("capture", "enable", "codex")
    assert (told["is_shared"], told["summaries"]) == (True, "service")
    assert not mine.json("capture", "enable", "codex")["is_shared"]
    assert "is shared with all who see it" in ours.cli("capture", "enable", "codex").stdout


def test_an_id_that_another_machine_gave_to_another_job_is_refused_and_the_same_job_runs_once(shared: Team) -> None:
    first, second = shared.places
    [(before,)] = shared.rows("SELECT last_seq FROM workspaces WHERE id = %s")
    for place in (first, second):
        place.submit("ingest", summary("Said by both machines", 1), job_id="twice")
    second.submit("noop", {}, job_id="mine")
    posted = "SELECT 1 FROM jobs WHERE workspace_id = %s AND job_id = 'mine'"
    until(lambda: shared.rows(posted), "it is posted")
    first.submit("noop", {"sleep_ms": 1}, job_id="mine")
    refused = first.ended("mine")
    assert (refused.state, refused.error and refused.error["code"]) == ("failed", "JOB_ID_CONFLICT")
    assert first.ended("twice") == second.ended("twice")
    assert second.ended("mine").state == "succeeded"
    assert shared.rows("SELECT last_seq FROM workspaces WHERE id = %s") == [(before + 1,)], "one change"


# --- forgetting ---


def test_what_one_machine_forgets_is_gone_from_the_folders_of_all_and_from_the_rows_of_the_team(shared: Team) -> None:
    first, second = shared.places
    phrase = "quokkazebra"
    memory_id = remembered(second, f"The {phrase} is a lock")
    kept = remembered(second, "Receipts are kept", 2)
    for place in (first, second):
        until_known(place, f"The {phrase} is a lock", "Receipts are kept")
    assert files_with(second.workspace.root, phrase)
    away = second.heartbeat()["pid"]
    os.kill(away, signal.SIGSTOP)
    try:
        succeeded(first, "forget", {"memory_ids": [memory_id]})
        until(lambda: not files_with(first.workspace.root, phrase), "it is removed where it was asked for")
        forgets = {each["node"]: each["forgets"] for each in told(first)["copies"]}
        assert forgets[shared.node_of(second)] > 0
    finally:
        os.kill(away, signal.SIGCONT)

    def is_removed() -> bool:
        return all(each["behind"] == each["forgets"] == 0 for each in told(first)["copies"])

    until(is_removed, "every copy has removed it")
    assert files_with(second.workspace.root, phrase) == []
    assert f"The {phrase} is a lock" not in titles(second)
    assert shared.rows(f"SELECT 1 FROM rows WHERE workspace_id = %s AND value::text LIKE '%%{phrase}%%'") == []
    told_of = f"concat(job::text, record::text) LIKE '%%{phrase}%%'"
    assert shared.rows(f"SELECT job_id FROM jobs WHERE workspace_id = %s AND {told_of}") == []
    again = succeeded(second, "ingest", summary("Receipts are kept", 2))
    assert (again["duplicate"], again["memory_id"]) == (True, kept)


def test_what_is_forgotten_while_machines_are_off_is_counted_and_gone_once_their_workers_start(shared: Team) -> None:
    """Counted after a week: then a copy is silent."""
    first = shared.places[0]
    with further(shared, "followed") as followed, further(shared, "hasty") as hasty:
        phrases = {followed: "numbatfinch", hasty: "narwhalibis"}
        with followed.worker(), hasty.worker():
            forgotten = [remembered(followed, "The numbatfinch is a lock")]
            until_known(followed, "The numbatfinch is a lock")
            forgotten += [remembered(hasty, "The narwhalibis is a lock")]  # it may have no more than its job's record
            until(lambda: all(each["forgets"] == 0 for each in told(first)["copies"]) or None, "all is noted")
            until(lambda: first.cli("team", "status").stdout.count("0 texts") >= 4, "nothing is held by any copy")
        assert all(files_with(place.workspace.root, phrase) for place, phrase in phrases.items())
        until_known(first, *(f"The {phrase} is a lock" for phrase in phrases.values()))
        away(shared, followed, "6 days 23 hours")
        assert not copy_of(shared, first, followed)["is_silent"]
        succeeded(first, "forget", {"memory_ids": forgotten})

        def is_counted() -> bool:  # until the gateway has noticed that it waits no more
            away(shared, followed, "7 days 1 hour")
            seen = copy_of(shared, first, followed)
            return (seen["is_silent"], seen["forgotten"]) == (True, 2)

        until(is_counted, "it is counted")

        def subject() -> str | None:  # the gateway may still note that it was seen
            away(shared, followed, "7 days 1 hour")
            found = {each["code"]: each["subject"] for each in first.json("doctor")["findings"]}
            return found.get("TEAM_COPY_HOLDS_FORGOTTEN")

        assert until(subject, "the doctor says it") == shared.node_of(followed)
        with followed.worker(), hasty.worker():
            nodes = {shared.node_of(place) for place in phrases}
            until(lambda: not any(each["forgets"] for each in told(first)["copies"] if each["node"] in nodes), "gone")
            for place, phrase in phrases.items():
                until(lambda: not files_with(place.workspace.root, phrase), "no file tells of it")  # noqa: B023
                assert f"The {phrase} is a lock" not in titles(place)
            until(lambda: copy_of(shared, first, followed)["forgotten"] == 0 or None, "it has removed it")
        assert not copy_of(shared, first, followed)["is_silent"]


def away(team: Team, place: Place, interval: str) -> None:
    """As if the machine had been seen last so long ago."""
    team.change(
        "UPDATE copies SET seen_at = clock_timestamp() - %s::interval WHERE workspace_id = %s AND node = %s",
        interval,
        team.workspace_id,
        team.node_of(place),
    )


def copy_of(team: Team, asking: Place, place: Place) -> dict[str, Any]:
    [found] = [each for each in told(asking)["copies"] if each["node"] == team.node_of(place)]
    return dict(found)


# --- what operators see ---


def test_a_failed_job_is_seen_everywhere_without_texts_until_it_reruns_or_is_dismissed(shared: Team) -> None:
    first, second = shared.places
    remembered(first, "Slips are forgiven")
    slip = second.ended(second.submit("forget", {"topic_id": "gone"}))
    assert (slip.state, (slip.error or {}).get("code")) == ("failed", "TOPIC_NOT_FOUND")
    failed = second.submit("noop", {"outcome": "fail"}, max_attempts=1, correlation_id="wombatlynx")
    assert second.ended(failed).state == "failed"
    until(lambda: failed in failed_jobs(told(first)), "it is seen")
    seen = status_of(first)
    assert failed_jobs(told(first)) == failed_jobs(seen)
    assert slip.job_id not in failed_jobs(seen), "a person's slip is no failure"
    job = failed_jobs(seen)[failed]
    assert (job["kind"], job["asked_by"]) == ("noop", shared.node_of(second))
    assert job["error_code"]
    assert "wombatlynx" not in str(seen)
    assert seen["error"] is None
    text = first.cli("team", "status").stdout
    assert failed in text
    assert f"{seen['workspace']['jobs']['failed']} failed" in text
    shared.hold_jobs()
    assert second.cli("jobs", "retry", failed).returncode == 0
    until(
        lambda: failed not in failed_jobs(found := told(first)) and found["workspace"]["jobs"]["waiting"] == 1,
        "it waits",
    )
    shared.hold_jobs(holds=False)
    until(lambda: failed in failed_jobs(told(first)), "it has failed again")
    until(lambda: first.json("team", "dismiss", failed)["dismissed"] == 1, "its machine knows of its end")
    left = status_of(second)
    assert failed not in failed_jobs(left)
    assert left["workspace"]["jobs"]["failed"] == seen["workspace"]["jobs"]["failed"] - 1


def test_jobs_that_no_worker_takes_are_found_by_doctor(shared: Team) -> None:
    first, _ = shared.places
    waiting = first.submit("noop", {}, not_before="2999-01-01T00:00:00Z")
    until(lambda: shared.rows("SELECT 1 FROM jobs WHERE workspace_id = %s AND job_id = %s", waiting), "it is posted")
    assert told(first)["workspace"]["idle_seconds"] is None, "it is not due"
    assert "TEAM_JOBS_WAIT" not in codes(first)
    shared.hold_jobs()
    shared.change(
        "UPDATE jobs SET due_at = '-infinity', changed_at = clock_timestamp() - interval '11 minutes',"
        """ record = record::jsonb || '{"state": "retrying", "error": {"code": "DISK_FULL"}}'"""
        " WHERE workspace_id = %s AND job_id = %s",
        shared.workspace_id,
        waiting,
    )
    leased = "UPDATE workspaces SET leased_at = leased_at - interval '11 minutes' WHERE id = %s"
    shared.change(leased, shared.workspace_id)
    assert told(first)["workspace"]["idle_seconds"] > 600
    assert "TEAM_JOBS_WAIT" in codes(first)
    for why in ("DISK_FULL, so 1 job will be tried again", "nobody for 11 min: no pool runs"):
        assert why in " ".join(first.cli("team", "status").stdout.split())
    assert first.cli("jobs", "cancel", waiting).returncode == 0
    shared.hold_jobs(holds=False)
    assert first.ended(waiting).state == "cancelled"


# --- a team that is not reached ---


def test_without_the_database_jobs_wait_memories_are_found_status_says_so(tmp_path: Path) -> None:
    with cluster() as server:
        place = Team(tmp_path, server.dsn).machine("only")
        with place.worker():
            remembered(place, "Invoices are rounded up", 2)
            known = until(lambda: found if (found := told(place))["behind"] == 0 else None, "it is current")
            server.kill()
            waiting = place.submit("ingest", summary("The queue is a spool", 1))
            answer = place.json("retrieve", "how are invoices rounded?")
            assert "Invoices" in answer["results"][0]["summary_text"]
            until(lambda: "TEAM_UNREACHABLE" in place.log(), "it knows")
            assert not place.in_state(waiting, "queued").attempts
            seen = status_of(place)
            assert seen["error"]["code"] == "TEAM_UNREACHABLE"
            assert (seen["position"], seen["behind"], seen["workspace"]) == (known["position"], None, None)
            text = place.cli("team", "status").stdout
            assert ("TEAM_UNREACHABLE" in text, "answered from this machine's copy" in text) == (True, True)
            over_http = asked(place, "/v1/team")["team"]
            assert over_http["error"]["code"] == "TEAM_UNREACHABLE"
            assert {**over_http, "error": seen["error"]} == seen
            server.start()
            assert [attempt.outcome for attempt in place.ended(waiting).attempts] == ["succeeded"]


def figure(place: Place, name: str) -> float | None:
    """A metric without labels."""
    found = re.search(rf"^cognee_memory_{name} (\S+)$", place.asked("GET", "/metrics").text, re.MULTILINE)
    return None if found is None else float(found[1])


def test_an_unreached_team_is_told_in_seconds_and_holds_nobody_up(tmp_path: Path, dsn: str) -> None:
    """By the status and the metrics; no other route waits."""
    team = Team(tmp_path, dsn)
    with Link(team.gateway.port) as link, ThreadPoolExecutor(12) as clients:
        first = team.machine("first", port=link.port)
        with first.worker():
            remembered(first, "The queue is a spool")
            reached = until(lambda: asked(first, "/v1/team")["team"]["workspace"], "it is reached")
            assert reached["name"]
            until(lambda: figure(first, "team_copy_age_seconds") is not None, "the copy is current")
            assert figure(first, "team_reached") == 1
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
            until(lambda: asked(first, "/v1/team")["team"]["error"] is None, "it is reached again")
            until(lambda: figure(first, "team_reached") == 1, "and its worker knows")
            link.cut()
            until(lambda: figure(first, "team_reached") == 0, "it is not reached")
            assert first.heartbeat()["team"]["problem"] == "TEAM_UNREACHABLE"
            age = figure(first, "team_copy_age_seconds")
            assert age is not None
            until(lambda: (figure(first, "team_copy_age_seconds") or 0) > age, "the copy grows old")
            link.heal()
            until(lambda: figure(first, "team_reached") == 1, "it is reached again")
