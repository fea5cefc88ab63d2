"""Retrieval: from a question to ranked hits, and the answer of ``retrieve``. Synchronous; it never imports cognee.

It estimates the scores of all candidates at once, then computes the exact scores of the few that may be shown. All
formulas are in ``ranking``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jobs import clock

from ..background import Background
from ..embedding.embedder import Embedder, Vector, embed_query
from ..interface import envelope
from ..memory import Memory
from . import hits
from .catalogue import Catalogue
from .question import Question
from .ranking import (
    ABOVE_ANY_SCORE,
    Factors,
    Ranking,
    Scores,
    ageless_score,
    ageless_scores,
    default_floor,
    factors,
    least_best,
    loses_by_age,
    order_key,
    scores,
)
from .snapshot import Snapshot

if TYPE_CHECKING:
    from ..interface.answer_shapes import RankingUsed, RetrievalSuccess

# More than ten times the error of a semantic score that is estimated in float32.
_MARGIN = 1e-4

Scored = tuple[Memory, Factors]


@dataclass(frozen=True, slots=True)
class Ranked:
    """The hits, best first, and the number of memories that reach the relevance floor.

    ``best_fit``: the memory that fits best and was not ranked first, because of its age alone; None if the first hit
    fits about as well. ``floor``: the relevance floor that was used, as a share of the attainable relevance.
    ``vector``: the query's embedding, shape (dimensions,); None if nothing was compared.
    """

    hits: list[Scored]
    considered: int
    best_fit: Scored | None
    floor: float
    vector: Vector | None = None


def rank(snapshot: Snapshot, question: Question, embedder: Embedder) -> Ranked:
    """The best ``max_results`` memories among those that pass the filters and the relevance floor."""
    candidates = snapshot.candidates(question.filters)
    if not len(candidates):
        return Ranked([], 0, None, question.relevance_floor)

    def compared() -> Vector:
        vector = query_vector(question, embedder)
        snapshot.sweep(vector, candidates)
        return vector

    meaning = Background(compared)
    snapshot.lexical(question.query)  # in parallel; the snapshot keeps the result
    vector = meaning.result()
    compared_count = len(candidates)
    has_name = snapshot.lexical(question.query).has_name(candidates.number)
    candidates, semantic = snapshot.estimate(
        question.query, vector, candidates, lambda some, semantic: _preferred(some, semantic, question)
    )
    attainable = snapshot.attainable_relevance  # only valid after both halves were read
    share = question.relevance_floor
    if question.floor_is_default:
        nearly_best = candidates.take(_top(np.arange(len(semantic)), semantic - _MARGIN, semantic + _MARGIN, 1))
        best = max(found.semantic_score for found in snapshot.relevance(question.query, vector, nearly_best))
        share = default_floor(best / attainable, share, least_best(share, compared_count, has_name))
    floor = share * attainable
    doubtful = np.flatnonzero(np.abs(semantic - floor) < _MARGIN)
    passing = semantic >= floor
    exact = snapshot.relevance(question.query, vector, candidates.take(doubtful))
    passing[doubtful] = [relevance.semantic_score >= floor for relevance in exact]
    candidates, semantic = candidates.take(passing), semantic[passing]
    wanted = np.union1d(_best(candidates, semantic, question), _best_ageless(candidates, semantic, question))
    scored = _scored(snapshot, question, vector, candidates.take(wanted))
    scored.sort(key=lambda pair: order_key(*pair))
    if question.legacy == "append":
        scored.sort(key=lambda pair: pair[0].kind == "legacy")
    return Ranked(scored[: question.max_results], len(candidates), _best_fit(scored, question), share, vector)


def score(snapshot: Snapshot, question: Question, embedder: Embedder, numbers: Sequence[int]) -> list[Scored]:
    """The memories with these numbers, in that order, with the score of ``rank``, but without filters and floor.

    Unknown and hidden memories are left out.
    """
    indexes = snapshot.catalogue.indexes(np.array(numbers, np.int64))
    candidates = snapshot.catalogue.take(indexes[indexes >= 0])
    return _scored(snapshot, question, query_vector(question, embedder), candidates)


def query_vector(question: Question, embedder: Embedder) -> Vector:
    """The embedding of the query, shape (dimensions,)."""
    return embed_query(embedder, question.query)


def _scored(snapshot: Snapshot, question: Question, vector: Vector, candidates: Catalogue) -> list[Scored]:
    """The candidates in their order, with the exact factors."""
    relevances = snapshot.relevance(question.query, vector, candidates)
    numbers = candidates.number.tolist()
    memories = {memory.number: memory for memory in snapshot.memories(numbers)}
    return [
        (memories[number], factors(memories[number], relevance, question.ranking))
        for number, relevance in zip(numbers, relevances, strict=True)
    ]


def _estimated(candidates: Catalogue, semantic: Scores, ranking: Ranking) -> Scores:
    return scores(semantic, candidates.dated, candidates.status, ranking)


def _preferred(candidates: Catalogue, semantic: Scores, question: Question) -> Scores:
    """The estimated scores; with ``append``, raised for all but legacy memories, so that these come last."""
    estimated = _estimated(candidates, semantic, question.ranking)
    return estimated + ABOVE_ANY_SCORE * ~candidates.legacy if question.legacy == "append" else estimated


def _best(candidates: Catalogue, semantic: Scores, question: Question) -> NDArray[np.intp]:
    """The indexes of all candidates that may be among the first ``max_results``, given the estimate's error."""
    least = _estimated(candidates, np.maximum(semantic - _MARGIN, 0.0), question.ranking)
    most = _estimated(candidates, semantic + _MARGIN, question.ranking)
    if question.legacy == "mixed":
        return _top(np.arange(len(semantic)), least, most, question.max_results)
    first = _top(np.flatnonzero(~candidates.legacy), least, most, question.max_results)
    last = _top(np.flatnonzero(candidates.legacy), least, most, question.max_results)
    return np.concatenate([first, last])


