"""Programs that need not import what they run: one process has imported it, and each of them is a fork of that.

To import takes most of the processor time of a command, and of a worker that has little to do. What is forked is a
process like any other: with a process id, a command line, an environment, a folder and streams of its own, a child of
the test's process.

Imported, it gives the tests' side; run, it is the process that forks.
"""

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any

IMPORTED = (
    *("worker.app", "worker.cli", "worker.daemon", "bridge.retrieve", "bridge.interface.arguments"),
    *("bridge.search.query_client", "jobs.check", "jobs.payloads"),
)
BIG = {"demo", "doctor_command"}  # with what a worker must not hold
_SUBREAPER = 36  # prctl: a process whose parent has ended becomes a child of this one
_ROOM = 4096  # bytes of a command line
_ASKING = threading.Lock()


class Forked(subprocess.Popen[bytes]):
    """A process that somebody else has started for this one."""

    def __init__(self, pid: int, arguments: Sequence[str]) -> None:
        self.pid, self.args, self.returncode = pid, list(arguments), None  # type: ignore[assignment]
        self.stdin = self.stdout = self.stderr = None
        self._child_created, self._waitpid_lock = True, threading.Lock()
        self._sigint_wait_secs = 0.25


def can_start(environment: dict[str, str]) -> bool:
    """Whether a fork does as well: the interpreter is not told to begin otherwise."""
    return sys.platform == "linux" and not any(
        name.startswith(("PYTHON", "LD_")) and os.environ.get(name) != value for name, value in environment.items()
    )


def start(
    module: str, arguments: Sequence[str], environment: dict[str, str], folder: Path, *streams: IO[bytes]
) -> Forked:
    """``python -m MODULE ARGUMENTS`` in the folder; ``streams``: its stdin, stdout and stderr."""
    with _ASKING:
        os.umask(mask := os.umask(0o077))
        asked = json.dumps([module, list(arguments), environment, str(folder), mask]).encode()
        channel = _forking()
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
        try:
            socket.send_fds(channel, [asked], [stream.fileno() for stream in streams])
            pid = int(channel.recv(32))
        finally:
            ctypes.CDLL(None).prctl(_SUBREAPER, 0, 0, 0, 0)
    return Forked(pid, [module, *arguments])


@cache
def _forking() -> socket.socket:
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("COGNEE_MEMORY_")}
        environment["PYTHONPATH"] = str(Path(__file__).parent.parent)
        command = [sys.executable, __file__, "-" * _ROOM]
        process = subprocess.Popen(command, env=environment, cwd="/", stdin=its)

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


# --- the process that forks ---


def main() -> None:
    for name in (*IMPORTED, *(f"worker.terminal.{name}" for name in _commands() - BIG)):
        importlib.import_module(name)
    assert "numpy" not in sys.modules
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=os.dup(0)) as channel:
        while True:
            asked, streams, *_ = socket.recv_fds(channel, 1 << 20, 3)
            if not asked:
                return
            reading, writing = os.pipe()
            if (between := os.fork()) == 0:
                if pid := os.fork():
                    os.write(writing, str(pid).encode())
                    os._exit(0)
                os.close(reading)
                os.close(writing)
                channel.close()
                os._exit(_program(streams, *json.loads(asked)))
            os.waitpid(between, 0)  # from now on it is the asker's child
            os.close(writing)
            channel.send(os.read(reading, 32))
            for each in (reading, *streams):
                os.close(each)


def _commands() -> set[str]:
    import worker.terminal

    return {path.stem for path in Path(worker.terminal.__file__ or "").parent.glob("[a-z]*.py")}


def _be_called(*words: str) -> None:
    """Others see this as the process's command line, at most."""
    begin, end = map(int, Path("/proc/self/stat").read_text("ascii").split()[47:49])
    line = b"\0".join(map(os.fsencode, words))[: end - begin - 1]
    ctypes.memmove(begin, line.ljust(end - begin, b"\0"), end - begin)


def _program(
    streams: list[int], module: str, arguments: list[str], environment: dict[str, str], folder: str, mask: int
) -> int:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    os.umask(mask)
    time.tzset()
    _be_called(sys.executable, "-m", module, *arguments)
    sys.argv = [module, *arguments]
    status: Any = 1
    try:
        status = importlib.import_module({"worker": "worker.daemon"}.get(module, module)).main(arguments)
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
    return status if isinstance(status, int) else int(status is not None)


if __name__ == "__main__":
    main()
