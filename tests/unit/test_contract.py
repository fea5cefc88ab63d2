"""What holds every answer against the published shape: it takes good ones, and names what is wrong with others."""

import copy
import json
import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import contract
import pytest

from bridge.argument_table import ARGUMENTS, RETRIEVE_ARGUMENTS
from bridge.interface import answer_shapes, envelope
from bridge.search.question import parse_question
from bridge.search.ranking import STATUS_MULTIPLIERS
from jobs.errors import JobError

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "schemas" / "examples"


def example(name: str) -> dict[str, Any]:
    return json.loads((EXAMPLES / f"{name}.json").read_text("utf-8"))


def line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("verb", ["retrieve", "explain", "context"])
@pytest.mark.parametrize("form", ["mixed", "error"])
def test_the_published_examples_are_without_a_problem(verb: Any, form: str) -> None:
    value = example(f"{'retrieval' if verb == 'retrieve' else verb}-{form}")
    assert contract.problems(verb, value) == []
    assert contract.problems_in(line(value)) == []
    assert contract.checked(line(value), verb) == value


def spoiled(**changes: Any) -> dict[str, Any]:
    """The example with other values; a name like ``hits_2_score`` means a field of the third hit."""
    value = copy.deepcopy(example("retrieval-mixed"))
    for path, new in changes.items():
        target = value
        if path.startswith("hits_"):
            _, place, path = path.split("_", 2)
            target = value["results"][int(place)]
        if new is ...:
            del target[path]
        else:
            target[path] = new
    return value


LEGACY = [hit["memory_type"] for hit in example("retrieval-mixed")["results"]].index("legacy")


UNPUBLISHED = [
    (spoiled(success="yes"), "success"),
    (spoiled(total_tokens=...), "total_tokens"),
    (spoiled(total_tokens=7), "total_tokens is not the sum"),
    (spoiled(result_count=9), "result_count is 9"),
    (spoiled(total_results=1), "total_results is 1"),
    (spoiled(as_of="2026-11-20 12:00"), "as_of"),
    (spoiled(half_life_days=0.1), "half_life_days"),
    (spoiled(half_life_days=8), "two values"),
    (spoiled(include_superseded=True), "disagrees with its reason"),
    (spoiled(warnings=None), "warnings"),
    (spoiled(hits_0_score=0.5), "is not what its factors give"),
    (spoiled(hits_0_score=...), "score"),
    (spoiled(hits_0_final_score=0.5), "final_score is not score"),
    (spoiled(hits_0_summary_text=""), "summary_text"),
    (spoiled(hits_0_text="other"), "text is not summary_text"),
    (spoiled(hits_0_topic_id=""), "topic_id is empty"),
    (spoiled(hits_0_created_at=""), "created_at"),
    (spoiled(hits_0_updated_at="N/A"), "updated_at"),
    (spoiled(hits_0_created_at="2026-11-20T10:05:00+01:00"), "created_at"),
    (spoiled(hits_0_status="Final"), "status"),
    (spoiled(hits_0_status="Superseded"), "superseded memory was shown"),
    (spoiled(ranking=example("retrieval-mixed")["ranking"] | {"relevance_floor": 1}), "below the floor"),
    (spoiled(ranking=example("retrieval-mixed")["ranking"] | {"recency_floor": 1}), "below the floor"),
    (spoiled(hits_0_decisions=...), "decisions is there, or is not"),
    (spoiled(**{f"hits_{LEGACY}_topic": "x"}), "topic of a legacy memory is not null"),
    (spoiled(**{f"hits_{LEGACY}_topic": ...}), "topic"),
    (spoiled(**{f"hits_{LEGACY}_decisions": []}), "decisions is there, or is not"),
    (spoiled(results=example("retrieval-mixed")["results"][::-1]), "not in the order"),
    (spoiled(results=example("retrieval-mixed")["results"][:1] * 3, total_tokens=0), "there twice"),
    ({"success": False, "error": "no"}, "error_code"),
    ({**example("retrieval-error"), "error": None}, "error"),
    ({**example("retrieval-error"), "results": [{}]}, "results"),
]


@pytest.mark.parametrize(("value", "said"), UNPUBLISHED)
def test_what_is_not_as_published_is_named(value: dict[str, Any], said: str) -> None:
    found = contract.problems("retrieve", value)
    assert any(said in problem for problem in found), found


