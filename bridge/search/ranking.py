"""How a score comes about: relevance, recency and status, by one function used everywhere.

All numbers are float64; each factor is rounded to ten significant digits before it is multiplied, so
that whoever multiplies the factors as reported gets the score as reported.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from jobs import clock

from ..memory import Memory

VECTOR_WEIGHT = 0.6
LEXICAL_WEIGHT = 0.4
BEST_PASSAGE_WEIGHT = 0.8
WHOLE_WEIGHT = 0.2
# What an identifier that the query spells out brings of the lexical score that is lacking: with the lexical weight,
# enough for the relevance floor, however long the text is that it stands in.
NAME_SHARE = 0.5

STATUS_MULTIPLIERS = {"DecisionRecord": 1.1, "Active": 1.0, "legacy": 1.0, "Superseded": 0.4, "Draft": 1.0}
STATUS_ORDER = {"DecisionRecord": 0, "Active": 1, "legacy": 2, "Draft": 3, "Superseded": 4}

HALF_LIFE_RANGE = (0.5, 90.0)
ALPHA_RANGE = (0.6, 0.95)
PRESETS: dict[str, tuple[float, float]] = {"contract": (7.0, 0.0), "long-lived": (90.0, 0.85)}
BLEND_HALF_LIFE = 30.0

_SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Ranking:
    """The knobs of one question, after clamping."""

    mode: Literal["product", "blend"]
    half_life_days: float
    recency_floor: float
    alpha: float
    as_of: datetime


@dataclass(frozen=True, slots=True)
class Relevance:
    """How well a memory's words and meaning fit the query, each 0..1."""

    vector_score: float
    lexical_score: float
    semantic_score: float


@dataclass(frozen=True, slots=True)
class Factors:
    """A score and what it is made of."""

    relevance: Relevance
    recency_multiplier: float
    status_multiplier: float
    age_days: float | None
    score: float


def rounded(value: float) -> float:
    """Ten significant digits."""
    return float(f"{value:.10g}")


def relevance(best_passage: float, whole: float, lexical: float) -> Relevance:
    """Relevance from the best passage's and the whole's cosine (-1..1) and the lexical score (0..1).

    vector = 0.8 * best + 0.2 * whole; semantic = 0.6 * vector + 0.4 * lexical. Absolute: no other
    candidate enters into it.
    """
    vector = BEST_PASSAGE_WEIGHT * max(0.0, best_passage) + WHOLE_WEIGHT * max(0.0, whole)
    vector = rounded(min(1.0, vector))
    lexical = rounded(min(1.0, max(0.0, lexical)))
    return Relevance(vector, lexical, rounded(VECTOR_WEIGHT * vector + LEXICAL_WEIGHT * lexical))


def status_word(memory: Memory) -> str:
    """The status for ranking: ``legacy`` for a memory that has none."""
    return memory.metadata.status or "legacy"


def age_days(memory: Memory, as_of: datetime) -> float | None:
    """Days since ``source_created_at``, else ``created_at``; never below 0. None where neither is known.

    A legacy memory has at least the time when it was stored.
    """
    text = memory.metadata.source_created_at or memory.metadata.created_at
    if text is None and memory.kind == "legacy":
        text = memory.stored_at
    if text is None:
        return None
    return max(0.0, (as_of - clock.parse(text)).total_seconds() / _SECONDS_A_DAY)


def recency_multiplier(age: float | None, half_life_days: float, floor: float) -> float:
    """floor + (1 - floor) * exp(-ln 2 / half_life * age); 1 without a date."""
    if age is None:
        return 1.0
    decay = math.exp(-math.log(2) / half_life_days * age)
    return rounded(floor + (1.0 - floor) * decay)


def factors(memory: Memory, found: Relevance, ranking: Ranking) -> Factors:
    """The score of a memory for a question."""
    age = age_days(memory, ranking.as_of)
    recency = recency_multiplier(age, ranking.half_life_days, ranking.recency_floor)
    status = STATUS_MULTIPLIERS[status_word(memory)]
    if ranking.mode == "product":
        score = found.semantic_score * recency * status
    else:
        score = (ranking.alpha * found.semantic_score + (1 - ranking.alpha) * recency) * status
    return Factors(found, recency, status, age, rounded(score))


def order_key(memory: Memory, scored: Factors) -> tuple[float, int, float, str]:
    """Score descending; ties: DecisionRecord, Active, legacy, Superseded; then newer; then id."""
    text = memory.metadata.source_created_at or memory.metadata.created_at or memory.stored_at
    return (-scored.score, STATUS_ORDER[status_word(memory)], -clock.parse(text).timestamp(), memory.id)


def clamp(name: str, value: float, low: float, high: float, warnings: list[str]) -> float:
    """The value within its range; a change is reported."""
    kept = min(high, max(low, value))
    if kept != value:
        warnings.append(f"{name} {value:.10g} is outside {low:.10g}..{high:.10g}; {kept:.10g} was used")
    return kept
