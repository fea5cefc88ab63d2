"""The formula of the score, and the only module that computes with its weights.

    lexical  = BM25 / (2 * norm of the query's terms), at most 1, raised where a name of the query is found
    vector   = 0.6 * cosine of the best passage + 0.4 * cosine of the whole text
    semantic = 0.6 * vector + 0.4 * lexical
               with a reranker, for the first hits: 0.5 * (0.6 * vector + 0.4 * lexical) + 0.5 * rerank
    recency  = floor + (1 - floor) * 0.5 ** (age / half-life)
               what holds inherits the relevance of the memory whose statement it replaced, if that is higher
    score    = semantic * recency * status, or (alpha * semantic + (1 - alpha) * recency) * status
               with a weight of feedback: times 1 + weight * (helpful - wrong) / (helpful + wrong + 4)

``age`` is counted from ``as_of`` on; if the question names a time, from that period in both directions.

Scalar functions compute the numbers that answers show: float64, each factor rounded to ten significant digits before
the multiplication, so that the product of the reported factors is the reported score. Column functions compute the
same for n memories at once, without rounding, to choose candidates; the scalar function scores every chosen candidate
again. Columns are arrays of shape (n,). ``tests/unit/test_ranking.py`` checks that each pair agrees.

A memory is a hit from the relevance floor on. If the question names no floor, the best memory must reach the default
one, adjusted to the number of memories that were compared; then half of the best relevance is enough for the others.
The floor is compared with the relevance without the reranker, which judges only some of the memories above it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from jobs import clock

from ..argument_table import RankingMode
from ..memory import Memory
from ..store.catalogue import STATUSES, Votes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..interface.answer_shapes import ReportedScore, ScoreComponents, ScoreWeights
    from .standings import Fall

# The parts of the relevance (semantic_score).
VECTOR_WEIGHT = 0.6
LEXICAL_WEIGHT = 0.4
# The reranker's part of the relevance of a memory that it judged; the rest is the relevance without it. It was not
# measured with a published model.
RERANK_WEIGHT = 0.5
# The parts of the vector score.
BEST_PASSAGE_WEIGHT = 0.6
WHOLE_WEIGHT = 0.4
# This many times the norm of the query's terms gives a lexical score of 1: a full match of four equally rare words.
FULL_NORMS = 2.0
# An identifier in both query and memory adds this share of the missing lexical score. Times the lexical weight, that
# reaches the default relevance floor, however long the memory's text is.
NAME_SHARE = 0.5
# Constants of BM25 in FTS5 (sqlite.org/fts5.html#the_bm25_function).
BM25_K1 = 1.2
LEAST_IDF = 1e-6
# Among fewer memories no word can be rare: each is in half of them or in none. Then all count alike.
FEWEST_FOR_IDF = 3

STATUS_MULTIPLIERS = {"DecisionRecord": 1.1, "Active": 1.0, "legacy": 1.0, "Superseded": 0.4, "Draft": 1.0}
STATUS_ORDER = {"DecisionRecord": 0, "Active": 1, "legacy": 2, "Draft": 3, "Superseded": 4}
_STATUS_MULTIPLIERS = np.array([STATUS_MULTIPLIERS[status or "legacy"] for status in STATUSES])  # by status code

# By what the status multiplier falls if the statement that answers the question was replaced, and if a newer one may
# contradict it: then the newer one, which inherits its relevance, stands above it, also if it is a record. For a
# question about the past the older one stands above the later one, also if that is a record and the default age floor
# counts against the older one.
STANDING_MULTIPLIERS = {"replaced": 0.4, "disputed": 0.9, "later": 0.75}

SECONDS_A_DAY = 86_400.0

# The default relevance floor falls to this share of the best relevance. It is measured in docs/benchmarks.md.
FLOOR_SHARE = 0.5
# Among more memories the best one is more similar by chance, also for a question that none answers. What the best must
# reach is the default floor for FLOOR_MEMORIES, and rises with the logarithm of their number. In stores of a few
# memories it falls no further than for FEWEST_MEMORIES, since chance words are rare words there.
FLOOR_MEMORIES = 100
FEWEST_MEMORIES = 10
FLOOR_RISE = 0.014
# A hit with less than this above what the best one must reach lies near the floor, if its vector score is below the
# second one: docs/benchmarks.md#questions-without-an-answer.
NEAR_FLOOR = 0.115
LITTLE_MEANING = 0.41
# From this ratio on, a memory fits clearly better than another one.
CLEARLY_BETTER = 1.1

# A question that names a time: what a memory far from it keeps of its score, and the half-life of the days between,
# which is as long as the period itself within these limits.
PERIOD_FLOOR = 0.5
PERIOD_HALF_LIVES = (1.0, 10.0)
# The newest or oldest memory is looked for among those with this share of the best relevance.
FIT_SHARE = 0.8

# Votes that count as given before the first one, half of them helpful. The share of helpful ones is then the mean of a
# beta distribution, (helpful + 2) / (votes + 4): Agresti and Coull, "Approximate is better than exact for interval
# estimation of binomial proportions" (1998). One vote moves a score by a fifth of the weight, many by less than it.
PRIOR_VOTES = 4

# Constants for other modules.
COMPONENT_WEIGHTS: ScoreWeights = {"base": LEXICAL_WEIGHT, "semantic_boost": VECTOR_WEIGHT}
"""The maximum of each component of the relevance."""
RERANKED_WEIGHTS: ScoreWeights = {
    "base": (1 - RERANK_WEIGHT) * LEXICAL_WEIGHT,
    "semantic_boost": (1 - RERANK_WEIGHT) * VECTOR_WEIGHT,
    "rerank": RERANK_WEIGHT,
}
"""The same for a memory that a reranker judged."""
ABOVE_ANY_SCORE = 2 * max(STATUS_MULTIPLIERS.values())
"""Higher than any score, since relevance and recency are at most 1, and the weight of feedback is below 1."""
NO_VOTES = Votes(0, 0)

Scores: TypeAlias = "NDArray[np.float64]"
VoteColumns: TypeAlias = "tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]]"  # helpful and wrong ones
_Numbers = TypeVar("_Numbers", float, Scores)


class Period(NamedTuple):
    """A time from ``start`` (inclusive) to ``end`` (exclusive), both aware; None where it is open."""

    start: datetime | None
    end: datetime | None


class Ranking(NamedTuple):
    """The ranking parameters of a question, after clamping. ``period``: the time that it names, if any."""

    mode: RankingMode
    half_life_days: float
    recency_floor: float
    alpha: float
    as_of: datetime
    period: Period | None = None
    feedback_weight: float = 0.0


class Relevance(NamedTuple):
    """How well a memory's words and meaning match the query, each 0..1. ``rerank_score``: the judgement of a reranker,
    which is then a part of ``semantic_score``."""

    vector_score: float
    lexical_score: float
    semantic_score: float
    rerank_score: float | None = None


class Inherited(NamedTuple):
    """From which memory a relevance is, and what it would be without it."""

    number: int
    own: Relevance


class Factors(NamedTuple):
    """A score and its factors. ``feedback_multiplier`` is None where feedback has no weight.
    ``is_weak``: see ``fit``. ``inherited``, ``fall`` and ``replaces``: see ``standings``."""

    query_match: Relevance
    recency_multiplier: float
    status_multiplier: float
    score: float
    votes: Votes = NO_VOTES
    feedback_multiplier: float | None = None
    is_weak: bool = False
    inherited: Inherited | None = None
    fall: Fall | None = None
    replaces: tuple[Fall, ...] = ()

    def reported(self) -> ReportedScore:
        """The score and its factors as a hit shows them, with the contract's aliases."""
        reported: ReportedScore = {
            "score": self.score,
            "final_score": self.score,
            "relevance_score": self.score,
            "semantic_score": self.query_match.semantic_score,
            "vector_score": self.query_match.vector_score,
            "lexical_score": self.query_match.lexical_score,
            "recency_multiplier": self.recency_multiplier,
            "recency_score": self.recency_multiplier,
            "status_multiplier": self.status_multiplier,
        }
        if self.query_match.rerank_score is not None:
            reported["rerank_score"] = self.query_match.rerank_score
        if self.feedback_multiplier is not None:
            reported["feedback_multiplier"] = self.feedback_multiplier
        return reported


