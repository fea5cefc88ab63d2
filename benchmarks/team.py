"""Machines of a team: how fast a copy answers, is made and follows; what more workers bring where embedding is slow;
how soon they work again after the database's standby was promoted.

    python -m benchmarks.team [--memories N] [--changes N]

It starts a PostgreSQL of its own, as the tests do, and real workers. ``benchmarks.scale`` has what a job costs the
database, and a workspace.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bridge import trust
from bridge.embedding.factory import create
from bridge.search.reader import Reader
from bridge.settings import load
from bridge.store.opening import workspace_id_of
from bridge.team import membership
from jobs import clock
from jobs.layout import Workspace

from . import corpus, synthetic
from .questions import questions
from .table import show

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
if TYPE_CHECKING:
    Place = Any
else:
    from harness import Place

_QUESTIONS = 200
_SMALL = 100
_WORKSPACES, _JOBS_EACH, _EMBEDDING_SECONDS = 16, 6, 0.25


def main(argv: Sequence[str] = ()) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=1_000)
    parser.add_argument("--changes", type=int, default=60)
    args = parser.parse_args(list(argv))
    from postgres import database  # type: ignore[import-not-found]

    folder = Path(tempfile.mkdtemp(prefix="cognee-memory-bench-"))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each process compiles our modules again
    try:
        with database() as dsn:
            _copies(folder, dsn, args.memories, args.changes)
            _cold(folder, dsn)
            _pools(folder, dsn)
        _promotions(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _machine(folder: Path, dsn: str, **variables: str) -> Place:
    return Place(folder, COGNEE_MEMORY_STORE=dsn, COGNEE_MEMORY_CACHE_DIR=str(load().cache_folder), **variables)


def _filled(folder: Path, dsn: str, count: int) -> Place:
    """A machine with memories of its own."""
    place = _machine(folder, dsn)
    trust.adopt(place.workspace, place.config)
    synthetic.fill(place.workspace, count)
    with contextlib.closing(sqlite3.connect(place.workspace.memory_db)) as connection, connection:
        connection.execute("DELETE FROM outbox")  # the graph takes no part
    return place


def _twin(place: Place, folder: Path, dsn: str) -> Place:
    """Another machine with the same memories, of its own."""
    twin = _machine(folder, dsn)
    shutil.copytree(place.workspace.memory, twin.workspace.memory, dirs_exist_ok=True)
    trust.adopt(twin.workspace, twin.config, trusted=True)
    return twin


def _count(workspace: Workspace) -> int:
    """The memories that a question finds."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{workspace.memory_db}?mode=ro", uri=True, timeout=5)) as reading:
            found: int = reading.execute("SELECT count(*) FROM memories").fetchone()[0]
            return found
    except sqlite3.Error:
        return -1


# --- copies ---


def _copies(folder: Path, dsn: str, memories: int, changes: int) -> None:
    alone = _filled(folder / "alone", dsn, memories)
    host = _twin(alone, folder / "host", dsn)
    workspace_id = workspace_id_of(host.workspace)
    assert workspace_id is not None
    membership.join(host.workspace, host.config, workspace_id, shares=True)
    laptop = _machine(folder / "laptop", dsn)
    with host.worker():
        _until(lambda: _changes_known(host) == 0)
        began = time.perf_counter()
        membership.join(laptop.workspace, laptop.config, workspace_id)
        with laptop.worker() as worker:
            most = _peak_while(worker, lambda: _count(laptop.workspace) < memories)
            taken = time.perf_counter() - began
            show(
                f"A new copy of {memories:,} memories, from the start of its worker",
                ["seconds", "memories/s (goal 200)", "peak of its child, MiB"],
                [[f"{taken:.1f}", f"{memories / taken:.0f}", f"{most:.0f}"]],
            )
            _asked(alone.workspace, laptop.workspace, memories)
            _followed(host, laptop, memories, changes)


