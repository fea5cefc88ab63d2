"""Requests to the worker: obeyed once, deleted when the record shows the effect."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jobs import clock, lifecycle, spool
from jobs.errors import JobError
from jobs.layout import Spool
from jobs.lifecycle import Failed, Started, Succeeded
from jobs.model import Record, encode
from jobs.parse import parse_job
from worker.control import Control
from worker.ledger import Ledger


class Desk:
    """A spool with one job, its ledger, and who reads the requests."""

    def __init__(self, folder: Path, ledger_type: type[Ledger] = Ledger) -> None:
        self.place = Spool(folder)
        spool.prepare(self.place)
        self.ledger = ledger_type(self.place, [])
        self.enqueued: list[str] = []
        self.control = Control(self.place, self.ledger, lambda job_id, priority: self.enqueued.append(job_id))
        file = encode({"schema_version": 1, "job_id": "a", "kind": "noop", "payload": {}})
        job = parse_job("a", file, test_jobs=True)
        self.ledger.accept([(job, lifecycle.accept(job, clock.now()))])

    def ask(self, name: str, request: object) -> Path:
        path = self.place.control / name
        path.write_bytes(json.dumps(request).encode())
        self.control.look()
        return path

    @property
    def record(self) -> Record:
        found = spool.read_record(self.place, "a")
        assert found is not None
        return found


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "spool")


def test_a_waiting_job_is_cancelled_and_the_request_deleted(desk: Desk) -> None:
    request = desk.ask("cancel-a.json", {"job_id": "a", "generation": 1})
    assert desk.record.state == "cancelled"
    assert not request.exists()


def test_a_request_that_means_another_generation_does_nothing(desk: Desk) -> None:
    request = desk.ask("cancel-a.json", {"job_id": "a", "generation": 2})
    assert desk.record.state == "queued"
    assert not request.exists()


def test_a_request_against_a_running_job_stays_until_the_job_has_ended(desk: Desk) -> None:
    desk.ledger.apply({"a": Started()})
    request = desk.ask("cancel-a.json", {"job_id": "a", "generation": 1})
    assert desk.record.state == "running"
    assert request.exists()
    desk.ledger.apply({"a": Succeeded({})})
    desk.control.look()
    assert desk.record.state == "succeeded"
    assert not request.exists()


def test_a_request_against_a_running_job_stops_its_next_attempt(desk: Desk) -> None:
    desk.ledger.apply({"a": Started()})
    desk.ask("cancel-a.json", {"job_id": "a", "generation": 1})
    desk.ledger.apply({"a": Failed(JobError("TEST_RETRY"))})
    desk.control.look()
    assert desk.record.state == "cancelled"


class StartedMeanwhile(Ledger):
    """The runner starts the job right after the request's reader has looked at it."""

    def find(self, job_id: str) -> Record | None:
        found = super().find(job_id)
        if found is not None and not found.ended:
            self.apply({job_id: Started()})
        return found


def test_a_job_that_starts_while_the_request_is_read_is_not_cancelled_under_the_runner(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "spool", StartedMeanwhile)
    request = desk.ask("cancel-a.json", {"job_id": "a", "generation": 1})
    assert desk.record.state == "running"
    assert request.exists()


def test_a_request_for_a_job_in_the_inbox_waits_for_its_acceptance(desk: Desk) -> None:
    desk.place.dropped("b").write_bytes(b"{}")
    request = desk.ask("cancel-b.json", {"job_id": "b", "generation": 1})
    assert request.exists()


def test_a_request_for_a_job_that_nobody_knows_is_deleted(desk: Desk) -> None:
    assert not desk.ask("cancel-b.json", {"job_id": "b", "generation": 1}).exists()


def test_a_failed_job_runs_again_as_the_next_generation(desk: Desk) -> None:
    desk.ledger.apply({"a": Started()})
    desk.ledger.apply({"a": Failed(JobError("TEST_FAILURE"))})
    request = desk.ask("retry-a.json", {"job_id": "a", "generation": 1})
    assert (desk.record.state, desk.record.generation) == ("queued", 2)
    assert desk.enqueued == ["a"]
    assert not request.exists()


def test_a_retry_of_a_job_that_succeeded_or_still_waits_is_refused(desk: Desk) -> None:
    assert not desk.ask("retry-a.json", {"job_id": "a", "generation": 1}).exists()
    desk.ledger.apply({"a": Started()})
    desk.ledger.apply({"a": Succeeded({})})
    assert not desk.ask("retry-a.json", {"job_id": "a", "generation": 1}).exists()
    assert (desk.record.state, desk.record.generation) == ("succeeded", 1)
    assert desk.enqueued == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cancel-a.json", b"{"),
        ("cancel-a.json", b"[]"),
        ("cancel-A!.json", b"{}"),
        ("destroy-a.json", b"{}"),
        ("nothing.json", b"{}"),
        ("cancel-a.json", b" " * 5000),
    ],
)
def test_a_request_that_cannot_be_read_is_refused_and_deleted(desk: Desk, name: str, content: bytes) -> None:
    path = desk.place.control / name
    path.write_bytes(content)
    desk.control.look()
    assert not path.exists()
    assert desk.record.state == "queued"


def test_a_request_for_a_damaged_record_is_refused_and_deleted(desk: Desk) -> None:
    desk.place.record("b").write_bytes(b"{")
    assert not desk.ask("cancel-b.json", {}).exists()
