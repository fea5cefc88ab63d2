"""How likely the later one of two statements replaces the earlier one: by the rules of compaction's conflicts.

Those rules compare the decisions of one topic, which a person looks at before anything is merged. Here nobody looks,
and the statements are of any topic. So only what errs least there counts as certain: another amount or a negation, of
two statements that are otherwise nearly the same. Other conflicts are only disputed. docs/what-holds.md has figures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..compaction.conflicts import find_conflicts
from ..embedding.embedder import Vectors
from ..search.standings import REPLACED

IDENTITY = "rules-2"
"""Changes with the rules: then all memories are compared again."""

CERTAIN_KINDS = ("value", "negation")
NEARLY_THE_SAME = 0.7  # cosine
_AT_MOST_DISPUTED = REPLACED - 0.01


def replaces(pairs: Sequence[tuple[str, str]], embed: Callable[[Sequence[str]], Vectors]) -> list[float]:
    """For each pair of an earlier and a later statement, the probability (0..1) that the later one replaces it.

    ``embed`` as ``Store.embed``. Raises JobError as it does.
    """
    return [_probability(pair, embed(pair)) for pair in pairs]


def _probability(pair: tuple[str, str], vectors: Vectors) -> float:
    conflicts = find_conflicts(pair, [frozenset({"earlier"}), frozenset({"later"})], vectors)
    if not conflicts:
        return 0.0
    found = conflicts[0].found
    is_certain = found.kind in CERTAIN_KINDS and float(vectors[0] @ vectors[1]) >= NEARLY_THE_SAME
    return round(found.confidence if is_certain else min(found.confidence, _AT_MOST_DISPUTED), 2)