def _best_ageless(candidates: Catalogue, semantic: Scores, question: Question) -> NDArray[np.intp]:
    """The indexes of the candidates that may rank first of those with the highest score if age counts for nothing."""
    eligible = np.flatnonzero(~candidates.legacy) if question.legacy == "append" else np.arange(len(semantic))
    lower, upper = np.maximum(semantic - _MARGIN, 0.0), semantic + _MARGIN
    least, most = (ageless_scores(bound, candidates.status, question.ranking) for bound in (lower, upper))
    alike = _top(eligible, least, most, 1)
    least, most = (_estimated(candidates, bound, question.ranking) for bound in (lower, upper))
    return _top(alike, least, most, 1)


def _best_fit(scored: Sequence[Scored], question: Question) -> Scored | None:
    eligible = [pair for pair in scored if question.legacy != "append" or pair[0].kind != "legacy"]
    if not eligible:
        return None
    best = max(eligible, key=lambda pair: ageless_score(pair[1], question.ranking))  # of equal ones, the first
    return best if loses_by_age(best[1], eligible[0][1], question.ranking) else None


def _top(indexes: NDArray[np.intp], least: Scores, most: Scores, count: int) -> NDArray[np.intp]:
    """The indexes whose highest possible score reaches the lowest score that ``count`` of them certainly have."""
    if len(indexes) <= count:
        return indexes
    certain = np.partition(least[indexes], -count)[-count]
    top: NDArray[np.intp] = indexes[most[indexes] >= certain]
    return top


