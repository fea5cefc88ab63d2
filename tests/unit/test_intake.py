"""Bad input is rejected with a code and a message, and the file kept; good input beside it is accepted."""

import errno
import itertools
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from harness import raising
from inbox_door import Door, file_of, job_of

from jobs import clock, files, lifecycle, spool
from jobs.errors import JobError
from jobs.model import Job, Record, encode
from jobs.states import State
from worker.inbox import intake as intake_module
from worker.inbox.control import Control
from worker.scheduling import recovery


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


# --- the decision ---


NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
MIB = 1024 * 1024
ACCEPTED: list[State] = [state for state in get_args(State) if state != "rejected"]


def job(**fields: Any) -> Job:
    return job_of("job-1", "rebuild", **{"payload": {"what": "index"}, **fields})


def record(state: State, of: Job, generation: int = 1) -> Record:
    return Record(job_id=of.job_id, kind=of.kind, job_sha256=of.sha256, state=state, generation=generation)


def decided(new: Job, earlier: Record | None = None, room: int = 1, free: int = 200 * MIB) -> int | None:
    return lifecycle.decide(new, earlier, room, free, 100 * MIB)


def rejected(*given: Any, **more: Any) -> JobError:
    with pytest.raises(JobError) as refused:
        decided(*given, **more)
    return refused.value


def test_a_new_job_is_the_first_generation_and_one_after_a_rejection_the_next() -> None:
    refused = lifecycle.reject("job-1", JobError("JOB_INVALID"), NOW, generation=3)
    assert (decided(job()), decided(job(), refused)) == (1, 4)
    assert decided(job(), free=100 * MIB) == 1, "exactly the space that is kept free is enough"


@pytest.mark.parametrize("state", ACCEPTED)
def test_the_same_job_again_is_a_duplicate_and_another_one_a_conflict(state: State) -> None:
    assert decided(job(), record(state, job())) is None
    assert decided(job(), record(state, job()), room=0, free=0) is None, "it needs neither room nor space"
    error = rejected(job(payload={"what": "graph"}), record(state, job()))
    assert (error.code, state in error.message) == ("JOB_ID_CONFLICT", True)


def test_what_the_digest_leaves_out_does_not_make_another_job() -> None:
    """Priority and times are about when; kind and payload say what is asked."""
    earlier = record("succeeded", job())
    assert decided(job(priority=5, correlation_id="again", submitted_at="2026-01-01T00:00:00Z"), earlier) is None


def test_without_room_or_free_space_a_new_job_is_rejected_with_the_numbers() -> None:
    assert [rejected(job(), room=room).code for room in (0, -5)] == ["BACKLOG_FULL"] * 2
    error = rejected(job(), free=99 * MIB)
    assert error.code == "DISK_FULL"
    assert ["99 MiB" in error.message, "100" in error.message] == [True, True]


# --- entries that cannot be read, moved or taken away ---


def refusing(action: Callable[..., object], name: str, code: int) -> Callable[..., object]:
    """The action, but for one file the system says no, as for an immutable one."""

    def act(self: Path, *arguments: object, **options: object) -> object:
        if self.name == name:
            raise OSError(code, os.strerror(code))
        return action(self, *arguments, **options)

    return act


