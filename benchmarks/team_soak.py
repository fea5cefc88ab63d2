"""A team for an hour or more: 4 workers and 50 copies, while processes and the database are killed and stopped.

Ten workspaces, each with a machine that drops jobs and pauses its worker, so that the four pools run them. Half of the
copies follow through a gateway. The first pool, the first machine and the gateway are never killed: what they hold at
the end shows whether something grows. Exit status 1 if a job was lost or had its effect twice, a number of a change is
missing, or copies differ.
"""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import psutil

from bridge.settings import load
from bridge.store.team import shared_tables
from bridge.team import membership
from jobs.layout import Workspace

from . import corpus
from .table import show

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
if TYPE_CHECKING:
    Place = Any
    RealWorker = Any
    Hosted = Any
    Cluster = Any
else:
    from gateways import Hosted
    from harness import Place, RealWorker
    from postgres import Cluster

ABOUT = "a team for so many minutes, of which processes and the database are killed"
_WORKSPACES, _POOLS, _COPIES = 10, 4, 50
_LEASE_SECONDS = 10
_PAUSE_SECONDS = 0.5  # between jobs
_SAMPLES = 6
_MIB = 1024 * 1024
_EXPECTED = {"MEMORY_NOT_FOUND", "MEMORY_FORGOTTEN"}  # of jobs about a memory that was forgotten meanwhile


