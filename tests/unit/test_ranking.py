"""How a score comes about."""

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bridge.argument_table import ARGUMENTS
from bridge.memory import Content, Memory, Metadata
from bridge.search.ranking import (
    ABOVE_ANY_SCORE,
    COMPONENT_WEIGHTS,
    LEXICAL_WEIGHT,
    PERIOD_FLOOR,
    VECTOR_WEIGHT,
    Factors,
    Period,
    Ranking,
    Relevance,
    age_days,
    ageless_score,
    ageless_scores,
    ages_in_days,
    attainable_relevance,
    bm25_norm,
    components,
    default_floor,
    factors,
    feedback_multiplier,
    inverse_document_frequency,
    least_best,
    lexical_scores,
    near_a_period,
    order_key,
    recency_multiplier,
    recency_multipliers,
    relevance,
    rounded,
    scores,
    semantic_score,
    status_word,
    tells_apart,
    vector_score,
    vector_scores,
)
from bridge.store.catalogue import STATUSES, Votes
from bridge.store.rows import dated
from jobs import clock

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
PRODUCT = Ranking("product", 7.0, 0.0, 0.8, NOW)
SHARE = st.floats(0, 1)
COSINE = st.floats(-1, 1)
WEIGHTS = st.sampled_from([0.0, 0.05, 0.2, 0.5])


def summary(status: str | None = "Active", **metadata: str) -> Memory:
    known = Metadata(topic_id="t", status=status, **metadata)  # type: ignore[arg-type]
    return Memory("id", 1, "summary", known, "2026-11-01T00:00:00Z", Content("Topic", "Context"))


def legacy(stored_at: str = "2026-11-13T12:00:00Z", created_at: str | None = None) -> Memory:
    return Memory("id", 1, "legacy", Metadata(created_at=created_at), stored_at, text="said")


def days_ago(days: float) -> str:
    return clock.iso(NOW - timedelta(days=days))


HALF_LIVES = [
    (0.0, 7.0, 0.0, 1.0),
    (7.0, 7.0, 0.0, 0.5),
    (14.0, 7.0, 0.0, 0.25),
    (90.0, 90.0, 0.85, 0.925),
    (7.0, 7.0, 0.5, 0.75),
    (1e9, 7.0, 0.0, 0.0),
    (1e9, 90.0, 0.85, 0.85),
    (None, 0.5, 0.0, 1.0),
]


@pytest.mark.parametrize(("age", "half_life", "floor", "multiplier"), HALF_LIVES)
def test_half_lives_halve_above_the_floor(age: float | None, half_life: float, floor: float, multiplier: float) -> None:
    assert recency_multiplier(age, half_life, floor) == pytest.approx(multiplier, abs=1e-10)


def test_the_age_comes_from_the_source_before_the_creation() -> None:
    memory = summary(source_created_at=days_ago(3), created_at=days_ago(1))
    assert age_days(memory, PRODUCT) == pytest.approx(3)


def test_the_age_comes_from_the_creation_where_there_is_no_source() -> None:
    assert age_days(summary(created_at=days_ago(1)), PRODUCT) == pytest.approx(1)


def test_a_summary_without_a_time_has_no_age_and_does_not_decay() -> None:
    memory = summary()
    assert age_days(memory, PRODUCT) is None
    assert factors(memory, Relevance(1, 1, 1), PRODUCT).recency_multiplier == 1.0


def test_a_legacy_memory_is_as_old_as_its_timestamp_or_else_its_storing() -> None:
    assert age_days(legacy(created_at=days_ago(2)), PRODUCT) == pytest.approx(2)
    assert age_days(legacy(stored_at=days_ago(7)), PRODUCT) == pytest.approx(7)


def test_a_memory_from_the_future_has_the_age_nought() -> None:
    assert age_days(summary(created_at=days_ago(-5)), PRODUCT) == 0.0


MULTIPLIERS = [("DecisionRecord", 1.1), ("Active", 1.0), ("Superseded", 0.4), ("Draft", 1.0)]


@pytest.mark.parametrize(("status", "multiplier"), MULTIPLIERS)
def test_each_status_has_the_multiplier_of_the_contract(status: str, multiplier: float) -> None:
    found = factors(summary(status), Relevance(0.5, 0.5, 0.5), PRODUCT)
    assert found.status_multiplier == multiplier
    assert found.score == pytest.approx(0.5 * multiplier)


