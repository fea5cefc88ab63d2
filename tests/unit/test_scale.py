"""Many memories: what is kept between questions, two stages, and answers that do not depend on either."""

import random
import shutil
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from fake_embedder import FakeEmbedder
from harness import at_once, sql
from hypothesis import given, strategies as st
from shelf import Shelf

from bridge.memory import Content, Memory, Metadata, Status
from bridge.search import catalogue, estimate as estimating, snapshot as search
from bridge.search.catalogue import Filters
from bridge.search.estimate import Estimate
from bridge.search.index_cache import IndexCache
from bridge.search.question import parse_question
from bridge.search.ranking import Relevance, factors, order_key, rounded
from bridge.search.reader import Reader
from bridge.search.retrieval import rank, score
from bridge.search.snapshot import open_snapshot
from bridge.settings import Settings
from bridge.store import vector_files
from bridge.store.catalogue import STATUSES as STATUS_CODES
from bridge.store.opening import reader_of
from bridge.store.rows import dated
from bridge.store.store import Store
from bridge.store.values import Feedback
from jobs import clock
from jobs.layout import Workspace

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
STORED = clock.iso(NOW)
WORDS = "queue lock token worker child index vector cache retry drop spool ledger".split()
STATUSES: tuple[Status, ...] = ("Active", "Active", "Active", "Superseded", "Draft")


def memories(count: int, seed: int = 1, start: int = 0) -> list[Memory]:
    """Of every kind and status, some with a date, each with a word of its own."""
    dice = random.Random(seed)
    found = []
    for number in range(start, start + count):
        text = f"Marker{number} " + " ".join(dice.choices(WORDS, k=12))
        dated = None if dice.random() < 0.2 else clock.iso(NOW - timedelta(days=dice.random() * 700))
        if dice.random() < 0.2:
            found.append(Memory(f"m{number}", 0, "legacy", Metadata(created_at=dated), STORED, text=text))
            continue
        metadata = Metadata(f"topic-{number % 7}", plan_id=f"plan-{number % 3:03d}", status=dice.choice(STATUSES))
        content = Content(f"Topic {number % 7}", f"{text}. {dice.choice(WORDS).title()} of it.", (dice.choice(WORDS),))
        found.append(Memory(f"m{number}", 0, "summary", metadata, STORED, content))
    return found


def add(workspace: Workspace, *found: Memory) -> None:
    Shelf(workspace.root, FakeEmbedder()).add(*found)


def rate(workspace: Workspace, *found: Memory, seed: int = 2) -> None:
    """Give up to six votes to each memory."""
    dice = random.Random(seed)
    store = Store(workspace, FakeEmbedder())
    with store.change(STORED) as change:
        for memory in found:
            for voter in range(dice.randrange(7)):
                change.feedback.append(Feedback(memory.id, str(voter), dice.choice(["helpful", "wrong"]), STORED))
    store.close()


def reader(workspace: Workspace) -> Reader:
    return Reader(workspace, Settings().embedding, lambda _: FakeEmbedder())


def answer(found: Reader, query: str, **arguments: Any) -> dict[str, Any]:
    arguments = {"relevance_floor": 0.1, "max_tokens": 10**6, **arguments}
    got = found.answer("retrieve", {"query": query, **arguments}, NOW)
    assert got["success"], got
    return got


ASKED: list[dict[str, Any]] = [
    {}, {"max_results": 1}, {"max_results": 1000}, {"ranking_mode": "blend"}, {"preset": "long-lived"},
    {"include_superseded": True}, {"status": "Draft"}, {"legacy": "append"}, {"legacy": "append", "max_results": 200},
    {"topic_id": "topic-3"}, {"plan_id": "001"}, {"since": "2026-01-01"}, {"until": "2026-06-01"},
    {"half_life_days": 0.5},
    {"since": "2025-06-01", "until": "2026-06-01", "topic_id": "topic-1"}, {"relevance_floor": 0.45},
]  # fmt: skip


