"""Telling one run of the machine from the next, so that a job is blamed for a worker's death and for no reboot."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from worker import boot


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(boot, "boot_id", lambda: "this-run")
    return "this-run"


@pytest.fixture
def without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", missing)


def test_it_is_the_same_in_every_process_of_one_run_of_the_machine() -> None:
    found = boot.boot_id()
    assert found
    assert found == found.strip()
    other = subprocess.run(
        [sys.executable, "-c", "from worker import boot; print(boot.boot_id())"],
        cwd=Path(boot.__file__).parents[1], capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert other.stdout.strip() == found


def test_a_note_of_this_run_is_of_a_worker_that_died(here: str) -> None:
    assert boot.died_since_boot(here.encode())
    assert boot.died_since_boot(f"{here}\n".encode())


@pytest.mark.parametrize("note", [b"", b"\n", b"another-run", b"this-ru", b"\xff\xfe", b"this-run and more"])
def test_a_worker_that_left_in_order_or_in_another_run_or_a_damaged_note_blames_nobody(here: str, note: bytes) -> None:
    assert not boot.died_since_boot(note)


@pytest.mark.parametrize("note", [b"", b"None", b"this-run"])
def test_where_the_system_does_not_say_nobody_is_blamed(monkeypatch: pytest.MonkeyPatch, note: bytes) -> None:
    monkeypatch.setattr(boot, "boot_id", lambda: None)
    assert not boot.died_since_boot(note)


@pytest.mark.usefixtures("without_proc")
def test_without_an_id_of_the_system_the_time_of_its_start_tells_to_the_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    found = []
    for started in (6000.0, 6000.9, 6029.0, 5970.1, 6120.0):
        monkeypatch.setattr(psutil, "boot_time", lambda started=started: started)
        found.append(boot.boot_id())
    assert len(set(found[:4])) == 1, "it moves by a little when the clock is set"
    assert found[4] != found[0]


@pytest.mark.usefixtures("without_proc")
def test_without_any_of_these_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> float:
        raise psutil.AccessDenied

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(psutil, "boot_time", refused)
    assert boot.boot_id() is None


@pytest.mark.usefixtures("without_proc")
@pytest.mark.parametrize(("said", "meant"), [("ABC-1\n", "ABC-1"), ("", None)])
def test_on_macos_the_kernel_is_asked(monkeypatch: pytest.MonkeyPatch, said: str, meant: str | None) -> None:
    asked: list[Any] = []

    def run(command: list[str], **_: Any) -> SimpleNamespace:
        asked.append(command[-1])
        return SimpleNamespace(stdout=said)

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(subprocess, "run", run)
    assert (boot.boot_id(), asked) == (meant, ["kern.bootsessionuuid"])
