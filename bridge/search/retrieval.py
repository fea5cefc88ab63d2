"""Retrieval: from a question to ranked hits, and the answer of ``retrieve``. Synchronous; it never imports cognee.

It estimates the scores of all candidates at once, then computes the exact scores of the few that may be shown. All
formulas are in ``ranking``. A ``SecondStage``, if there is one, then judges the first of these again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jobs import clock

from ..background import Background
from ..embedding.embedder import Embedder, Vector, embed_query
from ..interface import envelope
from ..memory import Memory
from . import fit, hits, standing_effects, standings
from .catalogue import Catalogue
from .estimate import Estimate, top
from .question import Question
from .ranking import (
    ABOVE_ANY_SCORE,
    Factors,
    Period,
    Ranking,
    Scores,
    ageless_score,
    ageless_scores,
    default_floor,
    factors,
    good_fit,
    highest_scores,
    least_best,
    loses_by_age,
    order_key,
    scores,
)
from .snapshot import Snapshot

if TYPE_CHECKING:
    from ..interface.answer_shapes import RankingUsed, RetrievalSuccess, Standing
    from .second_stage import SecondStage
    from .standings import Fall

Scored = tuple[Memory, Factors]


@dataclass(frozen=True, slots=True)
class Ranked:
    """The hits, best first, and the number of memories that reach the relevance floor.

    ``best_fit``: the memory that fits best and was not ranked first, because of its age alone; None if the first hit
    fits about as well. ``floor``: the relevance floor that was used, as a share of the attainable relevance.
    ``vector``: the query's embedding, shape (dimensions,). ``question``: as it was ranked, with the period of the
    newest or the oldest and without misspelt words; None without a search. ``vector`` is None if nothing was compared.
    """

    hits: list[Scored]
    considered: int
    best_fit: Scored | None
    floor: float
    vector: Vector | None = None
    question: Question | None = None


def rank(snapshot: Snapshot, question: Question, embedder: Embedder, second: SecondStage | None = None) -> Ranked:
    """The best ``max_results`` memories among those that pass the filters and the relevance floor; the newest of them
    for a question that is only a time.

    ``second`` judges the first of these; then the hits are the best of the memories that it judged. Raises JobError:
    TOPIC_NOT_FOUND, PLAN_NOT_FOUND.
    """
    candidates = snapshot.candidates(question.filters)
    question = spelled(snapshot, question, embedder)
    if not len(candidates):
        return Ranked([], 0, None, question.relevance_floor, question=question)

    def compared() -> Vector:
        vector = query_vector(question, embedder)
        snapshot.sweep(vector, candidates)
        return vector

    if snapshot.knows_words(question.query):
        vector = compared()
    else:
        meaning = Background(compared)
        snapshot.lexical(question.query)  # in parallel; the snapshot keeps the result
        vector = meaning.result()
    compared_count = len(candidates)
    has_name = snapshot.lexical(question.query).has_name(candidates.number)
    estimate = snapshot.estimate(
        question.query, vector, candidates, lambda some, semantic: _preferred(some, semantic, question)
    )
    could_compare = snapshot.has_vectors
    attainable = snapshot.attainable_relevance  # only valid after both halves were read
    share = question.relevance_floor
    if question.floor_is_default:
        best = _best_relevance(snapshot, question, vector, estimate)
        share = default_floor(best / attainable, share, least_best(share, compared_count, has_name))
    estimate = estimate.take(_reaching(snapshot, question, vector, estimate, share * attainable))
    if question.by_date:
        newest = _newest(estimate.candidates, question)
        listed = _scored(snapshot, question, vector, estimate.candidates.take(newest))
        return Ranked(listed, len(estimate), None, share, vector, question)
    timed = _with_extreme(snapshot, question, vector, estimate)
    falls = _falls(snapshot, timed, vector, estimate)
    deep = timed if second is None else replace(timed, max_results=second.depth(timed.max_results))
    deep = replace(deep, max_results=deep.max_results + len(falls))
    wanted = _wanted(estimate, deep)
    if estimate.refine(wanted):
        wanted = _wanted(estimate, deep)
    if could_compare and not snapshot.has_vectors:  # damage that only the refined comparison met
        return rank(snapshot, question, embedder, second)
    chosen = estimate.candidates.take(wanted)
    if falls:
        chosen = _with_falls(candidates, chosen, falls)
    scored = _in_order(_scored(snapshot, timed, vector, chosen), question)
    if second is not None:
        scored = second.judged(question.query, scored[: deep.max_results], timed.ranking)
    if falls or second is not None:
        applied = standing_effects.applied(scored, falls, timed.ranking, asks_past=question.asks_past)
        scored = _in_order(applied, question)
    listed = fit.marked(snapshot, question.query, scored[: question.max_results])
    if question.floor_is_default and len(kept := fit.without_followers(listed)) < len(listed):
        return Ranked(kept, len(kept), _best_fit(kept, timed), share, vector, timed)
    return Ranked(listed, max(len(estimate), len(listed)), _best_fit(scored, timed), share, vector, timed)


def _falls(snapshot: Snapshot, question: Question, vector: Vector, estimate: Estimate) -> dict[int, Fall]:
    """What fell of the candidates that may be hits, or whose heir may be one, by number. So many are looked at that
    ``max_results`` of them do not fall: others cannot become hits by it."""
    known = snapshot.standings
    if known.is_empty:
        return {}
    least = _estimated(estimate.candidates, estimate.least, question.ranking)
    highest = highest_scores(estimate.most, question.ranking)
    known, falls, depth = known.at(question.seen_from), dict[int, "Fall"](), 2 * question.max_results
    is_new = np.ones(len(estimate), np.bool_)
    while True:
        chosen = top(np.arange(len(estimate)), least, highest, depth)
        some = chosen[is_new[chosen]]
        is_new[some] = False
        falls |= standing_effects.falls(known, snapshot, question, vector, estimate.candidates.take(some))
        if depth - len(falls) >= question.max_results or len(chosen) == len(estimate):
            return falls
        depth *= 2


def _with_falls(candidates: Catalogue, chosen: Catalogue, falls: Mapping[int, Fall]) -> Catalogue:
    """The chosen candidates, those that fall, and those that hold in their place, as far as they pass the filters."""
    numbers = {*chosen.number.tolist(), *falls, *(fall.by[0] for fall in falls.values())}
    indexes = candidates.indexes(np.array(sorted(numbers), np.int64))
    return candidates.take(np.sort(indexes[indexes >= 0]))


def spelled(snapshot: Snapshot, question: Question, embedder: Embedder) -> Question:
    """The question with its misspelt words replaced by those of the memories, and a warning that says so.

    The tokenizer knows common words: each is one token. Where tokens are only estimated, nothing is replaced.
    """
    if embedder.tokenizer_name.startswith("estimate"):
        return question
    meant = snapshot.meant(question.query, lambda word: embedder.count_tokens(word) == 1)
    return question.spelled(meant) if meant else question


def _newest(candidates: Catalogue, question: Question) -> NDArray[np.intp]:
    """The indexes of the first ``max_results`` by date, the newest first; of the same moment, the higher number."""
    last = candidates.legacy if question.legacy == "append" else np.zeros(len(candidates), np.bool_)
    return np.lexsort((-candidates.number, -candidates.dated, last))[: question.max_results]


def _in_order(scored: Sequence[Scored], question: Question) -> list[Scored]:
    """The memories in the order of the hits."""
    ordered = sorted(scored, key=lambda pair: order_key(*pair))
    if question.legacy == "append":
        ordered.sort(key=lambda pair: pair[0].kind == "legacy")
    return ordered


def _best_relevance(snapshot: Snapshot, question: Question, vector: Vector, estimate: Estimate) -> float:
    """The exact relevance of the best candidate."""
    nearly_best = _nearly_best(estimate, np.arange(len(estimate)))
    if estimate.refine(nearly_best):
        nearly_best = _nearly_best(estimate, nearly_best)
    found = snapshot.relevance(question.query, vector, estimate.candidates.take(nearly_best))
    return max(relevance.semantic_score for relevance in found)


def _reaching(
    snapshot: Snapshot, question: Question, vector: Vector, estimate: Estimate, least: float
) -> NDArray[np.bool_]:
    """Which candidates have at least this relevance, shape (n,). Where the estimate may err, the exact one decides."""
    doubtful = _doubtful(estimate, least)
    if estimate.refine(doubtful):
        doubtful = _doubtful(estimate, least)
    reaching = estimate.semantic >= least
    if len(doubtful):
        exact = snapshot.relevance(question.query, vector, estimate.candidates.take(doubtful))
        reaching[doubtful] = [relevance.semantic_score >= least for relevance in exact]
    return reaching


def _with_extreme(snapshot: Snapshot, question: Question, vector: Vector, estimate: Estimate) -> Question:
    """The question with its period, if it asks for the newest or the oldest: that of the memories that fit well.

    ``estimate`` is of those that reach the relevance floor.
    """
    if question.time is None or question.time.used not in ("newest", "oldest") or not len(estimate):
        return question
    best = _best_relevance(snapshot, question, vector, estimate)
    fitting = _reaching(snapshot, question, vector, estimate, good_fit(best))
    dated = estimate.candidates.dated
    dated = dated[fitting & ~np.isnan(dated)]
    if not len(dated):
        return question
    if question.time.used == "newest":
        return question.at(Period(datetime.fromtimestamp(float(dated.max()), UTC), None))
    return question.at(Period(None, datetime.fromtimestamp(float(dated.min()), UTC)))


def score(
    snapshot: Snapshot,
    question: Question,
    embedder: Embedder,
    numbers: Sequence[int],
    second: SecondStage | None = None,
) -> list[Scored]:
    """The memories with these numbers, in that order, with the score of ``rank``, but without filters and floor.

    Unknown and hidden memories are left out. The question is as ``rank`` returns it.
    """
    indexes = snapshot.catalogue.indexes(np.array(numbers, np.int64))
    candidates = snapshot.catalogue.take(indexes[indexes >= 0])
    vector = query_vector(question, embedder)
    asked = set(candidates.number.tolist())
    falls: dict[int, Fall] = {}
    known = snapshot.standings.at(question.seen_from)
    if not known.is_empty:
        involved = np.array(sorted(asked | known.older_than(asked)), np.int64)
        passing = snapshot.candidates(question.filters)
        at = passing.indexes(involved)
        falls = standing_effects.falls(known, snapshot, question, vector, passing.take(at[at >= 0]))
    others = {*falls, *(fall.by[0] for fall in falls.values())} - asked
    scored = _scored(snapshot, question, vector, candidates)
    if others:
        at = snapshot.catalogue.indexes(np.array(sorted(others), np.int64))
        scored = [*scored, *_scored(snapshot, question, vector, snapshot.catalogue.take(at))]
    if second is not None:
        scored = second.judged(question.query, scored, question.ranking)
    applied = standing_effects.applied(scored, falls, question.ranking, asks_past=question.asks_past)
    return fit.marked(snapshot, question.query, [pair for pair in applied if pair[0].number not in others])


def query_vector(question: Question, embedder: Embedder) -> Vector:
    """The embedding of the query, shape (dimensions,)."""
    return embed_query(embedder, question.query)


def _scored(snapshot: Snapshot, question: Question, vector: Vector, candidates: Catalogue) -> list[Scored]:
    """The candidates in their order, with the exact factors."""
    relevances = snapshot.relevance(question.query, vector, candidates)
    numbers = candidates.number.tolist()
    memories = {memory.number: memory for memory in snapshot.memories(numbers)}
    return [
        (memories[number], factors(memories[number], relevance, question.ranking, candidates.votes_at(at)))
        for at, (number, relevance) in enumerate(zip(numbers, relevances, strict=True))
    ]


def _estimated(candidates: Catalogue, semantic: Scores, ranking: Ranking) -> Scores:
    return scores(semantic, candidates.dated, candidates.status, candidates.votes, ranking)


def _preferred(candidates: Catalogue, semantic: Scores, question: Question) -> Scores:
    """The estimated scores; with ``append``, raised for all but legacy memories, so that these come last."""
    estimated = _estimated(candidates, semantic, question.ranking)
    return estimated + ABOVE_ANY_SCORE * ~candidates.legacy if question.legacy == "append" else estimated


def _nearly_best(estimate: Estimate, among: NDArray[np.intp]) -> NDArray[np.intp]:
    """Those of the indexes whose candidates may have the highest relevance."""
    return top(among, estimate.semantic - estimate.error, estimate.most, 1)


def _doubtful(estimate: Estimate, floor: float) -> NDArray[np.intp]:
    """The indexes of the candidates that may be on either side of the relevance floor."""
    return np.flatnonzero(np.abs(estimate.semantic - floor) < estimate.error)


def _wanted(estimate: Estimate, question: Question) -> NDArray[np.intp]:
    """The indexes of all candidates of which the exact score is needed, given the estimate's error."""
    candidates, bounds = estimate.candidates, np.stack([estimate.least, estimate.most])
    least, most = _estimated(candidates, bounds, question.ranking)
    wanted = np.zeros(len(candidates), np.bool_)  # np.union1d would import numpy.ma, which takes milliseconds
    wanted[_best(candidates, least, most, question)] = True
    wanted[_best_ageless(candidates, bounds, least, most, question)] = True
    return np.flatnonzero(wanted)


