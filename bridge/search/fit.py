"""The fit of hits: which of them are weak, that is, probably no answer to the question.

The nearest memory to a question that none answers lies just above the relevance floor, and the question has a word that
no memory has. Neither shows it alone: a paraphrase has such words too, and right answers lie near the floor. So a hit
is weak if all of this holds: it lies just above the floor, neither its meaning nor its words fit well, and a word of
the question is in no memory. Long questions always have such words, and in a small store most words are unknown: there,
no hit is weak.

Whether a hit is weak depends on the question, the memory and the words of all memories, not on the other hits. It
changes no score. The limits are measured in docs/benchmarks.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..argument_table import ARGUMENTS
from .ranking import is_near_floor, rarity

if TYPE_CHECKING:
    from .ranking import Scored
    from .snapshot import Snapshot

FEWEST_MEMORIES = 30
TERMS = range(2, 11)  # how many terms the question has
WORDS = 0.5  # the share of the question's terms that the memory has, weighed by their rarity

ONLY_WEAK = "Only weak matches: probably no memory answers the question"
"""The warning in an answer whose hits are all weak."""


def marked(snapshot: Snapshot, query: str, scored: Sequence[Scored]) -> list[Scored]:
    """The hits in their order, the weak ones marked. Without vectors or words, none is."""
    weak = _weak(snapshot, query, scored)
    return [(memory, factors._replace(is_weak=memory.number in weak)) for memory, factors in scored]


def without_followers(scored: list[Scored]) -> list[Scored]:
    """The hits; of those behind a weak first one only what fits better and is not weak, such as an older memory."""
    if not scored or not scored[0][1].is_weak:
        return scored
    (_, first), *others = scored
    least = first.query_match.semantic_score
    return [scored[0], *(hit for hit in others if not hit[1].is_weak and hit[1].query_match.semantic_score > least)]


def warnings(scored: Sequence[Scored]) -> list[str]:
    """A warning if all hits are weak; otherwise empty."""
    return [ONLY_WEAK] if scored and all(factors.is_weak for _, factors in scored) else []


def _weak(snapshot: Snapshot, query: str, scored: Sequence[Scored]) -> set[int]:
    """The numbers of the weak hits."""
    count = snapshot.memory_count
    if count < FEWEST_MEMORIES or not (snapshot.has_vectors and snapshot.has_words):
        return set()
    floor = float(ARGUMENTS["relevance_floor"].default)
    near = [memory.number for memory, factors in scored if is_near_floor(factors.query_match, floor, count)]
    having = snapshot.counts(query) if near else {}
    if len(having) not in TERMS or all(having.values()):
        return set()
    weights = {term: rarity(count, number) for term, number in having.items()}
    least = WORDS * sum(weights.values())
    matched = snapshot.matched(query, near)
    return {number for number in near if sum(weights[term] for term in matched[number]) < least}
