"""Requests to the worker: obeyed once, deleted when the record shows the effect."""

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import get_args

import pytest
from harness import PATIENCE
from inbox_door import job_of

from jobs import client, clock, files, lifecycle, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths
from jobs.lifecycle import Cancelled, Failed, Started, Succeeded
from jobs.model import Record
from worker.inbox.control import Control
from worker.scheduling.ledger import Ledger


class Desk:
    """A spool with one job, its ledger, and who reads the requests."""

    def __init__(self, folder: Path) -> None:
        self.place = SpoolPaths(folder)
        spool.prepare(self.place)
        self.effects: set[str] = set()
        self.ledger = Ledger(self.place, [], has_committed=lambda record: record.job_id in self.effects)
        self.obeyed: list[str] = []
        self.trouble = 0
        verbs = {verb: partial(self.obey, verb) for verb in ("pause", "resume", "drain", "prune")}
        self.control = Control(self.place, self.ledger, self.ledger.cancel, verbs)
        self.ledger.accept([(job_of("a"), lifecycle.accept(job_of("a"), clock.now()))])

    def obey(self, verb: str) -> None:
        if self.trouble:
            raise OSError(self.trouble, os.strerror(self.trouble))
        self.obeyed.append(verb)

    def ask(self, name: str, request: object) -> Path:
        path = self.place.control / name
        path.write_bytes(json.dumps(request).encode())
        self.control.scan()
        return path

    @property
    def record(self) -> Record:
        return spool.read_record(self.place, "a")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "spool")


@pytest.mark.parametrize(("generation", "state"), [(1, "cancelled"), (2, "queued")])
def test_a_waiting_job_of_its_generation_is_cancelled(desk: Desk, generation: int, state: str) -> None:
    """The request is deleted in any case."""
    request = desk.ask("cancel-a.json", {"job_id": "a", "generation": generation})
    assert desk.record.state == state
    assert not request.exists()


def test_a_request_against_a_running_job_stays_until_the_job_has_stopped(desk: Desk) -> None:
    desk.ledger.apply({"a": Started()})
    request = desk.ask("cancel-a.json", {"job_id": "a", "generation": 1})
    assert desk.record.state == "running"
    assert request.exists()
    assert desk.control.waits
    desk.ledger.apply({"a": Cancelled()})
    desk.control.scan()
    assert desk.record.state == "cancelled"
    assert not request.exists()
    assert not desk.control.waits


def test_a_request_that_a_running_job_outran_is_deleted_at_its_end(desk: Desk) -> None:
    desk.ledger.apply({"a": Started()})
    request = desk.ask("cancel-a.json", {"job_id": "a", "generation": 1})
    desk.ledger.apply({"a": Succeeded({})})
    desk.control.scan()
    assert desk.record.state == "succeeded"
    assert not request.exists()
    before = desk.record
    assert not desk.ask("cancel-a.json", {"job_id": "a", "generation": 1}).exists(), "nor does one after the end stay"
    assert desk.record == before


def test_a_request_that_comes_too_late_is_deleted_and_the_job_ends_as_it_would_have(desk: Desk) -> None:
    desk.ledger.apply({"a": Started()})
    desk.effects.add("a")
    request = desk.ask("cancel-a.json", {"job_id": "a", "generation": 1})
    assert desk.record.state == "running"
    assert not request.exists()
    assert not desk.control.waits
    desk.ledger.apply({"a": Succeeded({"n": 1})})
    assert desk.record.state == "succeeded"


def test_a_request_against_a_running_job_stops_its_next_attempt(desk: Desk) -> None:
    desk.ledger.apply({"a": Started()})
    desk.ask("cancel-a.json", {"job_id": "a", "generation": 1})
    desk.ledger.apply({"a": Failed(JobError("TEST_RETRY"))})
    desk.control.scan()
    assert desk.record.state == "cancelled"


