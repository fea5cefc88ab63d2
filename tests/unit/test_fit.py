"""Which hits are weak: over the decision records of the benchmarks, whose questions have answers or none."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import absent, gate, judged
from benchmarks.absent import Asked
from benchmarks.judged import DAY, Shelf
from bridge.argument_table import DEFAULT_PRESET
from bridge.embedding.config import EmbeddingConfig
from bridge.memory import Memory, Metadata
from bridge.search import fit
from bridge.search.context import HEADING
from bridge.search.ranking import LITTLE_MEANING, NAME_SHARE, NEAR_FLOOR, Factors, Relevance, is_near_floor

WEAK = "do we offer wifi on board?"
LEAST = 0.2 + 0.014 * -0.2484613592984996  # what the best of 78 must reach


@pytest.fixture(scope="module")
def decisions(model_cache: Path) -> Iterator[Shelf]:
    with absent.own_shelf("decisions", judged.embedder(EmbeddingConfig(cache_dir=model_cache))) as shelf:
        yield shelf


def answer(shelf: Shelf, verb: Any, **arguments: Any) -> dict[str, Any]:
    found = shelf._reader.answer(verb, {"query": WEAK, "preset": DEFAULT_PRESET} | arguments, DAY)
    assert found["success"], found
    return dict(found)


def of_file(shelf: Shelf, name: str) -> list[tuple[str, Asked]]:
    rows = judged.rows(gate.FOLDER / name)
    return [(row["category"], asked) for row, asked in zip(rows, absent.ask(shelf, rows), strict=True)]


@pytest.fixture(scope="module")
def asked(decisions: Shelf) -> list[tuple[str, Asked]]:
    return of_file(decisions, "queries.jsonl")


def test_questions_without_an_answer_find_nothing_or_one_weak_hit(
    decisions: Shelf, asked: list[tuple[str, Asked]]
) -> None:
    """The six of the gate, those of another subject, and sixteen more."""
    for least, unanswered in (
        (5, [one for category, one in asked if category == "absent"]),
        (24, [one for category, one in asked if category == "foreign"]),
        (14, [one for _, one in of_file(decisions, "absent.jsonl")]),
    ):
        assert sum(not one.hits or one.is_weak for one in unanswered) >= least
        assert all(len(one.hits) == 1 for one in unanswered if one.is_weak)


def test_no_answer_is_lost_and_few_right_ones_are_weak(asked: list[tuple[str, Asked]]) -> None:
    answerable = [one for _, one in asked if one.relevant]
    assert all(one.is_right for one in answerable if one.is_weak)
    assert sum(one.is_weak for one in answerable) <= 5


def test_every_way_of_asking_says_that_a_hit_is_weak(decisions: Shelf) -> None:
    found = answer(decisions, "retrieve")
    (hit,) = found["results"]
    assert hit["fit"] == "weak"
    assert (found["total_results"], found["warnings"][1:]) == (1, [fit.ONLY_WEAK])  # the shelf is not compared
    block = answer(decisions, "context")
    assert block["context"].startswith(f"{HEADING}\n{fit.ONLY_WEAK}.\n\n## #{hit['memory_number']} ")
    assert [entry["fit"] for entry in block["memories"]] == ["weak"]
    items = answer(decisions, "explain", ids=[hit["memory_number"]])["items"]
    assert [(item["id"], item["fit"], item["score"]["total"]) for item in items] == [
        (hit["memory_number"], "weak", hit["score"])
    ]


def test_a_mark_does_not_depend_on_the_other_hits_and_a_given_floor_keeps_those_behind(decisions: Shelf) -> None:
    (hit,) = answer(decisions, "retrieve")["results"]
    whole = answer(decisions, "retrieve", relevance_floor=0.1, max_results=50, max_tokens=100_000)
    assert whole["results"][0] == hit
    assert whole["result_count"] > 5
    behind = whole["results"][-1]
    explained = {item["id"]: item for item in answer(decisions, "explain", ids=[behind["memory_number"]])["items"]}
    assert explained[behind["memory_number"]].get("fit") == behind.get("fit") == "weak"


def test_an_answered_question_has_no_mark_and_no_warning(decisions: Shelf) -> None:
    found = answer(decisions, "retrieve", query="how long is a seat held for a group of ten?")
    assert "fit" not in found["results"][0]
    assert found["warnings"][1:] == []
    assert fit.ONLY_WEAK not in answer(decisions, "context", query="how long is a seat held for a group?")["context"]


# --- the rule, by itself ---

NEAR = Relevance(0.4, 0.1, LEAST + NEAR_FLOOR - 0.001)


def test_only_a_hit_near_the_floor_with_little_meaning_and_without_a_name_may_be_weak() -> None:
    assert is_near_floor(NEAR, 0.2, 78)
    for other in (
        NEAR._replace(semantic_score=LEAST + NEAR_FLOOR + 0.001), NEAR._replace(vector_score=LITTLE_MEANING),
        NEAR._replace(lexical_score=NAME_SHARE), NEAR._replace(rerank_score=0.1),
    ):  # fmt: skip
        assert not is_near_floor(other, 0.2, 78)


def hit(number: int, semantic: float, *, weak: bool) -> tuple[Memory, Factors]:
    memory = Memory(f"m{number}", number, "legacy", Metadata(), "2026-11-20T12:00:00Z", text="A text.")
    return memory, Factors(NEAR._replace(semantic_score=semantic), 1.0, 1.0, semantic, is_weak=weak)


def test_behind_a_weak_first_hit_stays_only_what_fits_better_and_is_not_weak() -> None:
    first, strong = hit(1, 0.25, weak=True), hit(2, 0.4, weak=False)
    others = [strong, hit(3, 0.3, weak=True), hit(4, 0.24, weak=False), hit(5, 0.2, weak=True)]
    assert fit.without_followers([first, *others]) == [first, strong]
    assert fit.without_followers([strong, first, *others]) == [strong, first, *others]
    assert fit.without_followers([]) == []


def test_only_an_answer_of_weak_hits_alone_is_warned_of() -> None:
    weak, strong = hit(1, 0.25, weak=True), hit(2, 0.4, weak=False)
    assert [bool(fit.warnings(hits)) for hits in ([weak], [weak, strong], [strong], [])] == [True, False, False, False]