@pytest.mark.parametrize("verb", ["explain", "context"])
def test_the_other_answers_are_held_against_their_schemas_as_well(verb: Any) -> None:
    good = example(f"{verb}-mixed")
    for name in set(good) - {"success"}:
        assert contract.problems(verb, {key: value for key, value in good.items() if key != name}), name


@pytest.mark.parametrize("before", ["warning\n", " ", "{}\n"])
def test_nothing_may_stand_before_or_behind_the_object(before: str) -> None:
    good = line(example("retrieval-mixed"))
    for text in (before + good, good + before, good + good, good.rstrip(), json.dumps(json.loads(good), indent=1)):
        with pytest.raises((AssertionError, ValueError)):
            contract.checked(text)


def test_what_a_program_prints_is_looked_at_only_where_it_is_an_answer() -> None:
    assert contract.problems_in("hello\n") == []
    assert contract.problems_in('{"success": true, "job_id": "a"}\n') == []
    assert contract.problems_in('{"success": true, "total_results": 3, half\n') == []
    assert contract.problems_in(line(spoiled(total_tokens=7))) != []


def test_a_look_at_an_answer_is_cheap() -> None:
    value = example("retrieval-mixed")
    contract.problems("retrieve", value)
    began = time.process_time()
    for _ in range(20):
        contract.problems("retrieve", value)
    assert (time.process_time() - began) / 20 < 0.05


# --- the page ---

PAGE = (EXAMPLES.parents[1] / "retrieval-contract.md").read_text("utf-8")


def section(heading: str) -> str:
    return PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def first_column(heading: str) -> list[str]:
    """What is in backticks in the first cells of the section's table."""
    cells = re.findall(r"^\| ([^|]*`[^|]*) \|", section(heading), re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


def test_the_page_shows_answers_without_a_problem() -> None:
    shown = re.findall(r"^```json retrieval-response\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(shown) == 2
    for block in shown:
        assert contract.problems("retrieve", json.loads(block)) == []


def test_the_page_names_each_argument_and_each_field() -> None:
    assert sorted(first_column("What can be asked")) == sorted(RETRIEVE_ARGUMENTS)
    assert first_column("The answer") == list(contract.fields_of(answer_shapes.RetrievalSuccess))
    assert sorted(first_column("A hit")) == sorted(contract.fields_of(answer_shapes.RetrievalHit))
    for name in contract.fields_of(answer_shapes.RetrievalFailure):
        assert f"`{name}`" in section("Errors") or f'"{name}"' in section("Errors"), name


def test_the_page_says_the_defaults_that_are_used() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|", section("What can be asked"), re.MULTILINE)
    said = {name: (default, limits) for name, default, limits in rows}
    asked = parse_question({"query": "why"}, datetime(2026, 11, 20, tzinfo=UTC))
    for name, used in (
        ("max_results", asked.max_results), ("max_tokens", asked.max_tokens), ("preset", asked.preset),
        ("half_life_days", asked.ranking.half_life_days), ("recency_floor", asked.ranking.recency_floor),
        ("alpha", asked.ranking.alpha), ("ranking_mode", asked.ranking.mode), ("legacy", asked.legacy),
        ("relevance_floor", asked.relevance_floor), ("feedback_weight", asked.ranking.feedback_weight),
    ):  # fmt: skip
        assert said[name][0].split(";")[0] == (used if isinstance(used, str) else f"{used:g}"), name
    for name, (low, high) in (
        (name, argument.range) for name, argument in ARGUMENTS.items() if argument.kind in ("whole", "number")
    ):
        assert said[name][1].replace(",", "") == f"{low:.10g} to {high:.10g}", name


def test_the_page_says_the_multipliers_that_are_used() -> None:
    (said,) = re.findall(r"^\| `status_multiplier` \| ([^|]+) \|", PAGE, re.MULTILINE)
    assert {name: float(value) for name, value in re.findall(r"(\w+) ([\d.]+)", said)} == STATUS_MULTIPLIERS


def test_the_page_says_the_exit_status_of_each_error() -> None:
    rows = re.findall(r"^\| ([^|]+) \| (\d) \|$", section("Errors"), re.MULTILINE)
    said = {code: int(status) for codes, status in rows for code in re.findall(r"`([A-Z_]+)`", codes)}
    assert len(said) > 10
    for code, status in said.items():
        assert envelope.exit_code(envelope.failure(JobError(code))) == status, code