def test_a_job_that_starts_while_the_request_is_read_is_not_cancelled_under_the_runner(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued = desk.record
    monkeypatch.setattr(desk.ledger, "find", lambda job_id: desk.ledger.apply({job_id: Started()}) and queued)
    request = desk.ask("cancel-a.json", {"job_id": "a", "generation": 1})
    assert desk.record.state == "running"
    assert request.exists()


def test_a_request_for_a_job_in_the_inbox_waits_for_it_and_one_that_nobody_knows_is_deleted(desk: Desk) -> None:
    desk.place.dropped("b").write_bytes(b"{}")
    assert desk.ask("cancel-b.json", {"job_id": "b", "generation": 1}).exists()
    desk.place.dropped("b").unlink()
    assert not desk.ask("cancel-b.json", {"job_id": "b", "generation": 1}).exists()


def test_a_retry_that_is_read_twice_runs_the_job_once(desk: Desk) -> None:
    """A stop between the effect and the request's removal leaves the request."""
    desk.ledger.cancel("a")
    for _ in range(2):
        desk.ask("retry-a.json", {"job_id": "a", "generation": 1})
    assert (desk.record.state, desk.record.generation) == ("queued", 2)


class Awaited:
    """In place of a lock: ``awaited`` is set once somebody has to wait for it."""

    def __init__(self) -> None:
        self.lock, self.awaited = threading.RLock(), threading.Event()

    def __enter__(self) -> None:
        if not self.lock.acquire(blocking=False):
            self.awaited.set()
            self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()


def test_a_dismissed_job_leaves_nothing_and_its_id_is_free_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though it is dismissed as soon as its end can be read, while the folder is synced."""
    desk.ledger.apply({"a": Started()})
    monkeypatch.setattr(desk.ledger, "_stepping", stepping := Awaited())
    seen = threading.Event()
    with monkeypatch.context() as patch, ThreadPoolExecutor(1) as runner:
        patch.setattr(files, "sync_folder", lambda folder: seen.set() or stepping.awaited.wait(PATIENCE))
        runner.submit(desk.ledger.apply, {"a": Failed(JobError("TEST_FAILURE"))})
        assert seen.wait(PATIENCE)
        assert desk.record.ended
        assert not desk.ask("dismiss-a.json", {"job_id": "a", "generation": 1}).exists()
        stepping.awaited.set()
    assert [path.name for path in desk.place.root.rglob("*a*.json")] == []
    with pytest.raises(JobError, match="JOB_NOT_FOUND"):
        client.status(desk.place, "a")
    assert not desk.ask("dismiss-a.json", {"job_id": "a", "generation": 1}).exists()


def test_a_copy_that_was_not_put_away_goes_with_its_dismissed_job(desk: Desk) -> None:
    """It would be taken for a new job at the next start."""
    desk.ledger.cancel("a")
    desk.place.ended_copy("a").rename(desk.place.copy("a"))
    desk.ask("dismiss-a.json", {"job_id": "a", "generation": 1})
    assert not desk.place.copy("a").exists()


def test_a_rejected_job_is_dismissed_with_its_files(desk: Desk) -> None:
    for name in ("b", "bc"):
        error, dropped = JobError("JSON_INVALID"), desk.place.dropped(name)
        dropped.write_bytes(b"{")
        spool.reject(desk.place, dropped, error, lifecycle.reject(name, error, clock.now()), clock.iso(clock.now()))
    desk.ask("dismiss-b.json", {"job_id": "b", "generation": 1})
    assert sorted(path.name for path in desk.place.rejected.iterdir()) == ["bc.1.json", "bc.1.reason.json"]
    assert spool.read_record(desk.place, "b") is None


@pytest.mark.parametrize("generation", [1, 2])
def test_a_job_that_waits_or_is_of_another_generation_is_not_dismissed(desk: Desk, generation: int) -> None:
    if generation == 2:
        desk.ledger.cancel("a")
    assert not desk.ask("dismiss-a.json", {"job_id": "a", "generation": generation}).exists()
    assert desk.record.state == ("queued" if generation == 1 else "cancelled")


UNREADABLE = [
    ("cancel-a.json", b"{"), ("cancel-a.json", b"[]"), ("cancel-a.json", b" " * 5000), ("cancel-A!.json", b"{}"),
    ("destroy-a.json", b"{}"), ("nothing.json", b"{}"), ("pause-a.json", b"{}"), ("drain-.json", b"{}"),
    ("cancel.json", b"{}"), ("pause.json", b"[]"), ("pause.json", b"{"),
    ("cancel-damaged.json", b"{}"),  # that is how its record is
]  # fmt: skip


@pytest.mark.parametrize(("name", "content"), UNREADABLE)
def test_a_request_that_cannot_be_read_is_refused_and_deleted(desk: Desk, name: str, content: bytes) -> None:
    desk.place.record("damaged").write_bytes(b"{")
    path = desk.place.control / name
    path.write_bytes(content)
    desk.control.scan()
    assert not path.exists()
    assert desk.record.state == "queued"
    assert desk.obeyed == []


def test_what_the_client_asks_for_is_obeyed_once(desk: Desk) -> None:
    for verb in get_args(client.ControlVerb):
        client.request(desk.place, verb)
        for _ in range(2):
            desk.control.scan()
            assert not desk.place.request(verb).exists()
    assert desk.obeyed == list(get_args(client.ControlVerb))


@pytest.mark.parametrize("verbs", list(permutations(["pause", "resume"])))
def test_of_requests_that_contradict_each_other_the_last_one_counts(desk: Desk, verbs: tuple[str, ...]) -> None:
    """Both were dropped while no worker ran."""
    for second, verb in enumerate(verbs):
        path = desk.place.request(verb)
        path.write_bytes(b"{}")
        os.utime(path, (second, second))
    desk.control.scan()
    assert desk.obeyed == list(verbs)


@pytest.mark.parametrize("trouble", [28, 13])  # no space, no permission
def test_a_request_that_cannot_be_obeyed_now_holds_up_no_other(desk: Desk, trouble: int) -> None:
    desk.trouble = trouble
    drain = desk.place.request("drain")
    drain.write_bytes(b"{}")
    os.utime(drain, (0, 0))
    desk.ask("cancel-a.json", {"job_id": "a", "generation": 1})
    assert desk.record.state == "cancelled"
    assert (desk.obeyed, drain.exists()) == ([], True)
    desk.trouble = 0
    desk.control.scan()
    assert (desk.obeyed, drain.exists()) == (["drain"], False)


@pytest.mark.parametrize("name", ["pause.json", "notes", ".hidden"])
def test_a_folder_is_rejected_once_and_holds_up_nobody(desk: Desk, name: str, caplog: pytest.LogCaptureFixture) -> None:
    (desk.place.control / name).mkdir()
    (desk.place.control / name / "kept.txt").write_text("mine")
    desk.ask("cancel-a.json", {"job_id": "a", "generation": 1})
    desk.control.scan()
    assert desk.record.state == "cancelled"
    assert list(desk.place.control.iterdir()) == []
    [kept] = desk.place.rejected.glob("*/kept.txt")
    assert kept.read_text() == "mine"
    assert len(list(desk.place.rejected.glob("*.reason.json"))) == 1
    assert len([line for line in caplog.messages if "refused" in line]) == 1


@pytest.mark.parametrize("name", ["anything", "pause", "pause.json.tmp", "pause.JSON", "pause.txt"])
def test_what_is_no_request_is_deleted_and_logged(desk: Desk, name: str, caplog: pytest.LogCaptureFixture) -> None:
    assert not desk.ask(name, {}).exists()
    assert desk.obeyed == []
    [line] = caplog.messages
    assert name in line


TOKEN = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


@pytest.mark.parametrize("name", [f"cancel-{TOKEN}.json", f"{TOKEN}.txt", f"{'x' * 80}-{TOKEN}.json"])
@pytest.mark.parametrize("content", [b"{}", b"{", b"[]", b" " * 5000])
def test_no_secret_of_a_name_is_logged(desk: Desk, name: str, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    path = desk.place.control / name
    path.write_bytes(content)
    desk.control.scan()
    assert not path.exists()
    assert "refused" in caplog.text
    assert TOKEN[:12] not in caplog.text


def test_a_link_or_a_pipe_is_no_request_and_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.json"
    target.write_bytes(b"{}")
    desk.place.request("pause").symlink_to(target)
    os.mkfifo(desk.place.request("resume"))
    desk.control.scan()
    assert desk.obeyed == []
    assert list(desk.place.control.iterdir()) == []
    assert target.exists()


def test_a_request_that_is_still_being_written_is_left_alone(desk: Desk) -> None:
    assert desk.ask(".cancel-a.json", {"job_id": "a", "generation": 1}).exists()
    assert desk.record.state == "queued"


def test_a_request_that_came_while_the_former_was_obeyed_is_obeyed_too(desk: Desk) -> None:
    path = desk.place.request("prune")

    def again() -> None:
        desk.obeyed.append("prune")
        if len(desk.obeyed) == 1:
            files.replace(path, b'{"again": true}')

    desk.control = Control(desk.place, desk.ledger, desk.ledger.cancel, {"prune": again})
    desk.ask("prune.json", {})
    assert path.exists()
    desk.control.scan()
    assert (desk.obeyed, path.exists()) == (["prune", "prune"], False)


def test_a_cancellation_of_what_was_dropped_under_a_rejected_id_waits_for_its_acceptance(desk: Desk) -> None:
    """The record is the rejected file's; the request means the job that comes."""
    spool.write_records(desk.place, [lifecycle.reject("b", JobError("JSON_INVALID"), clock.now())])
    desk.place.dropped("b").write_bytes(b"{}")
    request = desk.ask("cancel-b.json", {"job_id": "b", "generation": None})
    assert request.exists()
    assert not desk.control.waits  # the look that accepts the job reads the request right after
    desk.place.dropped("b").unlink()
    desk.control.scan()
    assert not request.exists()
