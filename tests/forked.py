"""Programs that need not import what they run: one process has imported it, and each of them is a fork of that.

To import takes most of the processor time of a command, and of a worker that has little to do; to import cognee takes
seconds. What is forked is a process like any other: with a process id, a command line, an environment, a folder and
streams of its own.

Imported, it gives the tests' side; run, it is the process that forks.
"""

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, NoReturn

PROJECT = Path(__file__).parent.parent
BIG = {"demo", "doctor_command"}  # with what a worker must not hold
COMMANDS = (
    *("worker.app", "worker.cli", "worker.daemon", "bridge.retrieve", "bridge.interface.arguments"),
    *("bridge.search.query_client", "jobs.check", "jobs.payloads"),
    *(f"worker.terminal.{each.stem}" for each in PROJECT.glob("worker/terminal/[a-z]*.py") if each.stem not in BIG),
)
_SUBREAPER = 36  # prctl: a process whose parent has ended becomes a child of this one
_ROOM = 4096  # bytes of a command line
_ASKING = threading.RLock()


class Forked(subprocess.Popen[bytes]):
    """A process that somebody else has started for this one."""

    def __init__(self, pid: int, arguments: Sequence[str]) -> None:
        self.pid, self.args, self.returncode = pid, list(arguments), None  # type: ignore[assignment]
        self.stdin = self.stdout = self.stderr = None
        self._child_created, self._waitpid_lock = True, threading.Lock()
        self._sigint_wait_secs = 0.25


class Forker:
    """A process that forks for whoever asks at the ``paths``, and ends with this one at the latest.

    Who asks at the first path gets a fork that has imported the first of the ``modules``; at the next, one that has
    imported the next as well. They are imported once somebody asks.
    """

    def __init__(self, *modules: Sequence[str], environment: Mapping[str, str], never: str = "", keeps: bool) -> None:
        """``never``: a module that may not come with the others. ``keeps``: whose children the forks are: this
        process's or, otherwise, the asker's."""
        self._folder = TemporaryDirectory(prefix="forks-")  # a socket's path must be short
        self.paths = [f"{self._folder.name}/{number}" for number in range(len(modules))]
        with contextlib.ExitStack() as stack:
            levels = []
            for path, imported in zip(self.paths, modules, strict=True):
                server = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
                server.bind(path)
                server.listen()
                levels.append((server.fileno(), imported))
            self._process = subprocess.Popen(
                [sys.executable, __file__, json.dumps([levels, never, keeps]), "-" * _ROOM],
                env={**environment, "PYTHONPATH": str(PROJECT)},
                cwd="/",
                pass_fds=[number for number, _ in levels],
                stdin=subprocess.PIPE,
            )

    def close(self) -> None:
        self._process.communicate()
        self._folder.cleanup()


def can_start(environment: dict[str, str]) -> bool:
    """Whether a fork does as well: the interpreter is not told to begin otherwise."""
    return sys.platform == "linux" and not any(
        name.startswith(("PYTHON", "LD_")) and os.environ.get(name) != value for name, value in environment.items()
    )


def start(
    module: str, arguments: Sequence[str], environment: dict[str, str], folder: Path, *streams: IO[bytes]
) -> Forked:
    """``python -m MODULE ARGUMENTS`` in the folder, of the program; ``streams``: its stdin, stdout and stderr."""
    with _ASKING:
        path = _of_this_process().paths[0]
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
        try:
            pid = ask(path, module, arguments, environment, folder, *streams)
        finally:
            ctypes.CDLL(None).prctl(_SUBREAPER, 0, 0, 0, 0)
    return Forked(pid, [module, *arguments])


def ask(
    path: str, module: str, arguments: Sequence[str], environment: Mapping[str, str], folder: Path,
    *streams: IO[bytes] | socket.socket,
) -> int:  # fmt: skip
    """The process id of a fork by the forker at the path."""
    with _ASKING, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as channel:
        # Not by setting it: another thread would take that for the mask from before.
        said = Path("/proc/self/status").read_text("ascii", "replace").partition("\nUmask:")[2]
        mask = int(said.split(maxsplit=1)[0], 8)
        asked = json.dumps([module, list(arguments), dict(environment), str(folder), mask]).encode()
        channel.connect(path)
        socket.send_fds(channel, [asked], [stream.fileno() for stream in streams])
        return int(channel.recv(32))


@cache
def _of_this_process() -> Forker:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COGNEE_MEMORY_")}
    forker = Forker(COMMANDS, environment=environment, never="numpy", keeps=False)
    atexit.register(forker.close)
    return forker


# --- the process that forks ---


def main() -> NoReturn:
    levels, never, keeps = json.loads(sys.argv[1])
    if keeps:
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    waiting = [(socket.socket(fileno=number), modules) for number, modules in levels]
    while waiting:
        waiting = _serve(waiting, never)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _reap(0)
    os._exit(0)


Levels = list[tuple[socket.socket, list[str]]]


def _serve(levels: Levels, never: str) -> Levels:
    """Fork for who asks at the first level, until the standard input ends; a fork serves the others, which returns
    them."""
    (own, modules), *deeper = levels
    servers = [own, *(server for server, _ in deeper)]
    imported = False
    while True:
        ready, _, _ = select.select([sys.stdin, *servers], [], [])
        if sys.stdin in ready:
            return []
        if not imported:
            _import(modules, never)
            imported = True
        if own in ready:
            _fork(servers, *own.accept())
        elif os.fork() == 0:
            own.close()
            return deeper
        else:
            servers = [own]


def _import(modules: list[str], never: str) -> None:
    for name in modules:
        importlib.import_module(name)
    assert never not in sys.modules
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, lambda *_: _reap(os.WNOHANG))


def _reap(options: int) -> None:
    """Wait for the forks that have ended, or for all: then their processor time counts, and nothing of them is left."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, options)[0]:
            pass


def _fork(servers: list[socket.socket], channel: socket.socket, _: object) -> None:
    asked, streams, *_others = socket.recv_fds(channel, 1 << 20, 3)
    reading, writing = os.pipe()
    if (between := os.fork()) == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if pid := os.fork():
            os.write(writing, str(pid).encode())
            os._exit(0)
        os.close(reading)
        os.close(writing)
        for each in (channel, *servers):
            each.close()
        os._exit(_program(streams, *json.loads(asked)))
    with contextlib.suppress(ChildProcessError):  # whom the signal's handler has waited for
        os.waitpid(between, 0)  # from now on it is a child of who is to have it
    os.close(writing)
    channel.send(os.read(reading, 32))
    channel.close()
    for number in (reading, *streams):
        os.close(number)


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
