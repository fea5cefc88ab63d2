"""The lock: who holds it, lives. Tried with real processes and real signals."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness import at_once, masked, raising

from jobs import lock
from jobs.errors import JobError
from jobs.lock import NOTE_LIMIT, Lock, is_held

# Holds the lock with a note in it, says so, and stays until its stdin closes. With "heir", a child of its own stays
# as well.
_HOLDER = """
import subprocess, sys
from pathlib import Path
from jobs.lock import Lock
lock = Lock(Path(sys.argv[1]))
assert lock.acquire()
lock.write_note(sys.argv[2].encode())
if sys.argv[3:]:
    subprocess.Popen([sys.executable, "-c", "import sys; print('here', flush=True); sys.stdin.read()"])
else:
    print("here", flush=True)
sys.stdin.read()
"""


@contextmanager
def holder(path: Path, *heir: str, note: str = "") -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(path), note, *heir], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        try:
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


def test_nobody_holds_a_lock_that_was_never_made_or_was_released_though_twice(path: Path) -> None:
    assert not is_held(path)
    assert not path.exists()
    mine = Lock(path)
    assert mine.acquire()
    mine.release()
    mine.release()
    assert not is_held(path)


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


def test_two_that_look_do_not_take_each_other_for_a_holder(path: Path) -> None:
    path.touch()
    assert at_once(lambda _: [is_held(path) for _ in range(500)], range(3)) == [[False] * 500] * 3


def test_a_link_in_the_lock_s_place_is_not_followed(path: Path, tmp_path: Path) -> None:
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError):
        Lock(path).acquire()
    assert not (tmp_path / "elsewhere").exists()


# --- the note ---


def test_a_note_is_there_for_the_next_holder_even_after_a_kill(path: Path) -> None:
    with Lock(path) as first:
        assert first.acquire()
        assert first.read_note() == b""
        first.write_note(b"pid 1, jobs: a, b")
        first.write_note(b"pid 1")
        assert first.read_note() == b"pid 1"
    with holder(path, note="pid 2") as process:
        assert path.read_bytes() == b"pid 2"
        process.send_signal(signal.SIGKILL)
        process.wait()
    with Lock(path) as next_one:
        assert next_one.acquire()
        assert next_one.read_note() == b"pid 2"
        next_one.write_note(b"")
        assert path.read_bytes() == b""


def test_a_note_has_a_limit_and_is_whole_up_to_it(path: Path) -> None:
    with Lock(path) as mine:
        assert mine.acquire()
        mine.write_note(b"n" * NOTE_LIMIT)
        assert mine.read_note() == b"n" * NOTE_LIMIT
        with pytest.raises(ValueError, match="4097"):
            mine.write_note(b"n" * (NOTE_LIMIT + 1))
        assert mine.read_note() == b"n" * NOTE_LIMIT
        path.write_bytes(b"x" * 1_000_000)  # by somebody who does not keep to it
        assert mine.read_note() == b"x" * NOTE_LIMIT
        assert mine.is_in_place()
        assert not Lock(path).acquire()


@pytest.mark.parametrize("use", [Lock.read_note, Lock.is_in_place, lambda lock: lock.write_note(b"x")])
def test_without_the_lock_there_is_no_note(path: Path, use: Callable[[Lock], object]) -> None:
    mine = Lock(path)
    with pytest.raises(AssertionError, match="not held"):
        use(mine)
    assert mine.acquire()
    mine.release()
    with pytest.raises(AssertionError, match="not held"):
        use(mine)


# --- what lies in its place ---

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes, links and pipes of POSIX")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _second_name(path: Path) -> None:
    precious = path.with_name("precious")
    precious.write_bytes(b"precious")
    path.hardlink_to(precious)


def _anothers(path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root makes files of others")
    path.touch()
    os.chown(path, 65534, 65534)


@pytest.mark.parametrize("make", [_pipe, _second_name, _anothers])
def test_what_is_not_ours_alone_is_not_locked_and_not_written_to(path: Path, make: Callable[[Path], None]) -> None:
    make(path)
    before = len(list(Path("/dev/fd").iterdir()))
    with pytest.raises(JobError, match="FILE_UNSAFE"):
        Lock(path).acquire()
    assert len(list(Path("/dev/fd").iterdir())) == before
    if path.with_name("precious").exists():
        assert path.with_name("precious").read_bytes() == b"precious"


@pytest.mark.parametrize("make", [_pipe, lambda path: path.symlink_to("elsewhere"), lambda path: path.mkdir()])
def test_nobody_holds_what_could_not_be_locked_and_looks_do_not_wait(path: Path, make: Callable[[Path], None]) -> None:
    make(path)
    assert not is_held(path)


@pytest.mark.parametrize("umask", [0o000, 0o277])
def test_the_lock_is_private_whatever_the_umask(path: Path, umask: int) -> None:
    with masked(umask), Lock(path) as mine:
        assert mine.acquire()
        assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_removed_while_it_is_taken_is_not_held_by_two(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take = lock._try_lock

    def removed_then_take(descriptor: int, *, shared: bool = False) -> bool:
        monkeypatch.setattr(lock, "_try_lock", take)
        path.unlink()
        return take(descriptor, shared=shared)

    monkeypatch.setattr(lock, "_try_lock", removed_then_take)
    with Lock(path) as first:
        assert first.acquire()
        assert first.is_in_place()
        assert not Lock(path).acquire()


def test_a_mount_without_locks_says_so_and_leaves_nothing_open(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "_try_lock", raising(OSError(errno.ENOLCK, "No locks available")))
    before = len(list(Path("/dev/fd").iterdir()))
    with pytest.raises(OSError, match="No locks"):
        Lock(path).acquire()
    with pytest.raises(OSError, match="No locks"):
        is_held(path)
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_the_lock_is_out_of_place_once_its_file_is_replaced(path: Path) -> None:
    with Lock(path) as mine:
        assert mine.acquire()
        path.rename(path.with_name("moved"))
        assert not mine.is_in_place()
        path.symlink_to(path.with_name("moved"))
        assert not mine.is_in_place()
