"""Why a memory is found: the explain contract, over a real store."""

import hashlib
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from fake_embedder import FakeEmbedder
from harness import SOAK
from hypothesis import given, settings, strategies as st
from questions import answer_to
from shelf import EVERYTHING, NOW, Shelf, legacy, record, summary

from bridge.interface import envelope
from bridge.interface.arguments import Parser, add_explain_options, given_values
from jobs.errors import JobError


def numbers(found: dict[str, Any]) -> list[int]:
    return [item["id"] for item in found["items"]]


def sources(found: dict[str, Any]) -> list[tuple[int, str, int | None]]:
    return [(item["id"], item["retrieval"]["source"], item["retrieval"]["rank"]) for item in found["items"]]


def problems(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(problem["code"], problem["field"]) for problem in found["errors"]]


def recomputed(item: dict[str, Any], ranking: dict[str, Any]) -> float:
    """The total from the components, as docs/explain.md has it."""
    parts = item["score"]["components"]
    semantic, status = parts["base"] + parts["semantic_boost"], 1 + parts["kind_bonus"]
    if ranking["mode"] == "product":
        return float(semantic * parts["recency"] * status)
    alpha = ranking["alpha"]
    return float((alpha * semantic + (1 - alpha) * parts["recency"]) * status)


# --- the shape ---


def test_an_item_says_what_the_memory_is(shelf: Shelf) -> None:
    shelf.add(
        summary("a", "c", topic="Storage of thumbnails", created_at="2026-11-13T09:00:00Z"),
        legacy("l", f"\n  {'word ' * 40}\nsecond line"),
        summary("n", "c", created_at=None),
    )
    first, second, third = shelf.explain(ids=[1, 2, 3])["items"]
    assert (first["kind"], second["kind"]) == ("summary", "legacy")
    assert (first["title"], first["created_at"]) == ("Storage of thumbnails", "2026-11-13T09:00:00Z")
    assert (second["title"], second["created_at"]) == (("word " * 40)[:80], "2026-11-19T12:00:00Z")
    assert third["created_at"] is None
    assert third["score"]["components"]["recency"] == 1.0
    assert {item["project"] for item in (first, second, third)} == {str(shelf.workspace.root)}


def test_the_metadata_says_what_was_asked_and_how_it_was_ranked(shelf: Shelf) -> None:
    shelf.add(summary("a", "queue"))
    found = shelf.explain(query=" queue ", ids=[1, 1, 7], half_life_days=999, preset="long-lived")["metadata"]
    assert found["query"] == "queue"
    assert (found["requested_ids_count"], found["returned_items_count"]) == (2, 1)
    assert found["include_pack_context"] is False
    assert found["ranking"] == {
        "preset": "long-lived", "mode": "product", "half_life_days": 90.0, "recency_floor": 0.85, "alpha": 0.8,
        "relevance_floor": 0.0, "as_of": "2026-11-20T12:00:00Z", "weights": {"base": 0.4, "semantic_boost": 0.6},
    }  # fmt: skip
    (warning,) = found["warnings"]
    assert "half_life_days" in warning


# --- by question, by id, or both ---


def test_hits_come_first_in_their_order_then_the_other_ids_in_theirs(shelf: Shelf) -> None:
    shelf.add(*(summary(f"m{number}", "queue " * number + "word " * (9 - number)) for number in range(1, 7)))
    ranked = [hit["memory_number"] for hit in shelf.retrieve("queue", max_results=50, max_tokens=10_000)["results"]]
    found = shelf.explain(query="queue", ids=[ranked[4], ranked[0], ranked[3], ranked[4]], limit=2)
    assert sources(found) == [
        (ranked[0], "query+id_lookup", 1),
        (ranked[1], "query", 2),
        (ranked[4], "id_lookup", None),
        (ranked[3], "id_lookup", None),
    ]
    assert found["metadata"]["requested_ids_count"] == 3


