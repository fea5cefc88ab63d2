"""The retrieval contract, sentence by sentence, with the real model: through the script, and through a reader.

That every answer is as the published schema says, and its scores what its factors give, is held by ``contract`` for
each of them; here stands what else the contract promises.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import contract
import pytest
from harness import PROJECT, Place

from bridge import trust
from bridge.graph.open_stores import Stores
from bridge.interface.question_arguments import with_settings
from bridge.memory import Content, Memory, Metadata
from bridge.operations import ingest, task_of
from bridge.search.hits import CUT_MARKER, SHORT_MARKER
from bridge.search.question import parse_question
from bridge.search.ranking import factors, relevance
from bridge.search.reader import Reader
from bridge.settings import load
from jobs import clock
from jobs.model import encode
from jobs.parse import parse_job

NOW = "2025-11-21T12:00:00Z"
FAR = "9999-12-31T23:59:59Z"  # by then every score has decayed to nought
SCRIPT = str(PROJECT / "bridge" / "retrieve.py")

# The contract's own example of an answer with both kinds of memories.
EXAMPLE: dict[str, Any] = {
    "topic": "Plan 014 – Structured Summaries",
    "topic_id": "3e3e4f26-7c02-4b3c-8b9d-8f1f9b3e2a10",
    "plan_id": "014",
    "session_id": "f1b9b8b0-9f1a-4b8f-8c2b-1c2b3d4e5f6a",
    "status": "Active",
    "created_at": "2025-11-17T16:30:00Z",
    "updated_at": "2025-11-17T16:31:00Z",
    "decisions": [
        "Migrate summaries to DataPoints with metadata",
        "Expose structured retrieval contract via retrieve.py",
    ],
    "rationale": ["Enable recency-aware ranking and compaction in later plans"],
    "open_questions": [],
    "next_steps": ["Implement Plan 015 ranking algorithms"],
    "references": ["Plan 014 documentation"],
}
CONTEXT = (
    "Implementing DataPoint-based storage for conversation summaries to enable metadata-driven ranking and compaction."
)
LEGACY_EXAMPLE = (
    "We discussed Plan 013 truncation behavior and decided to remove the 150-char limit. "
    "Full memory content should be visible to users for transparency."
)
ERROR_EXAMPLE = {"success": False, "results": [], "total_results": 0, "total_tokens": 0}

NULL_METADATA = (
    "topic", "topic_id", "plan_id", "session_id", "status", "source_created_at", "created_at", "updated_at",
)  # fmt: skip
STRUCTURED = ("decisions", "rationale", "open_questions", "next_steps", "references")

HARBOUR = "The harbour crane is steered by radio on channel seven."


def ingested(name: str, payload: dict[str, Any]) -> Memory:
    """The memory that an ingest job makes of a payload."""
    job = parse_job(name, encode({"schema_version": 1, "job_id": name, "kind": "ingest", "payload": payload}))
    return replace(ingest.prepare(task_of(job, NOW), "6f1c2b1e-0d7a-4c55-9a53-3f0f6f1a9b10", NOW).memory, id=name)


def harbour(name: str, status: Any, created_at: str | None, **known: Any) -> Memory:
    """Memories of one topic and the same words, so that only what is asked about makes a difference."""
    kind: Any = {"DecisionRecord": "decision_record", None: "legacy"}.get(status, "summary")
    if kind == "legacy":
        return Memory(name, 0, "legacy", Metadata(created_at=created_at), NOW, text=HARBOUR)
    sources = ("harbour-old",) if kind == "decision_record" else ()
    metadata = Metadata("harbour", status=status, created_at=created_at, **known)
    return Memory(name, 0, kind, metadata, NOW, Content("Harbour crane", HARBOUR), sources=sources)


TIMELESS = """\
<!-- Template: v1.0 -->
# Conversation Summary: Lighthouse lamp

**Metadata:**
- Topic ID: lighthouse
- Session ID: N/A
- Plan ID: N/A
- Status: Active
- Created: 2025-11-20T01:30:00+02:00
- Updated: N/A
- Source Created: N/A

