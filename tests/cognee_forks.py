"""Processes that hold cognee, many in a short time: one imports it and forks the others, since importing takes seconds.

Imported, it gives the tests' side; run, it is the process that forks. Each fork serves one connection, one JSON array a
line each way, and can be told to say when it enters a certain place, so that it can be killed there.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from harness import PATIENCE, Place, until
from job_copies import copy_of

from bridge import trust
from bridge.graph.cognee_env import cognee_environment
from bridge.settings import load

TESTS = Path(__file__).resolve().parent


class Died(Exception):
    """The process ended instead of answering."""


class EndedByItself(AssertionError):
    """The process ended instead of answering, and nobody had told it to."""


class Forks:
    """The process that forks. ``start`` gives a process that is as fresh as one that has just imported cognee."""

    def __init__(self, base: Path) -> None:
        self.place = Place(base)
        trust.adopt(self.place.workspace, self.place.config)
        self._folder = tempfile.TemporaryDirectory(prefix="forks-")  # a socket's path must be short
        self._socket = str(Path(self._folder.name) / "socket")
        self._errors = base / "forks.log"
        settings = load(environment=self.place.environment)
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(self.place.workspace.root), self._socket],
                env=cognee_environment(settings, self.place.workspace, self.place.environment)
                | {"PYTHONPATH": f"{TESTS}:{TESTS.parent}"},
                cwd=self.place.workspace.root.anchor,
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
            )

    def start(self, sleep: Callable[[float], None] = time.sleep) -> "Fork":
        def connect() -> socket.socket | None:
            assert self._process.poll() is None, self.log()
            found = socket.socket(socket.AF_UNIX)
            try:
                found.connect(self._socket)
            except OSError:
                found.close()
                return None
            return found

        return Fork(self, until(connect, "the process that forks listens"), sleep)

    def log(self) -> str:
        return self._errors.read_text("utf-8", "replace")

    def close(self) -> None:
        self._process.kill()
        self._process.wait(PATIENCE)
        self._folder.cleanup()


class Fork:
    """A process with the stores of the workspace. As a context it closes them at the end."""

    def __init__(self, forks: Forks, connection: socket.socket, sleep: Callable[[float], None]) -> None:
        self._forks = forks
        self._connection = connection
        self._connection.settimeout(PATIENCE)
        self._lines = connection.makefile("rb")
        self._sleep = sleep
        self._kill_after: float | None = None
        self.was_killed = False
        self.pid: int = self._read()[1]

    def __enter__(self) -> "Fork":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.kill()

    def _read(self) -> list[Any]:
        try:
            line = self._lines.readline()
        except ConnectionResetError:
            line = b""
        if not line:
            if not self.was_killed:
                raise EndedByItself(self._forks.log()[-3000:])
            raise Died
        found: list[Any] = json.loads(line)
        return found

    def ask(self, what: str, *arguments: Any) -> Any:
        """Raises Died when the process is killed before it answers."""
        try:
            self._connection.sendall(json.dumps([what, *arguments]).encode() + b"\n")
        except OSError as error:
            raise Died from error
        while True:
            kind, found = self._read()
            if kind == "entered":
                assert self._kill_after is not None
                self._sleep(self._kill_after)
                self._signal()  # what it has answered already is read still
            elif kind == "failed":
                raise AssertionError(f"{found}\n{self._forks.log()[-3000:]}")
            else:
                return found

    def kill_in(self, place: str, nth: int, after: float) -> None:
        """SIGKILL it so long after it has entered the place for the n-th time."""
        self._kill_after = after
        self.ask("watch", place, nth)

    def run(self, kind: str, *tasks: dict[str, Any]) -> list[dict[str, Any]]:
        """The outcome of each task of one batch: ``{"result": …}`` or ``{"error": …}``."""
        found: dict[str, dict[str, Any]] = self.ask("run", kind, tasks)
        return [found[task["job_id"]] for task in tasks]

    def close(self) -> None:
        """Let it close its stores and end. Raises Died when it is killed there."""
        self.ask("close")
        self._end()

    def _signal(self) -> None:
        self.was_killed = True
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._gone()

    def kill(self) -> None:
        self._signal()
        self._end()

    def _gone(self) -> None:
        until(lambda: not Path(f"/proc/{self.pid}").exists(), "the process is gone")

    def _end(self) -> None:
        self._gone()
        self._lines.close()
        self._connection.close()


def summary(topic: str, **fields: Any) -> dict[str, Any]:
    return {"topic": topic, "context": f"What is said of {topic}.", "decisions": [f"Decide {topic}"], **fields}


def task(job_id: str, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    """A job as the runner would hand it over."""
    return dict(copy_of(kind, payload, job_id, at="2026-11-01T10:00:01Z", submitted_at="2026-11-01T10:00:00Z"))


# --- the process ---


def main() -> None:
    from bridge.graph import installed

    with installed.importing():
        import bridge.graph.cognee_store  # noqa: F401 - what takes the seconds

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(sys.argv[2])
        server.listen()
        while True:
            connection, _ = server.accept()
            if os.fork() == 0:
                server.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                serve(connection)
                os._exit(0)
            connection.close()


def serve(connection: socket.socket) -> None:
    from fake_embedder import FakeEmbedder

    from bridge.graph.open_stores import Stores
    from bridge.operations import run
    from jobs import clock
    from jobs.layout import Workspace
    from worker.child.protocol import encode

    def send(kind: str, found: Any) -> None:
        connection.sendall(json.dumps([kind, found], default=str).encode() + b"\n")

    def answer(what: str, arguments: list[Any]) -> Any:
        match what:
            case "run":
                kind, tasks = arguments
                outcomes = run(kind, tasks, stores, clock.now(), lambda _: None)
                if kind in ("ingest", "set_status", "compact", "restore", "migrate", "import"):
                    stores.graph.deliver_all()  # as the next job that needs the graph would
                return {job_id: encode(outcome) for job_id, outcome in outcomes.items()}
            case "watch":
                return watch(*arguments, lambda: send("entered", None))
            case "refuse":
                return refuse(stores, *arguments)
            case "count":
                return stores.store.count()
            case "reconcile":  # as after an unclean end: what the graph lacks is enqueued
                return len(stores.graph._enqueue_missing(stores.graph.open(), stores.store, "2026-11-01T10:00:00Z"))
            case "missing":
                return stores.graph.open().missing([[memory for i in arguments[0] if (memory := stores.store.get(i))]])
            case "keep":
                return keep(stores, *arguments)
            case "drop":
                with stores.store.change("2026-11-01T10:00:00Z") as change:
                    change.drop(arguments[0])
                return stores.graph.deliver_all()
            case "forgo":  # the store alone: what the graph has of it stays
                outbox = stores.store.outbox
                with stores.store.change("2026-11-01T10:00:00Z") as change:
                    change.drop([arguments[0]])
                outbox.delivered(outbox.pending(outbox.count()))
                return None
            case "graph":
                return what_is_there(stores)
            case "query":
                return query(stores, *arguments)
            case "node" | "overgrown" | "memory_count" | "picture":
                return getattr(stores.graph.open(), what)(*arguments)
            case "maintain":
                return stores.maintain()
            case "close_graph":
                return stores.graph.close()
            case _:
                return getattr(stores.graph, what)(*arguments)

    stores = Stores(Workspace(Path(sys.argv[1])), load())
    stores._embedder = FakeEmbedder()
    send("pid", os.getpid())
    for line in connection.makefile("rb"):
        what, *arguments = json.loads(line)
        if what == "close":
            stores.__exit__(None, None, None)
            send("answer", None)
            return
        try:
            found = answer(what, arguments)
        except Exception as error:
            send("failed", repr(error))
        else:
            send("answer", found)


def keep(stores: Any, memories: list[dict[str, Any]]) -> int:
    """Store memories as they are, without a job, and tell the graph: ``id``, ``topic``, ``sources`` and the like."""
    from bridge.memory import Content, Memory, Metadata

    now = "2026-11-01T10:00:00Z"

    def memory(given: dict[str, Any]) -> Memory:
        is_record = "sources" in given
        metadata = Metadata(
            topic_id=given["topic_id"], session_id=given.get("session_id"), plan_id=given.get("plan_id"),
            status="DecisionRecord" if is_record else "Active", created_at=now, updated_at=now,
        )  # fmt: skip
        content = Content(given.get("topic", "T"), given.get("context", "C"), tuple(given.get("decisions", ())))
        kind = "decision_record" if is_record else "summary"
        return Memory(given["id"], 0, kind, metadata, now, content, sources=tuple(given.get("sources", ())))

    stores.store.add([(memory(given), None) for given in memories], now)
    paid: int = stores.graph.deliver_all()
    return paid


def query(stores: Any, text: str, values: dict[str, Any]) -> list[Any]:
    """What cognee's graph engine answers."""
    from bridge.graph import cognee_process, cognee_store

    async def ask() -> list[Any]:
        found: list[Any] = await (await cognee_store.get_graph_engine()).query(text, values)
        return found

    assert stores.graph.open()
    return cognee_process.run(ask())