def test_the_limit_bounds_the_hits_and_not_the_ids(shelf: Shelf) -> None:
    shelf.add(*(summary(f"m{number}", "queue") for number in range(12)))
    assert len(shelf.explain(query="queue")["items"]) == 10
    assert len(shelf.explain(query="queue", limit=1)["items"]) == 1
    assert len(shelf.explain(query="queue", limit=50)["items"]) == 12
    assert numbers(shelf.explain(ids=list(range(12, 0, -1)), limit=1)) == list(range(12, 0, -1))


def test_a_found_and_a_missing_id_are_both_answered_for(shelf: Shelf) -> None:
    shelf.add(summary("a", "queue"), summary("b", "queue"))
    found = shelf.explain(ids=[7, 2, 9, 1])
    assert (found["success"], numbers(found), found["missing_ids"]) == (True, [2, 1], [7, 9])
    assert problems(found) == [("NOT_FOUND", "ids")]
    assert found["errors"][0]["message"].endswith("7, 9")
    assert shelf.explain(ids=[1])["errors"] == []


def test_a_memory_that_no_question_shows_is_explained_by_its_id(shelf: Shelf) -> None:
    shelf.add(summary("s", "queue", "Superseded"), summary("d", "queue", "Draft"))
    shelf.add(legacy("l", "queue"), summary("a", "queue"))
    found = shelf.explain(query="queue", ids=[1, 2], limit=50)
    assert [(number, source) for number, source, _ in sources(found)][2:] == [(1, "id_lookup"), (2, "id_lookup")]
    assert all(item["score"]["total"] > 0 for item in found["items"])
    assert found["items"][2]["score"]["components"]["kind_bonus"] == -0.6
    assert numbers(shelf.explain(ids=[3])) == [3]


@pytest.mark.parametrize("arguments", [{}, {"query": "queue"}])
def test_a_hidden_memory_is_missing(shelf: Shelf, arguments: dict[str, Any]) -> None:
    shelf.add(summary("a", "queue"), summary("b", "queue"))
    shelf.hide("a")
    found = shelf.explain(ids=[1, 2], **arguments)
    assert (numbers(found), found["missing_ids"]) == ([2], [1])


def test_a_memory_below_the_relevance_floor_still_has_its_numbers(shelf: Shelf) -> None:
    shelf.add(summary("a", "grass is green"), summary("b", "the queue is locked"))
    found = shelf.explain(query="queue locked", ids=[1], relevance_floor=0.5)
    assert sources(found) == [(2, "query", 1), (1, "id_lookup", None)]
    low = found["items"][1]
    assert 0 <= low["score"]["components"]["base"] + low["score"]["components"]["semantic_boost"] < 0.5
    assert low["score"]["total"] == pytest.approx(recomputed(low, found["metadata"]["ranking"]), abs=1e-9)


def test_filters_are_for_the_question_and_not_for_the_ids(shelf: Shelf) -> None:
    shelf.add(summary("a", "queue", plan_id="014"), summary("b", "queue", plan_id="015"))
    assert sources(shelf.explain(query="queue", plan_id="plan-014")) == [(1, "query", 1)]
    assert sources(shelf.explain(query="queue", plan_id="plan-014", ids=[2]))[1:] == [(2, "id_lookup", None)]


def test_without_a_query_what_needs_one_is_null_and_the_rest_is_known(shelf: Shelf) -> None:
    shelf.add(record("r", "queue", created_at="2026-11-13T12:00:00Z"))
    (item,) = shelf.explain(ids=[1], preset="contract")["items"]
    assert item["kind"] == "decision"
    expected = {"total": None, "components": {"base": None, "recency": 0.5, "kind_bonus": 0.1, "semantic_boost": None}}
    assert item["score"] == expected
    assert item["matches"]["query_terms"] == []
    assert item["pack_context"] is None


