"""Stopping, restarting and draining: which process gets a signal, and when a command says that the worker has gone."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from harness import PATIENCE, PROJECT, Place, held, until

from jobs import clock, files
from jobs.layout import Workspace
from jobs.lock import Lock
from jobs.model import encode
from worker import boot
from worker.cli import main
from worker.processes import is_worker_command, running_heartbeat

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


def beat(place: Place, pid: int, **change: Any) -> None:
    heartbeat = {
        "pid": pid,
        "state": "ready",
        "boot_id": boot.boot_id(),
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
        beat(place, process.pid)
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
        beat(place, process.pid, **change)
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