def exhaustive(workspace: Workspace, query: str, arguments: dict[str, Any]) -> tuple[list[str], int]:
    """The same by scoring every single memory, which is what the shortcuts must agree with."""
    question = parse_question({"query": query, "relevance_floor": 0.1, **arguments}, NOW)
    snapshot = open_snapshot(workspace)
    with closing(snapshot):
        numbers = snapshot.candidates(question.filters).number.tolist()
        every = score(snapshot, question, FakeEmbedder(), numbers)
    passing = [pair for pair in every if pair[1].query_match.semantic_score >= question.relevance_floor]
    passing.sort(key=lambda pair: order_key(*pair))
    if question.legacy == "append":
        passing.sort(key=lambda pair: pair[0].kind == "legacy")
    return [memory.id for memory, _ in passing[: question.max_results]], len(passing)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Three hundred memories with their votes, which no test changes."""
    found = Workspace(tmp_path_factory.mktemp("many"))
    found.memory.mkdir(mode=0o700)
    add(found, *memories(300))
    rate(found, *memories(300))
    return found


@pytest.mark.parametrize(
    "arguments", [{}, {"ranking_mode": "blend"}, {"legacy": "append"}, {"max_results": 1}], ids=str
)
def test_with_feedback_the_best_are_those_scored_one_by_one(many: Workspace, arguments: dict[str, Any]) -> None:
    asking = reader(many)
    changed = 0
    for query in ("queue lock", "worker child retry"):
        without = [hit["memory_id"] for hit in answer(asking, query, **arguments)["results"]]
        got = answer(asking, query, feedback_weight=0.5, **arguments)["results"]
        expected, _ = exhaustive(many, query, arguments | {"feedback_weight": 0.5})
        assert [hit["memory_id"] for hit in got] == expected
        assert [hit["score"] for hit in got] == sorted((hit["score"] for hit in got), reverse=True) or arguments
        changed += without != expected
    assert changed


@pytest.mark.parametrize("arguments", ASKED, ids=str)
def test_the_best_are_those_of_scoring_each_single_memory(many: Workspace, arguments: dict[str, Any]) -> None:
    asking = reader(many)
    for query in ("queue lock", "Marker17 token", "worker child retry"):
        found = answer(asking, query, **arguments)
        expected, considered = exhaustive(many, query, arguments)
        assert [hit["memory_id"] for hit in found["results"]] == expected
        assert found["total_results"] == considered


def test_a_reader_that_lives_on_gives_what_a_new_one_gives_whatever_happens_to_the_store(workspace: Workspace) -> None:
    add(workspace, *memories(60))
    kept = reader(workspace)

    def same() -> None:
        for query in ("queue lock", "Marker70 token"):
            for arguments in ({}, {"include_superseded": True}, {"topic_id": "topic-3"}):
                assert answer(kept, query, **arguments) == answer(reader(workspace), query, **arguments)

    same()
    add(workspace, *memories(20, seed=2, start=60))
    same()
    store = Store(workspace, FakeEmbedder())
    changed = next(m for m in memories(60) if m.kind == "summary" and m.metadata.status == "Active")
    store.set_status(changed.id, "Superseded", STORED, STORED)
    same()
    store.rebuild_vectors()
    same()
    store.rebuild_words()
    same()
    store.close()
    for statement in (
        "UPDATE memories SET hidden = 1 WHERE number = 7",
        "DELETE FROM memories WHERE number = 9",
        "UPDATE memories SET hidden = 0 WHERE number = 7",
        # as an import does that keeps a free number
        "UPDATE memories SET number = 9 WHERE number = (SELECT max(number) FROM memories)",
    ):
        sql(workspace.memory_db, statement)
        same()


def test_an_addition_reads_what_is_new_and_nothing_else(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    add(workspace, *memories(30))
    asking, read = reader(workspace), []
    monkeypatch.setattr(catalogue, "read", lambda c, after=0, real=catalogue.read: read.append(after) or real(c, after))
    answer(asking, "queue")
    answer(asking, "lock")
    assert read == [0]
    add(workspace, *memories(5, start=30))
    answer(asking, "queue")
    assert read == [0, 30]


def test_a_snapshot_from_before_a_change_keeps_its_own_state_beside_a_newer_one(workspace: Workspace) -> None:
    add(workspace, *memories(10))
    cache = IndexCache()
    older = open_snapshot(workspace, cache)
    add(workspace, *memories(5, start=10))
    newer = open_snapshot(workspace, cache)
    with closing(older), closing(newer):
        assert (len(older.catalogue), len(newer.catalogue)) == (10, 15)
        # A question that began before sees its own state though the cache knows a newer one.
        assert len(cache.edition(older._store).catalogue) == 10
        assert len(cache.edition(newer._store).catalogue) == 15


def test_a_store_that_was_removed_and_begun_anew_is_read_anew(workspace: Workspace) -> None:
    add(workspace, *memories(10))
    asking = reader(workspace)
    answer(asking, "queue")
    shutil.rmtree(workspace.memory)
    assert answer(asking, "queue")["results"] == []
    workspace.memory.mkdir(mode=0o700)
    add(workspace, *memories(5, seed=2, start=30))  # fewer rows, in a file of the same name
    assert answer(asking, "queue", relevance_floor=0)["results"]
    assert answer(asking, "queue", relevance_floor=0) == answer(reader(workspace), "queue", relevance_floor=0)


def test_questions_at_once_in_one_reader_get_the_answers_of_questions_one_by_one(workspace: Workspace) -> None:
    add(workspace, *memories(120))
    queries = [f"Marker{number} {word}" for number, word in enumerate(WORDS * 4)]
    alone = [answer(reader(workspace), query) for query in queries]
    asking = reader(workspace)
    assert at_once(lambda query: answer(asking, query), queries, threads=4) == alone


def in_two_stages(monkeypatch: pytest.MonkeyPatch, first_stage: int) -> None:
    monkeypatch.setattr(search, "EXACT_ROWS", 0)
    monkeypatch.setattr(estimating, "FIRST_STAGE", first_stage)


def test_in_two_stages_a_score_is_that_of_one_stage(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    add(workspace, *memories(300))
    query = "Marker17 queue lock"
    every = {hit["memory_id"]: hit for hit in answer(reader(workspace), query, max_results=1000)["results"]}
    in_two_stages(monkeypatch, 40)
    found = answer(reader(workspace), query, max_results=1000)
    assert 40 <= found["result_count"] < len(every)
    assert all(hit == every[hit["memory_id"]] for hit in found["results"])
    assert found["results"][0]["memory_id"] == next(iter(every))


def test_in_two_stages_filters_come_before_the_choice(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else what is asked for could be crowded out by what the filters leave out anyway."""
    add(workspace, *memories(300))
    arguments = {"topic_id": "topic-3", "max_results": 1000}
    whole = answer(reader(workspace), "queue lock", **arguments)
    in_two_stages(monkeypatch, 60)
    assert answer(reader(workspace), "queue lock", **arguments) == whole