Scored = tuple[Memory, Factors]


def rounded(value: float) -> float:
    """The value rounded to ten significant digits."""
    return float(f"{value:.10g}")


# --- lexical score ---


def inverse_document_frequency(memory_count: int, having: int) -> float:
    """A term's idf as in FTS5: log((N - n + 0.5) / (n + 0.5)), at least LEAST_IDF.

    N: ``memory_count``. n: ``having``, the number of memories with the term; a damaged index may report more than N.
    """
    without = max(0, memory_count - having)
    return max(LEAST_IDF, math.log((without + 0.5) / (having + 0.5)))


def rarity(memory_count: int, having: int) -> float:
    """How much a term counts: its idf among the memories; 1 where these are too few for it."""
    return inverse_document_frequency(memory_count, having) if memory_count >= FEWEST_FOR_IDF else 1.0


def tells_apart(idf: float) -> bool:
    """Whether the term occurs in less than half of the memories; all other terms have LEAST_IDF."""
    return idf > LEAST_IDF


def bm25_norm(idfs: Iterable[float]) -> float:
    """The norm of the query's terms, in units of BM25: (k1 + 1) * the square root of the sum of their squared idf.

    It grows with the square root of the query's length. The sum, which BM25 can attain, grows with the length itself,
    and would make the words of a long query count next to nothing.
    """
    return (BM25_K1 + 1) * math.sqrt(sum(idf * idf for idf in idfs))


