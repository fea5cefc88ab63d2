"""How likely the later one of two statements replaces the earlier one, without a language model.

Two say so, and the surer one counts. The rules of compaction's conflicts see what replaces a statement of the same
form; another amount or a negation of what is otherwise nearly the same is certain, since nobody looks. A small
cross-encoder on board finds most others, also in other words, and errs more often. docs/what-holds.md has figures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..compaction.conflicts import find_conflicts
from ..compaction.statements import are_of_two_things
from ..embedding.embedder import Vectors
from ..search.standings import DISPUTED, POSSIBLE, REPLACED
from . import cross_encoder

IDENTITY = "judge-10"
"""Changes with the rules, the weights, and what a statement is: then all memories are compared again."""

LIKELY = 0.69
"""The most that two decisions of unlike topics reach."""
CERTAIN_KINDS = ("value", "negation")
SAME_SUBJECT = 0.7  # the cosine from which an amount or a negation is certain
_AT_MOST_DISPUTED = REPLACED - 0.01
# From what the cross-encoder says on, what counts, from the one to the other. It errs too often to count for much.
_WEIGHTS = ((0.9, REPLACED, 0.95), (0.8, DISPUTED, _AT_MOST_DISPUTED), (0.45, POSSIBLE, 0.65))


def replaces(pairs: Sequence[tuple[str, str]], embed: Callable[[Sequence[str]], Vectors]) -> list[float]:
    """For each pair of an earlier and a later statement, the probability (0..1) that the later one replaces it.

    ``embed`` as ``Store.embed``. Raises JobError as it does, and MODEL_CORRUPT.
    """
    return [max(sure, _by_cross_encoder(pair)) for pair, sure in zip(pairs, by_rules(pairs, embed), strict=True)]


def _by_cross_encoder(pair: tuple[str, str]) -> float:
    if are_of_two_things(*pair):
        return 0.0
    said, above = cross_encoder.probability(*pair), 1.0
    for least, low, high in _WEIGHTS:
        if said >= least:
            return round(low + (said - least) / (above - least) * (high - low), 2)
        above = least
    return 0.0


def by_rules(pairs: Sequence[tuple[str, str]], embed: Callable[[Sequence[str]], Vectors]) -> list[float]:
    """As ``replaces``, by the rules alone, which load no model: 0 where they find no conflict."""
    return [_by_rules(pair, embed) for pair in pairs]


def _by_rules(pair: tuple[str, str], embed: Callable[[Sequence[str]], Vectors]) -> float:
    conflicts = find_conflicts(pair, [frozenset({"earlier"}), frozenset({"later"})])
    if not conflicts:
        return 0.0
    found, most = conflicts[0].found, _AT_MOST_DISPUTED
    if found.kind in CERTAIN_KINDS:
        earlier, later = embed(pair)
        if float(earlier @ later) >= SAME_SUBJECT:
            most = 1.0
    return min(found.confidence, most)