class Soak:
    """All processes, and what was asked of them."""

    def __init__(self, folder: Path, server: Cluster) -> None:
        self._folder = folder
        self._chance = random.Random(7)
        self._payloads = iter(corpus.summaries(50_000))
        self.server = server
        self.hosted = Hosted(folder, server.dsn)
        self.hosted.start("--requests-per-minute", "100000")  # all machines are one person's
        self.askers: list[Place] = []
        self.ids: list[str] = []
        self.jobs: list[tuple[Place, str, str]] = []  # asker, kind, job id
        self.blows: Counter[str] = Counter()
        token = self.hosted.token("ann")
        for number in range(_WORKSPACES):
            place = self._place(
                f"asker-{number}", COGNEE_MEMORY_TEAM=self.hosted.address, COGNEE_MEMORY_TEAM_TOKEN=token
            )
            self.ids.append(str(uuid4()))
            membership.join(place.workspace, place.config, self.ids[-1], shares=True)
            self.askers.append(place)
        self._workers: list[RealWorker] = [place.worker().ready() for place in self.askers]
        for place in self.askers:
            assert place.cli("jobs", "pause").returncode == 0
        self._hosts = [self._place(f"host-{number}", COGNEE_MEMORY_STORE=server.dsn) for number in range(_POOLS)]
        self._pools = [self._pool(number) for number in range(_POOLS)]
        self.copies = [
            {
                "folder": str(folder / f"copy-{number}"),
                "workspace_id": self.ids[number % _WORKSPACES],
                "address": self.hosted.address if number % 2 else server.dsn,
                "token": token if number % 2 else None,
            }
            for number in range(_COPIES)
        ]
        (folder / "copies.json").write_text(json.dumps(self.copies))
        self._followers = self._follow()

    def _place(self, name: str, **variables: str) -> Place:
        cache = str(load().cache_folder)
        lease = str(_LEASE_SECONDS)
        return Place(self._folder / name, COGNEE_MEMORY_CACHE_DIR=cache, COGNEE_MEMORY_LEASE_SECONDS=lease, **variables)

    def _pool(self, number: int) -> subprocess.Popen[bytes]:
        host = self._hosts[number]
        with (self._folder / f"pool-{number}.log").open("ab") as log:
            return subprocess.Popen(
                [
                    sys.executable, "-m", "worker.cli", "pool", "--folder", str(self._folder / f"pool-{number}"),
                    "--workspace", str(host.workspace.root),
                ],
                env=host.environment, stdout=log, stderr=log,
            )  # fmt: skip

    def _follow(self) -> subprocess.Popen[bytes]:
        with (self._folder / "followers.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "benchmarks.team_followers", self._folder / "copies.json", self.seen],
                stdout=log, stderr=log,
            )  # fmt: skip

    @property
    def seen(self) -> Path:
        """What the followers have applied, and when."""
        return self._folder / "seen"

    # --- jobs ---

    def drop(self) -> None:
        """Drop a job somewhere: mostly a new memory, else something about one that the machine's copy has."""
        number = self._chance.randrange(_WORKSPACES)
        place = self.askers[number]
        kind = self._chance.choices(["ingest", "set_status", "feedback", "forget"], [80, 8, 8, 4])[0]
        known = [] if kind == "ingest" else _ids(place.workspace)
        if not known:
            kind = "ingest"
        memory_id = self._chance.choice(known) if known else ""
        payload = {
            "ingest": next(self._payloads),
            "set_status": {"memory_id": memory_id, "status": self._chance.choice(["Active", "Draft"])},
            "feedback": {"memory_id": memory_id, "verdict": "helpful", "by": "ann"},
            "forget": {"memory_ids": [memory_id]},
        }[kind]
        self.jobs.append((place, kind, place.submit(kind, payload)))

    # --- faults ---

    def strike(self) -> None:
        """Something bad happens."""
        kind = self._chance.choice(["pool", "pool", "child", "stop", "followers", "asker", "database"])
        self.blows[kind] += 1
        if kind == "database":
            self.server.kill()
            self.server.start()
        elif kind == "followers":
            self._followers.kill()
            self._followers.wait()
            self._followers = self._follow()
        elif kind == "asker":
            number = self._chance.randrange(1, _WORKSPACES)
            self._workers[number].kill()
            self._workers[number] = self.askers[number].worker()
        else:
            self._strike_pool(kind, self._chance.randrange(1, _POOLS))

    def _strike_pool(self, kind: str, number: int) -> None:
        pool = self._pools[number]
        if kind == "pool":
            pool.kill()
            pool.wait()
            self._pools[number] = self._pool(number)
            return
        found = psutil.Process(pool.pid)
        victims = found.children(recursive=True) if kind == "child" else [*found.children(recursive=True), found]
        for each in victims:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill() if kind == "child" else each.suspend()
        if kind == "stop":
            time.sleep(self._chance.choice([2, _LEASE_SECONDS + 3]))  # within the lease, and beyond it
            for each in victims:
                with contextlib.suppress(psutil.NoSuchProcess):
                    each.resume()

    # --- looking ---

    def sample(self, began: float) -> list[str]:
        """What those hold that are never killed."""
        row = [f"{(time.monotonic() - began) / 60:.0f}", f"{len(self.jobs):,}"]
        gateway = self.hosted.pid
        for pid in (self._pools[0].pid, self._workers[0].process.pid, gateway):
            found = psutil.Process(pid)
            sizes = [each.memory_info().rss / _MIB for each in (found, *found.children(recursive=True))]
            row.append(f"{' + '.join(f'{size:.0f}' for size in sizes)}; {found.num_fds()}")
        [(connections,)] = self.rows("SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL")
        [(size,)] = self.rows("SELECT pg_database_size(current_database())")
        return [*row, str(connections), f"{size / _MIB:.0f}"]

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """What the database answers."""
        import psycopg

        with psycopg.connect(self.server.dsn, options="-c search_path=cognee_memory") as connection:
            return connection.execute(query.encode(), values).fetchall()

    def end(self) -> None:
        """End all processes."""
        self._followers.kill()
        for pool in self._pools:
            pool.send_signal(signal.SIGTERM)
        for worker in self._workers:
            with contextlib.suppress(AssertionError):
                worker.stop()
            worker.kill()
        for pool in self._pools:
            pool.wait()
        self.hosted.stop()


def _ids(workspace: Workspace) -> list[str]:
    try:
        with contextlib.closing(sqlite3.connect(f"file:{workspace.memory_db}?mode=ro", uri=True, timeout=5)) as reading:
            return [found for (found,) in reading.execute("SELECT id FROM memories WHERE hidden = 0")]
    except sqlite3.Error:
        return []


def _shared(workspace: Workspace) -> str:
    """All rows that copies have in common, as text."""
    found = []
    try:
        with contextlib.closing(sqlite3.connect(f"file:{workspace.memory_db}?mode=ro", uri=True, timeout=5)) as reading:
            for table in shared_tables.TABLES:
                columns = ", ".join(f'"{name}"' for name in table.columns(reading))
                keys = ", ".join(f'"{name}"' for name in table.key)
                found.append(reading.execute(f"SELECT {columns} FROM {table.name} ORDER BY {keys}").fetchall())
    except sqlite3.Error as error:
        return str(error)
    return repr(found)


def run(minutes: float) -> int:
    """Print the tables. Returns the exit status."""
    from postgres import cluster  # type: ignore[import-not-found]

    folder = Path(tempfile.mkdtemp(prefix="cognee-memory-soak-"))
    with cluster() as server:
        soak = Soak(folder, server)
        try:
            samples = _run(soak, minutes * 60)
            faults = _look(soak)
        finally:
            soak.end()
    show(
        "What is never killed: MiB of the process + its child; open files",
        ["minute", "jobs dropped", "a pool", "a worker of a machine", "the gateway", "connections", "database, MiB"],
        samples,
    )
    if not faults:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if faults else 0


