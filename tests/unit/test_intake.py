"""Bad input is rejected with a code and a message, and the file kept; good input beside it is accepted."""

import itertools
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from inbox_door import Door, file_of

from jobs import spool
from jobs.model import encode


def test_a_good_file_becomes_a_job_and_is_enqueued(door: Door) -> None:
    path = door.drop("a.json", priority=3)
    door.look()
    record = door.ledger.get("a")
    assert (record.state, record.priority, record.accepted_at is not None) == ("queued", 3, True)
    assert door.taken == ["a"]
    assert not path.exists()


def test_a_delayed_job_is_accepted_and_not_yet_enqueued(door: Door) -> None:
    door.drop("a.json", not_before="2999-01-01T00:00:00Z")
    door.look()
    assert door.ledger.get("a") is not None
    assert door.taken == []


def test_requests_have_their_turn_before_an_inbox_that_takes_long(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        door.drop(f"{name}.json")
    ticks = itertools.count(0, 2.0)
    monkeypatch.setattr("worker.inbox.intake.time", SimpleNamespace(monotonic=lambda: next(ticks)))
    assert (door.intake.scan(), door.intake.has_more) == (2, True)
    assert (door.intake.scan(), door.intake.has_more) == (1, False)


def test_the_first_jobs_of_a_full_inbox_are_enqueued_before_the_last_are_read(tmp_path: Path) -> None:
    """Nobody waits until everything is worked off."""
    door = Door(tmp_path / "spool", max_active_jobs=1000)
    for number in range(200):
        door.drop(f"job-{number:03d}.json")
    told: list[int] = []
    door.intake._accepted = lambda: told.append(len(spool.inbox(door.place)))
    assert door.intake.scan() == 200
    assert told == [192, 176, 144, 80, 16, 0]


BAD: list[tuple[str, bytes, str]] = [
    ("broken.json", b'{"schema_version": 1,', "JSON_INVALID"),
    ("empty.json", b"", "JSON_INVALID"),
    ("bytes.json", b"\xff\xfe", "JSON_INVALID"),
    ("list.json", b"[]", "JOB_INVALID"),
    ("version.json", file_of("version", schema_version=2), "SCHEMA_VERSION_UNSUPPORTED"),
    ("kind.json", file_of("kind", kind="ingset"), "KIND_UNKNOWN"),
    ("type.json", file_of("type", payload=[]), "JOB_INVALID"),
    ("field.json", file_of("field", prioritty=1), "JOB_INVALID"),
    ("missing.json", encode({"schema_version": 1, "job_id": "missing", "kind": "noop"}), "JOB_INVALID"),
    ("payload.json", file_of("payload", kind="ingest", payload={"summary": {"topic": "A"}}), "JOB_INVALID"),
    ("other.json", file_of("another"), "JOB_INVALID"),
    ("large.json", file_of("large", correlation_id="x" * 5000), "FILE_TOO_LARGE"),
]


@pytest.mark.parametrize(("name", "content", "code"), BAD, ids=[name for name, *_ in BAD])
def test_a_bad_file_is_rejected_with_record_reason_and_file(door: Door, name: str, content: bytes, code: str) -> None:
    door.drop(name, content)
    door.drop("good.json")
    door.look()
    stem = name.removesuffix(".json")
    record = spool.read_record(door.place, stem)
    assert (record.state, record.error["code"]) == ("rejected", code)
    assert record.error["message"].endswith((".", "?"))
    assert record.error["remediation"] != ""
    assert door.reason(stem)["error"] == record.error
    assert (door.place.rejected / f"{stem}.1.json").read_bytes() == content
    assert spool.inbox(door.place) == []
    assert door.taken == ["good"]


@pytest.mark.parametrize("name", ["Not An Id.json", "UPPER.json", "con.json", "note.txt", "no-ending", "ä.json"])
def test_a_file_whose_name_is_no_id_is_kept_with_the_reason_and_gets_no_record(door: Door, name: str) -> None:
    door.drop(name, file_of("x"))
    door.look()
    assert door.reason(name.removesuffix(".json"))["error"]["code"] == "NAME_INVALID"
    assert list(door.place.results.iterdir()) == []
    assert spool.inbox(door.place) == []


def test_links_pipes_and_folders_are_never_opened(door: Door, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(file_of("link"))
    door.place.dropped("link").symlink_to(secret)
    os.link(secret, door.place.dropped("second-name"))
    os.mkfifo(door.place.dropped("pipe"))
    door.place.dropped("folder").mkdir()
    door.look()
    for name in ("link", "second-name", "pipe", "folder"):
        assert door.reason(name)["error"]["code"] == "FILE_UNSAFE", name
        assert os.path.lexists(door.place.rejected / f"{name}.1.json")
    assert (door.place.rejected / "link.1.json").is_symlink()
    assert secret.read_bytes() == file_of("link")
    assert door.taken == []


def test_a_test_job_is_unknown_where_test_jobs_are_off(tmp_path: Path) -> None:
    door = Door(tmp_path / "spool", test_jobs=False)
    door.drop("a.json")
    door.look()
    assert door.reason("a")["error"]["code"] == "KIND_UNKNOWN"


def test_an_unfinished_file_is_left_alone_while_it_may_grow(tmp_path: Path) -> None:
    door = Door(tmp_path / "spool", partial_write_grace=3600.0)
    path = door.drop("a.json", b'{"schema_version"')
    door.look()
    assert path.exists()
    assert door.intake.waits_for_growing_files
    door.drop("a.json")
    door.look()
    assert door.taken == ["a"]
    assert not door.intake.waits_for_growing_files


def test_the_grace_begins_anew_whenever_the_file_grows(tmp_path: Path) -> None:
    door = Door(tmp_path / "spool")
    path = door.drop("a.json", b"{")
    for size in range(1, 6):
        path.write_bytes(b"{" + b" " * size)
        door.intake.scan()
        assert path.exists(), "it grew since the last look"
    door.intake.scan()
    assert not path.exists()


def test_a_file_that_vanished_is_waited_for_no_longer(tmp_path: Path) -> None:
    door = Door(tmp_path / "spool", partial_write_grace=3600.0)
    door.drop("a.json", b"{").unlink()
    door.drop("b.json", b"{")
    door.intake.scan()
    (door.place.inbox / "b.json").unlink()
    door.intake.scan()
    assert not door.intake.waits_for_growing_files


REFUSED_DROPS = [("JOB_ID_CONFLICT", {"payload": {"sleep_ms": 5}}), ("JOB_INVALID", {"content": b"[]"})]


@pytest.mark.parametrize(("code", "dropped"), REFUSED_DROPS)
def test_what_is_refused_under_the_id_of_a_live_job_leaves_that_job_alone(door: Door, code: str, dropped: Any) -> None:
    door.drop("a.json")
    door.look()
    before = spool.read_record(door.place, "a")
    door.drop("a.json", **dropped)
    door.look()
    assert spool.read_record(door.place, "a") == before
    assert door.reason("a")["error"]["code"] == code
    assert door.taken == ["a"]


def test_a_duplicate_is_taken_away_and_runs_nothing(door: Door) -> None:
    door.drop("a.json")
    door.look()
    path = door.drop("a.json")
    door.look()
    assert not path.exists()
    assert door.taken == ["a"]
    assert list(door.place.rejected.iterdir()) == []


def test_a_damaged_record_is_not_overwritten_by_a_drop_of_its_name(door: Door) -> None:
    door.place.record("a").write_bytes(b"{")
    door.drop("a.json")
    door.look()
    assert door.place.record("a").read_bytes() == b"{"
    assert door.reason("a")["error"]["code"] == "JOB_ID_CONFLICT"


def test_more_than_there_is_room_for_is_rejected_with_the_reason(tmp_path: Path) -> None:
    door = Door(tmp_path / "spool", max_active_jobs=3)
    for number in range(5):
        door.drop(f"job-{number}.json")
    door.look()
    assert door.taken == ["job-0", "job-1", "job-2"]
    for number in (3, 4):
        assert door.reason(f"job-{number}")["error"]["code"] == "BACKLOG_FULL"


def test_a_disk_with_too_little_room_rejects_and_keeps_the_file(tmp_path: Path) -> None:
    door = Door(tmp_path / "spool", min_free_bytes=2**62)
    door.drop("a.json")
    door.look()
    assert door.reason("a")["error"]["code"] == "DISK_FULL"
    assert (door.place.rejected / "a.1.json").read_bytes() == file_of("a")
