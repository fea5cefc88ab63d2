"""Never two workers, never none: who starts one, who waits for one that is leaving, and who has nothing to do."""

import errno
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from harness import PATIENCE, PROJECT, Place, held, raising, until

from jobs import clock, files, launch
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lock import Lock, is_held
from jobs.model import encode
from worker import daemon, processes
from worker.cli import main
from worker.processes import is_worker_command, running_heartbeat


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path)
    workspace.spool.worker.mkdir(parents=True)
    return workspace


def beat(workspace: Workspace, state: str) -> None:
    workspace.spool.heartbeat.write_text(json.dumps({"state": state}))


class Started:
    """What would have been started: its arguments, and what it does at once."""

    def __init__(self) -> None:
        self.arguments: list[list[str]] = []
        self.at_once: Callable[[], int | None] = lambda: None

    def __call__(self, arguments: list[str], **options: Any) -> Any:
        self.arguments.append(arguments)
        self.options = options
        returned = self.at_once()

        class Process:
            def poll(self) -> int | None:
                return returned

        return Process()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    started = Started()
    monkeypatch.setattr(subprocess, "Popen", started)
    return started


# --- whether one is leaving ---


@pytest.mark.parametrize("text", [None, "", "{", "[]", "{}", "null"])
def test_a_worker_that_does_not_say_is_not_leaving(workspace: Workspace, text: str | None) -> None:
    if text is not None:
        workspace.spool.heartbeat.write_text(text)
    assert launch.is_shutting_down(workspace) is False


def test_whether_one_lives_is_the_locks_to_say_and_no_file_of_its(workspace: Workspace) -> None:
    beat(workspace, "ready")
    assert not launch.is_alive(workspace)
    with held(workspace.spool.lock):
        assert launch.is_alive(workspace)


# --- who starts one ---


def comes_up(workspace: Workspace, state: str = "ready") -> tuple[Callable[[], int | None], Lock]:
    lock = Lock(workspace.spool.lock)

    def at_once() -> int | None:
        assert lock.acquire()
        beat(workspace, state)
        return None

    return at_once, lock


@pytest.mark.parametrize("idle", [True, False])
def test_where_none_lives_one_is_started(workspace: Workspace, started: Started, idle: bool) -> None:
    started.at_once, lock = comes_up(workspace)
    with lock:
        assert launch.start(workspace, leave_when_idle=idle) is True
    (arguments,) = started.arguments
    assert arguments[1:6] == ["-m", "worker", "--workspace", str(workspace.root), "--detached"]
    assert ("--leave-when-idle" in arguments) is idle
    assert "--successor" not in arguments
    assert started.options["stdin"] == subprocess.DEVNULL
    assert started.options["cwd"] == workspace.root.anchor, "it keeps no folder busy"
    assert started.options["start_new_session"] is True, "it outlives its asker's terminal"


def test_who_does_not_wait_starts_one_and_no_other_within_seconds(workspace: Workspace, started: Started) -> None:
    """It leaves when it is idle."""
    launch.begin(workspace)
    launch.begin(workspace)
    (arguments,) = started.arguments
    assert "--leave-when-idle" in arguments
    [output] = workspace.spool.worker.glob("start.log")
    os.utime(output, (0, 0))
    with held(workspace.spool.lock):
        launch.begin(workspace)
    assert len(started.arguments) == 1, "one lives"
    launch.begin(workspace)
    assert len(started.arguments) == 2


@pytest.mark.parametrize("state", ["starting", "ready", "paused", None])
def test_where_one_lives_none_is_started(workspace: Workspace, started: Started, state: str | None) -> None:
    if state is not None:
        beat(workspace, state)
    with held(workspace.spool.lock):
        assert launch.start(workspace) is False
    assert started.arguments == []


@pytest.mark.parametrize("state", ["draining", "exiting", "stopped"])
def test_beside_one_that_is_leaving_a_successor_has_to_wait(workspace: Workspace, started: Started, state: str) -> None:
    """Whoever dropped a job just now would else have dropped it for nobody."""
    beat(workspace, state)
    with held(workspace.spool.lock):
        assert launch.start(workspace) is True
    (arguments,) = started.arguments
    assert "--successor" in arguments


def test_one_successor_is_enough(workspace: Workspace, started: Started) -> None:
    beat(workspace, "draining")
    with held(workspace.spool.lock), held(workspace.spool.successor_lock):
        assert launch.start(workspace) is False
    assert started.arguments == []


