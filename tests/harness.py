"""A workspace of a test's own, the programs run beside it, and waiting for what they do.

Nothing here sleeps for a guessed time: ``until`` looks again and again, and gives up at a deadline.
"""

import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeVar

import contract
import forked
import httpx
import pytest

from bridge import trust
from bridge.embedding.embedder import Embedder
from bridge.embedding.factory import create
from bridge.memory import Memory
from bridge.settings import load
from bridge.store.store import Store
from jobs import client, plain_files, spool
from jobs.layout import SpoolPaths, Workspace
from jobs.lock import Lock, is_held
from jobs.model import Record
from worker.scheduling.runnable_jobs import read_executing

PROJECT = Path(__file__).resolve().parent.parent
PATIENCE = 240.0  # seconds; only what hangs takes so long, on a busy machine too
# A shell without windows takes 0.4 of the processor time for each tab.
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
SOAK = os.environ.get("COGNEE_MEMORY_SOAK") == "1"  # the long forms of what the everyday suite tries a few times

S = TypeVar("S")
T = TypeVar("T")


def until(look: Callable[[], T | None], what: str, seconds: float = PATIENCE) -> T:
    """The first answer of ``look`` that is true; fails with ``what`` when the time is over. It looks after 2, 4, 8 …
    50 ms, or after thrice the time that a look takes: what is there at once is seen at once, and waiting leaves the
    processor to what is waited for."""
    deadline = time.monotonic() + seconds
    pause = 0.002
    while True:
        began = time.monotonic()
        found = look()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        time.sleep(max(pause, min(3 * (time.monotonic() - began), 1.0)))
        pause = min(2 * pause, 0.05)


def raising(error: BaseException | type[BaseException]) -> Callable[..., Any]:
    """In place of a function that is to fail, whatever it is called with."""

    def fails(*_: object, **__: object) -> Any:
        raise error

    return fails


def git(folder: Path, *arguments: str) -> str:
    """What a command of git prints in a folder, as somebody who may commit."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    command = ["git", *identity, *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout


def at_once(work: Callable[[S], T], values: Sequence[S], threads: int | None = None) -> list[T]:
    """What ``work`` gives for each value, in threads at the same time: one for each, or so many."""
    with ThreadPoolExecutor(threads or len(values)) as pool:
        return list(pool.map(work, values))


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Somebody of this process holds the lock."""
    with Lock(path) as lock:
        assert lock.acquire()
        yield


@contextmanager
def masked(mask: int) -> Iterator[None]:
    """What is made meanwhile has the modes that this mask leaves."""
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def sql(file: Path, statement: str, *values: Any) -> list[Any]:
    """The rows that a statement gives of an SQLite file, whose changes are kept."""
    with closing(sqlite3.connect(file)) as connection, connection:
        return connection.execute(statement, values).fetchall()


def dump(file: Path, *but: str) -> list[str]:
    """Every row of an SQLite file as a statement, but for those of these tables."""
    left_out = tuple(f'INSERT INTO "{table}"' for table in but)
    with closing(sqlite3.connect(file)) as connection:
        return [line for line in connection.iterdump() if not line.startswith(left_out)]


class Terminal(io.StringIO):
    """What is printed to a terminal, or what a person types there."""

    def isatty(self) -> bool:
        return True


def assert_linear(work: Callable[[int], object], size: int) -> None:
    """Fails if four times the size takes more than nine times the processor time; in quadratic time it takes sixteen
    times. Other work makes it seem more now and then, so it may fail some times."""

    def seconds(amount: int) -> float:
        began = time.thread_time()
        work(amount)
        return time.thread_time() - began

    pairs = []
    for _ in range(6):
        pairs.append((seconds(size), seconds(4 * size)))
        if pairs[-1][1] < 9 * pairs[-1][0] + 0.001:
            return
    raise AssertionError(f"seconds for {size} and for {4 * size}: {pairs}")


