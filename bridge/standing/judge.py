"""How likely the later one of two statements replaces the earlier one, without a language model.

Two say so, and the surer one counts. The rules of compaction's conflicts see what replaces a statement of the same
form; another amount or a negation of what is otherwise nearly the same is certain, since nobody looks. A small
cross-encoder on board finds most others, also in other words, and errs more often. docs/what-holds.md has figures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ..compaction.conflicts import find_conflicts
from ..compaction.labels import are_of_two_things, differ_in_a_label
from ..compaction.statements import without_change, without_rejected
from ..embedding.embedder import Vectors
from ..pattern import pattern
from ..search.standings import DISPUTED, POSSIBLE, REPLACED
from . import cross_encoder

IDENTITY = "judge-15"
"""Changes with the rules, the weights, and what a statement is: then all memories are compared again."""

LIKELY = 0.69
"""The most that two decisions of unlike topics reach."""
CERTAIN_KINDS = ("value", "negation")
SAME_SUBJECT = 0.7  # the cosine from which an amount or a negation is certain
ONE_MATTER = 0.4  # the cosine below which the cross-encoder's word counts only in answers
_AT_MOST_DISPUTED = REPLACED - 0.01
_UNSURE = 0.65
# What counts, from the one to the other, and from what of the cross-encoder's probability on. The pairs that taught it
# seldom say that something changes, so it knows little of such words: with them, it is as often right from less on.
_COUNTS = ((REPLACED, 0.95), (DISPUTED, _AT_MOST_DISPUTED), (POSSIBLE, _UNSURE))
_PLAIN, _CHANGE, _REJECTION = (0.9, 0.8, 0.45), (0.8, 0.6, 0.45), (0.8, 0.45, 0.45)
_CHANGES = pattern(
    r"\b(?:now|no longer|any ?more|instead|rather than|back to|from now on|gave up|given up|retired|stopped|dropped"
    r"|replace[sd]|raised?|lowered|increased|reduced"
    r"|(?:switch(?:e[sd])?|move[sd]?|migrate[sd]?|change[sd]?) (?:\S+ ){,3}?(?:to|from))\b",
    re.IGNORECASE,
)


def replaces(pairs: Sequence[tuple[str, str]], embed: Callable[[Sequence[str]], Vectors]) -> list[float]:
    """For each pair of an earlier and a later statement, the probability (0..1) that the later one replaces it.

    ``embed`` as ``Store.embed``. Raises JobError as it does, and MODEL_CORRUPT.
    """
    sure = by_rules(pairs, embed)
    return [max(each, _by_cross_encoder(pair, embed)) for pair, each in zip(pairs, sure, strict=True)]


def _by_cross_encoder(pair: tuple[str, str], embed: Callable[[Sequence[str]], Vectors]) -> float:
    if are_of_two_things(*pair):
        return 0.0
    most = _AT_MOST_DISPUTED if differ_in_a_label(*pair) else 1.0
    earlier, later = pair
    chosen = without_rejected(earlier, later)
    said = max(cross_encoder.probability(earlier, text) for text in {later, without_change(chosen)})
    limits = _REJECTION if chosen != later else _CHANGE if _CHANGES.search(later) else _PLAIN
    for least, above, (low, high) in zip(limits, (1.0, *_PLAIN[:2]), _COUNTS, strict=True):
        if said >= least:
            found = round(min(most, high, low + (said - least) / (above - least) * (high - low)), 2)
            return found if found < DISPUTED or _cosine(pair, embed) >= ONE_MATTER else _UNSURE
    return 0.0


def by_rules(pairs: Sequence[tuple[str, str]], embed: Callable[[Sequence[str]], Vectors]) -> list[float]:
    """As ``replaces``, by the rules alone, which load no model: 0 where they find no conflict."""
    return [_by_rules(pair, embed) for pair in pairs]


def _by_rules(pair: tuple[str, str], embed: Callable[[Sequence[str]], Vectors]) -> float:
    conflicts = find_conflicts(pair, [frozenset({"earlier"}), frozenset({"later"})])
    if not conflicts:
        return 0.0
    found, most = conflicts[0].found, _AT_MOST_DISPUTED
    is_certain = found.kind in CERTAIN_KINDS and not differ_in_a_label(*pair)
    if is_certain and _cosine(pair, embed) >= SAME_SUBJECT:
        most = 1.0
    return min(found.confidence, most)


def _cosine(pair: tuple[str, str], embed: Callable[[Sequence[str]], Vectors]) -> float:
    earlier, later = embed(pair)
    return float(earlier @ later)