## Context
The lighthouse lamp turns once a minute.
"""


def memories() -> list[Memory]:
    day = "2025-11-{:02}T12:00:00Z".format
    return [
        ingested("example", {"summary": {**EXAMPLE, "context": CONTEXT, "time_scope": "Nov 17 14:00-16:30"}}),
        ingested("legacy-example", {"summary_text": LEGACY_EXAMPLE}),
        ingested("timeless", {"summary_text": TIMELESS}),
        harbour("harbour-active", "Active", day(14), source_created_at=day(7), plan_id="plan-014", session_id="s"),
        harbour("harbour-newer", "Active", day(20), plan_id="014-some-title"),
        harbour("harbour-record", "DecisionRecord", day(14), plan_id="014"),
        harbour("harbour-old", "Superseded", day(14), plan_id="015"),
        harbour("harbour-draft", "Draft", day(14)),
        harbour("harbour-undated", "Active", None),
        harbour("harbour-legacy", None, day(14)),
        Memory(
            "huge", 0, "legacy", Metadata(), NOW,
            text="Minutes of the zeppelin club. " + "The zeppelin rises. " * 30_000,
        ),
        Memory(
            "buoy", 0, "summary", Metadata("buoy", "", "", "Active", "soon", "", "N/A"), NOW,
            Content("Buoy", "The buoy rings in the fog."),
        ),
        Memory("key", 0, "legacy", Metadata(), NOW, text="The certificate of the observatory: " + "Ab1" * 20_000),
        Memory(
            "signs", 0, "legacy", Metadata(), NOW,
            text="שלום עולם, the parrot said.\0 🦜👩‍👩‍👧 \u202eolleh\u202c “Größe” 状态机 e\u0301",
        ),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def place(model_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("contract"), COGNEE_MEMORY_CACHE_DIR=str(model_cache))
    trust.adopt(place.workspace, place.config)
    store = Stores(place.workspace, load(environment=place.environment)).store
    store.add([(memory, None) for memory in memories()], NOW)
    store.close()
    return place


@pytest.fixture(scope="module")
def reader(place: Place) -> Reader:
    return Reader(place.workspace, load(environment=place.environment).embedding)


Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def asked(place: Place, reader: Reader) -> Ask:
    """A question to a reader that is there, which is quick; ``now`` is the time that the memories are told of."""
    settings = load(environment=place.environment)

    def put(query: str, **arguments: Any) -> dict[str, Any]:
        given = with_settings({"query": query, **arguments}, settings, "contract")
        return reader.answer("retrieve", given, clock.parse(NOW))

    return put


def script(place: Place, *arguments: str, status: int = 0) -> dict[str, Any]:
    """What ``python bridge/retrieve.py`` prints on stdout, which is one object and nothing else; and no other word."""
    done = place.python(SCRIPT, *arguments)
    assert (done.stderr, done.returncode) == ("", status)
    return contract.checked(done.stdout)


def ids(found: dict[str, Any]) -> list[str]:
    return [hit["memory_id"] for hit in found["results"]]


HARBOUR_QUERY = "how is the harbour crane steered"


def of_the_harbour(found: dict[str, Any]) -> set[str]:
    return {name.removeprefix("harbour-") for name in ids(found)}


# --- the examples ---


def test_the_contracts_example_comes_back_with_its_own_values(place: Place) -> None:
    """Text and scores apart, which are this program's own."""
    found = script(place, str(place.workspace.root), "Plan 014 structured summaries, Plan 013 truncation", "2", "5000")
    assert found["total_results"] >= 2
    by_type = {hit["memory_type"]: hit for hit in found["results"]}
    structured, legacy = by_type["summary"], by_type["legacy"]
    assert {name: structured[name] for name in EXAMPLE} == EXAMPLE
    assert CONTEXT in structured["summary_text"]
    assert EXAMPLE["decisions"][1] in structured["summary_text"]
    assert legacy["summary_text"] == LEGACY_EXAMPLE
    assert {name: legacy[name] for name in NULL_METADATA} == dict.fromkeys(NULL_METADATA)
    assert not set(STRUCTURED) & set(legacy)


def test_an_error_has_the_shape_of_the_contracts_example(place: Place) -> None:
    found = script(place, str(place.workspace.root / "nowhere"), "anything", status=1)
    assert {name: found[name] for name in ERROR_EXAMPLE} == ERROR_EXAMPLE
    assert isinstance(found["error"], str)
    assert (found["error_code"], bool(found["remediation"])) == ("WORKSPACE_MISSING", True)


# --- the parameters ---