def _best(candidates: Catalogue, least: Scores, most: Scores, question: Question) -> NDArray[np.intp]:
    """The indexes of all candidates that may be among the first ``max_results``."""
    if question.legacy == "mixed":
        return top(np.arange(len(candidates)), least, most, question.max_results)
    first = top(np.flatnonzero(~candidates.legacy), least, most, question.max_results)
    last = top(np.flatnonzero(candidates.legacy), least, most, question.max_results)
    return np.concatenate([first, last])


def _best_ageless(
    candidates: Catalogue, bounds: Scores, least: Scores, most: Scores, question: Question
) -> NDArray[np.intp]:
    """The indexes of the candidates that may rank first of those with the highest score if age counts for nothing.

    ``bounds``: the lowest and highest possible relevance of each, shape (2, n).
    """
    eligible = np.flatnonzero(~candidates.legacy) if question.legacy == "append" else np.arange(len(candidates))
    lower, upper = ageless_scores(bounds, candidates.status, candidates.votes, question.ranking)
    return top(top(eligible, lower, upper, 1), least, most, 1)


def _best_fit(scored: Sequence[Scored], question: Question) -> Scored | None:
    eligible = [pair for pair in scored if question.legacy != "append" or pair[0].kind != "legacy"]
    if not eligible:
        return None
    best = max(eligible, key=lambda pair: ageless_score(pair[1], question.ranking))  # of equal ones, the first
    return best if loses_by_age(best[1], eligible[0][1], question.ranking) else None