def test_a_memory_without_a_status_counts_as_legacy_and_is_not_changed() -> None:
    assert status_word(legacy()) == "legacy"
    assert factors(legacy(), Relevance(0.5, 0.5, 0.5), PRODUCT).status_multiplier == 1.0


def test_the_blend_weighs_relevance_against_recency_before_the_status() -> None:
    ranking = Ranking("blend", 30.0, 0.0, 0.8, NOW)
    found = factors(summary("Superseded", created_at=days_ago(30)), Relevance(0.6, 0.6, 0.6), ranking)
    assert found.score == pytest.approx((0.8 * 0.6 + 0.2 * 0.5) * 0.4)


@given(COSINE, COSINE, SHARE, st.floats(0, 5000), st.floats(*ARGUMENTS["half_life_days"].range), SHARE)
def test_whoever_multiplies_the_factors_as_reported_gets_the_score_as_reported(
    best: float, whole: float, lexical: float, days: float, half_life: float, floor: float
) -> None:
    ranking = Ranking("product", half_life, floor, 0.8, NOW)
    found = factors(summary("DecisionRecord", created_at=days_ago(days)), relevance(best, whole, lexical), ranking)
    product = found.query_match.semantic_score * found.recency_multiplier * found.status_multiplier
    assert found.score == rounded(product)


@given(COSINE, COSINE, SHARE)
def test_relevance_stays_within_nought_and_one_and_adds_up(best: float, whole: float, lexical: float) -> None:
    found = relevance(best, whole, lexical)
    for share in (found.vector_score, found.lexical_score, found.semantic_score):
        assert 0 <= share <= 1
    parts = VECTOR_WEIGHT * found.vector_score + LEXICAL_WEIGHT * found.lexical_score
    assert found.semantic_score == pytest.approx(parts, abs=1e-9)


def test_a_cosine_that_rounds_above_one_still_gives_at_most_one() -> None:
    assert relevance(1.0000002, 1.0000001, 1.5) == Relevance(1.0, 1.0, 1.0)


def test_what_points_the_other_way_is_not_relevant_at_all() -> None:
    assert relevance(-0.3, -0.9, 0.0) == Relevance(0.0, 0.0, 0.0)


@given(COSINE, COSINE, SHARE)
def test_the_best_passage_bounds_the_vector_score_from_above(best: float, whole: float, lexical: float) -> None:
    """What retrieval relies on when it leaves out what cannot reach the floor."""
    best, whole = max(best, whole), min(best, whole)  # the whole is a passage as well
    assert relevance(best, whole, lexical).vector_score <= max(0.0, best) + 1e-9


@given(st.floats(0, 2))
def test_rounding_twice_is_rounding_once(value: float) -> None:
    assert rounded(rounded(value)) == rounded(value)
    assert math.isclose(rounded(value), value, rel_tol=1e-9, abs_tol=1e-300)


def scored(score: float, status: str | None = "Active", created: str = "2026-11-01T00:00:00Z", id: str = "a") -> tuple:
    kind = "legacy" if status is None else "summary"
    memory = Memory(id, 1, kind, Metadata(status=status, created_at=created), "2026-11-01T00:00:00Z")  # type: ignore[arg-type]
    return memory, Factors(Relevance(score, score, score), 1.0, 1.0, score)


def test_hits_are_ordered_by_score_then_status_then_age_then_id() -> None:
    expected = [
        scored(0.9, "Superseded", id="best"),
        scored(0.5, "DecisionRecord", id="record"),
        scored(0.5, "Active", "2026-11-02T00:00:00Z", id="newer"),
        scored(0.5, "Active", id="a"),
        scored(0.5, "Active", id="b"),
        scored(0.5, None, id="legacy"),
        scored(0.5, "Draft", id="draft"),
        scored(0.5, "Superseded", id="superseded"),
        scored(0.1, "DecisionRecord", id="last"),
    ]
    mixed = expected[::2] + expected[1::2]
    found = sorted(mixed, key=lambda pair: order_key(*pair))
    assert [memory.id for memory, _ in found] == [memory.id for memory, _ in expected]


def test_very_old_memories_keep_an_order_among_themselves() -> None:
    """The product is rounded to significant digits, not to places: what is tiny is not nought."""
    young = factors(summary(created_at=days_ago(400)), Relevance(0.5, 0.5, 0.5), PRODUCT)
    old = factors(summary(created_at=days_ago(800)), Relevance(0.5, 0.5, 0.5), PRODUCT)
    assert young.score > old.score > 0


# --- columns beside scalars ---

