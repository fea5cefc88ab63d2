"""A question's arguments: their defaults, ranges and nonsense."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from bridge.argument_table import ARGUMENTS, PRESETS, Preset
from bridge.interface.question_arguments import snake_case, with_settings
from bridge.search.catalogue import Filters
from bridge.search.question import Question, parse_question
from bridge.settings import Settings
from jobs.errors import JobError

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def asked(query: Any = "why", settings: Settings | None = None, **arguments: Any) -> Question:
    return parse_question(with_settings({"query": query, **arguments}, settings or Settings()), NOW)


def refused(**arguments: Any) -> JobError:
    with pytest.raises(JobError) as caught:
        asked(**arguments)
    return caught.value


def test_the_defaults_are_those_of_the_contract() -> None:
    found = parse_question({"query": "  why?  "}, NOW)
    assert found.query == "why?"
    assert (found.max_results, found.max_tokens, found.preset, found.legacy) == (5, 2000, "contract", "mixed")
    assert (found.ranking.mode, found.ranking.half_life_days, found.ranking.recency_floor) == ("product", 7.0, 0.0)
    assert found.ranking.as_of == NOW
    assert found.filters == Filters()
    assert found.include_superseded_reason is None
    assert found.warnings == ()


@pytest.mark.parametrize("query", [None, "", "  \n"])
def test_a_query_without_text_is_refused(query: str | None) -> None:
    assert refused(query=query).code == "QUERY_EMPTY"


def test_a_query_has_at_most_a_hundred_thousand_characters() -> None:
    assert len(asked(query=" " + "x" * 100_000 + " ").query) == 100_000
    error = refused(query="x" * 100_001)
    assert (error.code, error.message) == (
        "ARGUMENT_INVALID", "query has 100,001 characters; it may have 100,000."
    )  # fmt: skip


def test_the_long_lived_preset_and_the_blend_have_half_lives_and_floors_of_their_own() -> None:
    for arguments, expected in (({"preset": "long-lived"}, (90.0, 0.85)), ({"ranking_mode": "blend"}, (30.0, 0.0))):
        ranking = asked(**arguments).ranking
        assert (ranking.half_life_days, ranking.recency_floor) == expected


def test_an_argument_wins_over_the_preset_and_the_settings() -> None:
    settings = Settings(half_life_days=30.0, recency_floor=0.3, max_results=9, max_tokens=99)
    found = asked(settings=settings, preset="long-lived", half_life_days="14", max_results=3)
    assert found.ranking.half_life_days == 14.0
    assert found.ranking.recency_floor == 0.3
    assert (found.max_results, found.max_tokens) == (3, 99)


def test_the_settings_choose_preset_and_mode() -> None:
    found = asked(settings=Settings(ranking_preset="long-lived", ranking_mode="blend", alpha=0.7))
    assert (found.preset, found.ranking.mode, found.ranking.alpha) == ("long-lived", "blend", 0.7)
    assert found.ranking.half_life_days == 90.0


def test_the_default_preset_depends_on_who_asks_and_a_setting_overrides_both() -> None:
    def preset(settings: Settings, *asker: Preset) -> str:
        return parse_question(with_settings({"query": "why"}, settings, *asker), NOW).preset

    assert (preset(Settings()), preset(Settings(), "contract")) == ("long-lived", "contract")
    for chosen in PRESETS:
        settings = Settings(ranking_preset=chosen)
        assert (preset(settings), preset(settings, "contract")) == (chosen, chosen)


def test_only_the_default_relevance_floor_gives_way() -> None:
    assert (asked().relevance_floor, asked().floor_is_default) == (0.2, True)
    assert asked(relevance_floor=0.2).floor_is_default is False
    assert asked(settings=Settings(relevance_floor=0.2)).floor_is_default is False


CLAMPED = [
    ("max_results", 0, 1),
    ("max_results", "5000", 1000),
    ("max_tokens", -1, 1),
    ("max_tokens", 10**9, 1_000_000),
    ("half_life_days", "0.1", 0.5),
    ("half_life_days", 1000, 90.0),
    ("half_life_days", 500, 90.0),
    ("half_life_days", "inf", 90.0),
    ("half_life_days", "-inf", 0.5),
    ("half_life_days", 10**400, 90.0),
    ("max_results", -(10**400), 1),
    ("max_tokens", "1e9", 1_000_000),
    ("recency_floor", 1.5, 1.0),
    ("recency_floor", -0.5, 0.0),
    ("alpha", 1, 0.95),
    ("alpha", 0, 0.6),
    ("relevance_floor", -1, 0.0),
    ("relevance_floor", "2", 1.0),
]


@pytest.mark.parametrize(("name", "value", "kept"), CLAMPED)
def test_what_is_out_of_range_is_clamped_and_reported(name: str, value: Any, kept: float) -> None:
    found = asked(**{name: value})
    target = found.ranking if hasattr(found.ranking, name) else found
    assert getattr(target, name) == kept
    (warning,) = found.warnings
    assert warning.startswith(f"{name} ")
    assert warning.endswith(f"; {kept:.10g} was used")


def test_a_warning_writes_numbers_as_people_do() -> None:
    assert asked(max_tokens=2_000_000).warnings == ("max_tokens 2000000 is outside 1..1000000; 1000000 was used",)


def test_a_setting_out_of_range_is_clamped_and_reported_as_well() -> None:
    found = asked(settings=Settings(half_life_days=400.0))
    assert found.ranking.half_life_days == 90.0
    assert found.warnings == ("half_life_days 400 is outside 0.5..90; 90 was used",)


NONSENSE = [
    ("max_results", "many"),
    ("max_results", "2.5"),
    ("max_results", True),
    ("max_results", "nan"),
    ("max_tokens", []),
    ("half_life_days", "week"),
    ("half_life_days", ""),
    ("alpha", "nan"),
    ("include_superseded", "perhaps"),
    ("preset", "forever"),
    ("ranking_mode", "magic"),
    ("legacy", "hidden"),
    ("status", "Done"),
    ("topic_id", "No Topic!"),
    ("topic_id", 14),
    ("topic_id", " "),
    ("plan_id", ""),
    ("plan_id", 14),
    ("query", 7),
    ("query", ["why"]),
    ("max_results", [10**5000]),
    ("include_superseded", ["true"]),
    ("since", "soon"),
    ("until", True),
    ("as_of", 20261101),
    ("as_of", "yesterday"),
    ("as_of", "9999-12-31T23:59:59-12:00"),
]


@pytest.mark.parametrize(("name", "value"), NONSENSE)
def test_nonsense_is_refused_by_name(name: str, value: Any) -> None:
    error = refused(**{name: value})
    assert error.code == "ARGUMENT_INVALID"
    assert error.message.startswith(f"{name} ")


def test_nonsense_of_any_length_is_shown_shortly() -> None:
    assert len(refused(status="x" * 100_000).message) < 200
    assert len(refused(query=["x"] * 100_000).message) < 200
    assert len(refused(include_superseded=10**5000).message) < 200
    assert asked(max_results=10**5000).max_results == 1000


def test_whole_numbers_may_be_written_with_a_fraction_of_nought() -> None:
    found = asked(max_results=3.0, max_tokens="100.0")
    assert (found.max_results, found.max_tokens) == (3, 100)
    assert isinstance(found.max_results, int)


def test_as_of_is_read_with_its_offset() -> None:
    assert asked(as_of="2026-11-01T02:00:00+02:00").ranking.as_of == datetime(2026, 11, 1, tzinfo=UTC)


ASKING_FOR_SUPERSEDED = [
    ("what was decided", {}, None),
    ("the history of the queue", {}, "query"),
    ("Show All Summaries", {}, "query"),
    ("prehistory", {}, None),
    ("historical queue", {}, None),
    ("the history of the queue", {"include_superseded": "false"}, None),
    ("the history of the queue", {"include_superseded": True}, "argument"),
    ("what was decided", {"include_superseded": "true"}, "argument"),
    ("what was decided", {"include_superseded": "1"}, "argument"),
    ("what was decided", {"include_superseded": " YES "}, "argument"),
    ("what was decided", {"status": "Superseded"}, "status"),
    ("what was decided", {"status": "Superseded", "include_superseded": "no"}, "status"),
    ("what was decided", {"status": "Active"}, None),
    ("the history of the queue", {"status": "Active"}, None),
    ("show all  summaries", {}, "query"),
    ("show all\nsummaries", {}, "query"),
]


@pytest.mark.parametrize(("query", "arguments", "reason"), ASKING_FOR_SUPERSEDED)
def test_who_asks_for_superseded_memories_sees_them(query: str, arguments: dict[str, Any], reason: str | None) -> None:
    found = asked(query, **arguments)
    assert found.include_superseded_reason == reason
    assert found.filters.include_superseded is (reason is not None)


def test_a_time_is_taken_as_exactly_as_it_is_echoed() -> None:
    """So whoever asks again with the echoed time gets the same scores to the last digit."""
    assert asked(as_of="2026-11-01T00:00:00.123987Z").ranking.as_of == datetime(2026, 11, 1, 0, 0, 0, 123000, UTC)
    found = parse_question({"query": "why"}, NOW.replace(microsecond=999_999))
    assert found.ranking.as_of == NOW.replace(microsecond=999_000)


def test_names_may_be_in_camel_case_as_typescript_writes_them() -> None:
    found = asked(
        maxResults=3, maxTokens=99, halfLifeDays=14, includeSuperseded=True, rankingMode="blend", asOf="2026-11-01"
    )
    assert (found.max_results, found.max_tokens, found.ranking.half_life_days) == (3, 99, 14.0)
    assert (found.include_superseded_reason, found.ranking.mode) == ("argument", "blend")
    assert found.ranking.as_of == datetime(2026, 11, 1, tzinfo=UTC)


def test_every_argument_has_its_name_in_camel_case() -> None:
    for name in ARGUMENTS:
        head, *rest = name.split("_")
        assert snake_case(head + "".join(part.capitalize() for part in rest)) == name
        assert snake_case(name) == name


def test_an_argument_in_both_forms_is_refused_unless_one_is_null() -> None:
    error = refused(max_results=3, maxResults=3)
    assert (error.code, error.message.split()[0]) == ("ARGUMENT_INVALID", "max_results")
    assert asked(max_results=None, maxResults=3).max_results == 3
    assert asked(max_results=3, maxResults=None).max_results == 3


def test_halves_of_surrogates_become_question_marks() -> None:
    """They arrive where an argument is not UTF-8; no tokenizer and no database takes them."""
    found = asked("why\ud800", plan_id="\udfff14")
    assert (found.query, found.filters.labels["plan_id"]) == ("why?", "?14")


def test_final_is_another_word_for_active() -> None:
    assert asked(status="Final").filters.status == "Active"


def test_filters_are_passed_on() -> None:
    found = asked(topic_id="job-queue", plan_id="plan-014", status="DecisionRecord")
    assert found.filters == Filters(False, "DecisionRecord", {"topic_id": "job-queue", "plan_id": "plan-014"})


def test_a_topic_id_that_is_a_uuid_may_be_written_in_capitals() -> None:
    """Job files accept it so, and store it in lower case."""
    found = asked(topic_id="0193C7A2-0000-7000-8000-00000000ABCD")
    assert found.filters.labels["topic_id"] == "0193c7a2-0000-7000-8000-00000000abcd"


@given(st.dictionaries(st.sampled_from(["max_results", "alpha", "as_of", "status", "topic_id", "preset"]), st.text()))
def test_no_text_whatever_gives_anything_but_a_question_or_a_refusal(arguments: dict[str, str]) -> None:
    found: Question | str
    try:
        found = asked(**arguments)
    except JobError as error:
        found = error.code
    assert isinstance(found, Question) or found == "ARGUMENT_INVALID"