def what_is_there(stores: Any) -> dict[str, Any]:
    """Every node as type, name and id; every edge as the ids of its ends and its name; nodes' vectors by table."""
    from cognee.infrastructure.databases.vector import get_vector_engine_async

    from bridge.graph import cognee_process, lance

    async def vectors() -> dict[str, list[str]]:
        engine = await get_vector_engine_async()
        found = {name: sorted(await lance.row_ids(engine, name)) for name in await lance.table_names(engine)}
        return {name: ids for name, ids in found.items() if ids and not name.startswith("EdgeType")}

    return {
        "nodes": query(stores, "MATCH (n:Node) RETURN n.type, n.name, n.id ORDER BY n.id", {}),
        "edges": query(stores, "MATCH (n:Node)-[e:EDGE]->(m:Node) RETURN n.id, e.relationship_name, m.id", {}),
        "vectors": cognee_process.run(vectors()),
    }


def refuse(stores: Any, beginning: str, code: str | None) -> None:
    """Let the embedding provider refuse texts that begin so, or no more."""
    from jobs.errors import JobError

    embed = type(stores.embedder).embed

    def refusing(texts: list[str]) -> Any:
        if code is not None and any(text.startswith(beginning) for text in texts):
            raise JobError(code, details={"retry_after_seconds": 7})
        return embed(stores.embedder, texts)

    stores.embedder.embed = refusing


