"""The page in Chromium: how soon it paints, how soon a drop is seen, and what an open page costs; with much and little.

``python -m benchmarks.page [JOBS] [MEMORIES]``: so many of each (default 10,000), beside an empty workspace.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.request import urlopen

import psutil
from playwright.sync_api import Browser, Page, sync_playwright

from jobs import client, clock, spool
from jobs.layout import Workspace
from jobs.model import Attempt, Record, encode
from jobs.schema import JobError
from worker.http import tickets

from . import retrieve_http, table
from .workspace import new_workspace

LOADS, DROPS, WATCHED_SECONDS = 7, 10, 20.0
SCREENS = {
    "queue": ("#/", ".jobs tbody tr, .empty"),
    "memories": ("#/memories", ".memories tbody tr, .empty"),
    "activity": ("#/activity", "rect.bar, .empty"),
}
_CAUSES = ("TOPIC_NOT_FOUND", "LLM_NOT_CONFIGURED", "MEMORY_NOT_FOUND")


@dataclass(frozen=True, slots=True)
class Found:
    """Milliseconds, but for the shares of a core in percent."""

    paint: list[float]
    screens: dict[str, list[float]]
    seen: list[float]
    server_idle: float
    server_watched: float
    worker_idle: float
    worker_watched: float


def main(argv: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="?", type=int, default=10_000)
    parser.add_argument("memories", nargs="?", type=int, default=10_000)
    given = parser.parse_args(list(argv))
    os.environ["COGNEE_MEMORY_TEST_JOBS"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        empty = _measured(browser, 0, 0)
        full = _measured(browser, given.jobs, given.memories)
        browser.close()
    _show(empty, full, f"{given.jobs:,} jobs, {given.memories:,} memories")


def _show(empty: Found, full: Found, much: str) -> None:
    def row(name: str, one: list[float], other: list[float]) -> list[str]:
        few, many = statistics.median(one), statistics.median(other)
        return [name, f"{few:,.0f} ms", f"{many:,.0f} ms (at most {max(other):,.0f})", f"{many / few:.2f}"]

    rows = [row("first paint", empty.paint, full.paint)]
    rows += [row(f"{name}, with its rows", empty.screens[name], full.screens[name]) for name in SCREENS]
    rows.append(row("from a drop to its row", empty.seen, full.seen))
    table.show(f"The page, {LOADS} loads and {DROPS} drops", ["median", "empty", much, "ratio"], rows)
    table.show(
        f"Share of a core over {WATCHED_SECONDS:g} s, the queue quiet",
        ["process", "empty, page closed", "empty, a page open", f"{much}, page closed", f"{much}, a page open"],
        [
            ["server", *(f"{x:.1f} %" for f in (empty, full) for x in (f.server_idle, f.server_watched))],
            ["worker", *(f"{x:.1f} %" for f in (empty, full) for x in (f.worker_idle, f.worker_watched))],
        ],
    )


def _measured(browser: Browser, jobs: int, memories: int) -> Found:
    with new_workspace() as (workspace, _):
        if memories:
            retrieve_http.fill(workspace, memories)
        add_records(workspace, jobs)
        with retrieve_http.serving(workspace):
            paint: list[float] = []
            screens: dict[str, list[float]] = {name: [] for name in SCREENS}
            for number in range(LOADS + 1):  # the first one warms
                for name, (address, rows) in SCREENS.items():
                    with _opened(browser, workspace) as (page, _):
                        taken = _until_shown(page, address, rows)
                        if number:
                            screens[name].append(taken)
                            paint.append(
                                page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
                            )
            server_idle, worker_idle = _shares(workspace)
            with _opened(browser, workspace) as (page, _):
                _until_shown(page, *SCREENS["queue"])
                server_watched, worker_watched = _shares(workspace)
                seen = [_seen_after(page, workspace) for _ in range(DROPS + 1)][1:]
    return Found(paint, screens, seen, server_idle, server_watched, worker_idle, worker_watched)


@contextmanager
def _opened(browser: Browser, workspace: Workspace) -> Iterator[tuple[Page, str]]:
    """A new tab that is signed in, and looks at nothing yet."""
    url = _http(workspace)["url"]
    with urlopen(f"{url}/healthz") as answer:
        answer.read()
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{url}/#ticket={tickets.issue(workspace.spool.token.read_text('ascii'))}")
    page.locator("h1").wait_for()
    try:
        yield page, url
    finally:
        context.close()


def _until_shown(page: Page, address: str, rows: str) -> float:
    """Reload the page there; the milliseconds until the rows are in the document, by the page's own clock."""
    page.evaluate("address => history.replaceState(null, '', '/' + address)", address)
    page.reload(wait_until="commit")
    return float(
        page.wait_for_function(
            "rows => document.querySelector(rows) && performance.now()", arg=rows, polling="raf"
        ).json_value()
    )


def _seen_after(page: Page, workspace: Workspace) -> float:
    began = time.perf_counter()
    job = client.submit(workspace.spool, "noop", {}).job_id
    page.locator(".jobs code", has_text=job).wait_for()
    return (time.perf_counter() - began) * 1000


def _shares(workspace: Workspace) -> tuple[float, float]:
    """What the server and the worker use of a core, in percent."""
    heartbeat = json.loads(workspace.spool.heartbeat.read_bytes())
    processes = [psutil.Process(heartbeat["http"]["server"]["pid"]), psutil.Process(heartbeat["pid"])]
    before = [_used(process) for process in processes]
    time.sleep(WATCHED_SECONDS)
    server, worker = (100 * (_used(each) - was) / WATCHED_SECONDS for each, was in zip(processes, before, strict=True))
    return server, worker


def _used(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _http(workspace: Workspace) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(workspace.spool.heartbeat.read_bytes())["http"]
    return found


def add_records(workspace: Workspace, count: int) -> None:
    """Ended jobs of the last days, three in a hundred failed."""
    spool.prepare(workspace.spool)
    dice, now = random.Random(1), clock.now()
    for number in range(count):
        came = now - timedelta(seconds=dice.random() * 3 * 86_400)
        accepted, started, ended = (
            clock.iso(came + timedelta(seconds=seconds)) for seconds in (0, dice.random() * 3, 3 + dice.random() * 4)
        )
        failed = dice.random() < 0.03
        code = dice.choice(_CAUSES)
        error: JobError = {"code": code, "message": "It failed.", "remediation": "Look at it.", "retryable": False}
        record = Record(
            job_id=f"job-{number:06}",
            kind="ingest",
            job_sha256="a" * 64,
            state="failed" if failed else "succeeded",
            attempt=1,
            submitted_at=accepted,
            accepted_at=accepted,
            started_at=started,
            finished_at=ended,
            elapsed_ms=dice.randint(100, 5000),
            result=None if failed else {"memory_number": number},
            error=error if failed else None,
            attempts=(Attempt(1, started, ended, "failed" if failed else "succeeded", code if failed else None),),
        )
        workspace.spool.record(record.job_id).write_bytes(encode(record.as_dict()))


if __name__ == "__main__":
    main(sys.argv[1:])
