"""Questions without an answer: how many find nothing, or only a hit that is marked weak; and what the mark costs.

Over ``benchmarks/decisions`` and ``benchmarks/notes``, whose ``absent.jsonl`` asks for what is not there, in halves,
and over the sets that are named, whose conversations are asked the questions of the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from bridge.embedding.embedder import Embedder
from bridge.settings import load

from . import gate, judged, table
from .judged import Row, Shelf

HERE = Path(__file__).parent
STRANGERS = 60  # questions of the next conversation


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its relevant ids, and the ids of its hits; ``is_weak``: the first hit is marked."""

    query: str
    relevant: Sequence[str]
    hits: Sequence[str]
    is_weak: bool

    @property
    def is_right(self) -> bool:
        return self.hits[:1] != [] and self.hits[0] in self.relevant


def main(argv: Sequence[str] = ()) -> None:
    given = judged.parser("absent", __doc__, own=("languages",)).parse_args(list(argv))
    embedder = judged.embedder(load().embedding, given.cache)
    answered: list[list[str]] = []
    unanswered: list[list[str]] = []
    for name in ("decisions", "notes"):
        with own_shelf(name, embedder) as shelf:
            questions = judged.rows(HERE / name / "queries.jsonl")
            answered.append(_answered(name, ask(shelf, [row for row in questions if row["relevant"]])))
            for category in dict.fromkeys(row["category"] for row in questions if not row["relevant"]):
                asked = ask(shelf, [row for row in questions if row["category"] == category])
                unanswered.append(_unanswered(f"{name}, {category}", asked))
            for split in ("dev", "heldout"):
                asked = ask(shelf, [row for row in judged.rows(HERE / name / "absent.jsonl") if row["split"] == split])
                unanswered.append(_unanswered(f"{name}, absent.jsonl, {split}", asked))
    for name, path in judged.forms(given).items():
        collections = judged.collections(path, "workspace", given)
        found: list[Asked] = []
        strangers: list[Asked] = []
        for place, collection in enumerate(collections):
            with judged.shelf(collection.memories, embedder) as shelf:
                found += ask(shelf, collection.queries)
                if name != "languages":
                    others = collections[(place + 1) % len(collections)].queries[:STRANGERS]
                    strangers += ask(shelf, [{**row, "relevant": []} for row in others])
        answered.append(_answered(name, found))
        if strangers:
            unanswered.append(_unanswered(f"{name}, of another conversation", strangers))
    table.show("Questions without an answer", ["set", "nothing", "weak alone", "a hit without a mark"], unanswered)
    table.show("Questions with an answer", ["set", "right first", "of these weak", "wrong first, weak"], answered)


def own_shelf(name: str, embedder: Embedder) -> AbstractContextManager[Shelf]:
    """The workspace of ``benchmarks/decisions``, with dates and statuses, or of another folder."""
    memories = judged.rows(HERE / name / judged.FILE)
    if name == gate.FOLDER.name:
        memories = [{**row, "payload": gate.payload(row)} for row in memories]
    return judged.shelf(memories, embedder)


def ask(shelf: Shelf, queries: Sequence[Row]) -> list[Asked]:
    found = []
    for row in queries:
        hits = shelf.hits(row["query"])
        is_weak = any("fit" in hit for hit in list(hits.values())[:1])
        found.append(Asked(row["query"], row["relevant"], list(hits), is_weak))
    return found


def _answered(name: str, asked: Sequence[Asked]) -> list[str]:
    right = [one for one in asked if one.is_right]
    wrong = [one for one in asked if one.is_weak and not one.is_right]
    return [name, f"{len(right)} of {len(asked)}", str(sum(one.is_weak for one in right)), str(len(wrong))]


def _unanswered(name: str, asked: Sequence[Asked]) -> list[str]:
    empty = sum(not one.hits for one in asked)
    weak = sum(one.is_weak for one in asked)
    return [f"{name} ({len(asked)})", str(empty), str(weak), str(len(asked) - empty - weak)]