def _run(soak: Soak, seconds: float) -> list[list[str]]:
    samples = []
    began = time.monotonic()
    strikes_at, sample_at = began + 30.0, began + min(120.0, seconds / _SAMPLES)
    while (now := time.monotonic()) < began + seconds:
        soak.drop()
        if now > strikes_at:
            soak.strike()
            strikes_at = time.monotonic() + 20.0
        if now > sample_at:
            samples.append(soak.sample(began))
            print(" | ".join(samples[-1]), file=sys.stderr, flush=True)
            sample_at += seconds / _SAMPLES
        time.sleep(_PAUSE_SECONDS)
    return samples


def _look(soak: Soak) -> int:
    """Wait for the end of all jobs and for all copies, and print what holds. Returns the number of faults."""
    records = [(kind, place.ended(job_id, seconds=1800)) for place, kind, job_id in soak.jobs]
    copies = [(copy["workspace_id"], Workspace(Path(str(copy["folder"])))) for copy in soak.copies]
    copies += [(each, place.workspace) for each, place in zip(soak.ids, soak.askers, strict=True)]
    deadline = time.monotonic() + 300
    while (differ := _differing(copies)) and time.monotonic() < deadline:
        time.sleep(2)
    effects = [job for (jobs,) in soak.rows("SELECT jobs FROM changes") for job in jobs]
    gaps = soak.rows("SELECT workspace_id FROM changes GROUP BY workspace_id HAVING max(seq) <> count(*)")
    done = Counter((kind, record.state) for kind, record in records)
    bad = [
        record
        for _, record in records
        if record.state != "succeeded" and not (record.error is not None and record.error["code"] in _EXPECTED)
    ]
    missing = {r.job_id for kind, r in records if kind == "ingest" and r.state == "succeeded"} - set(effects)
    twice = len(effects) - len(set(effects))
    show(
        f"{len(records):,} jobs, {_POOLS} workers, {_COPIES} copies of {_WORKSPACES} workspaces",
        ["", ""],
        [
            *([f"{kind}: {state}", f"{count:,}"] for (kind, state), count in sorted(done.items())),
            ["failed otherwise than about a memory that was forgotten", str(len(bad))],
            ["new memories without an effect in the database", str(len(missing))],
            ["jobs with two effects", str(twice)],
            ["workspaces with a missing number", str(len(gaps))],
            ["copies that differ from another one", str(differ)],
        ],
    )
    names = {
        "pool": "a pool killed", "child": "its child killed", "stop": "a pool stopped, also beyond its lease",
        "followers": "25 + 25 followers killed", "asker": "a machine's worker killed",
        "database": "the database killed",
    }  # fmt: skip
    show("What happened meanwhile", ["", "times"], [[names[kind], str(n)] for kind, n in soak.blows.most_common()])
    _show_lag(soak)
    for record in bad[:5]:
        print(record, file=sys.stderr)
    return len(bad) + len(missing) + twice + len(gaps) + differ


def _differing(copies: Sequence[tuple[str, Workspace]]) -> int:
    """How many copies have other rows than the first one of their workspace."""
    first: dict[str, str] = {}
    return sum(first.setdefault(workspace_id, shared) != shared for workspace_id, shared in (
        (workspace_id, _shared(workspace)) for workspace_id, workspace in copies
    ))  # fmt: skip


def _show_lag(soak: Soak) -> None:
    """How long after its commit a change was in a copy that was followed each second."""
    found = soak.rows("SELECT workspace_id::text, seq, extract(epoch FROM at)::float8 FROM changes")
    at = {(workspace_id, seq): moment for workspace_id, seq, moment in found}
    lags = []
    for line in soak.seen.read_text().splitlines():
        number, seq, moment = line.split()
        committed = at.get((str(soak.copies[int(number)]["workspace_id"]), int(seq)))
        if committed is not None:
            lags.append(float(moment) - committed)
    quantiles = statistics.quantiles(lags, n=100)
    show(
        f"From a commit to a copy, {len(lags):,} times; each copy is looked at once a second",
        ["p50, s", "p95, s", "p99, s", "most, s"],
        [[f"{each:.1f}" for each in (quantiles[49], quantiles[94], quantiles[98], max(lags))]],
    )
