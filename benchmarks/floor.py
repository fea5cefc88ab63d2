"""What the relevance floor keeps and what it keeps out.

``python -m benchmarks.floor --data DIR [--form NAME] [--split dev]``: the share of relevant memories above each floor;
and how many hits get questions that nothing answers: those of another conversation, which is about other people but the
same kind of things, and those of other subjects altogether, asked also of the demo's project.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from importlib.resources import files as resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bridge.embedding.embedder import Embedder
from bridge.settings import load

from . import judged, table
from .judged import Collection, Shelf

FLOORS = (0.1, 0.15, 0.2, 0.225, 0.25, 0.3, 0.35, 0.4)

OFF_SUBJECT = (
    "how do I bake sourdough bread",
    "kubernetes ingress TLS termination",
    "best restaurants in Lisbon",
    "React useEffect cleanup function",
    "what is the capital of Mongolia",
    "train a convolutional neural network on MNIST",
    "GraphQL subscriptions over websockets",
    "terraform state locking in S3",
    "why is my docker build cache invalidated",
    "write a haiku about autumn",
    "CSS grid center a div",
    "fix null pointer exception in Java Spring controller",
    "how tall is mount Everest",
    "asdfghjkl qwerty zxcvbn",
    "lorem ipsum dolor sit amet",
    "hello",
    "thanks, that's all for today",
    "please summarize this email",
    "what should I wear tomorrow",
    "convert miles to kilometers",
    "regex to match an email address",
    "how to exit vim",
    "E4711 kernel panic on boot",
    "migrate from MySQL to PostgreSQL",
    "set up eslint and prettier",
    "horoscope for Gemini",
    "football world cup winner 1998",
)


def main() -> None:
    arguments = judged.parser("floor", __doc__).parse_args()
    found = judged.forms(arguments)
    embedder = judged.embedder(load().embedding)
    for name, folder in found.items():
        _measure(name, judged.collections(folder, "workspace", arguments.split), embedder)
    _measure_demo(embedder)


def _measure(name: str, collections: Sequence[Collection], embedder: Embedder) -> None:
    relevant: list[float] = []
    strangers: list[list[float]] = []
    off_subject: list[list[float]] = []
    with judged.shelves(collections, embedder) as shelves:
        for place, (shelf, collection) in enumerate(zip(shelves, collections, strict=True)):
            for query in collection.queries:
                scores = shelf.scores(query["query"], relevance_floor=0)
                relevant += [scores.get(memory, 0.0) for memory in query["relevant"]]
            other = collections[(place + 1) % len(collections)]
            strangers += _asked(shelf, [query["query"] for query in other.queries])
            off_subject += _asked(shelf, OFF_SUBJECT)
    kept = np.array(relevant)
    rows = [
        [f"{floor:g}", f"{(kept >= floor).mean():.1%}", *_hits(strangers, floor), *_hits(off_subject, floor)]
        for floor in FLOORS
    ]
    columns = ["floor", "relevant memories kept"]
    for whom in ("of another conversation", "of another subject"):
        columns += [f"hits for a question {whom}", "with none"]
    table.show(f"The relevance floor: {name}", columns, rows)


def _measure_demo(embedder: Embedder) -> None:
    jobs = json.loads(resources("worker").joinpath("data/demo.json").read_text("utf-8"))["jobs"]
    with tempfile.TemporaryDirectory(prefix="cognee-memory-judged-") as folder:
        shelf = Shelf(Path(folder), [{"id": str(n), "payload": job["payload"]} for n, job in enumerate(jobs)], embedder)
        scores = _asked(shelf, OFF_SUBJECT)
    table.show(
        f"The relevance floor: the demo's {len(jobs)} memories",
        ["floor", "hits for a question of another subject", "with none"],
        [[f"{floor:g}", *_hits(scores, floor)] for floor in FLOORS],
    )


def _asked(shelf: Shelf, queries: Sequence[str]) -> list[list[float]]:
    return [list(shelf.scores(query, relevance_floor=0).values()) for query in queries]


def _hits(scores: Sequence[Sequence[float]], floor: float) -> list[str]:
    """How many hits a question has on average, and how many questions have none."""
    counts: NDArray[np.int64] = np.array([sum(score >= floor for score in found) for found in scores])
    return [f"{counts.mean():.2f}", f"{(counts == 0).mean():.0%}"]


if __name__ == "__main__":
    main()
