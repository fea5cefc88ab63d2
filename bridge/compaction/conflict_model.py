"""Estimates the probability that two decisions of any wording conflict, by logistic regression over a few features.

The rules of ``conflicts`` need two statements of similar form; this does not. The differences of the two decisions'
features and the similarity of their embeddings give the probability. The weights are fitted to labelled pairs
(``python -m benchmarks quality conflicts --fit``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..embedding.embedder import Vectors
from . import lexicon
from .decision_features import DecisionFeatures, root

Difference = Literal["toggle", "negation", "value", "choice", "reversal"]

LIKELY = 0.65  # the probability from which a pair is a conflict; chosen on the labelled pairs for precision

# The weight of each feature in the log-odds of a conflict, as ``benchmarks quality conflicts --fit`` prints them.
WEIGHTS: dict[str, float] = {
    "similarity": 3.52,
    "shared": 2.93,
    "named": 0.72,
    "reverses": 2.08,
    "changes": 1.05,
    "addition": -0.86,
    "condition": -0.93,
    "purpose": -0.69,
    "head": -0.32,
    "exclusive": 0.47,
    "unlike": -2.57,
    "swapped": -1.95,
    "selected": -1.05,
    "units": -1.73,
    "bias": -3.50,
}

_EXCLUSIVE = frozenset(root(word) for word in lexicon.EXCLUSIVE | lexicon.PROPERTIES)
_SELECTING = frozenset(root(word) for word in lexicon.SELECTING)

_OPPOSITES: dict[str, set[str]] = {}
for _one, _other in lexicon.opposite_pairs():
    _OPPOSITES.setdefault(root(_one), set()).add(root(_other))


@cache
def _opposites(word: str) -> frozenset[str]:
    return frozenset(_OPPOSITES.get(word, ())) | {root(other) for other in lexicon.opposite_states_of(word)}


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a later decision differs from an earlier one. ``features``: name in WEIGHTS -> value, 0 to 1."""

    difference: Difference | None
    features: dict[str, float]


def compare(a: DecisionFeatures, b: DecisionFeatures, similarity: float) -> Comparison:
    """Compares an earlier decision with a later one; ``similarity`` is the cosine of the texts' embeddings."""
    common = a.subject & b.words | b.subject & a.words
    only_a, only_b = a.subject - common, b.subject - common
    opposed = {(x, y) for x in a.words - b.words for y in _opposites(x) & (b.words - a.words)}
    only_a, only_b = only_a - {x for x, _ in opposed}, only_b - {y for _, y in opposed}
    denied = (a.is_negative != b.is_negative) != bool(opposed)
    amount = any(a.amounts[kind] != b.amounts[kind] for kind in a.amounts.keys() & b.amounts.keys())
    named = bool(a.names & only_a) and bool(b.names & only_b)
    other = bool(only_a and only_b)
    is_other = any(b.labels.get(kind, label) != label for kind, label in a.labels.items())
    plain = denied or amount  # beside such a clear difference, every other one suggests another subject
    reverses = b.reverses and not a.reverses and (plain or bool(only_a))
    unlike = min(_groups(a, only_a), _groups(b, only_b)) - (0 if plain else 1)
    heads_a, heads_b = a.heads & common, b.heads & common
    features: dict[str, float] = {
        "similarity": similarity,
        "shared": min(len(common & a.subject), len(common & b.subject)) / max(1, min(len(a.subject), len(b.subject))),
        "named": named and not plain,
        "reverses": reverses,
        "changes": b.changes,
        "addition": a.is_addition or b.is_addition,
        "condition": a.is_conditional != b.is_conditional,
        "purpose": bool(a.purposes & only_a) and bool(b.purposes & only_b),
        "head": bool(heads_a or heads_b) and not heads_a & heads_b,
        "exclusive": other and not plain and bool(a.words & b.words & _EXCLUSIVE),
        "unlike": max(0, min(2, unlike)) / 2,
        "swapped": plain and bool(_before(a, only_a, common) & _before(b, only_b, common)),
        "selected": bool(only_a & _SELECTING) and bool(only_b & _SELECTING),
        "units": bool(a.amounts.keys() | b.amounts.keys()) and not a.amounts.keys() & b.amounts.keys(),
    }
    difference: Difference | None = None
    if reverses:
        difference = "reversal"
    elif is_other or (plain and _is_exception(a, b, only_a, only_b)):
        difference = None
    elif denied:
        difference = "toggle" if opposed else "negation"
    elif amount:
        difference = "value"
    elif other:
        difference = "choice"
    return Comparison(difference, features)


