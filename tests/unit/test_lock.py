"""The lock: who holds it, lives. Tried with real processes and real signals."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jobs.lock import Lock, is_held

# Holds the lock, says so, and stays until its stdin closes. With "heir", a child of its own stays as well.
_HOLDER = """
import subprocess, sys
from pathlib import Path
from jobs.lock import Lock
lock = Lock(Path(sys.argv[1]))
assert lock.acquire()
if sys.argv[2:]:
    subprocess.Popen([sys.executable, "-c", "import sys; print('here', flush=True); sys.stdin.read()"])
else:
    print("here", flush=True)
sys.stdin.read()
"""


@contextmanager
def holder(path: Path, *heir: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(path), *heir], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"here\n"
            yield process
        finally:
            process.kill()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


def test_another_process_holds_the_lock_until_it_is_killed(path: Path) -> None:
    with holder(path) as process:
        assert is_held(path)
        assert not Lock(path).acquire()
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not is_held(path)
        with Lock(path) as mine:
            assert mine.acquire()


@pytest.mark.skipif(sys.platform == "win32", reason="processes there have no such heirs")
def test_a_child_that_outlives_the_holder_does_not_keep_the_lock(path: Path) -> None:
    with holder(path, "heir") as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not is_held(path)  # the heir has our pipe for stdin, and lives until it closes


def test_the_lock_is_exclusive_within_a_process_too(path: Path) -> None:
    with Lock(path) as first:
        assert first.acquire()
        assert not Lock(path).acquire()
        assert is_held(path)
    assert not is_held(path)
    with Lock(path) as second:
        assert second.acquire()


def test_releasing_twice_is_as_good_as_once(path: Path) -> None:
    mine = Lock(path)
    assert mine.acquire()
    mine.release()
    mine.release()
    assert not is_held(path)


def test_nobody_holds_a_lock_that_was_never_made(path: Path) -> None:
    assert not is_held(path)
    assert not path.exists()


def test_looking_does_not_take_the_lock_away_from_who_wants_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looking = Lock(path)
    assert looking.acquire()  # as if somebody were in the middle of a look
    pauses: list[float] = []

    def look_ends(seconds: float) -> None:
        pauses.append(seconds)
        looking.release()

    monkeypatch.setattr(time, "sleep", look_ends)
    with Lock(path) as wanted:
        assert wanted.acquire()
    assert len(pauses) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="locks there cannot be shared")
def test_two_that_look_do_not_take_each_other_for_a_holder(path: Path) -> None:
    path.touch()
    found: list[bool] = []
    lookers = [threading.Thread(target=lambda: found.extend(is_held(path) for _ in range(500))) for _ in range(3)]
    for looker in lookers:
        looker.start()
    for looker in lookers:
        looker.join()
    assert found == [False] * 1500


@pytest.mark.skipif(sys.platform == "win32", reason="links there need rights")
def test_a_link_in_the_lock_s_place_is_not_followed(path: Path, tmp_path: Path) -> None:
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError):
        Lock(path).acquire()
    assert not (tmp_path / "elsewhere").exists()
