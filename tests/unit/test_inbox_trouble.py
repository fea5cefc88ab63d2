"""An entry that cannot be read, moved or taken away: it stops no other, and gets one answer, not one at each look."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import raising
from inbox_door import Door

from jobs import clock, files, spool
from worker.inbox import intake as intake_module
from worker.inbox.control import Control
from worker.scheduling import recovery


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
    control = Control(door.place, door.ledger, lambda job_id: "ended", {"pause": lambda request: heard.append("pause")})
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
