"""The recorded quality of retrieval with its default settings over ``benchmarks/decisions``, and what changed since.

Shown are the figures beside the recorded ones, and each question whose answer became better or worse; ``--record``
writes them down. A test fails when a figure left its tolerance. Memories have their own dates
and statuses here, as in a workspace that is years old.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bridge.embedding.embedder import Embedder
from bridge.settings import load
from jobs import clock

from . import judged, metrics, table
from .judged import Row
from .metrics import METRICS

FOLDER = Path(__file__).resolve().parent / "decisions"
RECORDED = FOLDER / "recorded.json"
KEPT = 5  # hits of a question that are recorded
NOTHING, EMPTY, ABSENT = "answerable with nothing", "foreign with nothing", "absent with nothing"

# A figure may lose this much, about one or two questions: processors round differently.
TOLERANCES = {"nDCG@10": 0.005, "Recall@1": 0.013, "Recall@5": 0.013, EMPTY: 0.045, NOTHING: 0.009}
# Of this one less is better.
_FEWER = {NOTHING}

Hits = list[tuple[str, float]]  # ids with their semantic scores, best hit first


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures, and each question's first hits."""

    figures: dict[str, float]
    hits: dict[str, Hits]


def main(argv: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks quality gate", description=(__doc__ or "").split("\n\n")[0]
    )
    parser.add_argument("--record", action="store_true", help=f"write the figures to {RECORDED.name}")
    arguments = parser.parse_args(list(argv))
    embedder = judged.embedder(load().embedding)
    found = measure(embedder)
    before = recorded()
    table.show(
        f"Quality with the default settings: {FOLDER.name}",
        ["figure", "recorded", "now", "tolerance"],
        [[name, _figure(before.figures.get(name)), _figure(value), f"{TOLERANCES.get(name, '–')}"]
         for name, value in found.figures.items()],
    )  # fmt: skip
    print("\n".join(changes(before, found)))
    current = first_by_currency(embedder)
    print(f"Of two decisions, the one that is asked for comes first in {sum(a == b for a, b in current.values())} of"
          f" {len(current)} cases.")  # fmt: skip
    if arguments.record:
        write(found)
        print(f"Recorded in {RECORDED}.")
        return
    if said := verdict(before, found):
        print(said)
        sys.exit(1)


def measure(embedder: Embedder) -> Measured:
    memories = [{**row, "payload": payload(row)} for row in judged.rows(FOLDER / judged.FILE)]
    queries = judged.rows(FOLDER / "queries.jsonl")
    with judged.shelf(memories, embedder) as shelf:
        hits = {
            query["id"]: [(name, hit["semantic_score"]) for name, hit in shelf.hits(query["query"]).items()]
            for query in queries
        }
    return Measured(figures(queries, hits), hits)


def first_by_currency(embedder: Embedder) -> dict[str, tuple[str, str]]:
    """Of each case of two decisions on one topic, which of them is to come first, and which one does."""
    found = {}
    for case in judged.rows(FOLDER / "currency.jsonl"):
        memories = [
            {"id": which, "conversation": "", "topic": case["topic"], "text": f"- {case[which]}",
             "payload": _dated(case["topic"], context, case[which], day)}
            for which, context, day in (
                ("earlier", case["context"], "2025-09-01"), ("later", "Said in the weekly call.", "2025-10-10"),
            )
        ]  # fmt: skip
        with judged.shelf(memories, embedder) as shelf:
            shelf.compare()
            asked = dict(case.get("arguments", {}))
            as_of = datetime.fromisoformat(asked.pop("as_of", clock.iso(judged.DAY)))
            found[case["id"]] = case["first"], next(iter(shelf.hits(case["query"], as_of, **asked)), "nothing")
    return found


def _dated(topic: str, context: str, decision: str, day: str) -> Row:
    return {
        "summary": {
            "topic": topic, "context": context, "decisions": [decision],
            "created_at": f"{day}T09:00:00Z",
        }
    }  # fmt: skip


def payload(memory: Row) -> Row:
    """The record as an ingest job has it, with its own date and status."""
    found = judged.payload(memory, datetime.fromisoformat(memory["created_at"]).replace(tzinfo=UTC))
    if "status" in memory:
        found["summary"]["status"] = memory["status"]
    return found