def test_the_six_positional_arguments_stand_in_the_contracts_order(place: Place) -> None:
    found = script(place, str(place.workspace.root), HARBOUR_QUERY, "3", "150", "14", "true")
    assert (found["half_life_days"], found["include_superseded"]) == (14.0, True)
    assert found["total_tokens"] <= 150
    assert found["result_count"] <= 3 < found["total_results"]
    assert script(place, str(place.workspace.root), HARBOUR_QUERY, "1")["result_count"] == 1


def test_what_is_left_out_has_the_contracts_defaults(place: Place) -> None:
    found = script(place, str(place.workspace.root), HARBOUR_QUERY)
    assert (found["half_life_days"], found["include_superseded"], found["result_count"]) == (7.0, False, 5)
    assert found["total_tokens"] <= 2000
    assert found["ranking"] == {
        "preset": "contract", "mode": "product", "half_life_days": 7.0, "recency_floor": 0.0, "alpha": 0.8,
        "relevance_floor": 0.2,
    }  # fmt: skip


def test_the_editors_settings_are_the_defaults_of_a_question(place: Place, tmp_path: Path) -> None:
    before = place.environment
    place.environment = before | {
        "COGNEE_MEMORY_MAX_RESULTS": "2", "COGNEE_MEMORY_MAX_TOKENS": "60", "COGNEE_MEMORY_HALF_LIFE_DAYS": "30",
    }  # fmt: skip
    try:
        found = script(place, str(place.workspace.root), HARBOUR_QUERY)
        own = script(place, str(place.workspace.root), HARBOUR_QUERY, "3", "2000", "0.5")
    finally:
        place.environment = before
    assert (found["half_life_days"], found["result_count"]) == (30.0, 1)
    assert found["total_tokens"] <= 60
    assert (own["half_life_days"], own["result_count"]) == (0.5, 3)


@pytest.mark.parametrize(
    ("arguments", "name", "kept"),
    [
        (("--half-life-days", "0.1"), "half_life_days", 0.5),
        (("--half-life-days", "500"), "half_life_days", 90.0),
        (("--recency-floor", "-1"), "recency_floor", 0.0),
        (("--relevance-floor", "-0.5"), "relevance_floor", 0.0),
        (("--relevance-floor", "7"), "relevance_floor", 1.0),
        (("--alpha", "0.1", "--ranking-mode", "blend"), "alpha", 0.6),
        (("--alpha", "1", "--ranking-mode", "blend"), "alpha", 0.95),
    ],
)
def test_what_is_out_of_range_is_clamped_echoed_and_reported(
    place: Place, arguments: tuple[str, ...], name: str, kept: float
) -> None:
    found = script(place, str(place.workspace.root), HARBOUR_QUERY, *arguments)
    assert found["ranking"][name] == kept
    warning, *_ = found["warnings"]
    assert warning.startswith(f"{name} {float(arguments[1]):g} is outside ")


def test_counts_out_of_range_are_clamped_and_reported(place: Place) -> None:
    root = str(place.workspace.root)
    least = script(place, root, HARBOUR_QUERY, "0", "0")
    assert (least["result_count"], least["total_tokens"]) == (1, 1)
    clamped = ["max_results 0 is outside 1..1000; 1 was used", "max_tokens 0 is outside 1..1000000; 1 was used"]
    assert least["warnings"][:2] == clamped
    assert [warning for warning in least["warnings"][2:] if "preset long-lived weighs age less" not in warning] == []
    most = script(place, root, HARBOUR_QUERY, "5000", "2000000", "7", "true")
    assert most["warnings"][:2] == ["max_results 5000 is outside 1..1000; 1000 was used",
                                    "max_tokens 2000000 is outside 1..1000000; 1000000 was used"]  # fmt: skip
    assert [warning for warning in most["warnings"][2:] if "preset long-lived weighs age less" not in warning] == []
    assert most["result_count"] == most["total_results"] > 5


