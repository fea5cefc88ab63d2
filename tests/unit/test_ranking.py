"""How a score comes about."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from bridge.memory import Content, Memory, Metadata
from bridge.search.ranking import (
    HALF_LIFE_RANGE,
    LEXICAL_WEIGHT,
    VECTOR_WEIGHT,
    Factors,
    Ranking,
    Relevance,
    age_days,
    clamp,
    factors,
    order_key,
    recency_multiplier,
    relevance,
    rounded,
    status_word,
)
from jobs import clock

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
PRODUCT = Ranking("product", 7.0, 0.0, 0.8, NOW)
SHARE = st.floats(0, 1)
COSINE = st.floats(-1, 1)


def summary(status: str | None = "Active", **metadata: str) -> Memory:
    known = Metadata(topic_id="t", status=status, **metadata)  # type: ignore[arg-type]
    return Memory("id", 1, "summary", known, "2026-11-01T00:00:00Z", Content("Topic", "Context"))


def legacy(stored_at: str = "2026-11-13T12:00:00Z", created_at: str | None = None) -> Memory:
    return Memory("id", 1, "legacy", Metadata(created_at=created_at), stored_at, text="said")


def days_ago(days: float) -> str:
    return clock.iso(NOW - timedelta(days=days))


@pytest.mark.parametrize(
    ("age", "half_life", "floor", "multiplier"),
    [
        (0.0, 7.0, 0.0, 1.0),
        (7.0, 7.0, 0.0, 0.5),
        (14.0, 7.0, 0.0, 0.25),
        (90.0, 90.0, 0.85, 0.925),
        (7.0, 7.0, 0.5, 0.75),
        (1e9, 7.0, 0.0, 0.0),
        (1e9, 90.0, 0.85, 0.85),
        (None, 0.5, 0.0, 1.0),
    ],
)
def test_a_half_life_halves_what_is_above_the_floor(
    age: float | None, half_life: float, floor: float, multiplier: float
) -> None:
    assert recency_multiplier(age, half_life, floor) == pytest.approx(multiplier, abs=1e-10)


def test_the_age_comes_from_the_source_before_the_creation() -> None:
    memory = summary(source_created_at=days_ago(3), created_at=days_ago(1))
    assert age_days(memory, NOW) == pytest.approx(3)


def test_the_age_comes_from_the_creation_where_there_is_no_source() -> None:
    assert age_days(summary(created_at=days_ago(1)), NOW) == pytest.approx(1)


def test_a_summary_without_a_time_has_no_age_and_does_not_decay() -> None:
    memory = summary()
    assert age_days(memory, NOW) is None
    assert factors(memory, Relevance(1, 1, 1), PRODUCT).recency_multiplier == 1.0


def test_a_legacy_memory_is_as_old_as_its_timestamp_or_else_its_storing() -> None:
    assert age_days(legacy(created_at=days_ago(2)), NOW) == pytest.approx(2)
    assert age_days(legacy(stored_at=days_ago(7)), NOW) == pytest.approx(7)


def test_a_memory_from_the_future_has_the_age_nought() -> None:
    assert age_days(summary(created_at=days_ago(-5)), NOW) == 0.0


@pytest.mark.parametrize(
    ("status", "multiplier"), [("DecisionRecord", 1.1), ("Active", 1.0), ("Superseded", 0.4), ("Draft", 1.0)]
)
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


@given(COSINE, COSINE, SHARE, st.floats(0, 5000), st.floats(*HALF_LIFE_RANGE), SHARE)
def test_whoever_multiplies_the_factors_as_reported_gets_the_score_as_reported(
    best: float, whole: float, lexical: float, days: float, half_life: float, floor: float
) -> None:
    ranking = Ranking("product", half_life, floor, 0.8, NOW)
    found = factors(summary("DecisionRecord", created_at=days_ago(days)), relevance(best, whole, lexical), ranking)
    product = found.relevance.semantic_score * found.recency_multiplier * found.status_multiplier
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
    return memory, Factors(Relevance(score, score, score), 1.0, 1.0, None, score)


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


def test_a_clamped_value_is_reported_and_a_fitting_one_is_not() -> None:
    warnings: list[str] = []
    assert clamp("alpha", 0.7, 0.6, 0.95, warnings) == 0.7
    assert warnings == []
    assert clamp("alpha", 2, 0.6, 0.95, warnings) == 0.95
    assert clamp("half_life_days", -math.inf, 0.5, 90, warnings) == 0.5
    assert warnings == [
        "alpha 2 is outside 0.6..0.95; 0.95 was used",
        "half_life_days -inf is outside 0.5..90; 0.5 was used",
    ]
