"""How likely the later one of two statements replaces the earlier one, without a language model.

Two say so. The rules of compaction's conflicts are right where they see another amount or a negation of statements
that are otherwise nearly the same: only these are certain, since nobody looks. A small cross-encoder on board finds
most others, also in other words, and errs more often. docs/what-holds.md has figures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..compaction.conflicts import find_conflicts
from ..compaction.statements import are_of_two_things
from ..embedding.embedder import Vectors
from ..search.standings import DISPUTED, POSSIBLE, REPLACED
from . import cross_encoder

IDENTITY = "judge-9"
"""Changes with the rules, the weights, and what a statement is: then all memories are compared again."""

LIKELY = 0.69
"""The most that the cross-encoder says, and two decisions of unlike topics reach."""
CERTAIN_KINDS = ("value", "negation")
SAME_SUBJECT = 0.7  # the cosine from which an amount or a negation is certain
_LEAST, _MOST = 0.45, 0.9  # what the cross-encoder says of pairs that count, and of those of which it is sure
_AT_MOST_DISPUTED = REPLACED - 0.01


def replaces(pairs: Sequence[tuple[str, str]], embed: Callable[[Sequence[str]], Vectors]) -> list[float]:
    """For each pair of an earlier and a later statement, the probability (0..1) that the later one replaces it.

    ``embed`` as ``Store.embed``. Raises JobError as it does, and MODEL_CORRUPT.
    """
    found = zip(pairs, by_rules(pairs, embed), strict=True)
    return [sure if sure >= DISPUTED else max(sure, _by_cross_encoder(pair)) for pair, sure in found]


def _by_cross_encoder(pair: tuple[str, str]) -> float:
    """It errs too often to count beyond an answer: what it says from _LEAST to _MOST becomes POSSIBLE to LIKELY."""
    if are_of_two_things(*pair):
        return 0.0
    share = (cross_encoder.probability(*pair) - _LEAST) / (_MOST - _LEAST)
    return round(max(0.0, POSSIBLE + min(share, 1.0) * (LIKELY - POSSIBLE)), 2)


def by_rules(pairs: Sequence[tuple[str, str]], embed: Callable[[Sequence[str]], Vectors]) -> list[float]:
    """As ``replaces``, by the rules alone, which load no model: 0 where they find no conflict."""
    return [_probability(pair, embed(pair)) for pair in pairs]


def _probability(pair: tuple[str, str], vectors: Vectors) -> float:
    conflicts = find_conflicts(pair, [frozenset({"earlier"}), frozenset({"later"})], vectors)
    if not conflicts:
        return 0.0
    found = conflicts[0].found
    is_certain = found.kind in CERTAIN_KINDS and float(vectors[0] @ vectors[1]) >= SAME_SUBJECT
    return round(found.confidence if is_certain else min(found.confidence, _AT_MOST_DISPUTED), 2)