@pytest.mark.parametrize(
    "arguments",
    [
        ("many",),
        ("5", "much"),
        ("5", "2000", "a week"),
        ("5", "2000", "nan"),
        ("5", "2000", "7", "perhaps"),
        ("5", "2000", "7", "true", "more"),
        ("2.5",),
        ("--status", "Done"),
        ("--topic-id", "No Topic!"),
        ("--since", "yesterday"),
        ("--since", "2025-11-20", "--until", "2025-11-19"),
        ("--preset", "forever"),
        ("--ranking-mode", "magic"),
        ("--legacy", "hidden"),
        ("--loud",),
    ],
)
def test_nonsense_is_an_error_with_code_and_exit_status(place: Place, arguments: tuple[str, ...]) -> None:
    found = script(place, str(place.workspace.root), HARBOUR_QUERY, *arguments, status=2)
    assert (found["error_code"], found["results"]) == ("ARGUMENT_INVALID", [])


@pytest.mark.parametrize("arguments", [("",), (" \n",), ()])
def test_an_empty_query_is_an_error_with_code_and_exit_status(place: Place, arguments: tuple[str, ...]) -> None:
    assert script(place, str(place.workspace.root), *arguments, status=2)["error_code"] == "QUERY_EMPTY"


# --- the hits ---


def test_each_legacy_metadata_field_is_null_and_there(asked: Ask) -> None:
    for hit in asked("parrot zeppelin Plan 013 truncation", max_results=1000)["results"]:
        if hit["memory_type"] == "legacy":
            assert [hit[name] for name in NULL_METADATA] == [None] * len(NULL_METADATA)


def test_times_are_null_or_in_utc_whatever_was_stored(asked: Ask) -> None:
    (lamp,) = asked("how often does the lighthouse lamp turn", topic_id="lighthouse")["results"]
    assert (lamp["created_at"], lamp["source_created_at"]) == ("2025-11-19T23:30:00Z", None)
    assert (lamp["session_id"], lamp["plan_id"]) == (None, None)
    hits = {hit["memory_id"]: hit for hit in asked(HARBOUR_QUERY, topic_id="harbour", max_results=9)["results"]}
    undated = hits["harbour-undated"]
    assert [undated[name] for name in ("source_created_at", "created_at", "updated_at")] == [None] * 3
    assert undated["recency_multiplier"] == 1.0, "what has no date does not decay"


def test_what_is_no_time_and_what_is_empty_counts_as_none(asked: Ask) -> None:
    """Whoever wrote it into the store: one such memory must not spoil the answers with others in them."""
    (buoy,) = asked("the buoy in the fog", topic_id="buoy")["results"]
    for name in ("session_id", "plan_id", "source_created_at", "created_at", "updated_at"):
        assert buoy[name] is None, name
    assert buoy["recency_multiplier"] == 1.0
    assert asked("the buoy in the fog", topic_id="buoy", since="1970-01-01")["results"] == []


def test_a_text_is_shown_with_its_status_of_now(asked: Ask) -> None:
    (hit,) = asked(HARBOUR_QUERY, status="Superseded")["results"]
    assert "- Status: Superseded" in hit["summary_text"]


def test_a_decision_record_says_what_it_was_made_of(asked: Ask) -> None:
    (hit,) = asked(HARBOUR_QUERY, status="DecisionRecord")["results"]
    assert (hit["memory_type"], hit["compaction_source"]) == ("decision_record", ["harbour-old"])
    assert set(STRUCTURED) <= set(hit)


# --- scores ---


@pytest.mark.parametrize("half_life", [0.5, 7, 30, 90])
def test_the_recency_multiplier_is_exponential_decay_of_the_age_at_the_source(asked: Ask, half_life: float) -> None:
    found = asked(HARBOUR_QUERY, half_life_days=half_life, as_of=NOW, max_results=9, include_superseded=True)
    multipliers = {hit["memory_id"]: hit["recency_multiplier"] for hit in found["results"]}
    # Days since source_created_at, else created_at.
    for name, age in (("active", 14), ("newer", 1), ("record", 7), ("old", 7), ("legacy", 7)):
        decay = math.exp(-math.log(2) / half_life * age)
        assert multipliers[f"harbour-{name}"] == float(f"{decay:.10g}"), name
        assert decay == pytest.approx(0.5 ** (age / half_life), rel=1e-12)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"half_life_days": 0.5},
        {"half_life_days": 90, "recency_floor": 0.3},
        {"preset": "long-lived"},
        {"ranking_mode": "blend"},
        {"ranking_mode": "blend", "alpha": 0.6, "half_life_days": 7},
        {"ranking_mode": "blend", "alpha": 0.95, "preset": "long-lived"},
    ],
)
def test_whoever_computes_the_score_from_its_factors_gets_it_to_the_last_bit(
    asked: Ask, arguments: dict[str, Any]
) -> None:
    found = asked(HARBOUR_QUERY, **arguments, max_results=1000, max_tokens=1_000_000, include_superseded=True)
    assert len(found["results"]) >= 6
    for hit in found["results"]:
        relevance, recency, status = (
            hit[name] for name in ("semantic_score", "recency_multiplier", "status_multiplier")
        )
        alpha = found["ranking"]["alpha"]
        product, blend = relevance * recency * status, (alpha * relevance + (1 - alpha) * recency) * status
        shown = blend if arguments.get("ranking_mode") == "blend" else product
        assert hit["score"] == hit["final_score"] == hit["relevance_score"] == float(f"{shown:.10g}")