def lexical_scores(bm25: Scores, norm: float, has_name: NDArray[np.bool_]) -> Scores:
    """The lexical scores (0..1) of memories from their BM25 and the ``bm25_norm`` of the query. Shape (n,) each.

    A name of the query adds NAME_SHARE of the rest to 1.
    """
    shares: Scores = np.minimum(1.0, bm25 / (FULL_NORMS * norm))
    return np.where(has_name, shares + NAME_SHARE * (1.0 - shares), shares)


# --- vector score ---


def vector_score(best_passage: float, whole: float) -> float:
    """The vector score (0..1) from two cosines (-1..1): of the best passage and of the whole text.

    If the whole text is the only passage, the score is its cosine, at least 0.
    """
    return min(1.0, BEST_PASSAGE_WEIGHT * max(0.0, best_passage) + WHOLE_WEIGHT * max(0.0, whole))


def vector_scores(best_passage: Scores, whole: Scores) -> Scores:
    """The columns of ``vector_score``."""
    return np.minimum(BEST_PASSAGE_WEIGHT * np.maximum(best_passage, 0) + WHOLE_WEIGHT * np.maximum(whole, 0), 1)


# --- relevance ---


def semantic_score(vector: _Numbers, lexical: _Numbers) -> _Numbers:
    """The relevance (0..1) from the vector score and the lexical score (0..1 each). For scalars and columns."""
    return VECTOR_WEIGHT * vector + LEXICAL_WEIGHT * lexical


def semantic_error(cosine_error: float) -> float:
    """The largest error of the relevance if each cosine has an error of at most ``cosine_error``."""
    return VECTOR_WEIGHT * cosine_error