def retrieve(snapshot: Snapshot | None, question: Question, embedder: Embedder | None) -> RetrievalSuccess:
    """The answer in the retrieval contract's shape. Without a snapshot or an embedder the store is empty."""
    if snapshot is None or embedder is None:
        return _answer(question, Ranked([], 0, None, question.relevance_floor), [], None)
    ranked = rank(snapshot, question, embedder)
    packed = hits.pack(ranked.hits, hits.summary_text, embedder.count_tokens, question.max_tokens)
    best = _best_of(snapshot, question, ranked, [memory for memory, *_ in packed])
    return _answer(question, ranked, packed, embedder.tokenizer_name, snapshot.warnings, best)


def _best_of(
    snapshot: Snapshot, question: Question, ranked: Ranked, memories: Sequence[Memory]
) -> dict[int, list[str]]:
    """Memory number -> its best passages, if the question wants them."""
    if not question.best_passages or ranked.vector is None:
        return {}
    from ..text.query_words import QueryWords
    from .best_passages import best_passages

    words = QueryWords(question.query)
    cosines = {memory.number: snapshot.passage_cosines(ranked.vector, memory.number) for memory in memories}
    return {memory.number: best_passages(memory, words, cosines[memory.number]) for memory in memories}


def _answer(
    question: Question,
    ranked: Ranked,
    packed: Sequence[hits.Packed],
    tokenizer: str | None,
    warnings: Sequence[str] = (),
    best_passages: Mapping[int, list[str]] = MappingProxyType({}),
) -> RetrievalSuccess:
    ranking = question.ranking
    results = [hits.hit(*entry) for entry in packed]
    for shown_hit in results:
        if shown_hit["memory_number"] in best_passages:
            shown_hit["best_passages"] = best_passages[shown_hit["memory_number"]]
    shown = [hit["memory_number"] for hit in results]
    return {
        **envelope.SUCCESS,
        "results": results,
        "result_count": len(results),
        "total_results": ranked.considered,
        "total_tokens": sum(hit["tokens"] for hit in results),
        "half_life_days": ranking.half_life_days,
        "include_superseded": question.include_superseded_reason is not None,
        "include_superseded_reason": question.include_superseded_reason,
        "as_of": clock.iso(ranking.as_of),
        "ranking": ranking_used(question, ranked.floor),
        "tokenizer": tokenizer,
        "warnings": [
            *question.warnings,
            *warnings,
            *over_budget(question, len(results), len(ranked.hits)),
            *ranked_down(question, ranked, shown),
        ],
    }


def over_budget(question: Question, shown: int, wanted: int) -> list[str]:
    """A warning if the token budget leaves out some of the ``wanted`` memories; otherwise empty."""
    return [f"{shown} of {wanted} shown: the token budget ({question.max_tokens}) is full"] if shown < wanted else []


def ranked_down(question: Question, ranked: Ranked, shown: Sequence[int]) -> list[str]:
    """A warning if the memory that fits best lost the first place for its age; otherwise empty.

    ``shown``: the numbers of the memories in the answer, in their order.
    """
    if ranked.best_fit is None:
        return []
    memory, scored = ranked.best_fit
    place = f"is number {shown.index(memory.number) + 1}" if memory.number in shown else "is left out"
    is_hit = any(hit.number == memory.number for hit, _ in ranked.hits[: question.max_results])
    reason = "its age and the token budget" if is_hit and memory.number not in shown else "its age"
    remedy = "preset long-lived weighs age less" if question.preset == "contract" else "recency_floor 1 ignores age"
    semantic = scored.query_match.semantic_score
    return [f"#{memory.number} fits best ({semantic:.2f}) and {place} for {reason}; {remedy}"]


def ranking_used(question: Question, floor: float) -> RankingUsed:
    """The ranking parameters of the answer, after clamping; ``floor`` is the relevance floor that was used."""
    ranking = question.ranking
    return {
        "preset": question.preset,
        "mode": ranking.mode,
        "half_life_days": ranking.half_life_days,
        "recency_floor": ranking.recency_floor,
        "alpha": ranking.alpha,
        "relevance_floor": floor,
    }