def test_the_blend_of_an_older_plan_is_the_same_formula_with_a_half_life_of_thirty_days() -> None:
    """combined_score = alpha * semantic + (1 - alpha) * recency_score, with the sample of that plan."""
    asked = parse_question({"query": "x", "ranking_mode": "blend"}, clock.parse(NOW))
    assert (asked.ranking.alpha, asked.ranking.half_life_days) == (0.8, 30.0)
    month_old = harbour("a", "Active", "2025-10-22T12:00:00Z")
    found = factors(month_old, relevance(0.9, 0.9, 0.9), asked.ranking)
    assert found.recency_multiplier == 0.5
    assert found.score == pytest.approx(0.8 * 0.9 + 0.2 * 0.5, abs=1e-10)


def test_of_two_alike_the_newer_one_comes_first(asked: Ask) -> None:
    found = ids(asked(HARBOUR_QUERY, status="Active", topic_id="harbour"))
    assert found.index("harbour-newer") < found.index("harbour-active")


def test_a_shorter_half_life_weighs_age_more(asked: Ask) -> None:
    def share(half_life: float) -> float:
        found = asked(HARBOUR_QUERY, half_life_days=half_life, status="Active", topic_id="harbour")
        scores = {hit["memory_id"]: hit["score"] for hit in found["results"]}
        return float(scores["harbour-active"] / scores["harbour-newer"])

    assert share(1) < share(7) < share(90) < 1


def test_the_time_that_is_echoed_asks_the_same_question_again(asked: Ask) -> None:
    """To the last digit, though a clock counts in smaller steps than what is echoed."""
    first = asked(HARBOUR_QUERY, as_of="2025-11-21T12:00:00.123987Z")
    assert first["as_of"] == "2025-11-21T12:00:00.123Z"
    assert asked(HARBOUR_QUERY, as_of=first["as_of"]) == first


def test_the_same_question_gives_the_same_bytes_through_every_door(place: Place, asked: Ask) -> None:
    arguments = (str(place.workspace.root), HARBOUR_QUERY, "9", "5000", "7", "true", "--as-of", NOW)
    first, second = (place.python(SCRIPT, *arguments).stdout for _ in range(2))
    assert first == second
    inside = asked(HARBOUR_QUERY, max_results=9, max_tokens=5000, half_life_days=7, include_superseded=True, as_of=NOW)
    assert first == json.dumps(inside, ensure_ascii=False) + "\n"


# --- statuses ---


def test_superseded_and_draft_memories_are_left_out_unless_asked_for(asked: Ask) -> None:
    shown = {"active", "newer", "record", "undated", "legacy"}
    assert of_the_harbour(asked(HARBOUR_QUERY, max_results=99)) == shown
    assert of_the_harbour(asked(HARBOUR_QUERY, max_results=99, include_superseded=True)) == shown | {"old"}


@pytest.mark.parametrize(
    ("query", "arguments", "reason"),
    [
        ("the history of the harbour crane", {}, "query"),
        ("all summaries about the harbour crane", {}, "query"),
        ("All\n summaries about the harbour crane", {}, "query"),
        ("the history of the harbour crane", {"include_superseded": False}, None),
        ("the harbour crane", {"include_superseded": "true"}, "argument"),
        ("the harbour crane", {"status": "Superseded"}, "status"),
        ("the harbour crane, a prehistory", {}, None),
        ("the history of the harbour crane", {"status": "Active"}, None),
    ],
)
def test_who_asked_for_superseded_memories_is_said(
    asked: Ask, query: str, arguments: dict[str, Any], reason: str | None
) -> None:
    found = asked(query, max_results=99, **arguments)
    assert (found["include_superseded"], found["include_superseded_reason"]) == (reason is not None, reason)
    assert ("harbour-old" in ids(found)) is (reason is not None)