def _asked(alone: Workspace, copy: Workspace, memories: int) -> None:
    """The same questions to both, in turn."""
    settings = load()
    embedder = create(settings.embedding)
    readers = {name: Reader(place, settings.embedding, lambda _: embedder) for name, place in _named(alone, copy)}
    now = clock.now()
    taken: dict[str, list[float]] = {name: [] for name in readers}
    equal = 0
    for number, question in enumerate(questions(_QUESTIONS + 10)):
        answers = []
        for name in sorted(readers, reverse=bool(number % 2)):
            began = time.perf_counter()
            answer = readers[name].answer("retrieve", {"query": question}, now)
            if number >= 10:
                taken[name].append((time.perf_counter() - began) * 1000)
            answers.append(json.dumps({key: each for key, each in answer.items() if key != "warnings"}))
        equal += answers[0] == answers[1]
    at = {name: (statistics.median(each), statistics.quantiles(each, n=20)[-1]) for name, each in taken.items()}
    rows = [
        [name, f"{p50:.1f}", f"{p95:.1f}", f"{p95 / at['a single machine'][1]:.2f}"] for name, (p50, p95) in at.items()
    ]
    show(
        f"One question over {memories:,} memories: {equal} of {_QUESTIONS + 10} answers are the same bytes",
        ["", "p50, ms", "p95, ms", "p95 beside (goal 1.1)"],
        rows,
    )


def _named(alone: Workspace, copy: Workspace) -> list[tuple[str, Workspace]]:
    return [("a single machine", alone), ("a copy in a team", copy)]


def _followed(host: Place, laptop: Place, memories: int, changes: int) -> None:
    """Memories that are added one after another on one machine: when they are on the other one."""
    on_other, to_record = [], []
    for number, payload in enumerate(corpus.summaries(changes + 5, seed=99)):
        wanted = memories + number + 1
        began = time.perf_counter()
        job = host.submit("ingest", payload)
        _until(lambda wanted=wanted: max(_count(host.workspace), _count(laptop.workspace)) >= wanted)
        first = time.perf_counter()
        _until(lambda wanted=wanted: min(_count(host.workspace), _count(laptop.workspace)) >= wanted)
        other = time.perf_counter()
        host.ended(job)
        if number >= 5:
            on_other.append((other - first) * 1000)
            to_record.append((time.perf_counter() - began) * 1000)
    rows = [
        [name, f"{statistics.median(taken):.0f}", f"{statistics.quantiles(taken, n=20)[-1]:.0f}", goal]
        for name, taken, goal in (
            ("found on one machine, until on the other", on_other, "250"),
            ("dropped, until its record has ended", to_record, ""),
        )
    ]
    show(f"A memory more, {changes} times", ["", "p50, ms", "p95, ms", "goal of p95"], rows)


def _cold(folder: Path, dsn: str) -> None:
    """A small workspace on a machine that has nothing yet."""
    first = _filled(folder / "small", dsn, _SMALL)
    workspace_id = workspace_id_of(first.workspace)
    assert workspace_id is not None
    membership.join(first.workspace, first.config, workspace_id, shares=True)
    with first.worker():
        _until(lambda: _changes_known(first) == 0)
    rows = []
    for number in range(3):
        place = _machine(folder / f"cold-{number}", dsn)
        membership.join(place.workspace, place.config, workspace_id)
        began = time.perf_counter()
        with place.worker():
            ready = time.perf_counter()
            _until(lambda place=place: _count(place.workspace) == _SMALL)
            there = time.perf_counter()
            answer = place.json("retrieve", "why did token renewal send the same request twice")
            assert answer["results"]
            done = time.perf_counter()
        rows.append([f"{each:.2f}" for each in (ready - began, there - ready, done - there, done - began)])
    show(
        f"A workspace of {_SMALL} memories on a new machine (goal 1.5 s)",
        ["the worker is ready, s", "all memories are there, s", "the first answer, s", "together, s"],
        rows,
    )


# --- pools ---


def _pools(folder: Path, dsn: str) -> None:
    """The jobs of many workspaces, with an embedder that takes its time elsewhere: one worker and four, in turn."""
    rows, base = [], 0.0
    with _slow_embedder() as address:
        variables = {
            "EMBEDDING_PROVIDER": "openai_compatible",
            "EMBEDDING_MODEL": "made-up",
            "EMBEDDING_DIMENSIONS": "8",
            "EMBEDDING_ENDPOINT": address,
            "EMBEDDING_API_KEY": "none",
            "COGNEE_MEMORY_BATCH_SIZE": "1",
        }
        for workers in (1, 4):
            rate = _pool_rate(folder / f"pool-{workers}", dsn, workers, variables)
            base = base or rate
            rows.append([str(workers), f"{rate:.2f}", f"{rate / base:.1f}", "" if workers == 1 else "3"])
    show(
        f"{_WORKSPACES * _JOBS_EACH} jobs of {_WORKSPACES} workspaces, {_EMBEDDING_SECONDS:g} s of embedding each",
        ["workers of a pool", "jobs/s", "times one", "goal"],
        rows,
    )