def test_the_heartbeat_of_a_dead_worker_makes_nobody_a_successor(workspace: Workspace, started: Started) -> None:
    beat(workspace, "exiting")
    started.at_once, lock = comes_up(workspace)
    with lock:
        assert launch.start(workspace) is True
    assert "--successor" not in started.arguments[0]


def test_a_worker_that_ends_at_once_is_an_error_with_its_last_words(workspace: Workspace, started: Started) -> None:
    def at_once() -> int:
        (workspace.spool.worker / "start.log").write_text("one\ntwo\nthree\nThe workspace is not trusted.\n")
        return 1

    started.at_once = at_once
    with pytest.raises(JobError, match="WORKER_START_FAILED") as caught:
        launch.start(workspace)
    assert "The workspace is not trusted." in caught.value.message


def test_a_worker_that_another_asker_started_faster_is_as_good(workspace: Workspace, started: Started) -> None:
    come_up, lock = comes_up(workspace, "starting")

    def at_once() -> int:
        come_up()
        workspace.spool.heartbeat.unlink()
        return 1

    started.at_once = at_once
    with lock:
        assert launch.start(workspace) is False


def test_a_worker_that_does_not_come_up_is_an_error(workspace: Workspace, started: Started) -> None:
    with pytest.raises(JobError, match="WORKER_START_FAILED"):
        launch.start(workspace, wait_seconds=0.05)


# --- the successor ---


class Successor:
    """One that waits in a thread, as ``worker --successor`` does in a process."""

    def __init__(self, workspace: Workspace) -> None:
        self.lock = Lock(workspace.spool.lock)
        self.answer: bool | None = None
        self._workspace = workspace
        self._thread = threading.Thread(target=self._wait)
        self._thread.start()

    def _wait(self) -> None:
        self.answer = daemon._succeed(self._workspace, self.lock)

    def ended(self) -> bool | None:
        self._thread.join(30)
        return self.answer


def waiting(workspace: Workspace) -> Successor:
    successor = Successor(workspace)
    until(lambda: is_held(workspace.spool.successor_lock), "it waits")
    return successor


def test_a_successor_has_the_lock_as_soon_as_the_leaving_one_has_gone(workspace: Workspace) -> None:
    beat(workspace, "exiting")
    with held(workspace.spool.lock):
        successor = waiting(workspace)
    with successor.lock:
        assert successor.ended() is True
        assert launch.is_alive(workspace)
        assert not is_held(workspace.spool.successor_lock), "the next one may wait for this one"


def test_of_many_successors_only_one_waits(workspace: Workspace) -> None:
    beat(workspace, "draining")
    with held(workspace.spool.lock):
        first = waiting(workspace)
        assert [other.ended() for other in [Successor(workspace) for _ in range(5)]] == [False] * 5
    with first.lock:
        assert first.ended() is True


def test_a_successor_leaves_when_the_worker_has_come_to_stay(workspace: Workspace) -> None:
    beat(workspace, "exiting")
    with held(workspace.spool.lock):
        successor = waiting(workspace)
        beat(workspace, "ready")  # it found something to do at the last moment
        assert successor.ended() is False
    assert not is_held(workspace.spool.successor_lock)


def test_where_nobody_is_left_to_succeed_the_lock_is_taken_at_once(workspace: Workspace) -> None:
    successor = Successor(workspace)
    assert successor.ended() is True
    successor.lock.release()


# --- a workspace that was moved ---


def beat_from(workspace: Workspace, path: Path) -> None:
    workspace.spool.heartbeat.write_text(json.dumps({"state": "ready", "workspace": str(path)}))


def test_the_worker_of_a_moved_workspace_is_leaving(workspace: Workspace, started: Started, tmp_path: Path) -> None:
    beat_from(workspace, tmp_path / "former")
    assert launch.is_shutting_down(workspace)
    with held(workspace.spool.lock):
        assert launch.start(workspace) is True
    assert "--successor" in started.arguments[0]