def relevance(best_passage: float, whole: float, lexical: float) -> Relevance:
    """The relevance from the cosines of the best passage and the whole text (-1..1) and the lexical score (0..1).

    It does not depend on other candidates.
    """
    vector = rounded(vector_score(best_passage, whole))
    lexical = rounded(min(1.0, max(0.0, lexical)))
    return Relevance(vector, lexical, rounded(semantic_score(vector, lexical)))


def reranked(found: Relevance, rerank_score: float) -> Relevance:
    """The relevance of a memory that a reranker judged (0..1), from that without the reranker."""
    judged = rounded(min(1.0, max(0.0, rerank_score)))
    first = semantic_score(found.vector_score, found.lexical_score)
    semantic = rounded((1 - RERANK_WEIGHT) * first + RERANK_WEIGHT * judged)
    return Relevance(found.vector_score, found.lexical_score, semantic, judged)


def attainable_relevance(*, vectors: bool, words: bool) -> float:
    """The highest possible relevance: 1, or less if the index lacks its vectors or its words."""
    return (VECTOR_WEIGHT if vectors else 0.0) + (LEXICAL_WEIGHT if words else 0.0)


def least_best(default: float, memory_count: int, has_name: bool) -> float:
    """The relevance (0..1) that the best of ``memory_count`` memories must reach if the question names no floor.

    ``has_name``: one of them has a name of the query; then no more than the default is needed.
    """
    least = rounded(default + FLOOR_RISE * math.log(max(FEWEST_MEMORIES, memory_count) / FLOOR_MEMORIES))
    least = min(1.0, max(0.0, least))
    return min(default, least) if has_name else least


def default_floor(best: float, default: float, least: float) -> float:
    """The relevance floor where the question names none, given the best relevance (0..1) and ``least_best``.

    If the best is below ``least``, nothing answers the question: that is the floor, and there are no hits.
    """
    return least if best < least else min(default, rounded(FLOOR_SHARE * best))


def is_near_floor(found: Relevance, default: float, memory_count: int) -> bool:
    """Whether a hit lies just above the ``default`` floor among so many memories, and its meaning does not fit well,
    without a name of the question and without the judgement of a reranker."""
    is_low = found.semantic_score < least_best(default, memory_count, has_name=False) + NEAR_FLOOR
    is_plain = found.lexical_score < NAME_SHARE and found.rerank_score is None
    return is_low and is_plain and found.vector_score < LITTLE_MEANING


def good_fit(best: float) -> float:
    """The relevance from which a memory may be the newest or oldest that the question asks for, given the best one."""
    return FIT_SHARE * best


# --- recency ---


def age_days(memory: Memory, ranking: Ranking) -> float | None:
    """The days from ``Memory.dated_at`` to ``as_of``, at least 0, or to the period; None if the memory has no date."""
    if memory.dated_at is None:
        return None
    dated = clock.parse(memory.dated_at)
    start, end = _bounds(ranking)
    before = 0.0 if start is None else (start - dated).total_seconds() / SECONDS_A_DAY
    behind = 0.0 if end is None else (dated - end).total_seconds() / SECONDS_A_DAY
    return max(0.0, before, behind)


def ages_in_days(dated: Scores, ranking: Ranking) -> Scores:
    """The columns of ``age_days``, from seconds since 1970; NaN without a date."""
    start, end = _bounds(ranking)
    outside = np.where(np.isnan(dated), np.nan, 0.0)
    if start is not None:
        outside = np.maximum(outside, start.timestamp() - dated)
    if end is not None:
        outside = np.maximum(outside, dated - end.timestamp())
    return outside / SECONDS_A_DAY


def _bounds(ranking: Ranking) -> tuple[datetime | None, datetime | None]:
    return (ranking.as_of, None) if ranking.period is None else (ranking.period.start, ranking.period.end)