RANKINGS = st.builds(
    Ranking,
    st.sampled_from(["product", "blend"]),
    st.floats(*ARGUMENTS["half_life_days"].range),
    st.floats(*ARGUMENTS["recency_floor"].range),
    st.floats(*ARGUMENTS["alpha"].range),
    st.just(NOW),
    st.none()
    | st.builds(
        lambda start, end: Period(
            None if start is None else NOW - timedelta(days=start), None if end is None else NOW - timedelta(days=end)
        ),
        st.none() | st.floats(100, 400),
        st.none() | st.floats(0, 100),
    ),
    feedback_weight=st.just(0.0),
)
AGES = st.none() | st.floats(-10, 5000)
"""In days; None without a date."""


@given(st.lists(st.tuples(st.floats(0, 20), st.booleans()), min_size=1), st.floats(1e-6, 30))
def test_a_lexical_score_does_not_depend_on_the_other_memories(found: list[tuple[float, bool]], norm: float) -> None:
    bm25s, names = (np.array(column) for column in zip(*found, strict=True))
    together = lexical_scores(bm25s, norm, names)
    alone = [lexical_scores(bm25s[at : at + 1], norm, names[at : at + 1]) for at in range(len(found))]
    assert together.tolist() == np.concatenate(alone).tolist()
    assert ((together >= 0) & (together <= 1)).all()


@given(st.lists(st.tuples(COSINE, COSINE, SHARE), min_size=1))
def test_columns_of_relevances_are_the_relevances_one_by_one(found: list[tuple[float, float, float]]) -> None:
    best, whole, lexical = (np.array(column) for column in zip(*found, strict=True))
    vectors = vector_scores(best, whole)
    assert vectors.tolist() == [vector_score(b, w) for b, w, _ in found]
    alone = [relevance(*values).semantic_score for values in found]
    assert semantic_score(vectors, lexical) == pytest.approx(np.array(alone), abs=1e-9)


@given(COSINE)
def test_a_whole_text_that_is_the_only_passage_has_its_cosine_as_vector_score(cosine: float) -> None:
    """What the first of two stages relies on."""
    assert vector_score(cosine, cosine) == pytest.approx(max(0.0, cosine))


def aged(days: float | None, status: str | None) -> Memory:
    metadata = Metadata(status=status, created_at=None if days is None else days_ago(days))  # type: ignore[arg-type]
    return Memory("id", 1, "summary", metadata, "2026-11-01T00:00:00Z", Content("Topic", "Context"))


def dates_of(memories: list[Memory]) -> np.ndarray:
    found = [dated(m.kind, m.metadata.created_at, m.metadata.source_created_at, m.stored_at) for m in memories]
    return np.array(found, np.float64)


@given(st.lists(AGES, min_size=1), RANKINGS)
def test_columns_of_ages_and_recencies_are_those_of_each_memory(days: list[float | None], ranking: Ranking) -> None:
    memories = [aged(each, "Active") for each in days]
    ages = ages_in_days(dates_of(memories), ranking)
    alone = [age_days(memory, ranking) for memory in memories]
    assert [None if np.isnan(age) else age for age in ages.tolist()] == [
        None if age is None else pytest.approx(age, abs=1e-9) for age in alone
    ]
    recencies = recency_multipliers(ages, ranking.half_life_days, ranking.recency_floor)
    one_by_one = [recency_multiplier(age, ranking.half_life_days, ranking.recency_floor) for age in alone]
    assert recencies == pytest.approx(np.array(one_by_one), rel=1e-7, abs=1e-9)


VOTES = st.builds(Votes, st.integers(0, 10**6), st.integers(0, 10**6))


@given(st.lists(st.tuples(SHARE, AGES, st.sampled_from(STATUSES), VOTES), min_size=1), RANKINGS, WEIGHTS)
def test_columns_of_scores_are_the_scores_one_by_one(
    found: list[tuple[float, float | None, str | None, Votes]], ranking: Ranking, weight: float
) -> None:
    ranking = ranking._replace(feedback_weight=weight)
    memories = [aged(days, status) for _, days, status, _ in found]
    semantic = np.array([share for share, _, _, _ in found])
    status = np.array([STATUSES.index(status) for _, _, status, _ in found])
    helpful, wrong = (np.array(column, np.int32) for column in zip(*(votes for *_, votes in found), strict=True))
    alone = [
        factors(memory, Relevance(0.0, 0.0, share), ranking, votes)
        for memory, (share, _, _, votes) in zip(memories, found, strict=True)
    ]
    ageless = np.array([ageless_score(one, ranking) for one in alone])
    assert ageless_scores(semantic, status, (helpful, wrong), ranking) == pytest.approx(ageless, rel=1e-7, abs=1e-9)
    columns = scores(semantic, dates_of(memories), status, (helpful, wrong), ranking)
    assert columns == pytest.approx(np.array([one.score for one in alone]), rel=1e-7, abs=1e-9)
    assert (columns < ABOVE_ANY_SCORE).all()


