"""Retrieval: from a question to ranked hits, and the answer of ``retrieve``. Synchronous; it never imports cognee.

``estimate`` estimates the scores of all candidates at once, and chooses the few that may be shown: of these the exact
scores are computed. All formulas are in ``ranking``. A ``SecondStage``, if there is one, judges the first ones again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jobs import clock

from ..background import Background
from ..embedding.embedder import Embedder, Vector, embed_query
from ..interface import envelope
from ..memory import Memory
from . import failures, fit, hits, standing_effects, standings
from .catalogue import Catalogue
from .estimate import Choice, Estimate, compared
from .question import Question
from .ranking import (
    Scored,
    ageless_score,
    default_floor,
    factors,
    least_best,
    loses_by_age,
    order_key,
)
from .snapshot import Snapshot

if TYPE_CHECKING:
    from ..interface.answer_shapes import RankingUsed, RetrievalHit, RetrievalSuccess
    from .second_stage import SecondStage
    from .standings import Fall


class Ranked(NamedTuple):
    """The hits, best first, and the number of memories that reach the relevance floor.

    ``best_fit``: the memory that fits best and was not ranked first, because of its age alone; None if the first hit
    fits about as well. ``floor``: the relevance floor that was used, as a share of the attainable relevance.
    ``question``: as it was ranked, with the period of the newest or the oldest and without misspelt words.
    ``vector``: the query's embedding, shape (dimensions,); None if nothing was compared.
    """

    hits: list[Scored]
    considered: int
    best_fit: Scored | None
    floor: float
    question: Question
    vector: Vector | None = None


def rank(snapshot: Snapshot, question: Question, embedder: Embedder, second: SecondStage | None = None) -> Ranked:
    """The best ``max_results`` memories among those that pass the filters and the relevance floor; the newest of them
    for a question that is only a time. In five steps: filter, compare, floor, choose, score.

    ``second`` judges the first of these; then the hits are the best of the memories that it judged. Raises JobError:
    TOPIC_NOT_FOUND, PLAN_NOT_FOUND.
    """
    candidates = failures.beside(snapshot, question, snapshot.candidates(question.filters))
    question = spelled(snapshot, question, embedder)
    if not len(candidates):
        return Ranked([], 0, None, question.relevance_floor, question)
    estimate = _compared(snapshot, question, embedder, candidates)
    could_compare = snapshot.has_vectors
    estimate, floor = _above_floor(snapshot, question, candidates, estimate)
    vector = estimate.vector
    if question.by_date:
        newest = _scored(snapshot, question, vector, estimate.newest(question))
        return Ranked(newest, len(estimate), None, floor, question, vector)
    question = estimate.timed(question)
    depth = question.max_results if second is None else second.depth(question.max_results)
    choice = estimate.choose(question, depth, candidates)
    if could_compare and not snapshot.has_vectors:  # damage that only the refined comparison met
        return rank(snapshot, question, embedder, second)
    scored = _judged(snapshot, question, vector, choice, second)
    listed = fit.marked(snapshot, question.query, scored[: question.max_results])
    if question.floor_is_default and len(kept := fit.without_followers(listed)) < len(listed):
        return Ranked(kept, len(kept), _best_fit(kept, question), floor, question, vector)
    return Ranked(listed, max(len(estimate), len(listed)), _best_fit(scored, question), floor, question, vector)


def _compared(snapshot: Snapshot, question: Question, embedder: Embedder, candidates: Catalogue) -> Estimate:
    """The estimated relevance of the candidates. A first question looks up its words while it is embedded; later a
    thread would cost more than that saves."""

    def swept() -> Vector:
        vector = embed_query(embedder, question.query)
        snapshot.sweep(vector, candidates)
        return vector

    if not snapshot.is_new:
        return compared(snapshot, question, swept(), candidates)
    meaning = Background(swept)
    snapshot.lexical(question.query)  # in parallel; the snapshot keeps the result
    return compared(snapshot, question, meaning.result(), candidates)


def _above_floor(
    snapshot: Snapshot, question: Question, candidates: Catalogue, estimate: Estimate
) -> tuple[Estimate, float]:
    """The candidates that reach the relevance floor, and that floor as a share of the attainable relevance."""
    attainable = snapshot.attainable_relevance  # only valid after both halves were read
    share = question.relevance_floor
    if question.floor_is_default:
        has_name = snapshot.lexical(question.query).has_name(candidates.number)
        best = estimate.best_relevance()
        share = default_floor(best / attainable, share, least_best(share, len(candidates), has_name))
    return estimate.take(estimate.reaching(share * attainable)), share


def _judged(
    snapshot: Snapshot, question: Question, vector: Vector, choice: Choice, second: SecondStage | None
) -> list[Scored]:
    """The chosen memories in the order of the hits, with their final factors."""
    scored = _in_order(_scored(snapshot, question, vector, choice.candidates), question)
    if second is not None:
        scored = second.judged(question.query, scored[: choice.depth], question.ranking)
    if choice.falls or second is not None:
        applied = standing_effects.applied(scored, choice.falls, question.ranking, asks_past=question.asks_past)
        scored = _in_order(applied, question)
    return scored


def spelled(snapshot: Snapshot, question: Question, embedder: Embedder) -> Question:
    """The question with its misspelt words replaced by those of the memories, and a warning that says so.

    The tokenizer knows common words: each is one token.
    """
    meant = snapshot.meant(question.query, lambda word: embedder.count_tokens(word) == 1)
    return question.spelled(meant) if meant else question


def _in_order(scored: Sequence[Scored], question: Question) -> list[Scored]:
    """The memories in the order of the hits."""
    ordered = sorted(scored, key=lambda pair: order_key(*pair))
    if question.legacy == "append":
        ordered.sort(key=lambda pair: pair[0].kind == "legacy")
    return ordered


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
    vector = embed_query(embedder, question.query)
    asked = set(candidates.number.tolist())
    falls: dict[int, Fall] = {}
    known = snapshot.standings.at(question.seen_from)
    if not known.is_empty:
        involved = snapshot.candidates(question.filters).of(asked | known.older_than(asked))
        falls = standing_effects.falls(known, snapshot, question, vector, involved)
    others = {*falls, *(fall.by[0] for fall in falls.values())} - asked
    scored = _scored(snapshot, question, vector, candidates)
    if others:
        scored = [*scored, *_scored(snapshot, question, vector, snapshot.catalogue.of(others))]
    if second is not None:
        scored = second.judged(question.query, scored, question.ranking)
    applied = standing_effects.applied(scored, falls, question.ranking, asks_past=question.asks_past)
    return fit.marked(snapshot, question.query, [pair for pair in applied if pair[0].number not in others])


def _scored(snapshot: Snapshot, question: Question, vector: Vector, candidates: Catalogue) -> list[Scored]:
    """The candidates in their order, with the exact factors."""
    relevances = snapshot.relevance(vector, candidates, snapshot.lexical(question.query).of(candidates.number))
    numbers = candidates.number.tolist()
    memories = {memory.number: memory for memory in snapshot.memories(numbers)}
    return [
        (memories[number], factors(memories[number], relevance, question.ranking, candidates.votes_at(at)))
        for at, (number, relevance) in enumerate(zip(numbers, relevances, strict=True))
    ]


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
        return _answer(Ranked([], 0, None, question.relevance_floor, question), [], None, [], second)
    ranked = rank(snapshot, question, embedder, second)
    shown = {known.memory.number: known for known in snapshot.known_memories([hit.number for hit, _ in ranked.hits])}
    kept = partial(kept_in_cut, snapshot, question, ranked)
    packed = hits.pack(ranked.hits, lambda one: shown[one.number], embedder.count_tokens, question.max_tokens, kept)
    best = _best_of(snapshot, question, ranked, [memory for memory, *_ in packed]) if question.best_passages else {}
    standing = standing_effects.described(snapshot, [(memory, factors) for memory, factors, *_ in packed])
    code = snapshot.in_code([memory for memory, *_ in packed])
    results = [hits.hit(*entry) for entry in packed]
    for found in results:
        number = found["memory_number"]
        if number in best:
            found["best_passages"] = best[number]
        if number in standing:
            found["standing"] = standing[number]
        if number in code:
            found["in_code"] = code[number]
    return _answer(ranked, results, embedder.tokenizer_name, snapshot.warnings, second)


def kept_in_cut(snapshot: Snapshot, question: Question, ranked: Ranked, memory: Memory) -> list[str]:
    """The best passages that hold, which a cut does not take away."""
    best = _best_of(snapshot, question, ranked, [memory]).get(memory.number, [])
    return [passage for passage in best if "[replaced by #" not in passage]


def _best_of(
    snapshot: Snapshot, question: Question, ranked: Ranked, memories: Sequence[Memory]
) -> dict[int, list[str]]:
    """Memory number -> its best passages; empty where nothing was compared."""
    if ranked.vector is None:
        return {}
    from ..text.query_words import QueryWords
    from .best_passages import best_passages

    words = QueryWords(question.query)
    cosines = snapshot.cosines(ranked.vector, [memory.number for memory in memories])
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
    ranked: Ranked,
    results: list[RetrievalHit],
    tokenizer: str | None,
    warnings: Sequence[str],
    second: SecondStage | None = None,
) -> RetrievalSuccess:
    question = ranked.question
    ranking = question.ranking
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
            *ranked_down(ranked, shown),
        ],
    }


def over_budget(question: Question, shown: int, wanted: int) -> list[str]:
    """A warning if the token budget leaves out some of the ``wanted`` memories; otherwise empty."""
    return [f"{shown} of {wanted} shown: the token budget ({question.max_tokens}) is full"] if shown < wanted else []


def ranked_down(ranked: Ranked, shown: Sequence[int]) -> list[str]:
    """A warning if the memory that fits best lost the first place for its age; otherwise empty.

    ``shown``: the numbers of the memories in the answer, in their order.
    """
    if ranked.best_fit is None:
        return []
    question = ranked.question
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