def test_ties_stand_in_the_order_of_their_statuses_then_of_their_dates_then_of_their_ids(asked: Ask) -> None:
    found = asked(HARBOUR_QUERY, as_of=FAR, include_superseded=True, max_results=99, max_tokens=1_000_000)
    tied = [hit["memory_id"] for hit in found["results"] if hit["score"] == 0.0]
    assert tied == [
        "harbour-record", "harbour-newer", "harbour-active", "harbour-legacy", "harbour-old",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "names"),
    [
        ("Active", {"active", "newer", "undated"}),
        ("Final", {"active", "newer", "undated"}),
        ("DecisionRecord", {"record"}),
        ("Superseded", {"old"}),
        ("Draft", {"draft"}),
    ],
)
def test_a_status_can_be_asked_for(asked: Ask, status: str, names: set[str]) -> None:
    assert of_the_harbour(asked(HARBOUR_QUERY, status=status, max_results=99)) == names


# --- filters ---


@pytest.mark.parametrize("plan", ["014", "plan-014", "014-some-title", "Plan 014", "plan_014-another-title"])
def test_a_plan_is_the_same_however_it_is_written(asked: Ask, plan: str) -> None:
    found = asked(HARBOUR_QUERY, plan_id=plan, max_results=99)
    assert of_the_harbour(found) == {"active", "newer", "record"}
    assert {hit["plan_id"] for hit in found["results"]} == {"014", "plan-014", "014-some-title"}, "as it was given"


def test_a_topic_can_be_asked_for(asked: Ask) -> None:
    assert {hit["topic_id"] for hit in asked(HARBOUR_QUERY, topic_id="harbour", max_results=99)["results"]} == {
        "harbour"
    }
    assert asked(HARBOUR_QUERY, topic_id="no-such-topic")["results"] == []


@pytest.mark.parametrize(
    ("bounds", "names"),
    [
        ({"since": "2025-11-14T12:00:00Z"}, {"newer", "record", "legacy"}),
        ({"since": "2025-11-14T12:00:01Z"}, {"newer"}),
        ({"since": "2025-11-07", "until": "2025-11-14T13:00:00+01:00"}, {"active"}),
        ({"until": "2025-11-14T12:00:00Z"}, {"active"}),
        ({"until": "2025-11-14T12:00:00.001"}, {"active", "record", "legacy"}),
        ({"since": "2025-11-21"}, set()),
    ],
)
def test_a_range_of_time_begins_with_its_first_bound_and_ends_before_its_second(
    asked: Ask, bounds: dict[str, str], names: set[str]
) -> None:
    """By the date from which the age counts; what has none is out of any range."""
    assert of_the_harbour(asked(HARBOUR_QUERY, **bounds, max_results=99)) == names


def test_legacy_memories_can_be_put_behind_the_others(asked: Ask) -> None:
    mixed = asked("zeppelin club, harbour crane", max_results=99, max_tokens=1_000_000)
    appended = asked("zeppelin club, harbour crane", max_results=99, max_tokens=1_000_000, legacy="append")
    assert sorted(ids(mixed)) == sorted(ids(appended))
    kinds = [hit["memory_type"] == "legacy" for hit in appended["results"]]
    assert kinds == sorted(kinds)
    assert [hit["memory_type"] == "legacy" for hit in mixed["results"]] != kinds, "else nothing was shown"


# --- the budget ---


@pytest.mark.parametrize("budget", [1, 2, 9, 10, 17, 18, 40, 100, 500, 3000])
def test_no_answer_has_more_tokens_than_were_asked_for(asked: Ask, budget: int) -> None:
    found = asked(HARBOUR_QUERY, max_tokens=budget, max_results=99)
    assert 1 <= found["result_count"] <= found["total_results"]
    assert found["total_tokens"] <= budget
    assert found["tokenizer"] == "sentence-transformers/all-MiniLM-L6-v2"


