"""Run in a child: the naive ingestion, one ``add_data_points`` call for each summary, cognee's own embedding."""

from __future__ import annotations

import asyncio
import sys
import time
import uuid

from cognee.modules.engine.operations.setup import setup
from cognee.tasks.storage import add_data_points

from bridge.graph.cognee_nodes import data_point
from bridge.operations import Task
from bridge.operations.ingest import prepare
from jobs import clock

from . import corpus


async def naive(count: int) -> float:
    """Seconds for ``count`` summaries, after one that pays for opening the stores."""
    await setup()
    workspace_id, now = str(uuid.uuid4()), clock.iso(clock.now())
    prepared = [
        prepare(Task(f"naive-{place}", "0" * 64, payload, None, now), workspace_id, now).memory
        for place, payload in enumerate(corpus.summaries(count + 1))
    ]
    await add_data_points([data_point(prepared[0])])
    began = time.perf_counter()
    for memory in prepared[1:]:
        await add_data_points([data_point(memory)])
    return time.perf_counter() - began


if __name__ == "__main__":
    print(asyncio.run(naive(int(sys.argv[2]))))