def test_the_terms_are_those_of_the_memory_in_the_order_of_the_query(shelf: Shelf) -> None:
    shelf.add(summary("a", "A lock file was left behind by the queue."), summary("b", "Files of the vectors."))
    found = shelf.explain(query="the vectors, the queue and its file", ids=[1, 2], limit=1)
    expected = {1: ["queue", "file"], 2: ["vectors", "file"]}
    assert {item["id"]: item["matches"]["query_terms"] for item in found["items"]} == expected
    (neither,) = shelf.explain(query="grass", ids=[1], relevance_floor=1)["items"]
    assert (neither["matches"]["query_terms"], neither["score"]["components"]["base"]) == ([], 0.0)


# --- the numbers are those of retrieval ---

WORDS = ("queue", "lock", "token", "vector", "parseJobFile", "disk", "retry", "thumbnail", "E1042", "merge")


@pytest.fixture(scope="module")
def random_shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """Sixty memories of every kind, status and age."""
    dice = random.Random(42)

    def text() -> str:
        return " ".join(dice.choices(WORDS, k=dice.randint(2, 25)))

    def date() -> str | None:
        day = f"202{dice.randint(4, 6)}-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}"
        return dice.choice([None, f"{day}T08:00:00Z"])

    statuses = ["Active", "Superseded", "Draft"]
    memories = [
        *(summary(f"s{n}", text(), dice.choice(statuses), created_at=date()) for n in range(30)),
        *(record(f"r{n}", text(), created_at=date(), source_created_at=date()) for n in range(15)),
        *(legacy(f"l{n}", text(), created_at=date()) for n in range(15)),
    ]
    return Shelf(tmp_path_factory.mktemp("random")).add(*memories)


QUESTIONS = st.fixed_dictionaries(
    {"query": st.lists(st.sampled_from([*WORDS, "history"]), min_size=1, max_size=4).map(" ".join)},
    optional={
        "ranking_mode": st.sampled_from(["product", "blend"]),
        "preset": st.sampled_from(["contract", "long-lived"]),
        "half_life_days": st.floats(0.5, 90),
        "recency_floor": st.integers(0, 100).map(lambda share: share / 100),
        "alpha": st.floats(0.6, 0.95),
        "as_of": st.sampled_from(["2024-05-01T00:00:00Z", "2026-11-20T12:00:00Z", "2031-01-01"]),
        "include_superseded": st.booleans(),
        "legacy": st.sampled_from(["mixed", "append"]),
        "relevance_floor": st.floats(0, 0.6),
    },
)


@settings(max_examples=400 if SOAK else 25)
@given(question=QUESTIONS)
def test_totals_are_the_scores_of_retrieval_digit_for_digit(random_shelf: Shelf, question: dict[str, Any]) -> None:
    hits = random_shelf.retrieve(**question, max_results=50, max_tokens=1_000_000)["results"]
    expected = {hit["memory_number"]: hit for hit in hits}
    by_query = random_shelf.explain(**question, limit=50)
    by_id = random_shelf.explain(**question, limit=1, ids=list(range(1, 61)))
    assert sources(by_query) == [(number, "query", rank) for rank, number in enumerate(expected, 1)]
    assert sorted(numbers(by_id)) == list(range(1, 61))
    for item in by_query["items"] + by_id["items"]:
        parts = item["score"]["components"]
        assert parts["base"] < 1e-9 or item["matches"]["query_terms"]
        hit = expected.get(item["id"])
        if hit is not None:
            assert item["score"]["total"] == hit["score"]
            assert parts["base"] + parts["semantic_boost"] == pytest.approx(hit["semantic_score"], abs=1e-9)
            assert parts["recency"] == hit["recency_multiplier"]
            assert 1 + parts["kind_bonus"] == pytest.approx(hit["status_multiplier"], abs=1e-12)
        assert item["score"]["total"] == pytest.approx(recomputed(item, by_query["metadata"]["ranking"]), abs=1e-9)


