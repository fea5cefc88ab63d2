"""Questions that name a time, with and without understanding it.

``python -m benchmarks.timed_questions``: ``benchmarks/notes`` with ``time_queries.jsonl``, on which the constants were
chosen, and ``benchmarks/timed``, which was not used for that. ``--data DIR [--queries NAME]`` for a set of your own: its
memories have a ``created_at``, its questions an ``as_of`` and a category. Days are those of UTC.
"""

from __future__ import annotations

import argparse
import os
import time
from datetime import UTC, datetime
from pathlib import Path

from bridge.embedding.embedder import Embedder
from bridge.settings import load
from bridge.text.time_phrase import find_time_phrase
from jobs import clock

from . import judged, table
from .judged import Row

HERE = Path(__file__).parent
WAYS = ("off", "prefer", "filter")


def main() -> None:
    os.environ["TZ"] = "UTC"
    time.tzset()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.timed_questions", description="questions with a time")
    parser.add_argument("--data", type=Path, help="a folder with memories.jsonl and questions")
    parser.add_argument("--queries", default="queries.jsonl")
    arguments = parser.parse_args()
    embedder = judged.embedder(load().embedding)
    if arguments.data:
        _measure(arguments.data, arguments.queries, embedder)
    else:
        _measure(HERE / "notes", "time_queries.jsonl", embedder)
        _measure(HERE / "timed", "queries.jsonl", embedder)


def _measure(folder: Path, queries: str, embedder: Embedder) -> None:
    arguments = argparse.Namespace(queries=queries, split="all")
    (collection,) = judged.collections(folder, "pooled", arguments)

    def when(memory: Row) -> datetime:
        return datetime.fromisoformat(memory["created_at"]).replace(hour=10, tzinfo=UTC)

    with judged.shelves([collection], embedder, when) as (shelf,):
        rows = []
        for preset in ("long-lived", "contract"):
            for use in WAYS:
                firsts: dict[str, list[bool]] = {}
                for query in collection.queries:
                    given = {"time_phrase": use, "preset": preset}
                    found = shelf.ask(query["query"], clock.parse(query["as_of"]), **given)
                    firsts.setdefault(query["category"], []).append(found[:1] == query["relevant"])
                rows.append([preset, use, *(f"{sum(hits)} of {len(hits)}" for hits in firsts.values())])
    understood = [query for query in collection.queries if find_time_phrase(query["query"])]
    wrongly = [query["query"] for query in understood if query["category"] == "no time"]
    categories = dict.fromkeys(query["category"] for query in collection.queries)
    table.show(f"First hit right: {folder.name}, {queries}", ["preset", "time_phrase", *categories], rows)
    print(f"{len(understood)} of {len(collection.queries)} questions have a time phrase; without meaning one: {wrongly}")


if __name__ == "__main__":
    main()
