"""The formula of the score, and the only module that computes with its weights.

    lexical  = BM25 as a share of what the query's terms can attain, raised where a name of the query is found
    vector   = 0.8 * cosine of the best passage + 0.2 * cosine of the whole text
    semantic = 0.6 * vector + 0.4 * lexical
    recency  = floor + (1 - floor) * 0.5 ** (age / half-life)
    score    = semantic * recency * status, or (alpha * semantic + (1 - alpha) * recency) * status

Scalar functions make the numbers that answers show: float64, each factor rounded to ten significant digits before it
is multiplied, so that multiplying the reported factors gives the reported score. Columns functions compute the same
for n memories at once, without rounding, to choose candidates; every chosen candidate is scored again by the scalar
function. Columns are arrays of shape (n,). ``tests/unit/test_ranking.py`` ties each pair.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from jobs import clock

from ..argument_table import RankingMode
from ..memory import Memory

if TYPE_CHECKING:
    from ..interface.answer_shapes import ScoreWeights

# Of the relevance (semantic_score).
VECTOR_WEIGHT = 0.6
LEXICAL_WEIGHT = 0.4
# Of the vector score.
BEST_PASSAGE_WEIGHT = 0.8
WHOLE_WEIGHT = 0.2
# An identifier that the query spells out brings this share of the lexical score that is lacking. Times the lexical
# weight that is enough for the default relevance floor, however long the text is that holds the identifier.
NAME_SHARE = 0.5
# Constants of BM25 in FTS5 (sqlite.org/fts5.html#the_bm25_function).
BM25_K1 = 1.2
LEAST_IDF = 1e-6

STATUS_MULTIPLIERS = {"DecisionRecord": 1.1, "Active": 1.0, "legacy": 1.0, "Superseded": 0.4, "Draft": 1.0}
STATUS_ORDER = {"DecisionRecord": 0, "Active": 1, "legacy": 2, "Draft": 3, "Superseded": 4}

SECONDS_A_DAY = 86_400.0

# For other modules, beside the functions.
COMPONENT_WEIGHTS: ScoreWeights = {"base": LEXICAL_WEIGHT, "semantic_boost": VECTOR_WEIGHT}
"""The most that each component of the relevance can be."""
ABOVE_ANY_SCORE = 2 * max(STATUS_MULTIPLIERS.values())
"""Relevance and recency are at most 1, so no score is this high."""

Scores = NDArray[np.float64]
_Numbers = TypeVar("_Numbers", float, Scores)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The knobs of one question, after clamping."""

    mode: RankingMode
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


@dataclass(frozen=True, slots=True)
class Components:
    """A score as sums for ``explain``: (base + semantic_boost) * recency * (1 + kind_bonus).

    ``base`` and ``semantic_boost`` add up to the semantic score; both are None without a query.
    """

    base: float | None
    recency: float
    kind_bonus: float
    semantic_boost: float | None


def rounded(value: float) -> float:
    """Ten significant digits."""
    return float(f"{value:.10g}")


# --- lexical score ---


def inverse_document_frequency(memory_count: int, having: int) -> float:
    """How much a term tells: log((N - n + 0.5) / (n + 0.5)) for n of N memories, at least a millionth, as in FTS5.

    ``having`` may exceed ``memory_count``, as a damaged index reports it.
    """
    without = max(0, memory_count - having)
    return max(LEAST_IDF, math.log((without + 0.5) / (having + 0.5)))


def tells_apart(idf: float) -> bool:
    """Whether a term is in less than half of the memories; any other term has the least idf."""
    return idf > LEAST_IDF


def attainable_bm25(idfs: Iterable[float]) -> float:
    """The limit of BM25 for these terms: (k1 + 1) * the sum of their idf, approached as they fill a text."""
    return (BM25_K1 + 1) * sum(idfs)


def lexical_score(bm25: float, attainable: float, has_name: bool) -> float:
    """The share 0..1 of the attainable BM25; with a name of the query, NAME_SHARE of what is lacking on top."""
    share = min(1.0, bm25 / attainable)
    return _with_name(share) if has_name else share


def lexical_scores(bm25: Scores, attainable: float, has_name: NDArray[np.bool_]) -> Scores:
    """Columns of ``lexical_score``."""
    shares: Scores = np.minimum(1.0, bm25 / attainable)
    return np.where(has_name, _with_name(shares), shares)


def _with_name(share: _Numbers) -> _Numbers:
    return share + NAME_SHARE * (1.0 - share)


# --- vector score ---


def vector_score(best_passage: float, whole: float) -> float:
    """Meaning, 0..1, from two cosines (-1..1): that of the nearest passage and that of the whole text.

    If the whole text is the only passage, this is its cosine, at least 0.
    """
    return min(1.0, BEST_PASSAGE_WEIGHT * max(0.0, best_passage) + WHOLE_WEIGHT * max(0.0, whole))


