"""The scenarios of ``beside`` that ask: in a new process, over HTTP, beside ingestion, after a pause.

All checkouts ask the same workspace, which this one filled.
"""

from __future__ import annotations

import contextlib
import sqlite3
import statistics
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from bridge import trust

from . import corpus, synthetic
from .checkout import Asker, Checkout, Place, children, percentile, processor_seconds, resident

QUESTION = "why did token renewal send the same request twice"
PROCESSES, QUESTIONS, CLIENTS, PAUSES = 8, 200, 8, 3
_COPY_SECONDS = 3.0  # in which a server that stays copies the vectors
# As the installed command does, but of a given checkout.
_TERMINAL = "import sys; sys.argv[0] = 'cognee-memory'; from worker.cli import main; sys.exit(main())"


def fill(here: Place, size: int) -> None:
    """Bring the store to so many memories. The graph takes no part, and would be told for many minutes."""
    trust.adopt(here.workspace, Path(here.environment["COGNEE_MEMORY_CONFIG_DIR"]))
    synthetic.fill(here.workspace, size)
    with contextlib.closing(sqlite3.connect(here.workspace.memory_db)) as database, database:
        database.execute("DELETE FROM outbox")


def cold(it: Checkout, here: Place, jobs: int) -> None:
    """The script and the command line, each in a new process."""
    script, workspace = str(it.root / "bridge" / "retrieve.py"), str(here.workspace.root)
    ways = {
        "script": (script, workspace, QUESTION),
        "command line": ("-c", _TERMINAL, "retrieve", QUESTION, "--workspace", workspace),
    }
    has_worker = here.environment.get("COGNEE_MEMORY_HTTP") != "0"
    with _answering(here) if has_worker else contextlib.nullcontext():
        for name, arguments in ways.items():
            taken = []
            for _ in range(PROCESSES):
                began = time.perf_counter()
                here.run(*arguments)
                taken.append((time.perf_counter() - began) * 1000)
            by = "the worker" if has_worker else "itself"
            it.note(f"a question by the {name}, answered by {by}, ms", statistics.median(taken))


@contextlib.contextmanager
def _answering(here: Place) -> Iterator[subprocess.Popen[bytes]]:
    """A worker whose server answers; gives the worker's process."""
    with here.worker() as worker:
        here.wait_for_http("url", there=True)
        Asker(here).ask(QUESTION)
        here.wait_for_http("serving", there=True)
        yield worker


def over_http(it: Checkout, here: Place, jobs: int) -> None:
    with _answering(here) as worker:
        asker = Asker(here)
        for question in corpus.questions(60, seed=1):
            asker.ask(question)
        time.sleep(_COPY_SECONDS)
        pids = (worker.pid, *children(worker.pid))
        before = sum(map(processor_seconds, pids))
        taken = [asker.ask(question) for question in corpus.questions(QUESTIONS)]
        used = sum(map(processor_seconds, pids)) - before
        it.note("HTTP: p50, ms", statistics.median(taken))
        it.note("HTTP: p95, ms", percentile(taken, 95))
        it.note("HTTP: processor time of a question, ms", used * 1000 / QUESTIONS)
        it.note(f"HTTP, {CLIENTS} clients: questions, a second", _at_once(here))
        it.note("HTTP: own memory of worker and server, MiB", sum(resident(pid, "RssAnon") for pid in pids))


def _at_once(here: Place) -> float:
    """The questions that so many clients get answered in a second, each over a connection of its own."""

    def ask(seed: int) -> None:
        asker = Asker(here)
        for question in corpus.questions(QUESTIONS // 4, seed=seed):
            asker.ask(question)

    clients = [threading.Thread(target=ask, args=(100 + number,)) for number in range(CLIENTS)]
    began = time.perf_counter()
    for each in clients:
        each.start()
    for each in clients:
        each.join()
    return CLIENTS * (QUESTIONS // 4) / (time.perf_counter() - began)


def while_busy(it: Checkout, here: Place, jobs: int) -> None:
    """Questions one after another, while nothing else goes on and while summaries are ingested."""
    with _answering(here):
        asker = Asker(here)
        seed = time.time_ns() % 2**32  # other summaries each time
        here.ended(here.submit("ingest", corpus.summaries(1, seed=seed)[0]))
        quiet = [asker.ask(question) for question in corpus.questions(QUESTIONS, seed=21)]
        last = [here.submit("ingest", payload) for payload in corpus.summaries(jobs, seed=seed + 1)][-1]
        ended = threading.Thread(target=here.ended, args=(last,))
        ended.start()
        busy = []
        for question in corpus.questions(100_000, seed=22):
            busy.append(asker.ask(question))
            if not ended.is_alive() and len(busy) > 1:
                break
        it.note(
            "HTTP: p95 while summaries are ingested, beside quiet, ratio", percentile(busy, 95) / percentile(quiet, 95)
        )


def after_pauses(it: Checkout, here: Place, jobs: int) -> None:
    """The worker has ended its server; the first question waits for a new one."""
    with here.worker():
        here.wait_for_http("url", there=True)
        taken = []
        for _ in range(PAUSES + 1):
            here.wait_for_http("server", there=False)
            taken.append(Asker(here).ask(QUESTION))
            here.wait_for_http("server", there=True)
        it.note("HTTP: the first question after a pause, ms", statistics.median(taken[1:]))