# --- feedback ---


def test_one_vote_moves_a_score_by_a_fifth_of_the_weight() -> None:
    assert feedback_multiplier(Votes(1, 0), 0.2) == 1.04
    assert feedback_multiplier(Votes(0, 1), 0.2) == 0.96


@given(VOTES, WEIGHTS)
def test_many_votes_move_a_score_by_less_than_the_weight_and_hide_nothing(votes: Votes, weight: float) -> None:
    assert 1 - weight <= feedback_multiplier(votes, weight) <= 1 + weight
    assert feedback_multiplier(votes, weight) > 0


@given(VOTES, WEIGHTS)
def test_a_further_helpful_vote_never_lowers_a_score_nor_a_wrong_one_raises_it(votes: Votes, weight: float) -> None:
    now = feedback_multiplier(votes, weight)
    assert feedback_multiplier(votes._replace(helpful=votes.helpful + 1), weight) >= now
    assert feedback_multiplier(votes._replace(wrong=votes.wrong + 1), weight) <= now


def test_as_many_helpful_as_wrong_votes_count_for_nothing() -> None:
    assert feedback_multiplier(Votes(7, 7), 0.5) == feedback_multiplier(Votes(0, 0), 0.5) == 1.0


@given(SHARE, AGES, VOTES, RANKINGS)
def test_without_weight_votes_change_no_digit(share: float, days: float | None, votes: Votes, ranking: Ranking) -> None:
    memory, found = aged(days, "Active"), Relevance(0.0, 0.0, share)
    rated = factors(memory, found, ranking, votes)
    assert rated.reported() == factors(memory, found, ranking).reported()
    assert components(memory, rated, ranking, votes) == components(memory, rated, ranking)


@given(COSINE, SHARE, AGES, VOTES)
def test_factors_with_feedback_make_the_score(cosine: float, lexical: float, days: float | None, votes: Votes) -> None:
    """As they are reported."""
    ranking = PRODUCT._replace(feedback_weight=0.3)
    memory, found = aged(days, "Active"), relevance(cosine, cosine, lexical)
    scored = factors(memory, found, ranking, votes)
    shown, parts = scored.reported(), components(memory, scored, ranking, votes)
    product = shown["semantic_score"] * shown["recency_multiplier"] * shown["status_multiplier"]
    assert shown["score"] == rounded(product * shown["feedback_multiplier"])
    assert parts["feedback"] == shown["feedback_multiplier"]


# --- a time that the question names ---


def test_near_a_period_age_counts_from_the_period_in_both_directions() -> None:
    period = Period(NOW - timedelta(days=30), NOW - timedelta(days=20))
    ranking = near_a_period(PRODUCT, period, None, None)
    assert (ranking.half_life_days, ranking.recency_floor) == (10.0, PERIOD_FLOOR), "as long as the period"
    ages = {days: age_days(aged(days, "Active"), ranking) for days in (40, 30, 25, 20, 5)}
    assert ages == {40: pytest.approx(10), 30: 0.0, 25: 0.0, 20: 0.0, 5: pytest.approx(15)}
    inside, outside = (factors(aged(days, "Active"), Relevance(0, 0, 0.5), ranking) for days in (25, 40))
    assert inside.recency_multiplier == 1.0
    assert outside.recency_multiplier == pytest.approx((1 + PERIOD_FLOOR) / 2), "one half-life away"


def test_an_open_period_has_no_age_on_its_open_side() -> None:
    since = near_a_period(PRODUCT, Period(NOW - timedelta(days=30), None), None, None)
    before = near_a_period(PRODUCT, Period(None, NOW - timedelta(days=30)), None, None)
    assert [age_days(aged(days, "Active"), since) for days in (1, 31)] == [0.0, pytest.approx(1)]
    assert [age_days(aged(days, "Active"), before) for days in (29, 500)] == [pytest.approx(1), 0.0]


