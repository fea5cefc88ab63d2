"""Questions whose first hit is right, by category: questions that name a time, and questions in other languages.

``python -m benchmarks.first_hits``. ``benchmarks/notes`` with ``time_queries.jsonl``, on which the constants for time
were chosen; ``benchmarks/timed``, which was not used for that; and ``benchmarks/languages``, a workspace for each
language. Memories have their ``created_at``, questions their ``as_of``. Days are those of UTC.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bridge.embedding.embedder import Embedder
from bridge.settings import load
from bridge.text.time_phrase import find_time_phrase
from bridge.text.time_words import time_languages
from jobs import clock

from . import judged, table
from .judged import Collection, Row, Shelf

HERE = Path(__file__).parent
WAYS: dict[str, dict[str, Any]] = {
    f"{preset}, time_phrase {use}": {"preset": preset, "time_phrase": use}
    for preset in ("long-lived", "contract")
    for use in ("off", "prefer", "filter")
}


def main() -> None:
    os.environ["TZ"] = "UTC"
    time.tzset()
    embedder = judged.embedder(load().embedding)
    for folder, queries in (("notes", "time_queries.jsonl"), ("timed", "queries.jsonl")):
        collections = _read(folder, queries, "pooled")
        _measure(f"a time in the question, {folder}", collections, embedder, WAYS)
        _misread([query for collection in collections for query in collection.queries])
    _measure(
        "languages",
        _read("languages", "queries.jsonl", "workspace"),
        embedder,
        {"long-lived": {"preset": "long-lived"}},
    )


def _read(folder: str, queries: str, scope: str) -> list[Collection]:
    return judged.collections(HERE / folder, scope, argparse.Namespace(queries=queries, split="all"))


def _when(memory: Row) -> datetime:
    return datetime.fromisoformat(memory["created_at"]).replace(hour=10, tzinfo=UTC)


def _measure(
    title: str, collections: Sequence[Collection], embedder: Embedder, ways: dict[str, dict[str, Any]]
) -> None:
    with judged.shelves(collections, embedder, _when) as shelves:
        rows, categories = [], dict[str, None]()
        for way, given in ways.items():
            firsts: dict[str, list[bool]] = {}
            for shelf, collection in zip(shelves, collections, strict=True):
                for query in collection.queries:
                    firsts.setdefault(query["category"], []).append(_is_right(shelf, query, given))
            categories = dict.fromkeys(firsts)
            rows.append([way, *(f"{sum(hits)} of {len(hits)}" for hits in firsts.values())])
    table.show(f"First hit right: {title}", ["", *categories], rows)


def _is_right(shelf: Shelf, query: Row, given: dict[str, Any]) -> bool:
    as_of = clock.parse(query["as_of"]) if "as_of" in query else judged.DAY
    relevant: list[str] = query["relevant"]
    return shelf.ask(query["query"], as_of, **given)[:1] == relevant


def _misread(queries: Sequence[Row]) -> None:
    """Print the questions whose time was not found, and those in which one was found that is none."""
    found = {query["query"]: find_time_phrase(query["query"], time_languages(query["query"])) for query in queries}
    missed = [query["query"] for query in queries if query["category"] != "no time" and not found[query["query"]]]
    wrong = [query["query"] for query in queries if query["category"] == "no time" and found[query["query"]]]
    print(f"time not found: {missed}; found where there is none: {wrong}")


if __name__ == "__main__":
    main()
