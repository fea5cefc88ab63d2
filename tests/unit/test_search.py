"""Which memories match a question, and how well: over a real store, with a tiny embedder."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import shelf as shelf_module
from fake_embedder import FakeEmbedder
from harness import sql
from hypothesis import given, settings, strategies as st
from questions import answer_to
from shelf import EVERYTHING, NOW, legacy, record, summary

from bridge.embedding.config import EmbeddingConfig
from bridge.search.catalogue import Filters
from bridge.search.estimate import compared
from bridge.search.question import parse_question
from bridge.search.ranking import default_floor, least_best
from bridge.search.reader import Reader, Verb
from bridge.search.snapshot import Snapshot, open_snapshot
from bridge.settings import Settings
from bridge.store.full_text import table_in_force
from bridge.store.store import Store
from jobs.errors import JobError

ALL = EVERYTHING


class Shelf(shelf_module.Shelf):
    """A workspace with memories, and questions to it."""

    def rebuild(self) -> "Shelf":
        store = Store(self.workspace, self.embedder)
        store.rebuild_vectors()
        store.rebuild_words()
        store.close()
        return self

    def sql(self, text: str) -> None:
        sql(self.workspace.memory_db, text)

    def ask(self, query: str, config: Settings = ALL, **arguments: Any) -> dict[str, Any]:
        arguments = {"max_results": 100, "max_tokens": 100_000, **arguments}
        return answer_to(self.workspace, self.embedder, NOW, config, query=query, **arguments)

    def ids(self, query: str, config: Settings = ALL, **arguments: Any) -> list[str]:
        return [hit["memory_id"] for hit in self.ask(query, config, **arguments)["results"]]

    def snapshot(self) -> Snapshot:
        return open_snapshot(self.workspace)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def lexical(shelf: Shelf, query: str) -> dict[str, float]:
    with closing(shelf.snapshot()) as snapshot:
        found = snapshot.lexical(query)
        scores = dict(zip(found.numbers.tolist(), found.scores.tolist(), strict=True))
        return {memory.id: scores[memory.number] for memory in snapshot.memories(list(scores))}


def test_a_memory_is_found_by_its_words_whole_in_part_and_inflected(shelf: Shelf) -> None:
    shelf.add(summary("a", "The function parseJobFile raises JSON_INVALID."), summary("b", "Nothing of that."))
    for query in ("parseJobFile", "job file", "JSON_INVALID", "invalid json", "raising", "FUNCTIONS"):
        assert set(lexical(shelf, query)) == {"a"}, query


def test_the_lexical_score_is_higher_for_more_words_of_the_query_and_at_most_one(shelf: Shelf) -> None:
    shelf.add(
        summary("all", "zebra quagga okapi " * 30),
        summary("some", "zebra, once, in a long text about other animals such as cats and dogs and mice"),
        *(summary(f"x{number}", "neither of them") for number in range(20)),
    )
    scores = lexical(shelf, "zebra quagga okapi")
    assert set(scores) == {"all", "some"}
    assert 0 < scores["some"] < 0.5 < scores["all"] <= 1


def test_a_word_that_most_memories_have_counts_nothing_beside_a_rare_one_and_little_alone(shelf: Shelf) -> None:
    shelf.add(*(summary(f"x{number}", "the common word") for number in range(9)), summary("rare", "common okapi"))
    assert set(lexical(shelf, "common okapi")) == {"rare"}
    assert set(lexical(shelf, "common")) == {*(f"x{number}" for number in range(9)), "rare"}


def test_a_name_that_most_memories_have_is_found_all_the_same_beside_rarer_words(shelf: Shelf) -> None:
    texts = ("E1042 came back.", "E1042 once more.", "E1042 in the queue.", "Nothing of it.")
    shelf.add(*(summary(f"m{number}", text) for number, text in enumerate(texts)))
    assert set(lexical(shelf, "why does E1042 block the queue")) == {"m0", "m1", "m2"}
    assert min(lexical(shelf, "why does E1042 block the queue").values()) >= 0.5


INDEX_LANGUAGE = ['"', "AND OR NOT", "a* NEAR(b)", "topic:x", "{}[]()^", "; DROP TABLE words", "-", "𞤀𞤁"]


@pytest.mark.parametrize("query", INDEX_LANGUAGE)
def test_no_query_is_taken_for_the_indexs_own_language(shelf: Shelf, query: str) -> None:
    shelf.add(summary("a", "something"))
    assert set(lexical(shelf, query)) <= {"a"}


@pytest.fixture(scope="module")
def two_texts(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    return Shelf(tmp_path_factory.mktemp("two")).add(summary("a", "Some text"), legacy("l", "Older text"))


@given(query=st.text(min_size=1).filter(str.strip))
def test_any_text_whatever_can_be_asked(two_texts: Shelf, query: str) -> None:
    found = two_texts.ask(query)
    assert found["success"]
    json.dumps(found)


def test_the_best_passage_decides_not_the_average(shelf: Shelf) -> None:
    """One sentence that says it outweighs a text that is vaguely about it."""
    noise = "Lorem ipsum dolor sit amet. Consectetur adipiscing elit sed. Eiusmod tempor incididunt labore. "
    shelf.add(
        summary("sentence", noise * 3 + "Tokens expire overnight. " + noise * 3),
        summary("vague", "tokens and lorem and ipsum and other things of the overnight kind"),
    )
    found = {hit["memory_id"]: hit["vector_score"] for hit in shelf.ask("Tokens expire overnight.")["results"]}
    assert found["sentence"] > 0.59 > found["vague"]


def test_a_score_does_not_depend_on_which_other_memories_are_candidates(shelf: Shelf) -> None:
    """Else it could not be explained by id."""
    shelf.add(*(summary(f"m{n}", f"Queue number {n} waits for the lock", plan_id=str(n)) for n in range(8)))
    everything = {hit["memory_id"]: hit for hit in shelf.ask("queue lock")["results"]}
    for number in range(8):
        (alone,) = shelf.ask("queue lock", plan_id=str(number))["results"]
        assert alone == everything[f"m{number}"]


def test_scores_are_the_same_digit_for_digit_after_a_rebuild(shelf: Shelf) -> None:
    shelf.add(*(summary(f"m{number}", f"Queue {number} waits for lock {number % 3}") for number in range(20)))
    before = shelf.ask("queue lock")
    shelf.sql("DELETE FROM memories WHERE number < 4")
    shelf.sql("DELETE FROM words WHERE rowid < 4")
    shelf.rebuild()
    after = {hit["memory_id"]: hit["vector_score"] for hit in shelf.ask("queue lock")["results"]}
    assert after == {hit["memory_id"]: hit["vector_score"] for hit in before["results"] if hit["memory_number"] >= 4}


def test_the_same_question_at_the_same_time_gives_the_same_bytes(shelf: Shelf) -> None:
    shelf.add(*(summary(f"m{number}", f"Queue {number}") for number in range(5)))
    first, second = (json.dumps(shelf.ask("queue", as_of="2026-12-01T00:00:00Z")) for _ in range(2))
    assert first == second


@settings(max_examples=25)
@given(
    texts=st.lists(st.text(alphabet="abc .", min_size=1).filter(str.strip), min_size=1, max_size=8),
    query=st.text(alphabet="abc ", min_size=1).filter(str.strip),
    floor=st.floats(0, 1),
)
def test_leaving_out_what_cannot_reach_the_floor_loses_no_hit(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], query: str, floor: float
) -> None:
    shelf = Shelf(tmp_path_factory.mktemp("floor"))
    shelf.add(*(legacy(str(number), text) for number, text in enumerate(texts)))
    every = shelf.ask(query)["results"]
    expected = [hit["memory_id"] for hit in every if hit["semantic_score"] >= floor]
    assert shelf.ids(query, Settings(relevance_floor=floor)) == expected


@settings(max_examples=25)
@given(
    texts=st.lists(st.text(alphabet="abc .", min_size=1).filter(str.strip), min_size=1, max_size=8),
    query=st.text(alphabet="abc ", min_size=1).filter(str.strip),
)
def test_the_floor_follows_the_best_hit(tmp_path_factory: pytest.TempPathFactory, texts: list[str], query: str) -> None:
    """The default one, and the answer names it."""
    shelf = Shelf(tmp_path_factory.mktemp("floor"))
    shelf.add(*(legacy(str(number), text) for number, text in enumerate(texts)))
    every = shelf.ask(query)["results"]
    found = shelf.ask(query, Settings())
    floor = found["ranking"]["relevance_floor"]
    best = max(hit["semantic_score"] for hit in every)
    least = least_best(0.2, len(every), has_name=query.strip() == query and len(query.split()) == 1)
    assert floor == pytest.approx(default_floor(best, 0.2, least), rel=1e-9)
    assert found["results"] == [hit for hit in every if hit["semantic_score"] >= floor]
    again = shelf.ask(query, Settings(), relevance_floor=floor)
    assert (again["results"], again["ranking"]) == (found["results"], found["ranking"])


# --- what age and the budget leave out ---


def aged_store(shelf: Shelf) -> Shelf:
    """One memory that answers and is 150 days old, and newer ones that only touch the subject."""
    return shelf.add(
        summary("old", "zebra crossing", created_at="2026-06-23T12:00:00Z"),
        *(summary(f"new{n}", f"zebra okapi gnu number{n}", created_at="2026-11-20T11:00:00Z") for n in range(4)),
    )


def test_a_memory_that_fits_better_and_loses_by_its_age_is_named(shelf: Shelf) -> None:
    aged_store(shelf)
    found = shelf.ask("zebra crossing", preset="contract")
    (warning,) = found["warnings"]
    assert warning.startswith("#1 fits best (")
    assert "is number 5 for its age; preset long-lived" in warning
    (warning,) = shelf.ask("zebra crossing", preset="contract", max_results=2)["warnings"]
    assert "is left out for its age; preset long-lived" in warning
    (warning,) = shelf.ask("zebra crossing", half_life_days=0.5, recency_floor=0)["warnings"]
    assert "recency_floor 1 ignores age" in warning
    budget = sum(hit["tokens"] for hit in found["results"]) - 1
    over, warning = shelf.ask("zebra crossing", preset="contract", max_tokens=budget)["warnings"]
    assert over == f"4 of 5 shown: the token budget ({budget}) is full"
    assert "is left out for its age and the token budget" in warning


def test_nothing_is_said_where_the_first_hit_fits_about_as_well(shelf: Shelf) -> None:
    aged_store(shelf)
    assert shelf.ask("zebra crossing")["warnings"] == []
    assert shelf.ids("zebra crossing")[0] == "old"
    shelf.add(summary("twin", "zebra crossing", created_at="2026-11-20T11:00:00Z"))
    assert shelf.ask("zebra crossing", preset="contract", max_results=1)["warnings"] == []


def test_what_comes_last_by_request_is_not_said_to_be_there_for_its_age(shelf: Shelf) -> None:
    shelf.add(summary("far", "the queue of something quite different"), legacy("near", "queue"))
    assert shelf.ask("queue", legacy="append")["warnings"] == []


STATUSES_ASKED = [
    ({}, {"active", "record", "legacy"}),
    ({"include_superseded": True}, {"active", "record", "legacy", "superseded"}),
    ({"status": "Active"}, {"active"}),
    ({"status": "Final"}, {"active"}),
    ({"status": "Draft"}, {"draft"}),
    ({"status": "Superseded"}, {"superseded"}),
    ({"status": "DecisionRecord"}, {"record"}),
    ({"query": "history of the queue"}, {"active", "record", "legacy", "superseded"}),
    ({"query": "history of the queue", "include_superseded": "false"}, {"active", "record", "legacy"}),
]


@pytest.mark.parametrize(("arguments", "expected"), STATUSES_ASKED)
def test_a_status_is_shown_to_who_asks_for_it(shelf: Shelf, arguments: dict[str, Any], expected: set[str]) -> None:
    statuses = {"active": "Active", "draft": "Draft", "superseded": "Superseded"}
    shelf.add(*(summary(name, "queue", status) for name, status in statuses.items()))
    shelf.add(record("record", "queue", ("x",)), legacy("legacy", "queue"))
    assert set(shelf.ids(**{"query": "queue", **arguments})) == expected


def test_filters_by_topic_and_plan_whichever_way_the_plan_is_written(shelf: Shelf) -> None:
    shelf.add(
        summary("a", "queue", topic_id="one", plan_id="plan-014"),
        summary("b", "queue", topic_id="one", plan_id="015"),
        summary("c", "queue", topic_id="two", plan_id="014-some-title"),
        legacy("l", "queue"),
    )
    assert set(shelf.ids("queue", topic_id="one")) == {"a", "b"}
    for plan in ("014", "plan-014", "014-other-title", "Plan 014"):
        assert set(shelf.ids("queue", plan_id=plan)) == {"a", "c"}, plan
    assert shelf.ids("queue", topic_id="two", plan_id="015") == []
    assert shelf.ids("queue", topic_id="one", status="Superseded") == []


UNKNOWN_NAMES = [
    ({"topic_id": "quue"}, "TOPIC_NOT_FOUND", ["queue"]),
    ({"topic_id": "quue", "plan_id": "014"}, "TOPIC_NOT_FOUND", ["queue"]),
    ({"plan_id": "013-some-title"}, "PLAN_NOT_FOUND", ["014-some-title"]),
    ({"topic_id": "zebra"}, "TOPIC_NOT_FOUND", []),
]


@pytest.mark.parametrize("verb", ["retrieve", "context", "explain"])
@pytest.mark.parametrize(("filters", "code", "nearest"), UNKNOWN_NAMES)
def test_a_filter_that_names_what_no_memory_has_is_an_error_with_the_nearest(
    shelf: Shelf, verb: Verb, filters: dict[str, str], code: str, nearest: list[str]
) -> None:
    arguments = {"query": "queue", **filters}
    assert answer_to(shelf.workspace, shelf.embedder, NOW, ALL, verb, **arguments)["success"], "of an empty store"
    shelf.add(summary("a", "queue", topic_id="queue", plan_id="014-some-title"))
    answer = answer_to(shelf.workspace, shelf.embedder, NOW, ALL, verb, **arguments)
    assert (answer["success"], answer["error_code"]) == (False, code)
    assert answer["error_details"]["nearest"] == nearest


def test_a_question_that_is_only_a_time_lists_the_memories_of_that_time_the_newest_first(shelf: Shelf) -> None:
    days = [summary(f"d{day:02}", "The queue.", created_at=f"2026-10-{day:02}T12:00:00Z") for day in range(1, 23)]
    shelf.add(*days, summary("before", "What happened in October", created_at="2026-09-01T12:00:00Z"))
    newest_first = [f"d{day:02}" for day in range(22, 0, -1)]
    default = {"max_results": None, "config": Settings()}
    answer = shelf.ask("what happened in October", **default)
    assert [hit["memory_id"] for hit in answer["results"]] == newest_first[:20]
    assert (answer["result_count"], answer["total_results"], answer["ranking"]["order"]) == (20, 22, "date")
    assert shelf.ids("what happened in October", max_results=3) == newest_first[:3]
    assert shelf.ids("what happened in October", Settings(max_results=2), max_results=None) == newest_first[:2]
    assert shelf.ids("what happened in October", include_superseded=True) == newest_first
    about = shelf.ask("what happened to the queue in October", **default)
    assert (about["result_count"], "order" in about["ranking"]) == (5, False)


def test_a_hit_has_its_importance_also_of_a_legacy_memory_and_a_records_its_sources(shelf: Shelf) -> None:
    shelf.add(summary("s", "queue", importance=0.5), legacy("l", "queue", importance=0.25))
    shelf.add(record("r", "queue", ("a", "b")))
    hits = {hit["memory_id"]: hit for hit in shelf.ask("queue")["results"]}
    assert [hits[name]["importance"] for name in "slr"] == [0.5, 0.25, None]
    assert hits["r"]["compaction_source"] == ["a", "b"]


def test_legacy_memories_stand_among_the_rest_or_behind_them(shelf: Shelf) -> None:
    shelf.add(summary("far", "the queue of something quite different"), legacy("near", "queue"))
    assert shelf.ids("queue") == ["near", "far"]
    assert shelf.ids("queue", legacy="append") == ["far", "near"]


def test_age_and_status_move_a_hit_down(shelf: Shelf) -> None:
    shelf.add(
        summary("old", "queue", created_at="2026-10-01T12:00:00Z"),
        summary("superseded", "queue", "Superseded", created_at="2026-11-20T12:00:00Z"),
        summary("new", "queue", created_at="2026-11-20T12:00:00Z"),
    )
    assert shelf.ids("queue", include_superseded=True, preset="contract") == ["new", "superseded", "old"]
    assert shelf.ids("queue", include_superseded=True, preset="long-lived") == ["new", "old", "superseded"]


def test_the_most_hits_and_the_budget_bound_the_answer_and_not_the_count(shelf: Shelf) -> None:
    shelf.add(*(summary(f"m{number}", "queue") for number in range(10)))
    found = shelf.ask("queue", max_results=3)
    assert (found["result_count"], found["total_results"], len(found["results"])) == (3, 10, 3)
    tight = shelf.ask("queue", max_tokens=found["results"][0]["tokens"])
    assert (tight["result_count"], tight["total_results"]) == (1, 10)
    assert tight["warnings"] == [f"1 of 10 shown: the token budget ({tight['total_tokens']}) is full"]
    assert tight["total_tokens"] == found["results"][0]["tokens"]


def test_a_store_without_memories_gives_no_results_and_loads_no_model(shelf: Shelf) -> None:
    def never(_: EmbeddingConfig) -> FakeEmbedder:
        raise AssertionError("the model was loaded")

    for _ in range(2):
        found = Reader(shelf.workspace, ALL.embedding, never).answer("retrieve", {"query": "queue"}, NOW)
        assert (found["success"], found["results"], found["total_results"]) == (True, [], 0)
        shelf.add()


def vectors_gone(shelf: Shelf) -> None:
    for path in shelf.workspace.vectors.iterdir():
        path.unlink()


def vectors_of(byte: bytes) -> Callable[[Shelf], None]:
    def harm(shelf: Shelf) -> None:
        for path in shelf.workspace.vectors.iterdir():
            harmed = path.with_suffix(".new")  # in place, a thread that still reads the mapped pages would die of it
            harmed.write_bytes(byte * path.stat().st_size)
            harmed.replace(path)

    return harm


def words_harmed(statement: str) -> Callable[[Shelf], None]:
    def harm(shelf: Shelf) -> None:
        with closing(sqlite3.connect(shelf.workspace.memory_db)) as connection:
            table = table_in_force(connection)
        shelf.sql(statement.format(words=table))

    return harm


HALVES = {
    "vectors gone": vectors_gone,
    "vectors that are no numbers": vectors_of(b"\xff"),
    "vectors out of all measure": vectors_of(b"\x7e"),
    "no words": words_harmed("DROP TABLE {words}"),
    "words without settings": words_harmed("DROP TABLE {words}_config"),
    "words damaged": words_harmed("UPDATE {words}_data SET block = x'00' WHERE id > 10"),
}


@pytest.mark.parametrize("half", [half for half in HALVES if half != "words damaged"])
def test_without_one_half_of_the_index_the_other_answers_and_a_warning_has_the_remedy(shelf: Shelf, half: str) -> None:
    shelf.add(summary("a", "the queue is locked"), summary("b", "grass is green"))
    whole = shelf.ask("queue locked", Settings())
    HALVES[half](shelf)
    found = shelf.ask("queue locked", Settings())
    assert found["success"]
    assert [hit["memory_id"] for hit in found["results"]] == [hit["memory_id"] for hit in whole["results"]] == ["a"]
    lost = "vector_score" if half.startswith("vectors") else "lexical_score"
    assert found["results"][0][lost] == 0.0
    (warning,) = found["warnings"]
    assert "cognee-memory rebuild --what index" in warning
    assert whole["warnings"] == []


def test_without_both_halves_of_the_index_the_error_names_the_remedy(shelf: Shelf) -> None:
    shelf.add(summary("a", "queue"))
    vectors_gone(shelf)
    HALVES["no words"](shelf)
    found = shelf.ask("queue")
    assert found["error_code"] == "STORE_UNREADABLE"
    assert "rebuild --what index" in found["remediation"]


def test_an_index_of_more_than_there_is_breaks_no_question(shelf: Shelf) -> None:
    shelf.add(summary("a", "queue"))
    for number in (7, 8, 9):
        words_harmed(f"INSERT INTO {{words}} (rowid, topic, body) VALUES ({number}, '', 'queue')")(shelf)
    assert shelf.ids("queue") == ["a"]


def test_the_next_writer_makes_the_other_half_again(shelf: Shelf) -> None:
    shelf.add(summary("a", "queue"))
    before = shelf.ask("queue")
    for harm in HALVES.values():
        harm(shelf)
        shelf.add()
        assert shelf.ask("queue") == before


def test_a_damaged_database_is_an_error_of_the_table_and_not_a_traceback(shelf: Shelf) -> None:
    shelf.add(*(summary(f"m{number}", "queue " * 50) for number in range(40)))
    shelf.sql("PRAGMA journal_mode = DELETE")
    data = bytearray(shelf.workspace.memory_db.read_bytes())
    data[8192:] = b"\xa5" * (len(data) - 8192)
    shelf.workspace.memory_db.write_bytes(data)
    assert shelf.ask("queue")["error_code"] == "STORE_UNREADABLE"


def test_a_reader_leaves_no_transaction_open(shelf: Shelf) -> None:
    """Else the write-ahead log would grow without end."""
    shelf.add(summary("a", "queue"))
    shelf.ask("queue")
    with closing(sqlite3.connect(shelf.workspace.memory_db, timeout=0)) as connection:
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def test_estimates_belong_to_their_candidates_gaps_and_all(shelf: Shelf) -> None:
    shelf.add(*(summary(f"m{number}", f"Sentence {number}. Another one.") for number in range(40)))
    text = "Sentence 3."
    with closing(shelf.snapshot()) as snapshot:
        every = snapshot.candidates(Filters())
        vector = shelf.embedder.embed([text])[0]
        question = parse_question({"query": text}, NOW)
        whole = compared(snapshot, question, vector, every).semantic
        for chosen in ([0], [39], [1, 2], [0, 3, 5], [*range(0, 40, 2)]):
            estimate = compared(snapshot, question, vector, every.take(chosen))
            kept, found = estimate.candidates, estimate.semantic
            assert kept.number.tolist() == every.number[chosen].tolist()
            assert found == pytest.approx(whole[chosen], abs=1e-6)
            exact = snapshot.relevance(vector, kept, snapshot.lexical(text).of(kept.number))
            assert [relevance.semantic_score for relevance in exact] == pytest.approx(found, abs=1e-5)
        assert len(compared(snapshot, question, vector, every.take([]))) == 0


def test_a_provider_that_fails_is_asked_once_for_a_question(shelf: Shelf) -> None:
    """Twice would be twice the wait, and twice the bill."""
    shelf.add(summary("a", "The queue is full."))
    embedder = FakeEmbedder(dimensions=64)
    embedder.refused = {"": JobError("EMBEDDING_FAILED")}
    reader = Reader(shelf.workspace, ALL.embedding, lambda _: embedder)
    assert not reader.answer("retrieve", {"query": "queue"}, NOW)["success"]
    assert embedder.seen == ["queue"]


def test_a_model_that_was_installed_after_a_question_to_an_empty_store_is_used_by_the_next(shelf: Shelf) -> None:
    installed: list[FakeEmbedder] = []

    def create(_: EmbeddingConfig) -> FakeEmbedder:
        if not installed:
            raise JobError("MODEL_MISSING")
        return installed[0]

    reader = Reader(shelf.workspace, ALL.embedding, create)
    assert reader.answer("retrieve", {"query": "queue"}, NOW)["success"]
    installed.append(shelf.embedder)
    shelf.add(summary("a", "The queue is full."))
    assert reader.answer("retrieve", {"query": "queue"}, NOW)["success"]
