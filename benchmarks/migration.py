"""Migrating 1,000 texts of an earlier version, beside embedding what they become alone. Without the knowledge graph.

``python -m benchmarks.migration [COUNT]``. The texts are plain summaries, enriched ones and conversations in turn.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from hashlib import sha256
from typing import Any
from uuid import uuid4

from bridge.embedding.factory import create
from bridge.graph.open_stores import Stores
from bridge.operations import Task, migrate
from bridge.operations.ingest import prepare
from bridge.settings import load
from bridge.slices import ignore_progress
from bridge.text.conversation import Conversation, render_conversation
from bridge.text.passages import passages
from bridge.text.template import render, render_plain
from bridge.transfer import migration
from jobs import clock
from jobs.layout import Workspace
from jobs.lifecycle import Succeeded

from . import corpus, table
from .workspace import new_workspace

COUNT = 1000
ADDED = "2025-11-17 10:00:00.000000"


def main(argv: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=COUNT, help="how many texts")
    count: int = parser.parse_args(list(argv)).count
    texts = made(count)
    with new_workspace() as (workspace, settings):
        lay_out(workspace, texts)
        alone, distinct = embedding_alone(texts)
        stores = Stores(workspace, settings)
        stores.embedder.embed(["warm"])
        with stores:
            assert stores.store.count() == 0
            shown = seconds(stores, count, dry_run=True)
            migrated = seconds(stores, count)
            again = seconds(stores, count)
            undone = seconds(stores, count, undo="job-2")
    rows = [
        [name, f"{taken:.1f} s", f"{count / taken:,.0f}", f"{taken / alone:.2f}"]
        for name, taken in (
            (f"embedding alone, {distinct:,} texts", alone),
            ("migrating", migrated),
            ("a dry run", shown),
            ("migrating again", again),
            ("taking it back", undone),
        )
    ]
    table.show(f"Migration of {count:,} texts", ["", "time", "items/s", "in embeddings"], rows)


def made(count: int) -> list[str]:
    """Texts as earlier versions gave them to cognee."""
    now = clock.iso(clock.now())
    found = []
    for number, payload in enumerate(corpus.summaries(count)):
        memory = prepare(Task(str(number), "", payload, None, now), str(uuid4()), now).memory
        assert memory.content is not None
        if number % 3 == 0:
            found.append(f"Summary: {memory.content.topic}\n{render_plain(memory.content)}\n")
        elif number % 3 == 1:
            found.append(render(memory.content, memory.metadata))
        else:
            said = (f"What of {memory.content.topic}, case {number}?", memory.content.context)
            found.append(render_conversation(Conversation(*said, "2025-11-10T09:30:00Z", 0.5)))
    return found


def lay_out(workspace: Workspace, texts: Sequence[str]) -> None:
    """cognee's SQLite file and raw texts, as far as a migration reads them."""
    store = workspace.cognee_system / "databases" / "cognee_db"
    store.parent.mkdir()
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("CREATE TABLE data (id, name, raw_data_location, created_at)")
        for text in texts:
            path = workspace.cognee_data / f"text_{sha256(text.encode()).hexdigest()[:32]}.txt"
            path.write_bytes(text.encode())
            connection.execute("INSERT INTO data VALUES (?, ?, ?, ?)", (uuid4().hex, path.stem, path.as_uri(), ADDED))


def embedding_alone(texts: Sequence[str]) -> tuple[float, int]:
    """Seconds for the passages of what the texts become, each once, and how many these are."""
    now = clock.iso(clock.now())
    memories = [migration.convert(text, now, now, str(uuid4()), now).memory for text in texts]
    wanted = list({passage.text for memory in memories for passage in passages(memory)})
    embedder = create(load().embedding, bulk=True)
    embedder.embed(wanted[:8])
    began = time.perf_counter()
    embedder.embed(wanted)
    return time.perf_counter() - began, len(wanted)


_jobs = iter(range(1, 100))


def seconds(stores: Stores, count: int, **payload: Any) -> float:
    """How long a job takes."""
    job_id = f"job-{next(_jobs)}"
    task = Task(job_id, "a" * 64, payload, None, clock.iso(clock.now()))
    began = time.perf_counter()
    outcome = migrate.run([task], stores, clock.now(), ignore_progress)[job_id]
    taken = time.perf_counter() - began
    assert isinstance(outcome, Succeeded), outcome
    assert outcome.result.get("found", outcome.result.get("undone")) == count, outcome.result
    return taken


if __name__ == "__main__":
    main(sys.argv[1:])