def figures(queries: Sequence[Row], hits: dict[str, Hits]) -> dict[str, float]:
    answerable = [query for query in queries if query["relevant"]]
    run = {name: [memory for memory, _ in found] for name, found in hits.items()}
    means = dict(zip(METRICS, metrics.of_run(answerable, run).mean(axis=0).tolist(), strict=True))
    found = {name: means[name] for name in ("nDCG@10", "Recall@1", "Recall@5")}
    found[NOTHING] = _empty(answerable, hits)
    for name, category in ((EMPTY, "foreign"), (ABSENT, "absent")):
        found[name] = _empty([query for query in queries if query["category"] == category], hits)
    for category in dict.fromkeys(query["category"] for query in answerable):
        asked = [query for query in answerable if query["category"] == category]
        found[f"nDCG@10, {len(asked)} {category}"] = float(
            metrics.of_run(asked, run)[:, METRICS.index("nDCG@10")].mean()
        )
    return {name: round(value, 4) for name, value in found.items()}


def verdict(before: Measured, found: Measured) -> str:
    """What is to be done if a figure left its tolerance, else an empty text."""
    gains = {name: _gain(name, before, found) for name in TOLERANCES}
    lost = {name: gain for name, gain in gains.items() if gain < -TOLERANCES[name]}
    better = {name: gain for name, gain in gains.items() if gain > TOLERANCES[name]}
    if lost:
        said = ", ".join(f"{name} {before.figures[name]:.4f} to {found.figures[name]:.4f}" for name in lost)
        return f"Retrieval lost quality: {said}. The questions above show where. If it is meant: {_COMMAND}"
    if better:
        said = ", ".join(f"{name} {before.figures[name]:.4f} to {found.figures[name]:.4f}" for name in better)
        return f"Retrieval is better than recorded: {said}. Keep it so: {_COMMAND}"
    return ""


_COMMAND = "python -m benchmarks quality gate --record"


def changes(before: Measured, found: Measured) -> list[str]:
    """A paragraph for each question whose answer became better or worse."""
    said = []
    for query in judged.rows(FOLDER / "queries.jsonl"):
        name, relevant = query["id"], query["relevant"]
        earlier, now = before.hits.get(name, []), found.hits[name][:KEPT]
        grades = [_grade(relevant, hits) for hits in (earlier, now)]
        if grades[0] == grades[1]:
            continue
        how = "better" if grades[1] > grades[0] else "worse"
        said.append(
            f"{how}: {name} “{query['query']}”\n  wanted  {', '.join(relevant) or 'nothing'}\n"
            f"  was     {_hits(earlier)}\n  is      {_hits(now)}"
        )
    return said


def recorded() -> Measured:
    if not RECORDED.exists():
        return Measured({}, {})
    given = json.loads(RECORDED.read_text("utf-8"))
    hits = {name: [(memory, score) for memory, score in found] for name, found in given["hits"].items()}
    return Measured(given["figures"], hits)


def write(found: Measured) -> None:
    """One line for each question, so that a change of the file shows which ones changed."""
    lines = [
        f"{json.dumps(name)}: {json.dumps([[memory, round(score, 3)] for memory, score in hits[:KEPT]])}"
        for name, hits in found.hits.items()
    ]
    text = f'{{"figures": {json.dumps(found.figures, indent=2)},\n"hits": {{\n' + ",\n".join(lines) + "\n}}\n"
    RECORDED.write_text(text, "utf-8")


def _grade(relevant: Sequence[str], hits: Hits) -> float:
    if not relevant:
        return float(not hits)
    return metrics.of_query([memory for memory, _ in hits], relevant)[METRICS.index("nDCG@10")]


def _gain(name: str, before: Measured, found: Measured) -> float:
    gain = found.figures[name] - before.figures.get(name, 0.0)
    return -gain if name in _FEWER else gain


def _empty(queries: Sequence[Row], hits: dict[str, Hits]) -> float:
    return sum(not hits[query["id"]] for query in queries) / len(queries)


def _hits(hits: Hits) -> str:
    return ", ".join(f"{memory} {score:.3f}" for memory, score in hits) or "nothing"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
