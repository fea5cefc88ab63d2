"""A team over PostgreSQL: jobs of several workers, how soon a change is on another machine, a new copy, and the cost of
a claim as workspaces grow. Beside the bare database, in the same run.

    python -m benchmarks.scale [--dsn postgresql://…] [--jobs N] [--workspaces N]

Without ``--dsn`` it starts a database of its own, as the tests do. A job here is all that a team adds to a job: it is
posted, claimed, started, its effect is committed (a memory's rows with 26 kB of vectors), and it ends. Workers are
processes, each job has a workspace among fifty.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import sys
import time
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from uuid import uuid4

import numpy as np

from bridge.team import shared_jobs
from bridge.team.leases import Lease
from bridge.team.postgres_team import PostgresTeam
from bridge.team.rows import Author, Described, SharedRow
from bridge.team.server import Server
from jobs import clock, lifecycle
from jobs.lifecycle import CRASH_LIMITS
from jobs.model import encode
from jobs.parse import parse_job
from worker.team.team_jobs import TeamJobs

from .table import show

_WORKSPACES = 50
_VECTORS = np.random.default_rng(0).standard_normal(26_000 // 4).astype("<f4").tobytes()
_AT = "2026-11-20T12:00:00Z"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--jobs", type=int, default=600)
    parser.add_argument("--workspaces", type=int, default=10_000)
    args = parser.parse_args()
    with ExitStack() as stack:
        dsn = args.dsn or stack.enter_context(_database())
        _throughput(dsn, args.jobs)
        _growth(dsn, args.workspaces)


def _database() -> AbstractContextManager[str]:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from postgres import database  # type: ignore[import-not-found]

    found: AbstractContextManager[str] = database()
    return found


def _described(workspace_id: str, number: int) -> Described:
    return Described(workspace_id, f"workspace {number}", 8, "a model", 384)


def _row(number: int) -> SharedRow:
    value = {"number": number, "hidden": 0, "body": "What was said. " * 60}
    return SharedRow("memories", json.dumps([number]), value, _VECTORS)


# --- jobs ---


def _throughput(dsn: str, jobs: int) -> None:
    rows = [["the bare database: one row of 26 kB a transaction, 1 client", *_rate(dsn, _bare, 1, jobs)]]
    rows.append(["the same, 4 clients", *_rate(dsn, _bare, 4, jobs)])
    for workers in (1, 2, 4):
        team = PostgresTeam(Server(dsn))
        served = [str(uuid4()) for _ in range(_WORKSPACES)]
        for number, each in enumerate(served):
            team.share(_described(each, number), str(uuid4()), [], Author("n"))
        _post(team, served, jobs)
        team.close()
        began = time.perf_counter()
        _in_processes(_work, workers, dsn, served, jobs)
        took = time.perf_counter() - began
        rows.append([f"jobs, {workers} worker{'s' if workers > 1 else ''}", f"{jobs / took:.0f}", f"{took:.1f}"])
    show(f"{jobs} jobs with their whole effect", ["", "a second", "s"], rows)


def _post(team: PostgresTeam, served: list[str], jobs: int) -> None:
    for place, workspace_id in enumerate(served):
        posted = []
        for number in range(place, jobs, len(served)):
            file = {"schema_version": 1, "job_id": f"j{number}", "kind": "noop", "payload": {}}
            job = parse_job(f"j{number}", encode(file), test_jobs=True)
            posted.append((job, lifecycle.accept(job, clock.now())))
        team.post(workspace_id, "n", posted)


def _in_processes(work: object, count: int, *arguments: object) -> None:
    context = multiprocessing.get_context("spawn")
    ready, go = context.Semaphore(0), context.Event()
    processes = [context.Process(target=work, args=(ready, go, number, count, *arguments)) for number in range(count)]  # type: ignore[arg-type]
    for process in processes:
        process.start()
    for _ in processes:
        ready.acquire()
    go.set()
    for process in processes:
        process.join()
        assert process.exitcode == 0


def _work(ready: object, go: object, number: int, count: int, dsn: str, served: list[str], jobs: int) -> None:
    """A worker: takes leases and runs what is due until nothing is."""
    team = PostgresTeam(Server(dsn))
    held = TeamJobs(team, f"worker {number}", CRASH_LIMITS)
    team.time()
    ready.release()  # type: ignore[attr-defined]
    go.wait()  # type: ignore[attr-defined]
    while (lease := team.take(f"worker {number}", served, 60.0)) is not None:
        held.hold(lease)
        while (job_id := held.next()) is not None:
            _run(team, held, lease, job_id)
        held.let_go()
        team.release(lease)
    team.close()


def _run(team: PostgresTeam, held: TeamJobs, lease: Lease, job_id: str) -> None:
    [started] = held.apply({job_id: lifecycle.Started()})
    found = team.registered(lease.workspace_id)
    assert found is not None
    effect = SharedRow("effects", json.dumps([job_id, started.job_sha256]), {"at": _AT})
    changed = [_row(found.position.seq + 1), effect]
    team.commit(lease.workspace_id, found.position, changed, [job_id], Author("n", lease.number), 8)
    held.apply({job_id: lifecycle.Succeeded({})}, {job_id: started.ticket})


def _rate(dsn: str, work: object, clients: int, jobs: int) -> tuple[str, str]:
    with Server(dsn).connection() as connection:
        connection.execute("DROP TABLE IF EXISTS bare; CREATE TABLE bare (id serial PRIMARY KEY, data bytea)")
    began = time.perf_counter()
    _in_processes(work, clients, dsn, jobs)
    took = time.perf_counter() - began
    return f"{jobs / took:.0f}", f"{took:.1f}"


def _bare(ready: object, go: object, number: int, count: int, dsn: str, jobs: int) -> None:
    server = Server(dsn)
    with server.connection() as connection:
        ready.release()  # type: ignore[attr-defined]
        go.wait()  # type: ignore[attr-defined]
        for _ in range(jobs // count):
            connection.execute("INSERT INTO bare (data) VALUES (%s)", (_VECTORS,))
    server.close()


# --- many workspaces ---


def _growth(dsn: str, most: int) -> None:
    server = Server(dsn)
    team = PostgresTeam(server)
    rows = []
    ids: list[str] = []
    for size in (100, 1000, most):
        before = len(ids)
        with server.connection() as connection, connection.transaction():
            while len(ids) < size:
                ids.append(str(uuid4()))
                connection.execute(
                    "INSERT INTO workspaces (id, name, format, embedder, dimensions, last_seq)"
                    " VALUES (%s, 'w', 8, 'm', 384, 1)",
                    (ids[-1],),
                )
                connection.execute(
                    "INSERT INTO rows (workspace_id, tbl, key, seq, value)"
                    " SELECT %s, 'memories', '[' || n || ']', 1, '{\"hidden\": 0}' FROM generate_series(1, 100) AS n",
                    (ids[-1],),
                )
        with server.connection() as connection:
            connection.execute("ANALYZE")
        for each in ids[before:][:: max(1, (size - before) // 50)][:50]:
            _post(team, [each], 1)
        one = ids[size // 2]
        claims = _times(partial(_claim, team), 50)
        position = _times(partial(team.registered, one), 200)
        with server.connection() as connection:
            feed = _times(partial(shared_jobs.now, connection), 200)
            query = b"SELECT count(*) FROM rows WHERE workspace_id = %s AND seq > 0"
            after = _times(partial(connection.execute, query, (one,)), 200)
        rows.append([f"{size:,}", f"{size * 100:,}", *(f"{each:.2f}" for each in (claims, position, after, feed))])
    team.close()
    names = ["workspaces", "memories", "claim, ms", "position, ms", "rows of one, ms", "the server's time alone, ms"]
    show("As workspaces grow: medians", names, rows)


def _claim(team: PostgresTeam) -> None:
    lease = team.take("n", None, 60.0)
    assert lease is not None
    with team._server.connection() as connection:  # the job is not run, so that only claims are timed
        connection.execute(
            "UPDATE workspaces SET lease_until = NULL, due_at = NULL WHERE id = %s", (lease.workspace_id,)
        )


def _times(work: object, count: int) -> float:
    found = []
    for _ in range(count):
        began = time.perf_counter()
        work()  # type: ignore[operator]
        found.append((time.perf_counter() - began) * 1000)
    return statistics.median(found)


if __name__ == "__main__":
    main()