def test_another_spelling_of_the_path_is_no_move(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(workspace.root)
    for path in (workspace.root, tmp_path / "link", workspace.root / "."):
        beat_from(workspace, path)
        assert not launch.is_shutting_down(workspace)


def test_no_successor_waits_for_ever_for_another_path(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may run in a container, and stay."""
    monkeypatch.setattr(daemon, "_MOVED_PATIENCE_SECONDS", 0.0)
    beat_from(workspace, workspace.root / "elsewhere")
    with held(workspace.spool.lock):
        assert Successor(workspace).ended() is False


# --- stopping, restarting and draining: who gets a signal, and when a worker has gone ---


# It has the command line of a worker, holds its lock, and ends at the end of its input; it reads no request.
STAND_IN = """
import sys
from pathlib import Path
from jobs.layout import Workspace
from jobs.lock import Lock
lock = Lock(Workspace(Path(sys.argv[2])).spool.lock)
assert lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def place(place: Place) -> Place:
    files.make_folder(place.spool.root)
    files.make_folder(place.spool.worker)
    return place


def beats(place: Place, pid: int, **change: Any) -> None:
    heartbeat = {
        "pid": pid,
        "state": "ready",
        "boot_id": processes.boot_id(),
        "heartbeat_at": clock.iso(clock.now()),
        "in_flight": [],
    }
    place.spool.heartbeat.write_bytes(encode({**heartbeat, **change}))


@contextmanager
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends well unless somebody signals it."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.communicate(b"\n", PATIENCE)
        assert process.returncode == 0, "it was signalled"


@contextmanager
def stand_in(place: Place, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Holds the lock as a worker that is ready. It ends when the context is left, or its input is closed."""
    package = folder / "stand-in" / "worker"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(STAND_IN)
    with subprocess.Popen(
        [sys.executable, "-m", "worker", "--workspace", str(place.workspace.root)],
        cwd=package.parent, env={**place.environment, "PYTHONPATH": str(PROJECT)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == b"held\n"
        beats(place, process.pid)
        yield process


@pytest.mark.parametrize("change", [{"state": "stopped"}, {"boot_id": "another"}, {}])
@pytest.mark.parametrize("verb", ["stop", "restart"])
def test_a_process_that_is_no_worker_is_never_signalled(
    place: Place, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, change: dict[str, str], verb: str
) -> None:
    """Pruning and ``doctor --fix`` hold the lock as well, beside the heartbeat of a worker that has stopped."""
    started: list[Workspace] = []
    start = "worker.terminal.process_commands.launch.start"
    monkeypatch.setattr(start, lambda workspace, *, leave_when_idle: started.append(workspace))
    with bystander() as process, Lock(place.spool.lock) as lock:
        assert lock.acquire()
        beats(place, process.pid, **change)
        monkeypatch.setattr("worker.terminal.process_commands.time.sleep", lambda _: lock.release())
        status = main(["worker", verb, "--workspace", str(place.workspace.root)])
    if verb == "stop":
        assert (status, "WORKER_NOT_RUNNING" in capfd.readouterr().err) == (3, True)
    assert started == ([] if verb == "stop" else [place.workspace])


def test_a_lock_that_nobody_known_holds_does_not_make_stopping_wait_for_ever(
    place: Place, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = iter(range(0, 1000, 10))
    monkeypatch.setattr("worker.terminal.process_commands.time.monotonic", lambda: next(now))
    monkeypatch.setattr("worker.terminal.process_commands.time.sleep", lambda _: None)
    with held(place.spool.lock):
        assert main(["worker", "stop", "--workspace", str(place.workspace.root)]) == 3
    assert "No process was signalled" in capfd.readouterr().err


COMMAND_LINES = [
    ("python -m worker --workspace {root} --detached", True),
    ("python -m worker --workspace /elsewhere --detached", False),
    ("python /home/ada/bin/cognee-memory worker", True),
    ("python -m worker.cli worker --workspace {root}", True),
    ("python.exe C:/bin/cognee-memory.exe worker run --json", True),
    ("python /home/ada/bin/cognee-memory worker stop", False),
    ("python /home/ada/bin/cognee-memory jobs prune", False),
    ("python -m worker.child.main {root} 12", False),
    ("python -m pytest tests/unit/worker", False),
    ("", False),
]


@pytest.mark.parametrize(("line", "is_worker"), COMMAND_LINES)
def test_a_worker_is_known_by_its_command_line(tmp_path: Path, line: str, is_worker: bool) -> None:
    assert is_worker_command(line.format(root=tmp_path).split(), Workspace(tmp_path)) is is_worker


def test_a_worker_that_does_not_read_the_request_is_not_reported_as_drained(place: Place, tmp_path: Path) -> None:
    with stand_in(place, tmp_path) as worker:
        assert running_heartbeat(place.workspace)
        assert place.fails("jobs", "drain", "--timeout", "0.1") == (5, "WAIT_TIMEOUT")
        assert place.spool.request("drain").exists()
        place.spool.request("drain").unlink()  # it has read the request, and still runs jobs
        assert place.fails("jobs", "drain", "--timeout", "0.1") == (5, "WAIT_TIMEOUT")
        worker.communicate()
    assert place.json("jobs", "drain")["error_code"] == "WORKER_NOT_RUNNING"


def drain(place: Place) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "worker.cli", "jobs", "drain", "--json", "--workspace", str(place.workspace.root)]
    return subprocess.Popen(command, env={**place.environment, "PYTHONPATH": str(PROJECT)}, stdout=subprocess.PIPE)


@pytest.mark.parametrize("is_read", [True, False])
def test_a_worker_that_has_gone_has_drained_if_it_read_the_request(place: Place, tmp_path: Path, is_read: bool) -> None:
    with stand_in(place, tmp_path) as worker, drain(place) as draining:
        until(lambda: place.spool.request("drain").exists(), "the request is there")
        if is_read:
            place.spool.request("drain").unlink()
        worker.communicate()
        found = json.loads(draining.communicate(timeout=PATIENCE)[0])
    assert (found.get("drained"), found.get("error_code")) == (
        (True, None) if is_read else (None, "WORKER_NOT_RUNNING")
    )


# --- measurements of a process ---


Measurement = Callable[[int], object]
MEASUREMENTS: list[Measurement] = [processes.resident_bytes, processes.private_bytes, processes.memory_and_cpu]


@pytest.mark.parametrize("measure", MEASUREMENTS)
def test_a_process_that_runs_is_measured(measure: Measurement) -> None:
    assert measure(os.getpid())


@pytest.mark.parametrize("measure", MEASUREMENTS)
@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "Too many open files"), psutil.NoSuchProcess(1)])
def test_what_cannot_be_measured_now_ends_no_thread(
    measure: Measurement, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """psutil passes on errors of the system, such as too many open files, as they are."""

    monkeypatch.setattr(psutil, "Process", raising(error))
    assert measure(os.getpid()) is None


# --- which run of the machine it was ---


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(processes, "boot_id", lambda: "this-run")
    return "this-run"


@pytest.fixture
def without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", raising(FileNotFoundError))


def test_it_is_the_same_in_every_process_of_one_run_of_the_machine() -> None:
    found = processes.boot_id()
    assert found
    assert found == found.strip()
    other = subprocess.run(
        [sys.executable, "-c", "from worker.processes import boot_id; print(boot_id())"],
        cwd=Path(processes.__file__).parents[1], capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert other.stdout.strip() == found


def test_a_note_of_this_run_is_of_a_worker_that_died(here: str) -> None:
    assert processes.died_since_boot(here.encode())
    assert processes.died_since_boot(f"{here}\n".encode())


@pytest.mark.parametrize("note", [b"", b"\n", b"another-run", b"this-ru", b"\xff\xfe", b"this-run and more"])
def test_a_worker_that_left_in_order_or_in_another_run_or_a_damaged_note_blames_nobody(here: str, note: bytes) -> None:
    assert not processes.died_since_boot(note)


@pytest.mark.parametrize("note", [b"", b"None", b"this-run"])
def test_where_the_system_does_not_say_nobody_is_blamed(monkeypatch: pytest.MonkeyPatch, note: bytes) -> None:
    monkeypatch.setattr(processes, "boot_id", lambda: None)
    assert not processes.died_since_boot(note)


@pytest.mark.usefixtures("without_proc")
def test_without_an_id_of_the_system_the_time_of_its_start_tells_to_the_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    found = []
    for started in (6000.0, 6000.9, 6029.0, 5970.1, 6120.0):
        monkeypatch.setattr(psutil, "boot_time", lambda started=started: started)
        found.append(processes.boot_id())
    assert len(set(found[:4])) == 1, "it moves by a little when the clock is set"
    assert found[4] != found[0]


@pytest.mark.usefixtures("without_proc")
def test_without_any_of_these_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(psutil, "boot_time", raising(psutil.AccessDenied))
    assert processes.boot_id() is None


@pytest.mark.usefixtures("without_proc")
@pytest.mark.parametrize(("said", "meant"), [("ABC-1\n", "ABC-1"), ("", None)])
def test_on_macos_the_kernel_is_asked(monkeypatch: pytest.MonkeyPatch, said: str, meant: str | None) -> None:
    asked: list[Any] = []

    def run(command: list[str], **_: Any) -> SimpleNamespace:
        asked.append(command[-1])
        return SimpleNamespace(stdout=said)

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(subprocess, "run", run)
    assert (processes.boot_id(), asked) == (meant, ["kern.bootsessionuuid"])
