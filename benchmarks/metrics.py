"""How good rankings are: recall, reciprocal rank, discounted gain, and how sure their means are.

Relevance is yes or no. Intervals are percentile bootstraps over the queries, resampled within each conversation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

METRICS = ("Recall@1", "Recall@5", "Recall@10", "MRR", "nDCG@10")
RESAMPLES, SEED = 2000, 20240527

Scores = NDArray[np.float64]


def of_query(ranked: Sequence[str], relevant: Sequence[str]) -> list[float]:
    """The METRICS of one query. Hits beyond the tenth place do not count."""
    wanted = set(relevant)
    hits = [place for place, found in enumerate(list(dict.fromkeys(ranked))[:10]) if found in wanted]
    recall = [sum(place < depth for place in hits) / len(wanted) for depth in (1, 5, 10)]
    reciprocal = 1 / (hits[0] + 1) if hits else 0.0
    ideal = sum(1 / math.log2(place + 2) for place in range(min(10, len(wanted))))
    return [*recall, reciprocal, sum(1 / math.log2(place + 2) for place in hits) / ideal]


def of_run(queries: Sequence[dict[str, Any]], run: Mapping[str, Sequence[str]]) -> Scores:
    """Shape (queries, METRICS); a query that the run has not scores nothing."""
    return np.array([of_query(run.get(query["id"], ()), query["relevant"]) for query in queries])


def bounds(means: Scores) -> tuple[Scores, Scores]:
    """The 2.5th and the 97.5th percentile of each column."""
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    return low, high


def resampled(scores: Scores, groups: Sequence[str]) -> Scores:
    """Each column's mean in each of RESAMPLES bootstraps, shape (RESAMPLES, columns)."""
    dice = np.random.default_rng(SEED)
    total = np.zeros((RESAMPLES, scores.shape[1]))
    for group in sorted(set(groups)):
        rows = scores[[name == group for name in groups]]
        drawn = dice.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=RESAMPLES)
        total += drawn @ rows
    return total / len(scores)