def test_in_two_stages_a_word_finds_what_a_text_hides(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the whole text alone would not find."""
    needle = Memory("needle", 0, "legacy", Metadata(), STORED, text="xyzzy " + " ".join(WORDS * 9))
    add(workspace, *memories(200), needle)
    in_two_stages(monkeypatch, 3)
    found = answer(reader(workspace), "xyzzy", relevance_floor=0)["results"]
    assert [hit["memory_id"] for hit in found if hit["lexical_score"]] == ["needle"]


def test_a_store_without_wholes_is_searched_in_one_stage(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    add(workspace, *memories(50))
    whole = answer(reader(workspace), "queue lock", max_results=1000)
    vector_files.path_of(workspace.vectors, 1, "wholes").unlink()
    in_two_stages(monkeypatch, 5)
    assert answer(reader(workspace), "queue lock", max_results=1000) == whole


def test_the_numbers_of_a_catalogue_are_found_in_any_order_and_unknown_ones_are_not(workspace: Workspace) -> None:
    add(workspace, *memories(20))
    store = reader_of(workspace).snapshot()
    with closing(store):
        found = catalogue.read(store)
        shuffled = found.take(np.random.default_rng(1).permutation(len(found)))
        wanted = np.array([5, 999, 1, 0, 20])
        indexes = shuffled.indexes(wanted)
        assert [int(shuffled.number[i]) if i >= 0 else None for i in indexes] == [5, None, 1, None, 20]
        empty = found.filtered(Filters(labels={"topic_id": "nobody"}), store)
        assert (len(empty), empty.indexes(wanted).tolist()) == (0, [-1] * 5)


def test_very_old_memories_keep_their_order_by_date_though_nothing_of_their_score_is_left(workspace: Workspace) -> None:
    found = [
        Memory(
            f"y{year}", 0, "summary", Metadata(status="Active", created_at=f"{year}-01-01T00:00:00Z"), STORED,
            Content("Queue", "queue"),
        )
        for year in (1971, 1999, 1985)
    ]  # fmt: skip
    add(workspace, *found)
    hits = answer(reader(workspace), "queue", half_life_days=0.5, max_results=2)["results"]
    assert [(hit["memory_id"], hit["score"]) for hit in hits] == [("y1999", 0.0), ("y1985", 0.0)]


def test_scores_by_number_are_those_of_the_ranking_and_hidden_ones_have_none(workspace: Workspace) -> None:
    add(workspace, *memories(80))
    sql(workspace.memory_db, "UPDATE memories SET hidden = 1 WHERE number = 3")
    question = parse_question({"query": "queue lock", "max_results": 1000, "include_superseded": True}, NOW)
    snapshot = open_snapshot(workspace)
    with closing(snapshot):
        ranked = rank(snapshot, question, FakeEmbedder()).hits
        numbers = [memory.number for memory, _ in ranked]
        assert score(snapshot, question, FakeEmbedder(), numbers) == ranked
        assert score(snapshot, question, FakeEmbedder(), [3, 4711]) == []


def test_a_vector_file_cut_off_under_a_reader_costs_meanings_and_not_the_process(workspace: Workspace) -> None:
    add(workspace, *memories(200))  # more than a page, so that mapped rows are really gone
    asking = reader(workspace)
    answer(asking, "queue")
    path = vector_files.path_of(workspace.vectors, 1)
    with path.open("r+b") as file:
        file.truncate(vector_files.ITEM_BYTES)
    assert any("only words were compared" in each for each in answer(asking, "queue lock")["warnings"])


def test_in_two_stages_late_legacy_crowds_nothing_out(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = [Memory(f"l{n}", 0, "legacy", Metadata(), STORED, text=f"queue lock {n}") for n in range(30)]
    known = [
        Memory(f"s{n}", 0, "summary", Metadata(status="Active"), STORED, Content("Spool", f"queue of {WORDS[n]}"))
        for n in range(3)
    ]
    add(workspace, *crowd, *known)
    arguments = {"legacy": "append", "max_results": 3, "relevance_floor": 0.01}
    whole = answer(reader(workspace), "queue lock", **arguments)
    assert {hit["memory_id"] for hit in whole["results"]} == {"s0", "s1", "s2"}
    in_two_stages(monkeypatch, 5)
    assert answer(reader(workspace), "queue lock", **arguments)["results"] == whole["results"]


@given(
    st.lists(
        st.tuples(
            st.floats(0, 1e-3),  # the semantic score
            st.floats(-1e-5, 1e-5),  # and what its estimate is off by
            st.floats(0, 40),  # days
            st.sampled_from(["Active", "Superseded"]),
        ),
        min_size=3, max_size=8,
    ),
    st.sampled_from(["product", "blend"]),
)  # fmt: skip
def test_no_estimate_loses_a_best_one_however_low(found: list[tuple[float, float, float, Status]], mode: str) -> None:
    question = parse_question({"query": "q", "relevance_floor": 0, "max_results": 2, "ranking_mode": mode}, NOW)
    exact, estimates = [], []
    for number, (semantic, off, days, status) in enumerate(found, 1):
        metadata = Metadata(status=status, created_at=clock.iso(NOW - timedelta(days=days)))
        memory = Memory(f"m{number}", number, "summary", metadata, STORED, Content("Queue", "queue"))
        exact.append((memory, factors(memory, Relevance(semantic, 0.0, rounded(semantic)), question.ranking)))
        estimates.append(max(0.0, semantic + off))
    dates = [dated(m.kind, m.metadata.created_at, None, STORED) for m, _ in exact]
    nothing = np.zeros(len(exact), np.int64)
    candidates = catalogue.Catalogue(
        np.arange(1, len(exact) + 1), nothing, nothing, nothing,
        np.array([STATUS_CODES.index(m.metadata.status) for m, _ in exact], np.int8),
        nothing.astype(np.bool_), np.array(dates, np.float64), nothing, nothing,
    )  # fmt: skip
    columns = np.zeros(len(exact)), np.array(estimates)
    estimate = Estimate(None, np.zeros(2, np.float32), candidates, *columns, 1.1e-5)  # type: ignore[arg-type]
    coarse = estimate.needed(question, question.max_results, is_coarse=True)
    kept = coarse[estimate.take(coarse).needed(question, question.max_results)]
    best = sorted(exact, key=lambda pair: order_key(*pair))[:2]
    assert {memory.number for memory, _ in best} <= set(candidates.number[kept].tolist())