def retrieve(
    snapshot: Snapshot | None, question: Question, embedder: Embedder | None, second: SecondStage | None = None
) -> RetrievalSuccess:
    """The answer in the retrieval contract's shape. Without a snapshot or an embedder the store is empty."""
    if snapshot is None or embedder is None:
        return _answer(question, Ranked([], 0, None, question.relevance_floor), [], None, second=second)
    ranked = rank(snapshot, question, embedder, second)
    shown = {known.memory.number: known for known in snapshot.known_memories([hit.number for hit, _ in ranked.hits])}
    packed = hits.pack(ranked.hits, lambda memory: shown[memory.number], embedder.count_tokens, question.max_tokens)
    best = _best_of(snapshot, question, ranked, [memory for memory, *_ in packed])
    standing = standing_effects.described(snapshot, [(memory, factors) for memory, factors, *_ in packed])
    return _answer(question, ranked, packed, embedder.tokenizer_name, snapshot.warnings, best, second, standing)


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
    of = {memory.number: factors for memory, factors in ranked.hits}
    known = snapshot.standings.at(question.seen_from)
    best = {}
    for memory in memories:
        texts, factors = best_passages(memory, words, cosines[memory.number]), of[memory.number]
        if factors.inherited is not None:  # it answers by what it replaced, in words of its own
            holds = standings.line(memory, standing_effects.answering(factors))
            texts = [holds, *(text for text in texts if text != holds)]
        said = standings.remarks(known, memory, snapshot.memories)
        if factors.fall is not None:  # its standing says so
            said.pop(standings.line(memory, standing_effects.answering(factors)), None)
        best[memory.number] = [f"{text} [{said[text]}]" if text in said else text for text in texts]
    return best