def _pool_rate(folder: Path, dsn: str, workers: int, variables: dict[str, str]) -> float:
    places = []
    for number in range(_WORKSPACES):
        place = _machine(folder / f"w{number}", dsn, **variables)
        membership.join(place.workspace, place.config, str(uuid4()), shares=True)
        places.append(place)
    posted: list[str] = []
    for place in places:  # one worker after another posts its jobs, and runs none
        with place.worker():
            assert place.cli("jobs", "pause").returncode == 0
            jobs = [place.submit("ingest", each) for each in corpus.summaries(_JOBS_EACH, seed=len(posted))]
            _until(lambda place=place: _is_posted(place, _JOBS_EACH))
            posted += jobs
    host = _machine(folder / "host", dsn, **variables)
    pool = subprocess.Popen(
        [
            sys.executable, "-m", "worker.cli", "pool", "--folder", str(folder / "copies"), "--workers", str(workers),
            "--workspace", str(host.workspace.root),
        ],
        env=host.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        ended: list[tuple[float, int]] = []
        while not ended or ended[-1][1] < len(posted):
            ended.append((time.perf_counter(), _ended(dsn, places)))
            time.sleep(0.05)
    finally:
        pool.send_signal(signal.SIGTERM)
        pool.wait()
    # From the first jobs on, so that the start of the processes does not count.
    began, before = next((at, count) for at, count in ended if count >= workers)
    return (len(posted) - before) / (ended[-1][0] - began)


def _is_posted(place: Place, count: int) -> bool:
    status = place.json("team", "status")["team"]["workspace"]
    return status is not None and status["jobs"]["waiting"] == count


def _ended(dsn: str, places: Sequence[Place]) -> int:
    import psycopg

    ids = [membership.membership_of(place.workspace, place.config) for place in places]
    with psycopg.connect(dsn, options="-c search_path=cognee_memory") as connection:
        found = connection.execute(
            "SELECT count(*) FROM jobs WHERE state = 'ended' AND workspace_id = ANY(%s::uuid[])",
            ([each.workspace_id for each in ids if each is not None],),
        ).fetchone()
        return 0 if found is None else int(found[0])


@contextlib.contextmanager
def _slow_embedder() -> Iterator[str]:
    """An embedding provider that takes a while, and no processor of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            time.sleep(_EMBEDDING_SECONDS)
            data = [
                {"object": "embedding", "index": place, "embedding": [1.0 + len(text) % 7, *[0.5] * 7]}
                for place, text in enumerate(asked)
            ]
            body = json.dumps({"object": "list", "model": "made-up", "data": data, "usage": {}}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()


# --- a promotion ---


def _promotions(folder: Path) -> None:
    """The primary is killed and its synchronous standby promoted: until a job that was dropped meanwhile has ended."""
    from standby import primary_and_standby  # type: ignore[import-not-found]

    rows = []
    for number in range(3):
        with primary_and_standby() as pair:
            place = _machine(folder / f"failover-{number}", pair.dsn)
            membership.join(place.workspace, place.config, str(uuid4()), shares=True)
            payloads = iter(corpus.summaries(2, seed=number))
            with place.worker():
                place.ended(place.submit("ingest", next(payloads)))
                pair.primary.kill()
                job = place.submit("ingest", next(payloads))
                time.sleep(1)  # as long as nobody has noticed
                began = time.perf_counter()
                pair.ask(pair.standby, "SELECT pg_promote()")
                promoted = time.perf_counter()
                place.ended(job)
                rows.append([f"{each:.2f}" for each in (promoted - began, time.perf_counter() - promoted)])
    show("The primary dies, its standby is promoted a second later", ["promoting, s", "then working again, s"], rows)


# --- waiting ---


def _until(look: Any) -> None:
    while not look():
        time.sleep(0.002)


def _changes_known(place: Place) -> int | None:
    behind: int | None = place.json("team", "status")["team"]["behind"]
    return behind


def _peak_while(worker: Any, goes_on: Any) -> float:
    """The most memory that the worker's children took meanwhile, MiB."""
    most = 0.0
    while goes_on():
        for pid in worker.children():
            with contextlib.suppress(OSError, IndexError):
                pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
                most = max(most, pages * os.sysconf("SC_PAGE_SIZE") / 1024**2)
        time.sleep(0.02)
    return most


if __name__ == "__main__":
    main(sys.argv[1:])
