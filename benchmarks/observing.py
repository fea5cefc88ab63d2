"""What watching the worker costs: while unobserved, beside a scraper, and for the rate of jobs.

Idle is measured three times, each with a warm child: with HTTP switched off, with HTTP before its first request, and
with a scraper. The scraper comes each second, over a store of 10,000 rows, and its share is scaled to one scrape each
15 s: the pauses cost no more than a worker without a scraper.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable
from contextlib import ExitStack, closing

import psutil

from bridge import trust
from bridge.search import query_client
from bridge.store import database
from jobs import files, plain_files
from jobs.layout import Workspace

from . import table
from .queue_rate import JOBS, SETTINGS, WORKER, Line, settings, standing_worker, warm_worker
from .workspace import new_workspace

SECONDS = 20
SCRAPE_EACH, SCALED_TO = 1.0, 15.0
MEMORIES = 10_000
ROUNDS = 5
# The same worker, in which nothing is counted.
_WITHOUT = (
    "-c",
    "import sys; from worker import daemon; from worker.monitoring import counters;"
    " counters.Figures.stepped = lambda *_: None;"
    " counters.FiguresFile.write = lambda *_, **__: None; sys.exit(daemon.main())",
)


def main() -> None:
    rows = []
    for name, http_is_on, look in (
        ("HTTP switched off", False, None),
        ("HTTP on, no request yet", True, None),
        (f"a scrape each {SCRAPE_EACH:g} s, {MEMORIES:,} memories", True, _scrape),
    ):
        with settings(SETTINGS | {"COGNEE_MEMORY_HTTP": str(http_is_on)}), new_workspace() as (workspace, _):
            _fill(workspace)
            with warm_worker(workspace) as pid:
                took = _shares(pid, workspace, look)
        rows.append([name, *(f"{took.get(each, 0.0):.2%}" for each in ("worker", "child", "server", "scraped"))])
    rows[-1][0] += f"; the last column for one each {SCALED_TO:g} s"
    columns = ["", "the worker", "the child", "the server", "what the scraper adds to all of them"]
    table.show(f"Share of one core ({SECONDS} s)", columns, rows)
    _show_rates()


def _fill(workspace: Workspace) -> None:
    """Rows of a store, which is all that a scrape looks at."""
    files.make_folder(workspace.memory)
    with closing(database.open_for_writing(workspace)) as connection, database.transaction(connection):
        connection.executemany(
            "INSERT INTO memories (number, id, kind, status, topic_id, stored_at, body, passage_row, passage_count)"
            " VALUES (?, ?, 'summary', 'Active', ?, '2026-11-20T12:00:00Z', ?, 0, 0)",
            [(number, str(number), f"topic-{number % 500}", "x" * 1500) for number in range(1, MEMORIES + 1)],
        )


def _shares(pid: int, workspace: Workspace, look: Callable[[Workspace], object] | None) -> dict[str, float]:
    """Share of a core, by process; and what looking has added, scaled."""
    if look is not None:
        for _ in range(3):  # the first starts the server
            look(workspace)
        time.sleep(5)
    quiet = _taken(pid, SECONDS)
    if look is None:
        return quiet
    ends = time.monotonic() + SECONDS
    before = _processor_seconds(pid)
    times = []
    while time.monotonic() < ends:
        began = time.perf_counter()
        look(workspace)
        times.append(time.perf_counter() - began)
        time.sleep(max(0.0, SCRAPE_EACH - (time.perf_counter() - began)))
    after = _processor_seconds(pid)
    share = {name: (after[name] - before.get(name, 0)) / SECONDS for name in after}
    added = sum(share.values()) - sum(quiet.values())
    print(f"a scrape takes {table.milliseconds(times)}")
    return share | {"scraped": added * SCRAPE_EACH / SCALED_TO}


def _taken(pid: int, seconds: float) -> dict[str, float]:
    before = _processor_seconds(pid)
    time.sleep(seconds)
    return {name: (taken - before[name]) / seconds for name, taken in _processor_seconds(pid).items()}


def _processor_seconds(pid: int) -> dict[str, float]:
    """Of the worker and the processes that it has, by what they are."""
    worker = psutil.Process(pid)
    found = {"worker": worker}
    for process in worker.children():
        found["server" if "worker.server.main" in process.cmdline() else "child"] = process
    return {name: sum(process.cpu_times()[:2]) for name, process in found.items()}


def _scrape(workspace: Workspace) -> bytes:
    http_state = json.loads(workspace.spool.heartbeat.read_bytes())["http"]
    token = plain_files.read_own(workspace.spool.token, 256).decode()
    with closing(
        http.client.HTTPConnection("127.0.0.1", query_client.port_of(http_state["url"]), timeout=60)
    ) as connection:
        connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {token}"})
        response = connection.getresponse()
        assert response.status == 200
        return response.read()


def _show_rates() -> None:
    taken: dict[str, list[float]] = {"counted": [], "not counted": []}
    processor: dict[str, list[float]] = {name: [] for name in taken}
    with settings(SETTINGS), new_workspace() as (workspace, found), ExitStack() as stack:
        lines: dict[str, Line] = {}
        for name in taken:
            room = Workspace(workspace.root / name.replace(" ", "-"))
            room.root.mkdir()
            trust.adopt(room, found.config_folder)
            program = _WITHOUT if name == "not counted" else WORKER
            lines[name] = stack.enter_context(standing_worker(room, program=program))
        for number in range(ROUNDS + 1):  # one round before is not counted
            for name, each in lines.items():
                before = sum(psutil.Process(each.pid).cpu_times()[:2])
                seconds = each.drain(f"r{number}")
                if number:
                    taken[name].append(seconds)
                    processor[name].append(sum(psutil.Process(each.pid).cpu_times()[:2]) - before)
    base = table.median(taken["not counted"])
    rows = [
        [
            name,
            f"{JOBS / table.median(s):,.0f} ({JOBS / max(s):,.0f}–{JOBS / min(s):,.0f})",
            f"{base / table.median(s):.2f}",
            table.milliseconds(processor[name]),
        ]
        for name, s in taken.items()
    ]
    columns = ["", "jobs/s: median (least–most)", "ratio", f"the worker's processor time for {JOBS:,} jobs"]
    table.show(f"No-op jobs with figures and without ({ROUNDS} rounds in turn)", columns, rows)


if __name__ == "__main__":
    main()
