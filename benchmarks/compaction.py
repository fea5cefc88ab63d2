"""A topic of 100 summaries: previewed, compacted and restored in a warm child, beside other memories.

``python -m benchmarks.compaction [MOST]``: with 0, 1,000 and 10,000 others, or up to MOST of them.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bridge.compaction import conflicts, record_draft
from bridge.graph.open_stores import Stores
from bridge.memory import Content, Memory, Metadata
from bridge.operations import Task, run
from bridge.settings import load
from bridge.slices import ignore_progress
from jobs import clock
from jobs.layout import Workspace
from jobs.lifecycle import Succeeded

from . import corpus, table
from .workspace import new_workspace, run_in_child

SUMMARIES, TOPIC = 100, "benchmark"
OTHERS = (0, 1_000, 10_000)
TOGETHER = 500


def main(argv: Sequence[str] = ()) -> None:
    most = int(argv[0]) if argv else OTHERS[-1]
    sizes = [size for size in OTHERS if size <= most]
    with new_workspace() as (workspace, settings):
        found = json.loads(
            run_in_child("benchmarks.compaction", workspace, settings, *map(str, sizes)).splitlines()[-1]
        )
    rows = [[name, *(column[name] for column in found)] for name in found[0]]
    table.show(
        f"Compaction of a topic of {SUMMARIES} summaries, by the number of other memories",
        ["", *(f"{size:,}" for size in sizes)],
        rows,
    )


def measure(workspace: Workspace, sizes: Sequence[int]) -> list[dict[str, str]]:
    with Stores(workspace, load()) as stores:
        ingest = {
            f"job-{number}": {"summary": payload["summary"] | {"topic_id": TOPIC}}
            for number, payload in enumerate(corpus.summaries(SUMMARIES))
        }
        done(stores, "ingest", ingest)
        columns, others = [], 0
        for size in sizes:
            add_others(stores, others, size)
            others = size
            columns.append(column(stores, size))
    return columns


def done(stores: Stores, kind: str, payloads: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The results of jobs of one kind, run as the child does."""
    now = clock.now()
    tasks = [Task(job_id, "", payload, None, clock.iso(now)) for job_id, payload in payloads.items()]
    outcomes = run(kind, tasks, stores, now, ignore_progress)
    found = {job: outcome.result for job, outcome in outcomes.items() if isinstance(outcome, Succeeded)}
    assert len(found) == len(tasks), outcomes
    return found


def add_others(stores: Stores, start: int, end: int) -> None:
    at = clock.iso(clock.now())
    for first in range(start, end, TOGETHER):
        memories = [
            Memory(
                f"other-{number}", 0, "summary", Metadata(topic_id=f"other-{number % 50}", status="Active"), at,
                Content(f"Other {number}", f"Note {number}."),
            )
            for number in range(first, min(first + TOGETHER, end))
        ]  # fmt: skip
        stores.store.add([(memory, None) for memory in memories], at)


def column(stores: Stores, size: int) -> dict[str, str]:
    texts = statements(stores)
    embedding = seconds(lambda: stores.embedder.embed(texts))
    preview = {"topic_id": TOPIC, "preview": True}
    first = seconds(lambda: done(stores, "compact", {f"preview-{size}": preview}))
    again = seconds(lambda: done(stores, "compact", {f"again-{size}": preview}))
    found: dict[str, Any] = {}
    digest = done(stores, "compact", {f"digest-{size}": preview})[f"digest-{size}"]["preview_digest"]

    def apply() -> None:
        payload = {"topic_id": TOPIC, "preview_digest": digest}
        found.update(done(stores, "compact", {f"apply-{size}": payload})[f"apply-{size}"])

    applied = seconds(apply)
    restored = seconds(
        lambda: done(stores, "restore", {f"restore-{size}": {"decision_record_id": found["decision_record_id"]}})
    )
    naive = 0.0 if size else seconds(lambda: compared_one_by_one(stores))
    return {
        f"embedding its {len(texts)} texts alone, not cached": shown(embedding),
        "preview, the first one embeds what is not cached": shown(first),
        "preview again": f"{shown(again)} ({again / embedding:.2f} of embedding)",
        "looking for conflicts, each pair parsed again": f"{shown(naive)} ({naive / again:.1f} of a preview)"
        if naive
        else "–",
        "apply a preview": shown(applied),
        "restore": shown(restored),
    }


def statements(stores: Stores) -> list[str]:
    """What a preview compares."""
    sources = record_draft.sources_of(stores.store.about(TOPIC))
    names = ("decisions", "rationale", "open_questions", "next_steps")
    return [text for memory in sources for name in names for text in getattr(memory.content, name)]


def compared_one_by_one(stores: Stores) -> None:
    """What finding conflicts takes without taking each decision apart once, and without leaving out hopeless pairs."""
    sources = record_draft.sources_of(stores.store.about(TOPIC))
    decisions = [text for memory in sources for text in (memory.content.decisions if memory.content else ())]
    for place, later in enumerate(decisions):
        for earlier in decisions[:place]:
            conflicts.compare_texts(earlier, later)


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def shown(taken: float) -> str:
    return f"{taken:.2f} s" if taken < 10 else f"{taken:.0f} s"


if __name__ == "__main__":
    if len(sys.argv) > 1 and Path(sys.argv[1]).is_dir():  # in the child
        print(json.dumps(measure(Workspace(Path(sys.argv[1])), [int(size) for size in sys.argv[2:]])))
    else:
        main(sys.argv[1:])