def near_a_period(
    ranking: Ranking, period: Period | None, half_life_days: float | None, floor: float | None
) -> Ranking:
    """The ranking of a question that names a time; ``period`` is None if it is known only after the search.

    ``half_life_days`` and ``floor``: those that the question gives itself.
    """
    least, most = PERIOD_HALF_LIVES
    length = most
    if period is not None and period.start is not None and period.end is not None:
        length = (period.end - period.start).total_seconds() / SECONDS_A_DAY
    return ranking._replace(
        period=period,
        half_life_days=min(most, max(least, length)) if half_life_days is None else half_life_days,
        recency_floor=PERIOD_FLOOR if floor is None else floor,
    )


def recency_multiplier(age: float | None, half_life_days: float, floor: float) -> float:
    """floor + (1 - floor) * exp(-ln 2 / half_life * age), with the age in days; 1 without a date."""
    if age is None:
        return 1.0
    decay = math.exp(-math.log(2) / half_life_days * age)
    return rounded(floor + (1.0 - floor) * decay)


def recency_multipliers(ages: Scores, half_life_days: float, floor: float) -> Scores:
    """The columns of ``recency_multiplier``; 1 where the age is NaN."""
    return np.where(np.isnan(ages), 1.0, floor + (1 - floor) * np.exp2(-ages / half_life_days))


# --- status ---


def status_word(memory: Memory) -> str:
    """The status for ranking; ``legacy`` for a memory without a status."""
    return memory.metadata.status or "legacy"


# --- feedback ---


def feedback_multiplier(votes: Votes, weight: float) -> float:
    """1 + weight * (2 * share - 1), with the share of helpful votes after PRIOR_VOTES; 1 without votes.

    Above 1 - weight and below 1 + weight, however many there are.
    """
    return rounded(1.0 + weight * ((votes.helpful - votes.wrong) / (votes.helpful + votes.wrong + PRIOR_VOTES)))


def feedback_multipliers(votes: VoteColumns, weight: float) -> Scores:
    """The columns of ``feedback_multiplier``."""
    helpful, wrong = votes
    return 1.0 + weight * ((helpful - wrong) / (helpful + wrong + PRIOR_VOTES))


# --- the score ---


def combined(semantic: _Numbers, recency: _Numbers, status: _Numbers, ranking: Ranking) -> _Numbers:
    """The score from its three factors, in the question's ranking mode. For scalars and columns."""
    if ranking.mode == "product":
        return semantic * recency * status
    return (ranking.alpha * semantic + (1 - ranking.alpha) * recency) * status


def factors(memory: Memory, found: Relevance, ranking: Ranking, votes: Votes = NO_VOTES) -> Factors:
    """The score of a memory from its relevance and its feedback, with its factors."""
    age = age_days(memory, ranking)
    recency = recency_multiplier(age, ranking.half_life_days, ranking.recency_floor)
    status = STATUS_MULTIPLIERS[status_word(memory)]
    feedback = feedback_multiplier(votes, ranking.feedback_weight) if ranking.feedback_weight else None
    score = _rated(combined(found.semantic_score, recency, status, ranking), feedback)
    return Factors(found, recency, status, score, votes, feedback)


def rescored(
    scored: Factors,
    ranking: Ranking,
    *,
    query_match: Relevance | None = None,
    inherited: Inherited | None = None,
    state: str | None = None,
) -> Factors:
    """The factors with another relevance, or with a status multiplier that falls by a ``state`` of
    STANDING_MULTIPLIERS, and the score that follows."""
    found = scored.query_match if query_match is None else query_match
    status = rounded(scored.status_multiplier * STANDING_MULTIPLIERS.get(state or "", 1.0))
    score = _rated(
        combined(found.semantic_score, scored.recency_multiplier, status, ranking), scored.feedback_multiplier
    )
    return scored._replace(query_match=found, status_multiplier=status, score=score, inherited=inherited)


def _rated(score: float, feedback: float | None) -> float:
    return rounded(score if feedback is None else score * feedback)