def watch(place: str, nth: int, say: Callable[[], None]) -> None:
    """Say it when the process enters the place for the n-th time."""
    from cognee.infrastructure.databases.graph.ladybug.adapter import LadybugAdapter
    from cognee.infrastructure.databases.vector.lancedb.LanceDBAdapter import LanceDBAdapter

    from bridge.graph import graph_files, lance
    from jobs import steps

    left = nth

    def entered() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            say()

    def wrap(owner: Any, name: str, concerns: Callable[..., bool] = lambda *_: True) -> None:
        real = getattr(owner, name)

        async def wrapped(*arguments: Any, **named: Any) -> Any:
            if concerns(*arguments):
                entered()
            return await real(*arguments, **named)

        setattr(owner, name, wrapped)

    match place:
        case "checkpoint":
            wrap(LadybugAdapter, "query", lambda _, query, *__: query.startswith("CHECKPOINT"))
        case "graph write":
            wrap(LadybugAdapter, "add_nodes")
        case "edge write":
            wrap(LadybugAdapter, "add_edges")
        case "vector commit":
            wrap(LanceDBAdapter, "create_data_points")
        case "graph rewrite":
            counted = graph_files._counts

            def counting(connection: Any) -> list[int]:
                entered()
                return counted(connection)

            graph_files._counts = counting
        case "compaction":
            lance._MAX_VERSIONS = 2  # else it is rarely due
            wrap(lance, "compact")
        case _:
            point = f"before:{place}"
            steps._fault = lambda here: entered() if here == point else None


if __name__ == "__main__":
    main()
