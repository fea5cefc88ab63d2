"""What age does to the ranking: the same questions with memories that were made over two years.

``python -m benchmarks.recency --data DIR [--form NAME] [--split dev]``. Each conversation's memories keep their order
and get days spread evenly over two years; the question is asked at their end. A question counts as one about old things
by its newest relevant memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from bridge.embedding.embedder import Embedder
from bridge.settings import load

from . import judged, metrics, table
from .judged import DAY, Collection, Row
from .metrics import METRICS, Scores

SPAN = 730.0  # days
AGES = ((0, 60), (60, 365), (365, SPAN + 1))

WAYS: dict[str, dict[str, Any]] = {
    "age counts for nothing (recency_floor 1)": {"recency_floor": 1},
    "long-lived (half-life 90, floor 0.85)": {"preset": "long-lived"},
    "long-lived, floor 0.7": {"preset": "long-lived", "recency_floor": 0.7},
    "long-lived, floor 0.5": {"preset": "long-lived", "recency_floor": 0.5},
    "contract, floor 0.85": {"recency_floor": 0.85},
    "contract, half-life 90": {"half_life_days": 90},
    "contract, half-life 30": {"half_life_days": 30},
    "contract (half-life 7)": {"preset": "contract"},
    "blend (alpha 0.8, half-life 30)": {"ranking_mode": "blend"},
    "blend, alpha 0.95": {"ranking_mode": "blend", "alpha": 0.95},
}


def main() -> None:
    arguments = judged.parser("recency", __doc__).parse_args()
    found = judged.forms(arguments)
    embedder = judged.embedder(load().embedding)
    for name, folder in found.items():
        _measure(name, judged.collections(folder, "workspace", arguments.split), embedder)


def dates(collection: Collection) -> dict[str, datetime]:
    """A day for each memory, by its id: the last is today, the first two years old."""
    ordered = sorted(collection.memories, key=lambda memory: str(memory.get("created_at", "")))
    step = SPAN / max(1, len(ordered) - 1)
    return {memory["id"]: DAY - timedelta(days=SPAN - place * step) for place, memory in enumerate(ordered)}


def _measure(name: str, collections: Sequence[Collection], embedder: Embedder) -> None:
    days = {memory: day for collection in collections for memory, day in dates(collection).items()}

    def when(memory: Row) -> datetime:
        return days[memory["id"]]

    queries = [query for collection in collections for query in collection.queries]
    ages = np.array([min((DAY - days[memory]).days for memory in query["relevant"]) for query in queries])
    groups = [(ages >= least) & (ages < most) for least, most in AGES]
    rows = []
    with judged.shelves(collections, embedder, when) as shelves:
        for way, arguments in WAYS.items():
            run = {
                query["id"]: shelf.ask(query["query"], **arguments)
                for shelf, collection in zip(shelves, collections, strict=True)
                for query in collection.queries
            }
            scores = metrics.of_run(queries, run)
            gain, recall = scores[:, METRICS.index("nDCG@10")], scores[:, METRICS.index("Recall@5")]
            rows.append([way, *(_mean(values) for values in (gain, recall, *(gain[group] for group in groups)))])
    about = [
        f"nDCG@10, {group.sum()} about the last {most:g} days" if not least
        else f"nDCG@10, {group.sum()} about {least:g} to {min(most, SPAN):g} days"
        for group, (least, most) in zip(groups, AGES, strict=True)
    ]  # fmt: skip
    table.show(f"Age: {name}, two years, {len(queries)} questions", ["ranking", "nDCG@10", "Recall@5", *about], rows)


def _mean(values: Scores) -> str:
    return f"{values.mean():.3f}" if len(values) else "–"


if __name__ == "__main__":
    main()