@settings(max_examples=100 if SOAK else 20)
@given(question=QUESTIONS)
def test_an_explanation_says_of_the_context_what_it_is(random_shelf: Shelf, question: dict[str, Any]) -> None:
    question = {**question, "max_results": 6, "max_tokens": 220}
    packed = {entry["memory_number"]: entry for entry in random_shelf.context(**question)["memories"]}
    found = random_shelf.explain(**question, limit=2, ids=list(range(1, 61)), include_pack_context=True)
    assert sum(item["retrieval"]["rank"] is not None for item in found["items"]) <= 2
    for item in found["items"]:
        entry = packed.get(item["id"])
        packed_as = {name: entry and entry[name] for name in ("position", "tokens")}
        truncated = bool(entry and entry["truncated"])
        assert item["pack_context"] == {
            "included": entry is not None, **packed_as, "truncated": truncated, "budget": 220,
        }  # fmt: skip


def test_the_same_request_gives_the_same_bytes_and_changes_nothing(random_shelf: Shelf) -> None:
    def digests() -> dict[str, str]:
        kept = [p for p in random_shelf.workspace.memory.rglob("*") if p.is_file() and not p.name.endswith("-shm")]
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in kept}

    request = {"query": "queue lock", "ids": [3, 60, 61], "include_pack_context": True}
    ranked = random_shelf.retrieve("queue lock")  # the first reader makes an empty memory.db-wal
    stored = digests()
    first, second = (json.dumps(random_shelf.explain(**request)) for _ in range(2))
    assert first == second
    assert digests() == stored
    assert random_shelf.retrieve("queue lock") == ranked


# --- the project ---


def test_a_project_is_the_workspace_by_its_name_or_its_path_in_any_spelling(tmp_path: Path) -> None:
    root = tmp_path / "My Project"
    root.mkdir()
    (tmp_path / "link").symlink_to(root)
    shelf = Shelf(root).add(summary("a", "queue"))
    for project in ("My Project", str(root), f"{root}/", f"{root}/../My Project", str(tmp_path / "link")):
        found = shelf.explain(ids=[1], project=project)
        assert (numbers(found), found["errors"]) == ([1], []), project
        assert found["items"][0]["matches"]["project_match"] is True
        assert found["metadata"]["project"] == project


@pytest.mark.parametrize("project", ["/nowhere", "other", ".", "..", "my project", "\0", "~nobody/x", "x" * 5000])
def test_another_project_is_only_a_mismatch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: str) -> None:
    """A relative path is one as well, wherever the process stands that answers."""
    root = tmp_path / "My Project"
    root.mkdir()
    monkeypatch.chdir(root)
    shelf = Shelf(root).add(summary("a", "queue"))
    found = shelf.explain(query="queue", ids=[1, 5, 1], project=project)
    assert (found["success"], found["items"], found["missing_ids"]) == (True, [], [1, 5])
    assert problems(found) == [("PROJECT_MISMATCH", "project")]


# --- what cannot be understood ---


NOT_UNDERSTOOD = [
    ({}, "query"),
    ({"query": None, "ids": None}, "query"),
    ({"ids": []}, "query"),
    ({"query": ""}, "query"),
    ({"query": " \n"}, "query"),
    ({"query": 7}, "query"),
    ({"ids": [True]}, "ids"),
    ({"ids": ["1"]}, "ids"),
    ({"ids": [1.0, math.nan, None, [1]]}, "ids"),
    ({"ids": [0, -1]}, "ids"),
    ({"ids": [2**63]}, "ids"),
    ({"ids": [10**5000]}, "ids"),
    ({"ids": "12"}, "ids"),
    ({"ids": 12}, "ids"),
    ({"ids": {"1": 1}}, "ids"),
    ({"ids": list(range(1, 202))}, "ids"),
    ({"query": "queue", "limit": 0}, "limit"),
    ({"query": "queue", "limit": 51}, "limit"),
    ({"query": "queue", "limit": -1}, "limit"),
    ({"query": "queue", "limit": math.nan}, "limit"),
    ({"query": "queue", "limit": math.inf}, "limit"),
    ({"query": "queue", "limit": 1.5}, "limit"),
    ({"query": "queue", "limit": True}, "limit"),
    ({"query": "queue", "limit": "many"}, "limit"),
    ({"query": "queue", "limit": [5]}, "limit"),
    ({"query": "queue", "limit": 10**400}, "limit"),
    ({"ids": [1], "limit": 10**5000}, "limit"),
    ({"ids": [1], "project": ""}, "project"),
    ({"ids": [1], "project": 5}, "project"),
    ({"ids": [1], "include_pack_context": "yes"}, "include_pack_context"),
    ({"ids": [1], "half_life_days": "soon"}, "half_life_days"),
    ({"ids": [1], "as_of": "yesterday"}, "as_of"),
    ({"query": "queue", "status": "Odd"}, "status"),
    ({"query": "queue", "ranking_mode": "sum"}, "ranking_mode"),
]


