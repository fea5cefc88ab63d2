"""What an asker does, with no process but its own."""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest

from jobs import client, clock, lifecycle, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.lifecycle import Cancelled, Event, Started, Succeeded
from jobs.lock import Lock
from jobs.model import Record
from jobs.parse import parse_job

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def place(tmp_path: Path) -> SpoolPaths:
    found = Workspace(tmp_path).spool
    spool.prepare(found)
    return found


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses that take no time; the list says how long they would have been."""
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    return pauses


def accept(place: SpoolPaths, job_id: str) -> Record:
    """What the worker does with a dropped file."""
    job = parse_job(job_id, place.dropped(job_id).read_bytes())
    record = lifecycle.accept(job, NOON)
    spool.accept(place, [(job, record)])
    return record


def move_on(place: SpoolPaths, job_id: str, *events: Event) -> Record:
    record = spool.read_record(place, job_id)
    assert record is not None
    for event in events:
        record = lifecycle.step(record, event, NOON)
    spool.write_records(place, [record])
    return record


def code(action: Any, *arguments: Any, **named: Any) -> str:
    with pytest.raises(JobError) as caught:
        action(*arguments, **named)
    return caught.value.code


# --- submit ---


def test_a_submitted_job_is_one_that_the_worker_accepts_with_the_digest_that_was_told(place: SpoolPaths) -> None:
    told = client.submit(place, "migrate", {"dryRun": True, "limit": 3}, priority=5, correlation_id="mine")
    job = parse_job(told.job_id, place.dropped(told.job_id).read_bytes())
    assert (job.sha256, job.priority, job.correlation_id) == (told.sha256, 5, "mine")
    assert job.submitted_at is not None


def test_an_asker_may_choose_the_id(place: SpoolPaths) -> None:
    assert client.submit(place, "check", {}, job_id="mine").job_id == "mine"
    assert place.dropped("mine").exists()


@pytest.mark.parametrize("job_id", ["", "A", "../a", "con"])
def test_an_id_that_is_none_is_not_dropped(place: SpoolPaths, job_id: str) -> None:
    if job_id:
        assert code(client.submit, place, "check", {}, job_id=job_id) == "JOB_INVALID"
        assert spool.inbox(place) == []
    else:
        assert client.submit(place, "check", {}, job_id=job_id).job_id  # empty means: choose one


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {1, 2}, b"x"], ids=repr)
def test_what_json_cannot_hold_is_not_dropped(place: SpoolPaths, value: object) -> None:
    assert code(client.submit, place, "import", {"path": value}) == "JOB_INVALID"
    assert spool.inbox(place) == []


# --- status ---


def test_a_job_in_the_inbox_has_no_record_yet(place: SpoolPaths) -> None:
    told = client.submit(place, "check", {})
    assert client.status(place, told.job_id) is None
    record = accept(place, told.job_id)
    assert client.status(place, told.job_id) == record
    assert record.job_sha256 == told.sha256


@pytest.mark.parametrize("job_id", ["none", "../none", "", "x" * 300, "a\0b"])
def test_a_job_that_nobody_dropped_is_not_found(place: SpoolPaths, job_id: str) -> None:
    assert code(client.status, place, job_id) == "JOB_NOT_FOUND"


def test_a_job_that_is_accepted_between_the_two_looks_is_found(
    place: SpoolPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = client.submit(place, "check", {})
    look = spool.read_record

    def look_then_accept(place: SpoolPaths, job_id: str) -> Record | None:
        found = look(place, job_id)
        if found is None:
            accept(place, job_id)
        return found

    monkeypatch.setattr(spool, "read_record", look_then_accept)
    found = client.status(place, told.job_id)
    assert found is not None
    assert found.state == "queued"


def test_a_job_that_waits_is_not_replaced_by_another_of_its_id(place: SpoolPaths) -> None:
    """No worker has seen it yet; whoever dropped it was told that it is safe."""
    first = client.submit(place, "noop", {"sleep_ms": 1}, job_id="a")
    with pytest.raises(JobError, match="waits") as conflict:
        client.submit(place, "noop", {"sleep_ms": 2}, job_id="a")
    assert conflict.value.code == "JOB_ID_CONFLICT"
    assert json.loads(place.dropped("a").read_bytes())["payload"] == {"sleep_ms": 1}
    assert client.submit(place, "noop", {"sleep_ms": 1}, job_id="a") == first
    assert client.dropped_digest(place, "a") == first.sha256


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"kind": "noop"}', b"\xff"])
def test_a_file_that_is_no_job_does_not_stand_in_the_way_of_one(place: SpoolPaths, content: bytes) -> None:
    place.dropped("a").write_bytes(content)
    assert client.dropped_digest(place, "a") is None
    submitted = client.submit(place, "noop", {}, job_id="a")
    assert client.dropped_digest(place, "a") == submitted.sha256


def test_a_former_rejection_does_not_answer_for_a_new_drop(place: SpoolPaths) -> None:
    refusal = lifecycle.reject("a", JobError("JSON_INVALID"), NOON)
    spool.write_records(place, [refusal])
    assert client.status(place, "a") == refusal
    client.submit(place, "check", {}, job_id="a")
    assert client.status(place, "a") is None


# --- wait ---


def test_waiting_sees_every_state_until_the_end(place: SpoolPaths, no_pauses: list[float]) -> None:
    job_id = client.submit(place, "check", {}).job_id
    steps = iter(
        [
            lambda: accept(place, job_id),
            lambda: move_on(place, job_id, Started()),
            lambda: move_on(place, job_id, Succeeded({"findings": []})),
        ]
    )
    seen: list[str | None] = []

    def look(record: Record | None) -> None:
        seen.append(record.state if record else None)
        next(steps, lambda: None)()

    record = client.wait(place, job_id, seen=look)
    assert (record.state, record.result) == ("succeeded", {"findings": []})
    assert seen == [None, "queued", "running", "succeeded"]
    assert no_pauses == sorted(no_pauses)


def test_waiting_no_longer_than_asked(place: SpoolPaths, no_pauses: list[float]) -> None:
    job_id = client.submit(place, "check", {}).job_id
    with pytest.raises(JobError, match="waiting in the inbox") as caught:
        client.wait(place, job_id, seconds=0)
    assert caught.value.code == "WAIT_TIMEOUT"
    accept(place, job_id)
    with pytest.raises(JobError, match="queued"):
        client.wait(place, job_id, seconds=0)
    assert no_pauses == []


def test_waiting_gives_up_after_some_seconds_without_a_worker(place: SpoolPaths, no_pauses: list[float]) -> None:
    job_id = client.submit(place, "check", {}).job_id
    assert code(client.wait, place, job_id) == "WORKER_NOT_RUNNING"
    assert 5 < sum(no_pauses) < 15


def test_waiting_goes_on_while_a_worker_lives(
    place: SpoolPaths, no_pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = client.submit(place, "check", {}).job_id
    accept(place, job_id)
    looks = 0

    def look(record: Record | None) -> None:
        nonlocal looks
        looks += 1
        if looks == 200:
            move_on(place, job_id, Started(), Succeeded({}))

    with Lock(place.lock) as worker:
        assert worker.acquire()
        assert client.wait(place, job_id, seen=look).state == "succeeded"
    assert max(no_pauses) <= 0.25


# --- cancel ---


def request(place: SpoolPaths, job_id: str) -> Any:
    found = json.loads(place.cancel(job_id).read_bytes())
    assert clock.parse(found.pop("requested_at")) <= clock.now()
    return found


def test_cancelling_asks_for_the_generation_that_was_seen(place: SpoolPaths) -> None:
    job_id = client.submit(place, "check", {}).job_id
    assert client.cancel(place, job_id) is None
    assert request(place, job_id) == {"job_id": job_id, "generation": None}
    record = accept(place, job_id)
    assert client.cancel(place, job_id) == record
    assert request(place, job_id) == {"job_id": job_id, "generation": record.generation}


def test_an_ended_job_is_not_asked_to_cancel(place: SpoolPaths) -> None:
    job_id = client.submit(place, "check", {}).job_id
    accept(place, job_id)
    ended = move_on(place, job_id, Started(), Succeeded({}))
    assert client.cancel(place, job_id) == ended
    assert not place.cancel(job_id).exists()


def test_a_job_that_is_not_there_cannot_be_cancelled(place: SpoolPaths) -> None:
    assert code(client.cancel, place, "none") == "JOB_NOT_FOUND"
    assert list(place.control.iterdir()) == []


# --- requests about no single job ---


@pytest.mark.parametrize("verb", get_args(client.ControlVerb))
def test_a_request_is_a_file_under_its_verb(place: SpoolPaths, verb: client.ControlVerb) -> None:
    client.request(place, verb)
    (path,) = place.control.iterdir()
    assert path == place.request(verb)
    assert path.name == f"{verb}.json"
    assert list(json.loads(path.read_bytes())) == ["requested_at"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_retry_names_the_generation_that_ended(place: SpoolPaths) -> None:
    job_id = client.submit(place, "check", {}).job_id
    accept(place, job_id)
    ended = move_on(place, job_id, Cancelled())
    client.retry(place, ended)
    asked = json.loads(place.retry(job_id).read_bytes())
    assert (asked["job_id"], asked["generation"]) == (job_id, 1)


def test_a_request_is_obeyed_when_its_file_has_gone(place: SpoolPaths) -> None:
    path = place.request("prune")
    assert client.wait_until_handled(place, path, 30)
    client.request(place, "prune")
    with Lock(place.lock) as lock:
        assert lock.acquire()
        worker = threading.Thread(target=path.unlink)
        worker.start()
        assert client.wait_until_handled(place, path, 30)
        worker.join()


def test_nobody_waits_for_a_request_where_no_worker_is_or_longer_than_asked(place: SpoolPaths) -> None:
    client.request(place, "prune")
    assert not client.wait_until_handled(place, place.request("prune"), 3600)
    with Lock(place.lock) as lock:
        assert lock.acquire()
        assert not client.wait_until_handled(place, place.request("prune"), 0.02)


@pytest.mark.parametrize("first", ["request", "drop", "request of a job"])
def test_the_first_file_in_a_workspace_is_private_and_ignored_by_git(tmp_path: Path, first: str) -> None:
    place = SpoolPaths(tmp_path / "spool")
    before = os.umask(0o022)
    try:
        if first == "request":
            client.request(place, "pause")
        elif first == "drop":
            client.submit(place, "noop", {})
        else:
            client.request_jobs(place, {"a": (place.cancel("a"), None)})
    finally:
        os.umask(before)
    assert stat.S_IMODE(place.root.stat().st_mode) == 0o700
    assert (place.root / ".gitignore").read_text() == "*\n"