def _is_exception(a: DecisionFeatures, b: DecisionFeatures, only_a: frozenset[str], only_b: frozenset[str]) -> bool:
    """Whether the later decision only adds an exception: it holds in a narrower case. Allowing a case of what was
    denied is no exception."""
    is_narrower = not only_a and bool(only_b & (b.purposes | b.places))
    return is_narrower and not (b.changes or b.is_universal or (a.is_negative and not b.is_negative))


def _groups(decision: DecisionFeatures, only: frozenset[str]) -> int:
    """The number of groups of adjacent words that the given words form in the sentence."""
    indexes = [index for word, index in decision.order if word in only]
    return sum(index - 1 != before for before, index in zip([-2, *indexes], indexes, strict=False))


def _before(decision: DecisionFeatures, only: frozenset[str], common: frozenset[str]) -> set[str]:
    """The common words that directly follow the given ones, as ``tokens`` in ``refresh tokens``."""
    return {after for word, after in decision.followed if word in only and after in common}


def likelihood(features: dict[str, float]) -> float:
    """The probability of a conflict, 0 to 1: the logistic function of the weighted features."""
    return 1 / (1 + math.exp(-WEIGHTS["bias"] - sum(WEIGHTS[name] * value for name, value in features.items())))


def likely_difference(a: DecisionFeatures, b: DecisionFeatures, similarity: float) -> tuple[Difference, float] | None:
    """The kind of conflict between an earlier and a later decision, and its probability; None below ``LIKELY``.

    ``similarity`` is the cosine of the texts' embeddings.
    """
    comparison = compare(a, b, similarity)
    if comparison.difference is None or (probability := likelihood(comparison.features)) < LIKELY:
        return None
    return comparison.difference, round(probability, 2)


def candidates(decisions: Sequence[DecisionFeatures], vectors: Vectors) -> NDArray[np.bool_]:
    """Which pairs may reach ``LIKELY``, shape (n, n): row = the later decision, column = the earlier one.

    It compares a cheap upper bound of the score. ``vectors`` are the decisions' embeddings of length 1, shape (n, d).
    """
    columns: dict[str, int] = {}
    for decision in decisions:
        for word in decision.words:
            columns.setdefault(word, len(columns))
    subject, words = (np.zeros((len(decisions), len(columns)), np.float32) for _ in range(2))
    for row, decision in enumerate(decisions):
        subject[row, [columns[word] for word in decision.subject]] = 1
        words[row, [columns[word] for word in decision.words]] = 1
    sizes = np.maximum(subject.sum(1), 1)
    common = subject @ words.T
    shared = np.minimum(common, common.T) / np.minimum(sizes[:, None], sizes)
    own = [WEIGHTS["reverses"] * decision.reverses + WEIGHTS["changes"] * decision.changes for decision in decisions]
    needed = math.log(LIKELY / (1 - LIKELY)) - WEIGHTS["bias"] - WEIGHTS["named"] - WEIGHTS["exclusive"]
    bound = WEIGHTS["similarity"] * (vectors @ vectors.T) + WEIGHTS["shared"] * shared + np.array(own)[:, None]
    likely: NDArray[np.bool_] = bound >= needed
    return likely
