"""How well questions find their memories, beside plain methods with the same embedding model.

``python -m benchmarks.quality --data DIR [--form NAME] [--scope workspace|pooled|both] [--split dev] [--runs FOLDER]``.
All memories have one date, so that recency and status say nothing. What the data looks like, ``judged`` says.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from bridge.embedding.embedder import Embedder
from bridge.settings import load
from bridge.text.terms import STOP_WORDS

from . import judged, metrics, table
from .judged import DEPTH, Collection, Run
from .metrics import METRICS, Scores

OURS = "cognee-memory retrieve"
# Reciprocal rank fusion's constant, as in the paper by Cormack and others, 2009.
_RANK_CONSTANT = 60


def main() -> None:
    parser = judged.parser("quality", __doc__)
    parser.add_argument("--scope", choices=("workspace", "pooled", "both"), default="workspace")
    parser.add_argument("--runs", type=Path, help="also write each method's ranking there, as JSON lines")
    arguments = parser.parse_args()
    found = judged.forms(arguments)
    embedder = judged.embedder(load().embedding)
    scopes = ("workspace", "pooled") if arguments.scope == "both" else (arguments.scope,)
    for name, folder in found.items():
        for scope in scopes:
            collections = judged.collections(folder, scope, arguments)
            _measure(f"{name}, {scope} scope", collections, embedder, arguments.runs)


def _measure(title: str, collections: Sequence[Collection], embedder: Embedder, runs_folder: Path | None) -> None:
    began = time.monotonic()
    queries = [query for collection in collections for query in collection.queries]
    if not queries:
        print(f"{title}: no queries of this split", file=sys.stderr)
        return
    runs = {OURS: _ours(collections, embedder)} | _plain_methods(collections, embedder)
    scores = {name: metrics.of_run(queries, run) for name, run in runs.items()}
    groups = [query["conversation"] for query in queries]
    memories = sum(len(collection.memories) for collection in collections)
    table.show(
        f"Quality: {title}, {memories} memories, {len(queries)} questions (95 % intervals)",
        ["method", *METRICS],
        [[name, *_cells(found, groups, ".3f")] for name, found in scores.items()],
    )
    table.show(
        f"{OURS}, ahead by (paired, 95 % intervals)",
        ["of", *METRICS],
        [[name, *_cells(scores[OURS] - found, groups, "+.3f")] for name, found in scores.items() if name != OURS],
    )
    print(f"{time.monotonic() - began:.0f} s")
    if runs_folder is not None:
        _write(runs_folder, title, runs)


def _cells(scores: Scores, groups: Sequence[str], form: str) -> list[str]:
    low, high = metrics.interval(scores, groups)
    return [
        f"{mean:{form}} ({least:{form}} to {most:{form}})"
        for mean, least, most in zip(scores.mean(axis=0), low, high, strict=True)
    ]


def _write(folder: Path, title: str, runs: dict[str, Run]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, run in runs.items():
        lines = [json.dumps({"query_id": query, "ranked": ranked}) for query, ranked in run.items()]
        path = folder / (re.sub(r"\W+", "-", f"{title} {name}") + ".jsonl")
        path.write_text("\n".join(lines) + "\n", "utf-8")


def _ours(collections: Sequence[Collection], embedder: Embedder) -> Run:
    with judged.shelves(collections, embedder) as shelves:
        return {
            query["id"]: shelf.ask(query["query"])
            for shelf, collection in zip(shelves, collections, strict=True)
            for query in collection.queries
        }


# --- what it is compared with: each method gives scores of shape (queries, memories) ---


def _plain_methods(collections: Sequence[Collection], embedder: Embedder) -> dict[str, Run]:
    runs: dict[str, Run] = {name: {} for name in _METHODS}
    for collection in collections:
        ids = [memory["id"] for memory in collection.memories]
        words, meaning = _bm25(collection), _one_vector(collection, embedder)
        for name, method in _METHODS.items():
            for query, found in zip(collection.queries, method(words, meaning), strict=True):
                best = np.argsort(-found, kind="stable")[:DEPTH]
                runs[name][query["id"]] = [ids[place] for place in best]
    return runs


def _bm25(collection: Collection) -> Scores:
    """SQLite's own BM25 over the texts: Porter stemming, any of the terms, common words left out."""
    scores = np.zeros((len(collection.queries), len(collection.memories)))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5 (body, tokenize = 'porter unicode61')")
        connection.executemany("INSERT INTO words VALUES (?)", [(memory["text"],) for memory in collection.memories])
        for row, query in enumerate(collection.queries):
            terms = dict.fromkeys(word.lower() for word in re.findall(r"[^\W_]+", query["query"]))
            asked = [term for term in terms if term not in STOP_WORDS] or list(terms)
            match = " OR ".join(f'"{term}"' for term in asked)
            if match:
                found = connection.execute("SELECT rowid, -bm25(words) FROM words WHERE words MATCH ?", (match,))
                for number, score in found:
                    scores[row, number - 1] = score
    return scores


def _one_vector(collection: Collection, embedder: Embedder) -> Scores:
    texts = embedder.embed([memory["text"] for memory in collection.memories]).astype(np.float64)
    return embedder.embed([query["query"] for query in collection.queries]).astype(np.float64) @ texts.T


def _levelled(scores: Scores) -> Scores:
    """Each query's scores from 0 to 1."""
    low, high = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    found: Scores = (scores - low) / np.maximum(high - low, 1e-12)
    return found


def _reciprocal(scores: Scores) -> Scores:
    places = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1)
    found: Scores = 1 / (_RANK_CONSTANT + 1 + places)
    return found


_METHODS: dict[str, Callable[[Scores, Scores], Scores]] = {
    "BM25 alone": lambda words, meaning: words,
    "one vector per memory": lambda words, meaning: meaning,
    "equal-weight fusion of their scores": lambda words, meaning: _levelled(words) + _levelled(meaning),
    "equal-weight fusion of their ranks": lambda words, meaning: _reciprocal(words) + _reciprocal(meaning),
}

if __name__ == "__main__":
    main()