def scores(
    semantic: Scores, dated: Scores, status: NDArray[np.integer[Any]], votes: VoteColumns, ranking: Ranking
) -> Scores:
    """The columns of ``factors(...).score``. ``dated``: seconds since 1970 or NaN; ``status``: the status codes.

    ``semantic`` may be several columns at once, shape (m, n); then so is the result.
    """
    recency = recency_multipliers(ages_in_days(dated, ranking), ranking.half_life_days, ranking.recency_floor)
    return _all_rated(combined(semantic, recency, _STATUS_MULTIPLIERS[status], ranking), votes, ranking)


def highest_scores(semantic: Scores, ranking: Ranking) -> Scores:
    """The highest score that a memory of this relevance may have, whatever its age, status and feedback."""
    newest = combined(
        semantic, np.ones_like(semantic), np.full_like(semantic, max(STATUS_MULTIPLIERS.values())), ranking
    )
    return newest * (1 + ranking.feedback_weight)


def _all_rated(found: Scores, votes: VoteColumns, ranking: Ranking) -> Scores:
    return found * feedback_multipliers(votes, ranking.feedback_weight) if ranking.feedback_weight else found


def ageless_score(scored: Factors, ranking: Ranking) -> float:
    """The score that the memory has if age counts for nothing."""
    ageless = combined(scored.query_match.semantic_score, 1.0, scored.status_multiplier, ranking)
    return _rated(ageless, scored.feedback_multiplier)


def ageless_scores(semantic: Scores, status: NDArray[np.integer[Any]], votes: VoteColumns, ranking: Ranking) -> Scores:
    """The columns of ``ageless_score``; ``status``: the status codes. ``semantic`` as in ``scores``."""
    ageless = combined(semantic, np.ones(semantic.shape[-1]), _STATUS_MULTIPLIERS[status], ranking)
    return _all_rated(ageless, votes, ranking)


def loses_by_age(memory: Factors, to: Factors, ranking: Ranking) -> bool:
    """Whether the first memory, which is ranked below the second, fits clearly better than it."""
    return ageless_score(memory, ranking) >= CLEARLY_BETTER * ageless_score(to, ranking)


def components(memory: Memory, scored: Factors | None, ranking: Ranking, votes: Votes = NO_VOTES) -> ScoreComponents:
    """A score as sums for ``explain``: (base + semantic_boost + rerank) * recency * (1 + kind_bonus) * feedback.

    ``base``, ``semantic_boost`` and, if a reranker judged the memory, ``rerank`` add up to the relevance. Without a
    query, ``scored`` and these parts are None.
    """
    base = boost = judged = None
    status = STATUS_MULTIPLIERS[status_word(memory)]
    if scored is not None:
        found, status = scored.query_match, scored.status_multiplier
        vector_weight = VECTOR_WEIGHT
        if found.rerank_score is not None:
            judged = rounded(RERANK_WEIGHT * found.rerank_score)
            vector_weight = RERANKED_WEIGHTS["semantic_boost"]
        boost = rounded(vector_weight * found.vector_score)
        base = max(0.0, rounded(found.semantic_score - boost - (judged or 0.0)))
    age = age_days(memory, ranking)
    parts: ScoreComponents = {
        "base": base,
        "recency": recency_multiplier(age, ranking.half_life_days, ranking.recency_floor),
        "kind_bonus": rounded(status - 1),
        "semantic_boost": boost,
    }
    if judged is not None:
        parts["rerank"] = judged
    if ranking.feedback_weight:
        parts["feedback"] = feedback_multiplier(votes, ranking.feedback_weight)
    return parts


def order_key(memory: Memory, scored: Factors) -> tuple[float, int, float, str]:
    """The sort key of the hits: score descending, then the status in STATUS_ORDER, then the newest, then the id."""
    time = clock.parse(memory.dated_at or memory.stored_at).timestamp()
    return (-scored.score, STATUS_ORDER[status_word(memory)], -time, memory.id)
