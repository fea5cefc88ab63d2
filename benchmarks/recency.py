"""What age does to the ranking: the same questions with memories that were made over months or years.

Each conversation's memories keep their order and get days spread evenly over that time; the question is asked at their
end. A question counts as one about old things by its newest relevant memory. Questions to decision records
(``benchmarks/notes``) have a category: ``lasting``, or ``changed`` if an older record gives an outdated answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from bridge.embedding.embedder import Embedder
from bridge.settings import load

from . import judged, metrics, table
from .judged import DAY, Collection, Row, Run
from .metrics import METRICS, Scores

SPAN = 730.0  # days
AGES = ((0, 60), (60, 365), (365, SPAN + 1))
CATEGORIES = ("lasting", "changed")

WAYS: dict[str, dict[str, Any]] = {
    "age counts for nothing (recency_floor 1)": {"recency_floor": 1},
    "long-lived (half-life 90, floor 0.85)": {"preset": "long-lived"},
    "long-lived, floor 0.7": {"preset": "long-lived", "recency_floor": 0.7},
    "long-lived, floor 0.5": {"preset": "long-lived", "recency_floor": 0.5},
    "half-life 30, floor 0.85": {"half_life_days": 30, "recency_floor": 0.85},
    "half-life 7, floor 0.85": {"recency_floor": 0.85},
    "half-life 90, no floor": {"half_life_days": 90},
    "half-life 30, no floor": {"half_life_days": 30},
    "contract (half-life 7)": {"preset": "contract"},
    "blend (alpha 0.8, half-life 30)": {"ranking_mode": "blend"},
    "blend, alpha 0.95": {"ranking_mode": "blend", "alpha": 0.95},
}


def main(argv: Sequence[str] = ()) -> None:
    parser = judged.parser("recency", __doc__)
    parser.add_argument("--days", type=float, nargs="+", default=[SPAN], help="the age of the first memory")
    arguments = parser.parse_args(list(argv))
    found = judged.forms(arguments)
    embedder = judged.embedder(load().embedding, arguments.cache)
    for name, folder in found.items():
        for span in arguments.days:
            _measure(name, judged.collections(folder, "workspace", arguments), embedder, span)


def dates(collection: Collection, span: float) -> dict[str, datetime]:
    """A day for each memory, by its id: the last is today, the first ``span`` days old."""
    ordered = sorted(collection.memories, key=lambda memory: str(memory.get("created_at", "")))
    step = span / max(1, len(ordered) - 1)
    return {memory["id"]: DAY - timedelta(days=span - place * step) for place, memory in enumerate(ordered)}


def _measure(name: str, collections: Sequence[Collection], embedder: Embedder, span: float) -> None:
    days = {memory: day for collection in collections for memory, day in dates(collection, span).items()}

    def when(memory: Row) -> datetime:
        return days[memory["id"]]

    queries = [query for collection in collections for query in collection.queries]
    if all(query.get("category") in CATEGORIES for query in queries):
        with judged.shelves(collections, embedder, when) as shelves:
            rows = [
                [way, *_places(queries, judged.answers(shelves, collections, **given))] for way, given in WAYS.items()
            ]
        counts = [sum(query["category"] == category for query in queries) for category in CATEGORIES]
        columns = [f"{count} {category}: {what}" for category, count in zip(CATEGORIES, counts, strict=True)
                   for what in ("first", "in the first three")]  # fmt: skip
        table.show(f"Age of decision records: {name}, {span:g} days, {len(days)} records", ["ranking", *columns], rows)
        return
    ages = np.array([min((DAY - days[memory]).days for memory in query["relevant"]) for query in queries])
    groups = [(ages >= least) & (ages < most) for least, most in AGES]
    rows = []
    with judged.shelves(collections, embedder, when) as shelves:
        for way, arguments in WAYS.items():
            scores = metrics.of_run(queries, judged.answers(shelves, collections, **arguments))
            gain, recall = scores[:, METRICS.index("nDCG@10")], scores[:, METRICS.index("Recall@5")]
            rows.append([way, *(_mean(values) for values in (gain, recall, *(gain[group] for group in groups)))])
    about = [
        f"nDCG@10, {group.sum()} about the last {most:g} days" if not least
        else f"nDCG@10, {group.sum()} about {least:g} to {min(most, SPAN):g} days"
        for group, (least, most) in zip(groups, AGES, strict=True)
    ]  # fmt: skip
    table.show(
        f"Age: {name}, {span:g} days, {len(queries)} questions", ["ranking", "nDCG@10", "Recall@5", *about], rows
    )


def _places(queries: Sequence[Row], run: Run) -> list[str]:
    """For each category, how many questions have a right hit first, and among the first three."""
    cells = []
    for category in CATEGORIES:
        asked = [query for query in queries if query["category"] == category]
        for depth in (1, 3):
            cells.append(str(sum(bool(set(run[query["id"]][:depth]) & set(query["relevant"])) for query in asked)))
    return cells


def _mean(values: Scores) -> str:
    return f"{values.mean():.3f}" if len(values) else "–"
