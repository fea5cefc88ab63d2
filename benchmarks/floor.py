"""What the relevance floor keeps and what it keeps out.

For each floor, and for the default one, which depends on the best hit and on the number of memories, the share of
relevant memories that stay and the number of questions that lose all of theirs; and how many hits get questions that
nothing answers: those of another conversation, which is about other people but the same kind of things, and those of
other subjects altogether, as ``benchmarks/decisions`` has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bridge.embedding.embedder import Embedder
from bridge.settings import load

from . import gate, judged, table
from .judged import Collection, Shelf


@dataclass(frozen=True, slots=True)
class Found:
    """What a question finds: the semantic score of each memory by its id, and the ids that the default floor keeps."""

    scores: dict[str, float]
    by_default: set[str]


FLOORS: dict[str, float | None] = {
    "**the default**": None,
    **{f"{floor:g}": floor for floor in (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)},
}


def main(argv: Sequence[str] = ()) -> None:
    arguments = judged.parser("floor", __doc__).parse_args(list(argv))
    found = judged.forms(arguments)
    embedder = judged.embedder(load().embedding, arguments.cache)
    for name, folder in found.items():
        _measure(name, judged.collections(folder, "workspace", arguments), embedder)


def _measure(name: str, collections: Sequence[Collection], embedder: Embedder) -> None:
    answered: list[tuple[Found, list[str]]] = []
    foreign = [row["query"] for row in judged.rows(gate.FOLDER / "queries.jsonl") if row["category"] == "foreign"]
    strangers: list[Found] = []
    off_subject: list[Found] = []
    with judged.shelves(collections, embedder) as shelves:
        for place, (shelf, collection) in enumerate(zip(shelves, collections, strict=True)):
            found = _asked(shelf, [query["query"] for query in collection.queries])
            answered += zip(found, [query["relevant"] for query in collection.queries], strict=True)
            if len(collections) > 1:
                other = collections[(place + 1) % len(collections)]
                strangers += _asked(shelf, [query["query"] for query in other.queries])
            off_subject += _asked(shelf, foreign)
    columns = ["floor", "relevant memories kept", f"of {len(answered)} questions without an answer"]
    for whom in ("of another conversation", "of another subject"):
        columns += [f"hits for a question {whom}", "with none"]
    rows = [
        [name, *_kept(answered, floor), *_hits(strangers, floor), *_hits(off_subject, floor)]
        for name, floor in FLOORS.items()
    ]
    table.show(f"The relevance floor: {name}", columns, rows)


def _asked(shelf: Shelf, queries: Sequence[str]) -> list[Found]:
    return [Found(shelf.scores(query, relevance_floor=0), set(shelf.scores(query))) for query in queries]


def _above(found: Found, floor: float | None) -> set[str]:
    if floor is None:
        return found.by_default
    return {memory for memory, score in found.scores.items() if score >= floor}


def _kept(answered: Sequence[tuple[Found, list[str]]], floor: float | None) -> list[str]:
    """The share of relevant memories that are hits, and how many questions have none of theirs."""
    kept = [(_above(found, floor) & set(relevant), relevant) for found, relevant in answered]
    share = sum(len(hits) for hits, _ in kept) / max(1, sum(len(relevant) for _, relevant in kept))
    return [f"{share:.1%}", str(sum(not hits for hits, _ in kept))]


def _hits(asked: Sequence[Found], floor: float | None) -> list[str]:
    """How many hits a question has on average, and how many questions have none."""
    if not asked:
        return ["–", "–"]
    counts: NDArray[np.int64] = np.array([len(_above(found, floor)) for found in asked])
    return [f"{counts.mean():.2f}", f"{(counts == 0).mean():.0%}"]