def _answer(
    question: Question,
    ranked: Ranked,
    packed: Sequence[hits.Packed],
    tokenizer: str | None,
    warnings: Sequence[str] = (),
    best_passages: Mapping[int, list[str]] = MappingProxyType({}),
    second: SecondStage | None = None,
    standing: Mapping[int, Standing] = MappingProxyType({}),
) -> RetrievalSuccess:
    question = ranked.question or question
    ranking = question.ranking
    results = [hits.hit(*entry) for entry in packed]
    for shown_hit in results:
        if shown_hit["memory_number"] in best_passages:
            shown_hit["best_passages"] = best_passages[shown_hit["memory_number"]]
        if shown_hit["memory_number"] in standing:
            shown_hit["standing"] = standing[shown_hit["memory_number"]]
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
        "ranking": ranking_used(question, ranked.floor, second),
        "tokenizer": tokenizer,
        "warnings": [
            *question.warnings,
            *warnings,
            *(second.warnings if second is not None else []),
            *fit.warnings(ranked.hits),
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
    cause = "its age" if question.ranking.period is None else "its date"
    is_hit = any(hit.number == memory.number for hit, _ in ranked.hits[: question.max_results])
    reason = f"{cause} and the token budget" if is_hit and memory.number not in shown else cause
    remedy = "preset long-lived weighs age less" if question.preset == "contract" else "recency_floor 1 ignores age"
    if question.ranking.period is not None:
        remedy = "time_phrase off ignores the time in the question"
    semantic = scored.query_match.semantic_score
    return [f"#{memory.number} fits best ({semantic:.2f}) and {place} for {reason}; {remedy}"]


def ranking_used(question: Question, floor: float, second: SecondStage | None = None) -> RankingUsed:
    """The ranking parameters of the answer, after clamping; ``floor`` is the relevance floor that was used."""
    ranking = question.ranking
    used: RankingUsed = {
        "preset": question.preset,
        "mode": ranking.mode,
        "half_life_days": ranking.half_life_days,
        "recency_floor": ranking.recency_floor,
        "alpha": ranking.alpha,
        "relevance_floor": floor,
    }
    if question.by_date:
        used["order"] = "date"
    if ranking.feedback_weight:
        used["feedback_weight"] = ranking.feedback_weight
    if question.time is not None:
        used["time"] = question.time.reported()
    if second is not None and (reranker := second.reported()) is not None:
        used["reranker"] = reranker
    if question.query != question.asked:
        used["searched_for"] = question.query
    return used