@pytest.mark.parametrize(("arguments", "field"), NOT_UNDERSTOOD)
def test_what_is_not_understood_fails_and_names_the_field(shelf: Shelf, arguments: dict[str, Any], field: str) -> None:
    found = shelf.add(summary("a", "queue")).explain(**arguments)
    assert (found["error_code"], envelope.exit_code(found)) == ("ARGUMENT_INVALID", envelope.USAGE)
    assert found["success"] is False
    assert problems(found) == [("INVALID_ARGUMENT", field)]
    assert (found["items"], found["missing_ids"]) == ([], [])


def test_what_can_be_answered_is_answered_beside_what_was_not_understood(shelf: Shelf) -> None:
    shelf.add(summary("a", "queue"), summary("b", "queue"))
    found = shelf.explain(ids=[True, 2, "x", 2])
    assert (found["success"], numbers(found), problems(found)) == (True, [2], [("INVALID_ARGUMENT", "ids")])
    assert found["errors"][0]["message"] == "ids must be whole numbers from 1, not True, 'x'"
    found = shelf.explain(query="  ", ids=[1])
    assert (found["success"], numbers(found), problems(found)) == (True, [1], [("INVALID_ARGUMENT", "query")])
    assert found["metadata"]["query"] is None
    found = shelf.explain(query="queue", ids=list(range(1, 300)))
    assert (found["success"], len(found["items"]), problems(found)) == (True, 2, [("INVALID_ARGUMENT", "ids")])


def test_an_id_on_the_command_line_that_is_none_is_reported_and_the_rest_is_explained(shelf: Shelf) -> None:
    shelf.add(summary("a", "queue"))
    parser = Parser()
    parser.add_argument("--query")
    add_explain_options(parser)
    given = given_values(parser.parse_args(["--id", "x", "1", "--id", "2"]), ["ids", "limit"])
    found = shelf.explain(**given)
    assert (numbers(found), found["missing_ids"]) == ([1], [2])
    assert problems(found) == [("INVALID_ARGUMENT", "ids"), ("NOT_FOUND", "ids")]


def test_two_hundred_ids_may_be_asked_for_however_often_each(shelf: Shelf) -> None:
    found = shelf.add(summary("a", "queue")).explain(ids=[*range(1, 201), *range(1, 201)])
    assert (found["success"], numbers(found), len(found["missing_ids"])) == (True, [1], 199)
    assert len(found["errors"][0]["message"]) < 200


def test_a_limit_may_be_written_as_text(shelf: Shelf) -> None:
    shelf.add(*(summary(f"m{number}", "queue") for number in range(4)))
    for limit in (2, 2.0, "2"):
        assert len(shelf.explain(query="queue", limit=limit)["items"]) == 2


# --- stores that are not there, or not whole ---


def test_where_nothing_was_ever_stored_every_id_is_missing_and_nothing_is_made(shelf: Shelf) -> None:
    found = shelf.explain(query="queue", ids=[3, 1], include_pack_context=True)
    assert (found["success"], found["items"], found["missing_ids"]) == (True, [], [3, 1])
    assert problems(found) == [("NOT_FOUND", "ids")]
    assert not shelf.workspace.memory.exists()
    assert shelf.explain(query="queue")["errors"] == []