def test_what_the_question_says_itself_outweighs_the_length_of_the_period() -> None:
    ranking = near_a_period(PRODUCT, Period(NOW, None), 3.0, 1.0)
    assert (ranking.half_life_days, ranking.recency_floor) == (3.0, 1.0)


# --- terms ---


def test_a_term_tells_the_less_the_more_memories_have_it() -> None:
    idfs = [inverse_document_frequency(100, having) for having in (0, 1, 10, 49, 50, 100, 101)]
    assert idfs == sorted(idfs, reverse=True)
    assert idfs[1] == pytest.approx(math.log(99.5 / 1.5))
    assert [tells_apart(idf) for idf in idfs] == [True, True, True, True, False, False, False]


def lexical_of(bm25: float, norm: float, *, has_name: bool = False) -> float:
    return float(lexical_scores(np.array([bm25]), norm, np.array([has_name]))[0])


def test_a_lexical_score_is_a_share_of_twice_the_norm_of_the_terms() -> None:
    norm = bm25_norm([3.0, 4.0])
    assert norm == pytest.approx(2.2 * 5)
    assert lexical_of(5.5, norm) == pytest.approx(0.25)
    assert lexical_of(5.5, norm, has_name=True) == pytest.approx(0.625)
    assert lexical_of(99.0, norm) == 1.0


@given(st.integers(1, 100), st.floats(1e-6, 12))
def test_of_equally_rare_terms_the_score_falls_only_with_the_root_of_those_it_lacks(lacking: int, idf: float) -> None:
    alone, among = (lexical_of(2.2 * idf, bm25_norm([idf] * count)) for count in (1, 1 + lacking))
    assert alone == pytest.approx(0.5)
    assert among == pytest.approx(alone / math.sqrt(1 + lacking))


# --- the default floor ---


def test_what_the_best_must_reach_rises_with_the_number_of_memories_that_were_compared() -> None:
    reached = [least_best(0.2, memory_count, has_name=False) for memory_count in (1, 10, 100, 1000, 10_000)]
    assert reached == sorted(reached)
    assert reached[0] == reached[1] < reached[2] == 0.2
    assert reached[3] == pytest.approx(0.2 + 0.014 * math.log(10))
    assert least_best(0.0, 1, has_name=False) == 0
    assert least_best(1.0, 10_000, has_name=False) == 1


def test_a_name_of_the_query_needs_no_more_than_the_default_in_a_store_of_any_size() -> None:
    assert least_best(0.2, 10_000, has_name=True) == 0.2
    assert least_best(0.2, 2, has_name=True) == least_best(0.2, 2, has_name=False) < 0.2


@given(SHARE, SHARE, SHARE)
def test_the_default_floor_keeps_the_best_or_nothing(best: float, default: float, least: float) -> None:
    floor = default_floor(best, default, least)
    assert (floor <= default and floor <= best) if best >= least else floor > best


# --- what explain shows ---


@given(COSINE, COSINE, SHARE, AGES, st.sampled_from(STATUSES), RANKINGS)
def test_the_components_make_the_score(
    best: float, whole: float, lexical: float, days: float | None, status: str | None, ranking: Ranking
) -> None:
    memory, found = aged(days, status), relevance(best, whole, lexical)
    parts = components(memory, scored := factors(memory, found, ranking), ranking)
    assert parts["base"] is not None
    assert parts["semantic_boost"] is not None
    assert 0 <= parts["base"] <= COMPONENT_WEIGHTS["base"] + 1e-9
    assert 0 <= parts["semantic_boost"] <= COMPONENT_WEIGHTS["semantic_boost"] + 1e-9
    assert parts["base"] + parts["semantic_boost"] == pytest.approx(found.semantic_score, abs=1e-9)
    assert parts["recency"] == pytest.approx(scored.recency_multiplier)
    assert 1 + parts["kind_bonus"] == pytest.approx(scored.status_multiplier)


def test_without_a_query_only_what_needs_none_is_a_component() -> None:
    parts = components(aged(7, "Superseded"), None, PRODUCT)
    assert (parts["base"], parts["recency"], parts["kind_bonus"], parts["semantic_boost"]) == (None, 0.5, -0.6, None)


def test_without_one_half_of_the_index_less_relevance_is_attainable() -> None:
    assert attainable_relevance(vectors=True, words=True) == pytest.approx(1)
    assert attainable_relevance(vectors=True, words=False) == VECTOR_WEIGHT
    assert attainable_relevance(vectors=False, words=True) == LEXICAL_WEIGHT
    assert attainable_relevance(vectors=False, words=False) == 0