class Place:
    """A workspace below ``base``, the user's configuration beside it, and an environment that points there."""

    def __init__(self, base: Path, *, adopted: bool = True, **variables: str) -> None:
        self.workspace = Workspace(base / "workspace")
        self.workspace.root.mkdir(parents=True)
        self.config = base / "config"
        self.launcher: tuple[str, ...] = ()  # what the worker's command begins with
        self.interpreter = sys.executable  # that of the environment that the program is installed in
        foreign = ("COGNEE_MEMORY_", "LLM_", "EMBEDDING_")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        self.environment |= {"COGNEE_MEMORY_CONFIG_DIR": str(self.config), "COGNEE_MEMORY_TEST_JOBS": "1", **variables}
        if adopted:  # as by the first command of a user
            trust.adopt(self.workspace, self.config)

    @property
    def spool(self) -> SpoolPaths:
        return self.workspace.spool

    @property
    def forks(self) -> bool:
        """Whether its commands and workers may be forks of a process that has imported them."""
        return not self.launcher and self.interpreter == sys.executable and forked.can_start(self.environment)

    def python(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run the interpreter in this environment, from a folder that is not the project's.

        An answer to a question that it prints has to be as published.
        """
        done = subprocess.run(
            [self.interpreter, *arguments],
            env=self.environment, cwd=self.workspace.root, capture_output=True, text=True, timeout=PATIENCE, **options,
        )  # fmt: skip
        assert contract.problems_in(done.stdout) == []
        return done

    def cli(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run ``cognee-memory`` on this workspace."""
        return self.program("worker.cli", *arguments, "--workspace", str(self.workspace.root), **options)

    def program(
        self, module: str, *words: str, input: str = "", check: bool = False, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run a module of the program, as ``python`` would with ``-m``."""
        if options or not self.forks:
            return self.python("-m", module, *words, input=input, check=check, **options)
        with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
            given.write(input.encode())
            given.seek(0)
            process = forked.start(module, words, self.environment, self.workspace.root, given, out, err)
            status = process.wait(PATIENCE)
            out.seek(0)
            err.seek(0)
            done = subprocess.CompletedProcess(process.args, status, out.read().decode(), err.read().decode())
        assert contract.problems_in(done.stdout) == []
        if check:
            done.check_returncode()
        return done

    def json(self, *arguments: str) -> dict[str, Any]:
        """The object that ``cognee-memory … --json`` prints."""
        return json.loads(self.cli(*arguments, "--json").stdout)

    def fails(self, *arguments: str, **options: Any) -> tuple[int, str]:
        """The exit status and the error's code of ``cognee-memory … --json``."""
        done = self.cli(*arguments, "--json", **options)
        return done.returncode, json.loads(done.stdout)["error_code"]

    def as_ours(self, patch: pytest.MonkeyPatch) -> None:
        """Let this process have the environment of the place's programs."""
        for name, value in self.environment.items():
            patch.setenv(name, value)

    def keep(self, memories: Sequence[Memory], at: str, embedder: Embedder | None = None) -> None:
        """Store memories as they are, without a job; with an embedder that is not the settings'."""
        with closing(Store(self.workspace, embedder or create(load(environment=self.environment).embedding))) as store:
            store.add([(memory, None) for memory in memories], at)

    @contextmanager
    def faulty(self, fault: str) -> Iterator[None]:
        """A worker that starts within runs into the fault."""
        self.environment["COGNEE_MEMORY_FAULT"] = fault
        yield
        del self.environment["COGNEE_MEMORY_FAULT"]

    @property
    def url(self) -> str:
        """Where the worker listens, once it does."""
        return str(until(lambda: self.heartbeat()["http"]["url"], "the worker listens"))

    @property
    def token(self) -> str:
        return plain_files.read_own(self.spool.token, 256).decode()

    def asked(self, method: str, path: str, body: Any = None, **headers: str | None) -> httpx.Response:
        """The worker's answer over HTTP. A header that is None is left out."""
        sent = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **headers}
        given = {name: value for name, value in sent.items() if value is not None}
        content = None if body is None else json.dumps(body).encode()
        with httpx.Client(timeout=PATIENCE, verify=False, trust_env=False) as client:  # certificates take long to load
            return client.request(method, self.url + path, content=content, headers=given)

    def worker(self) -> "RealWorker":
        return RealWorker(self)

    @contextmanager
    def worker_in_state(self, state: str) -> "Iterator[RealWorker]":
        """A worker that is in another state than ready once it is there."""
        worker = RealWorker(self)
        try:
            until(lambda: self.heartbeat().get("state") == state, f"the worker is {state}")
            yield worker
        finally:
            worker.__exit__()

    def submit(self, kind: str, payload: dict[str, Any], **fields: Any) -> str:
        return client.submit(self.spool, kind, payload, **fields).job_id

    def record(self, job_id: str) -> Record | None:
        return spool.read_record(self.spool, job_id)

    def in_state(self, job_id: str, *states: str, seconds: float = PATIENCE) -> Record:
        """The record once it is in one of the states."""

        def look() -> Record | None:
            record = self.record(job_id)
            return record if record is not None and record.state in states else None

        try:
            return until(look, f"{job_id} in {states}", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {self.record(job_id)}; the log ends:\n{self.log_end()}") from None

    def executing(self, job_id: str) -> None:
        """Wait until the worker has noted that the job's own operation runs."""
        until(lambda: job_id in read_executing(self.spool), f"{job_id} is executed")

    def ended(self, job_id: str, seconds: float = PATIENCE) -> Record:
        return self.in_state(job_id, "succeeded", "failed", "cancelled", "expired", "rejected", seconds=seconds)

    def heartbeat(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(self.spool.heartbeat.read_bytes())
        except FileNotFoundError:
            return {}
        return found

    def log(self) -> str:
        return self.spool.log.read_text("utf-8") if self.spool.log.exists() else ""

    def log_end(self) -> str:
        return "\n".join(self.log().splitlines()[-30:])


class RealWorker:
    """A worker process. As a context it is there and ready, and has ended when the context is left."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.said = TemporaryFile()  # noqa: SIM115 - what it writes to stderr
        arguments, folder = ("--workspace", str(place.workspace.root), "--detached"), place.workspace.root.anchor
        if place.forks:
            with Path(os.devnull).open("r+b") as nothing:
                streams = (nothing, nothing, self.said)
                self.process = forked.start("worker", arguments, place.environment, Path(folder), *streams)
            return
        self.process = subprocess.Popen(
            [*place.launcher, place.interpreter, "-m", "worker", *arguments],
            env=place.environment, cwd=folder, stdin=subprocess.DEVNULL, stderr=self.said,
        )  # fmt: skip

    def __enter__(self) -> "RealWorker":
        return self.ready()

    def __exit__(self, *_: object) -> None:
        try:
            self.stop()
        finally:
            self.kill()

    def ready(self) -> "RealWorker":
        def look() -> bool:
            assert self.process.poll() is None, self.place.log_end()
            beat = self.place.heartbeat()
            return beat.get("pid") == self.process.pid and beat["state"] == "ready"

        until(look, "the worker is ready")
        return self

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to end, and return its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone and its lock is free."""
        self.discard()
        until(lambda: not is_held(self.place.spool.lock), "the lock is free")

    def discard(self) -> None:
        """SIGKILL, whoever works on the workspace afterwards."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        self.said.close()

    def again(self) -> None:
        """Start it once more after its end, for the other tests that share it."""
        self.kill()
        new = self.place.worker()
        self.said, self.process = new.said, new.process
        self.ready()

    def children(self) -> list[int]:
        """The process ids of its children."""
        parents = [(pid, int(stat.rpartition(b")")[2].split()[1])) for pid, stat in processes("stat")]
        return [pid for pid, parent in parents if parent == self.process.pid and is_running(pid)]


def processes(file: str) -> list[tuple[int, bytes]]:
    """All processes that may be looked at, with what this file of each says."""
    found = []
    for path in Path("/proc").glob(f"[0-9]*/{file}"):
        with suppress(OSError):
            found.append((int(path.parent.name), path.read_bytes()))
    return found


def is_running(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