def test_an_empty_store_has_nothing_either(shelf: Shelf) -> None:
    found = shelf.add().explain(query="queue", ids=[1])
    assert (found["items"], found["missing_ids"]) == ([], [1])


def test_ids_alone_need_no_model_and_a_query_needs_the_store_s(shelf: Shelf) -> None:
    shelf.add(summary("a", "queue"))
    other = FakeEmbedder(64, "other")
    assert numbers(answer_to(shelf.workspace, other, NOW, EVERYTHING, "explain", ids=[1])) == [1]
    assert other.seen == []
    failed = answer_to(shelf.workspace, other, NOW, EVERYTHING, "explain", ids=[1], query="queue")
    assert (failed["success"], failed["error_code"]) == (False, "EMBEDDER_MISMATCH")
    assert (failed["items"], failed["missing_ids"], failed["errors"]) == ([], [], [])
    assert failed["metadata"]["query"] == "queue"


def test_a_damaged_index_is_said_in_the_warnings_and_its_part_is_zero(shelf: Shelf) -> None:
    shelf.add(summary("a", "queue"))
    for path in shelf.workspace.vectors.iterdir():
        path.unlink()
    found = shelf.explain(query="queue", include_pack_context=True)
    (item,) = found["items"]
    assert item["score"]["components"]["semantic_boost"] == 0.0
    assert item["score"]["total"] == shelf.retrieve("queue")["results"][0]["score"] > 0
    (warning,) = found["metadata"]["warnings"]
    assert "rebuild --what index" in warning


# --- the context ---


def test_the_context_is_spoken_of_only_when_asked(shelf: Shelf) -> None:
    shelf.add(summary("a", "queue"), summary("b", "grass"))
    assert all(item["pack_context"] is None for item in shelf.explain(query="queue", ids=[2])["items"])
    left_out = {"included": False, "position": None, "tokens": None, "truncated": False, "budget": 77}
    found = shelf.explain(ids=[1], include_pack_context=True, max_tokens=77)
    assert [item["pack_context"] for item in found["items"]] == [left_out]
    found = shelf.explain(query="queue", ids=[2], relevance_floor=0.3, include_pack_context=True, max_tokens=77)
    assert found["items"][1]["pack_context"] == left_out
    assert found["items"][0]["pack_context"]["position"] == 1


def test_the_limit_of_an_explanation_does_not_enter_into_the_block(shelf: Shelf) -> None:
    """Of eight alike and another one, a block of two chooses among the first eight."""
    shelf.add(*(legacy(str(number), "the queue is locked") for number in range(8)), legacy("other", "a queue of cows"))
    packed = [entry["memory_number"] for entry in shelf.context("queue locked", max_results=2)["memories"]]
    assert len(packed) == 2
    assert 9 not in packed
    for limit in (1, 50):
        asked = {"query": "queue locked", "max_results": 2, "limit": limit, "ids": [9, *packed]}
        found = shelf.explain(**asked, include_pack_context=True)
        included = {item["id"] for item in found["items"] if item["pack_context"]["included"]}
        assert included == set(packed)


def test_a_budget_without_room_is_said_in_the_warnings(shelf: Shelf) -> None:
    shelf.add(summary("a", "queue"))
    found = shelf.explain(query="queue", include_pack_context=True, max_tokens=5)["metadata"]["warnings"]
    assert found == shelf.context("queue", max_tokens=5)["warnings"] != []


def test_an_error_of_the_store_is_a_failure_with_every_field(shelf: Shelf) -> None:
    shelf.add(summary("a", "queue")).workspace.memory_db.write_bytes(b"no database at all" * 500)
    found = shelf.explain(query="queue", ids=[1])
    assert (found["success"], found["error_code"]) == (False, JobError("STORE_UNREADABLE").code)
    assert found["errors"] == []
