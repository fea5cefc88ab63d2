"""Speed, start, memory and energy of this checkout, or of it and another one in turn.

Times in milliseconds are shown as multiples of bare Python, too: ``python -c pass``, measured between the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge.embedding.factory import create
from bridge.settings import load
from jobs import clock, spool
from jobs.model import SCHEMA_VERSION, encode

from . import beside_questions, corpus, synthetic, table
from .checkout import Checkout, Place, bare_python, children, processor_seconds, resident

HERE = Path(__file__).resolve().parent.parent
SETTLE_SECONDS, REST_SECONDS = 3.0, 10.0
WAITING = 2_000  # jobs for a far day
# No-op jobs alone come fast enough for the child's replacement to be part of every second.
_QUEUE = {"COGNEE_MEMORY_MAX_ACTIVE_JOBS": "30000", "COGNEE_MEMORY_CHILD_MAX_JOBS": "1000000"}


@dataclass(frozen=True, slots=True)
class Scenario:
    """Measures a checkout once. ``settings`` are of the workspace, which is new each time, or has memories."""

    measure: Callable[[Checkout, Place, int], None]
    about: str
    settings: dict[str, str]
    has_memories: bool = False


def start(it: Checkout, here: Place, jobs: int) -> None:
    began = time.perf_counter()
    with here.worker() as worker:
        it.note("start to ready, ms", (time.perf_counter() - began) * 1000)
        time.sleep(SETTLE_SECONDS)  # for what its threads do first
        before, began = processor_seconds(worker.pid, precise=True), time.perf_counter()
        time.sleep(REST_SECONDS)
        used = (processor_seconds(worker.pid, precise=True) - before) / (time.perf_counter() - began)
        it.note("idle: processor seconds of an hour, s", used * 3600)
        it.note("idle: resident, MiB", resident(worker.pid))
        it.note("idle: processes, number", 1 + len(children(worker.pid)))


def first(it: Checkout, here: Place, jobs: int) -> None:
    for name in ("first", "second"):
        words = ("--topic", "The lamp", "--decision", "The lamp is blue.", "--context", f"The {name}.")
        began = time.perf_counter()
        said = json.loads(here.command("ingest", "--wait", "--json", *words))
        it.note(f"`ingest --wait`, the {name}, ms", (time.perf_counter() - began) * 1000)
        if name == "first":
            record = here.ended(said["job_id"])
            drop, end = clock.parse(record.submitted_at or ""), clock.parse(record.finished_at or "")
            it.note("new folder: drop to ended, ms", (end - drop).total_seconds() * 1000)
    here.command("worker", "stop")


def ingest(it: Checkout, here: Place, jobs: int) -> None:
    payloads = corpus.summaries(jobs + 1)
    with here.worker() as worker:
        here.ended(here.submit("ingest", payloads[0]))
        child = children(worker.pid)[0]
        before, began = processor_seconds(worker.pid) + processor_seconds(child), time.perf_counter()
        for job_id in [here.submit("ingest", payload) for payload in payloads[1:]]:
            here.ended(job_id)
        seconds = time.perf_counter() - began
        used = processor_seconds(worker.pid) + processor_seconds(child) - before
        it.note("ingest: a summary, ms", seconds * 1000 / jobs)
        it.note("ingest: processor time of a summary, ms", used * 1000 / jobs)
        it.note("ingest: the child's peak, MiB", resident(child, "VmHWM"))
        it.note("ingest: the worker, MiB", resident(worker.pid))
    it.note("ingest: rate beside embedding alone, ratio", _embedding_alone(jobs) / seconds)


def _embedding_alone(count: int) -> float:
    """Seconds in which this process embeds each different text of the memories once."""
    memories = synthetic.prepared(corpus.summaries(count), "0" * 32)
    texts = list(dict.fromkeys(text for memory in memories for text in synthetic.texts_of(memory)))
    embedder = create(load().embedding, bulk=True)
    embedder.embed(texts[:1])
    began = time.perf_counter()
    embedder.embed(texts)
    return time.perf_counter() - began


def queue(it: Checkout, here: Place, jobs: int) -> None:
    """No-op jobs that wait in the inbox of a stopped worker (SIGSTOP), from when it may go on to the last record."""
    with here.worker() as worker:
        here.ended(here.submit("noop", {}))
        for name, waiting in (("", 0), (f", while {WAITING:,} wait for a far day", WAITING)):
            for number in range(waiting):
                _drop(here, f"later-{number:05}", "2100-01-01T00:00:00Z")
            while any(True for _ in spool.job_ids(here.workspace.spool.inbox)):
                time.sleep(0.05)
            pids = (worker.pid, *children(worker.pid))
            os.kill(worker.pid, signal.SIGSTOP)
            ids = [f"noop-{waiting}-{number:05}" for number in range(5 * jobs)]
            for job_id in ids:
                _drop(here, job_id)
            before, began = sum(map(processor_seconds, pids)), time.perf_counter()
            os.kill(worker.pid, signal.SIGCONT)
            for job_id in reversed(ids):  # the last one mostly ends last
                here.ended(job_id)
            it.note(f"no-op jobs{name}, a second", len(ids) / (time.perf_counter() - began))
            used = sum(map(processor_seconds, pids)) - before
            it.note(f"no-op jobs{name}: processor time of a job, ms", used * 1000 / len(ids))


def _drop(here: Place, job_id: str, not_before: str | None = None) -> None:
    now = clock.iso(clock.now())
    job = {"schema_version": SCHEMA_VERSION, "job_id": job_id, "kind": "noop", "payload": {}, "submitted_at": now}
    spool.drop(here.workspace.spool, job_id, encode(job | ({"not_before": not_before} if not_before else {})))


_ALONE = {"COGNEE_MEMORY_HTTP": "0"}
SCENARIOS = {
    "start": Scenario(start, "the worker's start, and its rest: processor time, memory", {}),
    "first": Scenario(first, "the first memories of a new folder, by the command line", {}),
    "ingest": Scenario(ingest, "summaries through the whole path", {}),
    "queue": Scenario(queue, "no-op jobs through the whole path", _QUEUE),
    "cold": Scenario(beside_questions.cold, "a question in a new process, without a worker", _ALONE, True),
    "worker": Scenario(beside_questions.cold, "the same with a worker that answers", {}, True),
    "http": Scenario(beside_questions.over_http, "questions over HTTP, one at a time and 8 clients at once", {}, True),
    "busy": Scenario(beside_questions.while_busy, "questions over HTTP while summaries are ingested", {}, True),
    "pause": Scenario(
        beside_questions.after_pauses,
        "the first question after a pause",
        {"COGNEE_MEMORY_HTTP_IDLE_SECONDS": "1"},
        True,
    ),
}


def main(argv: Sequence[str] = ()) -> None:
    given = _parser().parse_args(list(argv))
    roots = [HERE, *([given.other.resolve()] if given.other else [])]
    checkouts = [Checkout(root) for root in roots]
    bare: list[float] = []
    with tempfile.TemporaryDirectory(prefix="cognee-memory-beside-", ignore_cleanup_errors=True) as folder:
        if any(SCENARIOS[name].has_memories for name in given.only):
            beside_questions.fill(Place(HERE, Path(folder), {}), given.memories)
        for round_ in range(given.rounds + 1):  # the first one compiles the modules, and does not count
            for name in given.only:
                for checkout in checkouts:
                    print(f"{name}, round {round_} of {given.rounds}, {checkout.root}", file=sys.stderr, flush=True)
                    measure(SCENARIOS[name], checkout if round_ else Checkout(checkout.root), Path(folder), given.jobs)
            bare += bare_python(5)
    show(checkouts, given, statistics.median(bare))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks beside",
        description=(__doc__ or "").split("\n\n")[0],
        epilog="scenarios: " + "; ".join(f"{name}: {each.about}" for name, each in SCENARIOS.items()),
    )
    parser.add_argument("other", nargs="?", type=Path, help="the folder of the other checkout")
    parser.add_argument("--only", nargs="+", choices=SCENARIOS, default=list(SCENARIOS), metavar="SCENARIO")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memories", type=int, default=1_000, help="that questions are put to (1,000)")
    parser.add_argument(
        "--jobs", type=int, default=200, help="summaries of a round (200); five times as many no-op jobs"
    )
    return parser


def measure(scenario: Scenario, it: Checkout, folder: Path, jobs: int) -> None:
    # No place is removed before the end: for minutes, ext4 without a journal passes over each removed file of a group
    # whenever it creates one there.
    here = folder if scenario.has_memories else Path(tempfile.mkdtemp(dir=folder))
    scenario.measure(it, Place(it.root, here, scenario.settings), jobs)


def show(checkouts: Sequence[Checkout], given: argparse.Namespace, python: float) -> None:
    rows = []
    for name in checkouts[0].figures:
        both = [checkout.figures[name] for checkout in checkouts]
        ratio = [f"{statistics.median(both[0]) / max(1e-9, statistics.median(both[1])):.2f}"] if len(both) > 1 else []
        rows.append([name, *(_shown(name, values, python) for values in both), *ratio])
    columns = ["figure", "here: median (least–most)"]
    title = f"{given.memories:,} memories, {given.rounds} rounds in turn; bare Python {python:.0f} ms"
    table.show(title, columns + (["there", "here/there"] if len(checkouts) > 1 else []), rows)


def _shown(name: str, values: Sequence[float], python: float) -> str:
    middle = statistics.median(values)
    times = f", {middle / python:.1f} × Python" if name.endswith(" ms") and middle > python else ""
    return f"{_rounded(middle)} ({_rounded(min(values))}–{_rounded(max(values))}){times}"


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
