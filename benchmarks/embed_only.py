"""Run in a child: embedding alone, the floor of ingestion."""

from __future__ import annotations

import sys
import time
import uuid

from bridge.embedding.factory import create
from bridge.operations import Task
from bridge.operations.ingest import prepare
from bridge.settings import load
from bridge.text.passages import passages
from jobs import clock

from . import corpus


def embed_only(count: int) -> tuple[float, int]:
    """Seconds and texts for the passages of ``count`` summaries, each text once."""
    now = clock.iso(clock.now())
    workspace_id = str(uuid.uuid4())
    memories = [
        prepare(Task(f"floor-{place}", "", payload, None, now), workspace_id, now).memory
        for place, payload in enumerate(corpus.summaries(count))
    ]
    texts = list({passage.text for memory in memories for passage in passages(memory)})
    embedder = create(load().embedding, bulk=True)
    embedder.embed(texts[:8])
    began = time.perf_counter()
    embedder.embed(texts)
    return time.perf_counter() - began, len(texts)


if __name__ == "__main__":
    print(*embed_only(int(sys.argv[2])))