def vector_scores(best_passage: Scores, whole: Scores) -> Scores:
    """Columns of ``vector_score``."""
    return np.minimum(BEST_PASSAGE_WEIGHT * np.maximum(best_passage, 0) + WHOLE_WEIGHT * np.maximum(whole, 0), 1)


# --- relevance ---


def semantic_score(vector: _Numbers, lexical: _Numbers) -> _Numbers:
    """Relevance from the vector score and the lexical score, both 0..1. Scalar and columns alike."""
    return VECTOR_WEIGHT * vector + LEXICAL_WEIGHT * lexical


def relevance(best_passage: float, whole: float, lexical: float) -> Relevance:
    """Relevance from the best passage's and the whole's cosine (-1..1) and the lexical score (0..1).

    Absolute: no other candidate enters into it.
    """
    vector = rounded(vector_score(best_passage, whole))
    lexical = rounded(min(1.0, max(0.0, lexical)))
    return Relevance(vector, lexical, rounded(semantic_score(vector, lexical)))


def attainable_relevance(*, vectors: bool, words: bool) -> float:
    """The highest relevance that the index can show: 1, or less if it lacks its vectors or its words."""
    return (VECTOR_WEIGHT if vectors else 0.0) + (LEXICAL_WEIGHT if words else 0.0)


# --- recency ---


def age_days(memory: Memory, as_of: datetime) -> float | None:
    """Days since ``Memory.dated_at``; never below 0. None if the memory has no date."""
    dated_at = memory.dated_at
    if dated_at is None:
        return None
    return max(0.0, (as_of - clock.parse(dated_at)).total_seconds() / SECONDS_A_DAY)


def ages_in_days(dated: Scores, as_of: datetime) -> Scores:
    """Columns of ``age_days``, from seconds since 1970; NaN without a date."""
    return np.maximum(0.0, as_of.timestamp() - dated) / SECONDS_A_DAY


def recency_multiplier(age: float | None, half_life_days: float, floor: float) -> float:
    """floor + (1 - floor) * exp(-ln 2 / half_life * age), with the age in days; 1 without a date."""
    if age is None:
        return 1.0
    decay = math.exp(-math.log(2) / half_life_days * age)
    return rounded(floor + (1.0 - floor) * decay)


def recency_multipliers(ages: Scores, half_life_days: float, floor: float) -> Scores:
    """Columns of ``recency_multiplier``; 1 where the age is NaN."""
    return np.where(np.isnan(ages), 1.0, floor + (1 - floor) * np.exp2(-ages / half_life_days))


# --- status ---


def status_word(memory: Memory) -> str:
    """The status for ranking: ``legacy`` for a memory that has none."""
    return memory.metadata.status or "legacy"


def status_multipliers(statuses: Sequence[str | None]) -> Scores:
    """The multiplier of each status, shape (len(statuses),); None stands for a memory without a status."""
    return np.array([STATUS_MULTIPLIERS[status or "legacy"] for status in statuses])


# --- the score ---


def combined(semantic: _Numbers, recency: _Numbers, status: _Numbers, ranking: Ranking) -> _Numbers:
    """The score from its three factors, in the mode of the question. Scalar and columns alike."""
    if ranking.mode == "product":
        return semantic * recency * status
    return (ranking.alpha * semantic + (1 - ranking.alpha) * recency) * status


def factors(memory: Memory, found: Relevance, ranking: Ranking) -> Factors:
    """The score of a memory for a question."""
    age = age_days(memory, ranking.as_of)
    recency = recency_multiplier(age, ranking.half_life_days, ranking.recency_floor)
    status = STATUS_MULTIPLIERS[status_word(memory)]
    return Factors(found, recency, status, age, rounded(combined(found.semantic_score, recency, status, ranking)))


def scores(semantic: Scores, dated: Scores, status: Scores, ranking: Ranking) -> Scores:
    """Columns of ``factors(...).score``: the semantic score, seconds since 1970 or NaN, the status multiplier."""
    ages = ages_in_days(dated, ranking.as_of)
    return combined(semantic, recency_multipliers(ages, ranking.half_life_days, ranking.recency_floor), status, ranking)


def components(memory: Memory, found: Relevance | None, ranking: Ranking) -> Components:
    """What ``explain`` shows of a score; ``found`` is None without a query."""
    base = boost = None
    if found is not None:
        boost = rounded(VECTOR_WEIGHT * found.vector_score)
        base = max(0.0, rounded(found.semantic_score - boost))
    age = age_days(memory, ranking.as_of)
    return Components(
        base=base,
        recency=recency_multiplier(age, ranking.half_life_days, ranking.recency_floor),
        kind_bonus=rounded(STATUS_MULTIPLIERS[status_word(memory)] - 1),
        semantic_boost=boost,
    )


def order_key(memory: Memory, scored: Factors) -> tuple[float, int, float, str]:
    """Score descending; ties: DecisionRecord, Active, legacy, Draft, Superseded; then newer; then id."""
    time = clock.parse(memory.dated_at or memory.stored_at).timestamp()
    return (-scored.score, STATUS_ORDER[status_word(memory)], -time, memory.id)