def test_a_first_hit_that_does_not_fit_is_cut_where_everybody_sees_it(asked: Ask) -> None:
    (hit,) = asked("minutes of the zeppelin club", max_tokens=100)["results"]
    assert hit["summary_text"].startswith("Minutes of the zeppelin club.")
    assert hit["summary_text"].endswith(CUT_MARKER)
    assert 90 <= hit["tokens"] <= 100
    (hit,) = asked("minutes of the zeppelin club", max_tokens=3)["results"]
    assert hit["summary_text"] == f"Minutes of{SHORT_MARKER}"


def test_a_key_of_thousands_of_characters_is_more_than_one_token(asked: Ask) -> None:
    """To the model's tokenizer it is a single unknown word; a prompt would be full of it."""
    (hit,) = asked("certificate of the observatory", max_tokens=100)["results"]
    assert len(hit["summary_text"]) < 600
    assert hit["tokens"] <= 100


def test_packing_stops_at_the_first_hit_that_does_not_fit_and_counts_all(asked: Ask) -> None:
    whole = asked(HARBOUR_QUERY, max_results=99, max_tokens=1_000_000)
    sizes = [hit["tokens"] for hit in whole["results"]]
    found = asked(HARBOUR_QUERY, max_results=99, max_tokens=sizes[0] + sizes[1])
    assert ids(found) == ids(whole)[:2]
    assert found["total_results"] == whole["total_results"] == len(sizes)
    fewer = asked(HARBOUR_QUERY, max_results=1, max_tokens=1_000_000)
    assert (fewer["result_count"], fewer["total_results"]) == (1, len(sizes))


def test_a_huge_memory_is_given_whole_where_there_is_room(asked: Ask) -> None:
    (huge,) = (memory for memory in memories() if memory.id == "huge")
    found = asked("minutes of the zeppelin club", max_tokens=1_000_000)
    assert found["results"][0]["summary_text"] == huge.text


# --- whatever is asked ---


@pytest.mark.parametrize(
    "query",
    [
        "harbour " * 12_500,  # 100,000 characters
        "x" * 100_000,
        "harbour\0crane",
        "\0",
        "\ud800 harbour \udfff",
        "🦜👩‍👩‍👧",
        "שלום עולם",
        "\u202eharbour\u202c",
        "\u200b",
        "\ufeffharbour",
        '"harbour" OR * NEAR( ^crane - topic: {',
        "'); DROP TABLE memories;--",
        "%s {0} $HOME `ls` \\",
        "状态机",
        "e\u0301" * 5000,
    ],
    ids=lambda query: ascii(query[:20]),
)
def test_any_query_whatever_is_answered(asked: Ask, query: str) -> None:
    found = asked(query)
    assert found["success"], found
    json.dumps(found, ensure_ascii=False).encode("utf-8")


def test_text_of_any_script_comes_back_as_it_was_stored(place: Place) -> None:
    (signs,) = (memory for memory in memories() if memory.id == "signs")
    found = script(place, str(place.workspace.root), "שלום עולם", "1")
    assert [hit["text"] for hit in found["results"]] == [signs.text]


def test_a_query_of_a_hundred_thousand_characters_goes_through_the_script(place: Place) -> None:
    assert script(place, str(place.workspace.root), "harbour " * 12_500)["success"]


def test_arguments_of_the_editor_may_be_in_camel_case(asked: Ask) -> None:
    snake = asked(HARBOUR_QUERY, max_results=2, max_tokens=900, half_life_days=14, include_superseded=True)
    assert asked(HARBOUR_QUERY, maxResults=2, maxTokens=900, halfLifeDays=14, includeSuperseded=True) == snake
    assert snake["half_life_days"] == 14.0


# --- workspaces ---


def test_a_missing_workspace_is_an_error_and_an_unused_one_an_answer_without_hits(place: Place, tmp_path: Path) -> None:
    missing = script(place, str(tmp_path / "nowhere"), "anything", status=1)
    assert (missing["error_code"], missing["success"]) == ("WORKSPACE_MISSING", False)
    unused = script(place, str(tmp_path), "anything")
    assert (unused["results"], unused["total_results"], unused["total_tokens"]) == ([], 0, 0)
    assert (unused["half_life_days"], unused["tokenizer"]) == (7.0, None)


def test_nonsense_is_refused_in_an_unused_workspace_as_well(place: Place, tmp_path: Path) -> None:
    assert script(place, str(tmp_path), "anything", "many", status=2)["error_code"] == "ARGUMENT_INVALID"