@pytest.mark.parametrize("code", [errno.EPERM, errno.EBUSY])
def test_what_cannot_be_moved_stops_no_other_file(door: Door, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """It gets one answer."""
    door.place.dropped("a").mkdir()
    with monkeypatch.context() as immovable:
        immovable.setattr(Path, "replace", refusing(Path.replace, "a.json", code))
        for number in range(4):
            door.drop(f"b{number}.json")
            door.intake.scan()
            assert door.has(f"b{number}")
        assert len(list(door.place.rejected.iterdir())) == 1, "the reason, once"
        record = spool.read_record(door.place, "a")
        assert (record.state, record.generation) == ("rejected", 1)
    door.intake.scan()
    assert door.place.dropped("a").is_dir(), "it has its answer"
    door.place.dropped("a").rmdir()
    door.drop("a.json")
    door.intake.scan()
    assert door.has("a")


def test_a_good_file_that_stays_is_accepted_once_stops_no_other(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    door.drop("a.json")
    monkeypatch.setattr(Path, "unlink", refusing(Path.unlink, "a.json", errno.EPERM))
    for number in range(4):
        door.drop(f"b{number}.json")
        door.intake.scan()
        assert door.has(f"b{number}")
    assert door.has("a")
    assert list(door.place.rejected.iterdir()) == []


def test_a_file_that_cannot_be_read_for_a_while_is_read_later(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    door.drop("a.json")
    real = os.open

    def failing(path: Path, *arguments: int, **options: int | None) -> int:
        if Path(path).name == "a.json":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(path, *arguments, **options)

    with monkeypatch.context() as broken:
        broken.setattr(os, "open", failing)
        door.drop("b.json")
        door.intake.scan()
        assert door.has("b")
        assert not door.has("a")
        assert list(door.place.rejected.iterdir()) == [], "no good file is condemned for the disk's sake"
    monkeypatch.setattr(intake_module, "_AGAIN_SECONDS", 0.0)
    os.utime(door.place.dropped("a"))  # it has changed: no need to wait
    door.intake.scan()
    assert door.has("a")


def test_a_file_put_in_place_by_link_and_unlink_is_waited_for(tmp_path: Path) -> None:
    door = Door(tmp_path / "spool", partial_write_grace=60.0)
    path = door.drop("a.json")
    path.rename(path.with_name(".a.part"))
    path.hardlink_to(path.with_name(".a.part"))
    door.intake.scan()
    assert door.intake.waits_for_growing_files
    path.with_name(".a.part").unlink()
    door.intake.scan()
    assert door.has("a")


def test_a_folder_among_the_requests_stops_no_request(door: Door) -> None:
    (door.place.control / "a.json").mkdir()
    heard: list[str] = []
    control = Control(door.place, door.ledger, lambda job_id: "ended", {"pause": lambda: heard.append("pause")})
    for _ in range(2):
        files.replace(door.place.request("pause"), b"{}")
        control.scan()
    assert heard == ["pause", "pause"]


def test_a_folder_that_looks_like_an_unfinished_write_does_not_keep_the_worker_from_starting(door: Door) -> None:
    for folder in (door.place.results, door.place.active, door.place.worker):
        (folder / ".x.tmp").mkdir()
    assert recovery.recover(door.place, clock.now()) == []


@pytest.mark.parametrize("step", ["reason.json", "json"])
def test_a_rejection_the_disk_refuses_stops_no_other(door: Door, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """The valid files before it are accepted, later scans go on, and one reason is left in the end."""
    monkeypatch.setattr(intake_module, "_AGAIN_SECONDS", 3600.0)
    bad = door.place.dropped("m")
    bad.write_bytes(b"no json")
    replace = Path.replace

    def full(self: Path, target: Path) -> Path:
        if target.parent == door.place.rejected and target.name == f"m.1.{step}":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return replace(self, target)

    with monkeypatch.context() as disk:
        disk.setattr(Path, "replace", full)
        for number in range(3):
            door.drop(f"a{number}.json")
            door.drop(f"z{number}.json")
            door.intake.scan()
            assert door.has(f"a{number}"), "before it in the folder"
            assert door.has(f"z{number}"), "and behind it"
        assert list(door.place.rejected.iterdir()) == []
        assert bad.exists()
    os.utime(bad, (1, 1))  # it has changed: no need to wait
    door.intake.scan()
    door.intake.scan()  # a changed file might still be being written at the first
    assert {path.name for path in door.place.rejected.iterdir()} == {"m.1.json", "m.1.reason.json"}
    assert not bad.exists()


def test_an_error_that_ends_a_scan_loses_no_valid_file(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    door.drop("a.json")
    (door.place.inbox / "not a job's name.json").write_bytes(b"{}")

    monkeypatch.setattr(intake_module.redaction, "reject", raising(RuntimeError("a bug")))
    with pytest.raises(RuntimeError):
        door.intake.scan()
    assert door.has("a")
