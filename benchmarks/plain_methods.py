"""What retrieval is compared with as formulas: grep, BM25, one vector per memory, and both together.

Each method gives scores of shape (queries, memories), from titles and texts as they are and the same embedding model.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing

import numpy as np

from bridge.embedding.embedder import Embedder
from bridge.text.terms import STOP_WORDS

from .judged import DEPTH, Collection, Run, texts
from .metrics import Scores

# Reciprocal rank fusion's constant, as in the paper by Cormack and others, 2009.
_RANK_CONSTANT = 60


def runs(collections: Sequence[Collection], embedder: Embedder) -> dict[str, Run]:
    """For each method, what it ranks first."""
    found: dict[str, Run] = {name: {} for name in (GREP, *METHODS)}
    for collection in collections:
        ids = [memory["id"] for memory in collection.memories]
        words, meaning = _bm25(collection), _one_vector(collection, embedder)
        of = {GREP: _grep(collection)} | {name: method(words, meaning) for name, method in METHODS.items()}
        for name, all_scores in of.items():
            for query, scores in zip(collection.queries, all_scores, strict=True):
                best = np.argsort(-scores, kind="stable")[:DEPTH]
                found[name][query["id"]] = [ids[place] for place in best]
    return found


def _terms(query: str) -> list[str]:
    """The words of a query in lower case, common ones left out."""
    terms = list(dict.fromkeys(word.lower() for word in re.findall(r"[^\W_]+", query)))
    return [term for term in terms if term not in STOP_WORDS] or terms


def _grep(collection: Collection) -> Scores:
    """How many of the query's words ``grep -i`` finds in a memory; of equals, the later memory first."""
    bodies = [text.lower() for text in texts(collection.memories)]
    order = np.arange(len(bodies)) / (len(bodies) + 1)
    counts = [[sum(term in body for term in _terms(query["query"])) for body in bodies] for query in collection.queries]
    return np.array(counts, np.float64).reshape(len(counts), len(bodies)) + order


def _bm25(collection: Collection) -> Scores:
    """SQLite's own BM25 over the texts: Porter stemming, any of the terms, common words left out."""
    scores = np.zeros((len(collection.queries), len(collection.memories)))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5 (body, tokenize = 'porter unicode61')")
        connection.executemany("INSERT INTO words VALUES (?)", [(text,) for text in texts(collection.memories)])
        for row, query in enumerate(collection.queries):
            match = " OR ".join(f'"{term}"' for term in _terms(query["query"]))
            if match:
                found = connection.execute("SELECT rowid, -bm25(words) FROM words WHERE words MATCH ?", (match,))
                for number, score in found:
                    scores[row, number - 1] = score
    return scores


def _one_vector(collection: Collection, embedder: Embedder) -> Scores:
    memories = embedder.embed(texts(collection.memories)).astype(np.float64)
    return embedder.embed([query["query"] for query in collection.queries]).astype(np.float64) @ memories.T


def _levelled(scores: Scores) -> Scores:
    """Each query's scores from 0 to 1."""
    low, high = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    found: Scores = (scores - low) / np.maximum(high - low, 1e-12)
    return found


def _reciprocal(scores: Scores) -> Scores:
    places = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1)
    found: Scores = 1 / (_RANK_CONSTANT + 1 + places)
    return found


GREP = "grep: words found"
METHODS: dict[str, Callable[[Scores, Scores], Scores]] = {
    "BM25 alone": lambda words, meaning: words,
    "one vector per memory": lambda words, meaning: meaning,
    "equal-weight fusion of their scores": lambda words, meaning: _levelled(words) + _levelled(meaning),
    "equal-weight fusion of their ranks": lambda words, meaning: _reciprocal(words) + _reciprocal(meaning),
}
