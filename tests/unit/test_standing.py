"""What holds: which statements newer ones replaced is found once, kept, and shown in every answer."""

import json
import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_embedder import FakeEmbedder
from harness import raising, sql
from hypothesis import given, settings as settings_of, strategies as st
from job_copies import done, outcome, refused
from questions import answer_to

from bridge.compaction.statements import without_change, without_rejected
from bridge.embedding import model_files
from bridge.embedding.embedder import Embedder
from bridge.embedding.local_models import ENGLISH
from bridge.embedding.model_files import DEFAULT_FOLDER
from bridge.embedding.onnx import OnnxEmbedder
from bridge.graph.open_stores import Stores
from bridge.memory import Content, Memory, Metadata
from bridge.search import listing, review
from bridge.search.rests import of_memory, rests
from bridge.search.session_start import session_start
from bridge.search.standings import DISPUTED, POSSIBLE, REPLACED, Standings, read
from bridge.settings import Settings
from bridge.standing import comparison, cross_encoder, judge
from bridge.store.catalogue import Replacement, Settlement
from bridge.store.opening import reader_of
from bridge.store.store import Store
from bridge.store.values import PairVerdict
from bridge.store.verdicts import OfPair, settled
from bridge.text.decision_lines import digest
from bridge.text.passages import decisions, statements
from jobs import clock
from jobs.errors import JobError
from jobs.kinds import PAIR_VERDICTS
from jobs.layout import Workspace
from jobs.lifecycle import Failed, Succeeded
from worker.calls import memories as calls
from worker.calls.call import Scope
from worker.terminal.kinds.resolve import show_resolve, show_review

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
AT = "2026-11-20T11:00:00Z"
ALL = Settings(relevance_floor=0.0)
OLD, NEW = "Loans last two weeks", "Loans last four weeks"
QUESTION = "how long do loans last"
LONG = "Every reader may keep a borrowed book at home for {} weeks"

Judge = Callable[[Sequence[tuple[str, str]], Any], list[float]]


def memory(
    memory_id: str, day: str, *decisions: str, status: str = "Active", kind: str = "summary", **said: str
) -> Memory:
    topic, topic_id = said.get("topic", ""), said.get("topic_id", memory_id if "topic" in said else "loans")
    known = Metadata(topic_id=topic_id, status=status, created_at=f"{day}T12:00:00Z")
    content = Content(topic or f"Topic of {memory_id}", said.get("context", f"Said in {memory_id}."), decisions)
    return Memory(memory_id, 0, kind, known, "2026-11-19T12:00:00Z", content)


FIRST, SECOND = memory("a", "2026-09-01", OLD), memory("b", "2026-10-01", NEW)
KEEPS = memory("b", "2026-10-01", "A reader keeps a book for 28 days")
RECORD = {"status": "DecisionRecord", "kind": "decision_record"}


def saying(probability: float, *pairs: tuple[str, str]) -> Judge:
    """A judge for which only these pairs, or any if none is given, may be replacements."""
    return lambda asked, _: [probability if not pairs or pair in pairs else 0.0 for pair in asked]


class Place:
    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.patch = patch
        self.workspace = Workspace(folder)
        self.workspace.memory.mkdir(mode=0o700)
        self.embedder: Embedder = FakeEmbedder(dimensions=64)

    def store(self) -> Store:
        return Store(self.workspace, self.embedder)

    def add(self, *memories: Memory) -> None:
        with closing(self.store()) as store:
            for each in memories:
                store.add([(each, None)], "2026-11-19T12:00:00Z")

    def judge(self, by: Judge) -> None:
        self.patch.setattr(judge, "replaces", by)

    def compare(self) -> None:
        with closing(self.store()) as store:
            while comparison.compare_some(store):
                pass

    def compared(self, by: Judge, *memories: Memory) -> None:
        """Adds the memories, and compares all as this judge does."""
        self.judge(by)
        self.add(*memories)
        self.compare()

    def pairs(self) -> list[tuple[Any, ...]]:
        return sql(self.workspace.memory_db, "SELECT * FROM replacements ORDER BY 1, 2, 3, 4")

    def ask(self, query: str = QUESTION, verb: Any = "retrieve", **arguments: Any) -> dict[str, Any]:
        return answer_to(self.workspace, self.embedder, NOW, ALL, verb, query=query, **arguments)

    def order(self, query: str = QUESTION, **arguments: Any) -> list[str]:
        return [hit["memory_id"] for hit in self.ask(query, **arguments)["results"]]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, monkeypatch)


# --- what is found ---


def test_the_statements_of_a_memory_are_its_decisions_and_not_what_a_record_says_of_earlier_times() -> None:
    lines = ("[Later] B holds (2026-10-01, #2) supersedes A holds", "[Earlier] A holds (2026-09-01, #1)")
    (text,) = statements(memory("r", "2026-10-01", *lines, **RECORD)).values()
    assert "B holds" in text
    assert statements(memory("none", "2026-10-01")) == {}


def test_a_decision_of_a_record_is_the_decision_that_it_was_in_its_source() -> None:
    line = "[Later] B holds (2026-10-01, #2) supersedes A holds (2026-09-01, #1)"
    record = memory("r", "2026-10-01", line, "[Earlier] A holds (2026-09-01, #1)", **RECORD)
    source = memory("s", "2026-10-01", "B holds.")
    assert list(map(digest, statements(record).values())) == list(map(digest, statements(source).values()))


def test_what_stands_beside_each_other_in_one_memory_is_not_replaced_by_a_repetition_of_one(place: Place) -> None:
    place.compared(saying(0.95), memory("a", "2026-09-01", OLD, NEW), SECOND, memory("c", "2026-10-02", "No loans"))
    with reader_of(place.workspace).lists() as lists:
        assert {(row.older, row.newer) for row in lists.replacements()} == {(1, 3), (2, 3)}


@pytest.mark.parametrize("first", ["older", "newer"])
def test_the_date_says_which_is_the_newer_whatever_was_stored_first(place: Place, first: str) -> None:
    place.judge(saying(0.95))
    place.add(*([FIRST, SECOND] if first == "older" else [SECOND, FIRST]))
    place.compare()
    older = 1 if first == "older" else 2
    assert [(row[0], row[2], row[4]) for row in place.pairs()] == [(older, 3 - older, 0.95)]


def test_of_two_memories_of_the_same_date_none_replaces_the_other(place: Place) -> None:
    place.compared(saying(0.99), FIRST, memory("b", "2026-09-01", NEW))
    assert place.pairs() == []


TWO_TOPICS = [
    (("Loans at Linz", "Loans at Graz"), 1),
    (("Caches", "Zebra food"), 0),
    ((LONG.format(4), LONG.format(5)), 1),  # the decision's own words
]


@pytest.mark.parametrize(("topics", "found"), TWO_TOPICS)
def test_decisions_of_two_topics_at_most_dispute_if_alike(place: Place, topics: tuple[str, str], found: int) -> None:
    place.compared(
        saying(0.99),
        memory("a", "2026-09-01", LONG.format(4), topic=topics[0], context="It was asked at the desk."),
        memory("b", "2026-10-01", LONG.format(5), topic=topics[1], context="A zebra ate the cache."),
    )
    assert [DISPUTED <= row[4] < REPLACED for row in place.pairs()] == [bool(found)]


def test_two_notes_of_one_sentence_dispute_in_any_words_since_they_have_no_topics(place: Place) -> None:
    other = "A zebra ate the cache"
    notes = [memory(name, day, text, topic=text, context=text) for name, day, text in
             (("a", "2026-09-01", OLD), ("b", "2026-10-01", other))]  # fmt: skip
    place.compared(saying(0.99), *notes)
    assert [DISPUTED <= row[4] < REPLACED for row in place.pairs()] == [True]


@pytest.mark.parametrize(("count", "warned"), [(10, []), (11, ["11 memories are not compared"])])
def test_an_answer_says_that_many_memories_are_not_compared_yet(place: Place, count: int, warned: list[str]) -> None:
    place.add(*(memory(f"m{n}", "2026-09-01", f"{OLD} {n}") for n in range(count)))
    assert [warning[:28] for warning in place.ask()["warnings"]] == warned
    place.compare()
    assert place.ask()["warnings"] == []


def test_what_is_superseded_already_is_not_said_to_be_replaced(place: Place) -> None:
    place.compared(saying(0.95), memory("a", "2026-09-01", OLD, status="Superseded"), SECOND)
    hits = place.ask(include_superseded=True)["results"]
    assert [("standing" in hit, hit["status_multiplier"]) for hit in hits] == [(False, 1.0), (False, 0.4)]


def test_two_decisions_of_one_memory_are_not_compared(place: Place) -> None:
    place.compared(saying(0.99), memory("a", "2026-09-01", OLD, NEW))
    assert place.pairs() == []


def test_a_memory_is_compared_once_and_again_with_another_judge(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def counting(pairs: Sequence[tuple[str, str]], _: Any) -> list[float]:
        asked.extend(pairs)
        return [0.9] * len(pairs)

    place.compared(counting, FIRST, SECOND)
    place.compare()
    assert asked == [(OLD, NEW)]
    monkeypatch.setattr(judge, "IDENTITY", "another")
    place.judge(saying(0.0))
    place.compare()
    assert place.pairs() == []


def test_a_memory_that_was_cut_off_before_it_was_compared_is_compared_by_the_next_process(place: Place) -> None:
    place.add(FIRST)

    place.judge(raising(KeyboardInterrupt))
    place.compare()
    place.add(SECOND)
    with pytest.raises(KeyboardInterrupt):
        place.compare()
    place.judge(saying(0.95))
    place.compare()
    assert [(row[0], row[2]) for row in place.pairs()] == [(1, 2)]


def test_made_again_from_the_texts_it_is_the_same(place: Place) -> None:
    place.judge(lambda pairs, _: [0.9 if "last" in a and "last" in b else 0.0 for a, b in pairs])
    days = ["2026-09-01", "2026-10-01", "2026-08-01", "2026-11-01"]
    place.add(*(memory(f"m{at}", day, f"Loans last {at} weeks", f"Shelf {at} is blue") for at, day in enumerate(days)))
    place.compare()
    before = place.pairs()
    sql(place.workspace.memory_db, "DELETE FROM statements")
    sql(place.workspace.memory_db, "DELETE FROM replacements")
    place.compare()
    assert place.pairs() == before != []


def test_what_is_forgotten_takes_its_pairs_along(place: Place) -> None:
    place.compared(saying(0.95), FIRST, SECOND)
    assert place.order() == ["b", "a"]
    with closing(place.store()) as store, store.change("2026-11-20T12:00:00Z") as change:
        change.dropped.append("b")
    assert place.pairs() == []
    (hit,) = place.ask()["results"]
    assert ("standing" in hit, hit["status_multiplier"]) == (False, 1.0)


# --- in the answers ---


def test_what_was_replaced_stands_below_what_replaced_it_and_both_say_so(place: Place) -> None:
    place.add(FIRST, KEEPS)
    assert place.order()[0] == "a", "by itself the older one fits better"
    place.judge(saying(0.95))
    place.compare()
    newer, older = place.ask(best_passages=True)["results"]
    assert (newer["memory_id"], older["memory_id"]) == ("b", "a")
    assert older["standing"] == {
        "state": "replaced", "statement": OLD,
        "by": {
            "memory_id": "b", "memory_number": 2, "statement": "A reader keeps a book for 28 days",
            "dated_at": "2026-10-01T12:00:00Z",
        },
        "since": "2026-10-01T12:00:00Z", "confidence": 0.95, "cause": "judge", "replaces": [], "inherited_from": None,
    }  # fmt: skip
    assert (newer["standing"]["state"], newer["standing"]["inherited_from"]) == ("holds", 1)
    assert [(each["statement"], each["state"]) for each in newer["standing"]["replaces"]] == [(OLD, "replaced")]
    assert newer["best_passages"][0] == "A reader keeps a book for 28 days"


def test_the_score_is_the_product_of_its_factors_and_explain_shows_the_same_to_the_last_digit(place: Place) -> None:
    place.compared(saying(0.95), FIRST, KEEPS)
    hits = place.ask()["results"]
    for hit in hits:
        product = hit["semantic_score"] * hit["recency_multiplier"] * hit["status_multiplier"]
        assert hit["score"] == float(f"{product:.10g}")
    explained = {item["id"]: item for item in place.ask(verb="explain", ids=[1, 2])["items"]}
    for hit in hits:
        item = explained[hit["memory_number"]]
        assert item["score"]["total"] == hit["score"]
        assert 1 + item["score"]["components"]["kind_bonus"] == pytest.approx(hit["status_multiplier"], abs=1e-12)
        assert item["standing"] == hit["standing"]
    alone = place.ask(verb="explain", query="how long do loans last", ids=[2], limit=1)["items"]
    assert next(item for item in alone if item["id"] == 2)["score"]["total"] == hits[0]["score"]


def test_what_is_only_disputed_stands_below_the_newer_one_and_is_marked(place: Place) -> None:
    place.compared(saying(0.75), FIRST, KEEPS)
    newer, older = place.ask()["results"]
    assert (newer["memory_id"], older["standing"]["state"]) == ("b", "disputed")
    assert older["status_multiplier"] > 0.5


def test_a_list_and_a_whole_memory_say_which_decision_was_replaced_and_by_what(place: Place) -> None:
    place.compared(saying(0.95, (OLD, NEW)), FIRST, SECOND)
    newer, older = listing.memories(place.workspace, 9)
    assert (newer["excerpt"], newer["standings"]) == (NEW, [])
    assert older["excerpt"] == f"[replaced by #2] {OLD}"
    (fallen,) = older["standings"]
    assert (fallen["state"], fallen["statement"], fallen["by"]["statement"]) == ("replaced", OLD, NEW)
    assert listing.memory(place.workspace, "1")["standings"] == [fallen]
    recent = calls.recent(Scope(place.workspace), limit=9)["memories"]
    assert [line["excerpt"] for line in recent] == [NEW, older["excerpt"]]


def test_a_memory_answers_by_its_other_decisions_as_before(place: Place) -> None:
    place.compared(saying(0.95, (OLD, NEW)), memory("a", "2026-09-01", OLD, "The reading room closes at eight"), SECOND)
    first = place.ask("when does the reading room close")["results"][0]
    assert (first["memory_id"], first["status_multiplier"], "standing" in first) == ("a", 1.0, False)


def test_a_newer_one_that_may_replace_it_is_first_where_both_answer_and_not_asked_about_otherwise(place: Place) -> None:
    place.judge(saying(POSSIBLE + 0.1))
    place.add(
        memory("a", "2026-09-01", OLD, topic="How long do loans last"),
        memory("b", "2026-10-01", "Loans last four weeks now", topic="Shelves"),
    )
    assert place.order()[0] == "a", "by itself the older one fits better"
    place.compare()
    newer, older = place.ask()["results"]
    assert (newer["memory_id"], older["standing"]["state"]) == ("b", "disputed")
    assert place.order("what was said of a")[0] == "a"
    assert review.pairs(place.workspace, all_of_them=True) == []
    assert "disputed" not in session_start(place.workspace, None)


def test_a_newer_one_that_may_replace_it_changes_nothing_where_it_does_not_answer(place: Place) -> None:
    place.compared(saying(POSSIBLE + 0.1), FIRST, memory("b", "2026-10-01", "Quince jam for zebras"))
    assert len(place.pairs()) == 1
    assert ["standing" in hit for hit in place.ask()["results"]] == [False, False]


FARTHER = {
    "far, and hardly likely": (0.5, "Quince jam for zebras", "", ["a", "b"]),
    "far, but more likely": (0.8, "Quince jam for zebras", "", ["b", "a"]),
    "as near to the question": (0.5, "How long a loan may last", "", ["b", "a"]),
    "far, in a memory that is as relevant": (0.5, "Quince jam for zebras", "Loans do last.", ["b", "a"]),
}


@pytest.mark.parametrize(("probability", "words", "context", "order"), FARTHER.values(), ids=FARTHER)
def test_the_surer_may_be_farther_to_come_first(
    place: Place, probability: float, words: str, context: str, order: list[str]
) -> None:
    """The surer that a newer one replaces it, the farther from the question it may be to stand first."""
    place.compared(saying(probability), FIRST, memory("b", "2026-10-01", words, context=context or "Said in b."))
    hits = place.ask()["results"]
    assert [hit["memory_id"] for hit in hits] == order
    states = [hit["standing"]["state"] for hit in hits if "standing" in hit]
    assert states == ([] if order == ["a", "b"] else ["holds", "disputed"])
    assert len(review.pairs(place.workspace, all_of_them=True)) == (probability >= DISPUTED)
    if states:  # an answer names the pair, so it can be settled
        (older, newer) = review.sides(place.workspace, "1/2")
        assert (older["statement"], newer["statement"]) == (OLD, words)


def test_of_several_pairs_that_only_answers_name_none_is_settled_by_the_numbers_of_the_memories(place: Place) -> None:
    older = memory("a", "2026-09-01", OLD, "Loans of films last two days")
    place.compared(saying(POSSIBLE), older, SECOND)
    assert len(place.pairs()) == 2
    assert review.pair(place.workspace, "1/2") is None


@pytest.mark.parametrize("newer_context", ["How long books may be kept.", "Readers with children asked for it."])
def test_a_context_that_repeats_the_question_keeps_no_replaced_one_first(place: Place, newer_context: str) -> None:
    older = memory("a", "2026-09-01", OLD, context="How long books may be kept.")
    place.compared(saying(0.95, (OLD, NEW)), older, memory("b", "2026-10-01", NEW, context=newer_context))
    newer, older = place.ask("how long may books be kept")["results"]
    assert (newer["memory_id"], older["standing"]["state"]) == ("b", "replaced")


def test_a_context_that_answers_keeps_the_memory_first_though_it_was_replaced(place: Place, embedder: Embedder) -> None:
    place.embedder = embedder
    complaint = "Mrs Okafor complained that the shelf is too small."
    older = memory("a", "2026-09-01", OLD, topic="Loans", topic_id="loans", context=complaint)
    asked = "Readers with children asked for it."
    newer = memory("b", "2026-10-01", NEW, topic="Loans", topic_id="loans", context=asked)
    place.compared(saying(0.95, (OLD, NEW)), older, newer)
    assert len(place.pairs()) == 1
    (first, *_) = place.ask("what did Mrs Okafor complain about?")["results"]
    assert (first["memory_id"], "standing" in first) == ("a", False)


def test_of_a_row_of_disputed_ones_the_newest_stands_first(place: Place) -> None:
    last = "A loan has an end of its own"
    place.compared(saying(0.75, (OLD, NEW), (NEW, last)), FIRST, SECOND, memory("c", "2026-11-01", last))
    assert place.order("how long do loans last, two weeks") == ["c", "b", "a"]


def test_of_a_chain_the_last_one_holds_and_stands_first(place: Place) -> None:
    last = "Borrowing is without a limit"
    place.compared(saying(0.95, (OLD, NEW), (NEW, last)), FIRST, SECOND, memory("c", "2026-11-01", last))
    hits = place.ask()["results"]
    assert hits[0]["memory_id"] == "c"
    assert [hit["standing"]["by"]["memory_id"] for hit in hits[1:]] == ["c", "c"]


def test_a_successor_that_is_no_hit_comes_in_with_its_pair(place: Place) -> None:
    place.judge(saying(0.95))
    place.add(FIRST, memory("b", "2026-10-01", "Quince jam for zebras"))
    floor = place.ask()["results"][1]["semantic_score"] + 0.05
    assert place.order(relevance_floor=floor) == ["a"]
    place.compare()
    assert place.order(relevance_floor=floor) == ["b", "a"]


def test_a_successor_that_was_superseded_or_is_a_draft_replaces_nothing(place: Place) -> None:
    place.compared(saying(0.95), FIRST, memory("b", "2026-10-01", NEW, status="Draft"))
    assert "standing" not in place.ask()["results"][0]


OF_THE_PAST = [
    ("how long did loans last before", {}),
    ("how long do loans last", {"as_of": "2026-09-15T00:00:00Z"}),
    ("how long did loans last in September 2026", {}),
]


@pytest.mark.parametrize(("query", "arguments"), OF_THE_PAST)
def test_a_question_about_the_past_finds_first_what_held(place: Place, query: str, arguments: dict[str, Any]) -> None:
    place.compared(saying(0.95), FIRST, KEEPS)
    assert place.order(query, **arguments)[0] == "a"


def test_for_a_question_about_the_past_neither_age_nor_being_a_record_puts_the_later_one_first(place: Place) -> None:
    later = memory("b", "2026-11-01", "Loans last 28 days", **RECORD)
    place.compared(saying(0.95), memory("a", "2024-01-01", OLD), later)
    assert place.order("how long did loans last before the 28 days") == ["a", "b"]


def test_a_question_about_the_past_that_names_the_newer_one_finds_the_earlier_one_and_says_so(place: Place) -> None:
    place.judge(saying(0.95))
    place.add(memory("a", "2026-09-01", "Loans last two weeks"), memory("b", "2026-10-01", "Loans last 28 days"))
    assert place.order("how long did loans last before the 28 days")[0] == "b", "by itself the newer one fits better"
    place.compare()
    older, newer = place.ask("how long did loans last before the 28 days")["results"]
    assert (older["memory_id"], older["standing"]["state"], older["standing"]["inherited_from"]) == ("a", "replaced", 2)
    assert newer["standing"]["state"] == "holds"
    explained = place.ask("how long did loans last before the 28 days", verb="explain", ids=[1], limit=1)["items"]
    assert next(item for item in explained if item["id"] == 1)["score"]["total"] == older["score"]


def test_a_block_for_a_prompt_marks_the_decision_that_was_replaced(place: Place) -> None:
    place.compared(saying(0.95, (OLD, NEW)), memory("a", "2026-09-01", OLD, "Shelves are blue"), SECOND)
    answer = place.ask(verb="context")
    assert f"> - {OLD} [replaced by #2, 2026-10-01]" in answer["context"]
    assert answer["context"].index("Shelves are blue") < answer["context"].index(OLD)
    assert answer["context"].index(NEW) < answer["context"].index(OLD)


def test_the_notes_at_the_start_of_a_session_say_what_a_newer_one_contradicts(place: Place) -> None:
    place.compared(
        saying(0.95),
        memory("a", "2026-09-01", LONG.format(4), topic="Loans"),
        memory("b", "2026-10-01", LONG.format(5), topic="Loans again"),
    )
    notes = session_start(place.workspace, None)
    assert f"> - {LONG.format(4)} (2026-09-01, #1) [disputed by #2, 2026-10-01]" in notes
    assert f"> - {LONG.format(5)} (2026-10-01, #2)\n" in notes


def test_the_notes_at_the_start_of_a_session_leave_out_what_was_replaced(place: Place) -> None:
    place.compared(saying(0.95, (OLD, NEW)), memory("a", "2026-09-01", OLD, "Shelves are blue"), SECOND)
    notes = session_start(place.workspace, None)
    assert OLD not in notes
    assert f"> - {NEW} (2026-10-01, #2)\n> - Shelves are blue (2026-09-01, #1)" in notes


# --- what somebody said ---


OLDER, NEWER = (1, 2), (2, 2)


LAST_VERDICTS = [
    ([], {OLDER: (NEWER, 0.75, "judge")}),
    (["newer"], {OLDER: (NEWER, 1.0, "said")}),
    (["older"], {NEWER: (OLDER, 1.0, "said")}),
    (["both"], {}),
    (["newer", "both"], {}),
    (["both", "older"], {NEWER: (OLDER, 1.0, "said")}),
]


@pytest.mark.parametrize(("verdicts", "fallen"), LAST_VERDICTS)
def test_the_last_verdict_on_a_pair_wins_over_the_judge(
    verdicts: list[str], fallen: dict[tuple[int, int], tuple[tuple[int, int], float, str]]
) -> None:
    said = [OfPair(*OLDER, *NEWER, verdict, 10.0, Settlement("person", AT, None)) for verdict in verdicts]
    known = read(settled([Replacement(*OLDER, *NEWER, 0.75, 10.0)], said), [OLDER, NEWER])
    falls = {each: known.fall(each) for each in (OLDER, NEWER)}
    assert {at: (fall.by, fall.confidence, fall.cause) for at, fall in falls.items() if fall is not None} == fallen


def test_a_verdict_that_calls_the_older_one_the_newer_settles_the_same_pair() -> None:
    said = OfPair(*NEWER, *OLDER, "older", 10.0, Settlement("person", AT, None))
    (pair,) = settled([Replacement(*OLDER, *NEWER, 0.99, 10.0)], [said])
    assert (pair.older, pair.newer, pair.probability) == (1, 2, 1.0)


def test_what_was_said_counts_more_than_a_surer_pair_that_was_found() -> None:
    found = [Replacement(*OLDER, 3, 2, 1.0, 20.0), Replacement(*OLDER, *NEWER, 0.75, 10.0)]
    fall = read(settled(found, [OfPair(*OLDER, *NEWER, "newer", 10.0, Settlement("a", AT, None))]), [OLDER]).fall(OLDER)
    assert (fall.by, fall.cause) == (NEWER, "said")


def resolved(place: Place, verdict: str, at: str = AT, job_id: str = "job", **given: Any) -> Succeeded | Failed:
    sides = {"older": {"memory_id": "a", "statement": OLD}, "newer": {"memory_id": "b", "statement": NEW}}
    payload = {**sides, "verdict": verdict, "by": "person", **given}
    with Stores(place.workspace, ALL) as stores:
        stores._embedder = place.embedder
        return outcome(stores, "resolve", payload, job_id, at=at, now=NOW)


@pytest.fixture
def disputed(place: Place) -> Place:
    """Two memories whose decisions may contradict each other."""
    place.compared(saying(0.75), FIRST, SECOND)
    return place


def states(place: Place) -> dict[str, tuple[str, str | None]]:
    found = {hit["memory_id"]: hit.get("standing") for hit in place.ask()["results"]}
    return {name: (each["state"], each["cause"]) for name, each in found.items() if each is not None}


VERDICTS = [
    ("newer", {"a": ("replaced", "said"), "b": ("holds", None)}),
    ("older", {"b": ("replaced", "said"), "a": ("holds", None)}),
    ("both", {}),
    ("undecided", {"a": ("disputed", "judge"), "b": ("holds", None)}),
]


@pytest.mark.parametrize(("verdict", "expected"), VERDICTS)
def test_a_verdict_shows_in_the_next_answer_and_survives_another_judge(
    disputed: Place, monkeypatch: pytest.MonkeyPatch, verdict: str, expected: dict[str, tuple[str, str | None]]
) -> None:
    assert states(disputed)["a"] == ("disputed", "judge")
    done(resolved(disputed, verdict))
    assert states(disputed) == expected
    pair = review.pair(disputed.workspace, "1/2")
    assert [each for each in PAIR_VERDICTS if pair and not review.is_overruled(pair, each)] == [verdict]
    monkeypatch.setattr(judge, "IDENTITY", "another")
    disputed.compare()
    assert states(disputed) == expected


def test_a_pair_keeps_its_name_and_is_not_shown_again_once_it_is_settled(disputed: Place) -> None:
    (pair,) = review.pairs(disputed.workspace)
    assert (pair["pair"], pair["older"]["statement"], pair["newer"]["statement"]) == ("1/2", OLD, NEW)
    resolved(disputed, "older", reason="The council said so.")
    assert review.pairs(disputed.workspace) == []
    (pair,) = review.pairs(disputed.workspace, all_of_them=True)
    assert (pair["state"], pair["holds"], pair["reason"]) == ("replaced", "older", "The council said so.")
    assert review.pair(disputed.workspace, "#1/2") == pair
    with closing(disputed.store()) as store:
        store.set_status("a", "Superseded", AT, AT)
    assert review.pair(disputed.workspace, "1/2") == {**pair, "state": "suspended", "confidence": 0.0}
    with pytest.raises(JobError, match="no pair '1/3'"):
        review.sides(disputed.workspace, "1/3")


def test_two_decisions_that_nothing_paired_are_settled_by_their_places(place: Place) -> None:
    place.compared(saying(0.0), memory("a", "2026-09-01", "The cellar is locked", OLD), SECOND)
    assert review.pair(place.workspace, "1.2/2.1") is None
    for name in ("1.2/2.1", "#2.1/#1.2"):
        assert [each["statement"] for each in review.sides(place.workspace, name)] == [OLD, NEW]
    resolved(place, "newer")
    pair = review.pair(place.workspace, "2.1/1.2")
    assert (pair["pair"], pair["state"], pair["cause"]) == ("1/2", "replaced", "said")
    assert review.pair(place.workspace, "1.1/2.1") is None


NOT_THERE = [
    ("1.2/2.1", "no decision 1.2: it has 1. Nothing was changed"),
    ("1.0/2.1", "no decision 1.0"),
    ("1.1/9.1", "no memory #9"),
    ("1.1/1.2", "Both are decisions of memory #1"),
    ("1.1", "does not name two decisions"),
    ("1.x/2.1", "does not name two decisions"),
]


@pytest.mark.parametrize(("name", "words"), NOT_THERE)
def test_decisions_that_are_not_there_are_refused_with_what_is_wrong(disputed: Place, name: str, words: str) -> None:
    with pytest.raises(JobError, match=re.escape(words)):
        review.sides(disputed.workspace, name)


def model_said(place: Place, verdict: Any, confidence: float, at: str = AT) -> None:
    digests = [digest(words) for words in (OLD, NEW)]
    with closing(place.store()) as store, store.change(AT) as change:
        change.verdicts.append(
            PairVerdict("a", digests[0], "b", digests[1], verdict, None, "m/model", at, "judge", confidence)
        )


def test_a_language_models_verdict_gives_way_to_anybody_elses_whichever_came_later(disputed: Place) -> None:
    model_said(disputed, "newer", 0.95, at="2026-11-20T12:00:01Z")
    (pair,) = review.pairs(disputed.workspace, all_of_them=True)
    assert (pair["state"], pair["by"], pair["confidence"]) == ("replaced", "m/model", 0.95)
    resolved(disputed, "both", at="2026-11-20T12:00:00Z")
    assert states(disputed) == {}
    model_said(disputed, "newer", 0.99, at="2026-11-20T12:00:02Z")
    assert states(disputed) == {}


def test_a_models_verdict_of_little_confidence_leaves_the_pair_disputed(disputed: Place) -> None:
    model_said(disputed, "newer", 0.72)
    (pair,) = review.pairs(disputed.workspace)
    assert (pair["state"], pair["confidence"]) == ("disputed", 0.72)


@pytest.mark.parametrize("verdict", ["newer", "both", "undecided"])
def test_a_pair_with_any_verdict_is_not_asked_about_again(disputed: Place, verdict: str) -> None:
    def unsaid() -> int:
        with reader_of(disputed.workspace).lists() as lists:
            return len(lists.unsaid())

    assert unsaid() == 1
    model_said(disputed, verdict, 0.9)
    assert unsaid() == 0


def test_the_version_of_the_review_changes_with_whatever_may_change_it_and_with_nothing_else(place: Place) -> None:
    def version() -> str:
        return calls.review_version(Scope(place.workspace))

    place.judge(saying(0.75))
    seen = [version()]
    place.add(FIRST, SECOND)
    seen.append(version())
    place.compare()
    seen.append(version())
    for verdict in ("newer", "both", "undecided"):
        resolved(place, verdict, job_id=verdict)
        seen.append(version())
    assert len(set(seen)) == len(seen)
    place.ask()
    assert version() == seen[-1]


def test_a_pair_by_hand_that_is_taken_back_is_none_any_more(place: Place) -> None:
    place.compared(saying(0.0), FIRST, SECOND)
    resolved(place, "newer")
    resolved(place, "undecided", job_id="back")
    assert review.pairs(place.workspace, all_of_them=True) == []


def test_a_settled_pair_says_what_may_rest_on_what_was_replaced(disputed: Place) -> None:
    resting = "Remind readers on day 12, since loans last two weeks"
    disputed.add(memory("c", "2026-09-15", resting), memory("d", "2026-09-16", "Loans of maps last a year"))
    disputed.compare()
    for verdict, expected in (("newer", [(3, resting)]), ("both", [])):
        resolved(disputed, verdict, job_id=verdict)
        (pair,) = review.pairs(disputed.workspace, all_of_them=True)[:1]
        assert review.resting(disputed.workspace, pair) == expected


ABSENT = [
    ({"newer": {"memory_id": "b", "statement": "No such words"}}, "ARGUMENT_INVALID"),
    ({"newer": {"memory_id": "a", "statement": OLD}}, "ARGUMENT_INVALID"),
    ({"newer": {"memory_id": "z", "statement": NEW}}, "MEMORY_NOT_FOUND"),
]


@pytest.mark.parametrize(("given", "code"), ABSENT)
def test_a_verdict_on_what_is_absent_fails_without_effect(disputed: Place, given: dict[str, Any], code: str) -> None:
    assert refused(resolved(disputed, "newer", **given)).code == code
    assert states(disputed)["a"] == ("disputed", "judge")


def test_a_cleared_verdict_loses_its_reason_and_name_and_still_counts(disputed: Place) -> None:
    resolved(disputed, "both", reason="The council said so.", by="Ann")
    with closing(disputed.store()) as store:
        with store.change("2026-11-20T12:00:00Z") as change:
            change.verdicts_to_clear += store.all_verdicts()
        assert [(one.verdict, one.reason, one.by) for one in store.all_verdicts()] == [("both", None, "person")]


def test_the_review_shows_a_pair_its_sources_and_what_next(disputed: Place, capsys: pytest.CaptureFixture[str]) -> None:
    show_review({"pairs": review.pairs(disputed.workspace)})
    assert capsys.readouterr().out.splitlines() == [
        "1/2  may contradict each other (0.75)",
        f"  newer: {NEW}",
        "         #2, 2026-10-01, loans",
        f"  older: {OLD}",
        "         #1, 2026-09-01, loans",
        "",
        "1 pair to settle: cognee-memory review 1/2 newer (or older, or both)",
    ]
    resolved(disputed, "both")
    show_resolve({"pair": review.pair(disputed.workspace, "1/2"), "verdict": "older"})
    assert "Somebody else settled it differently at the same time" in capsys.readouterr().out


def test_topics_count_what_is_disputed(disputed: Place) -> None:
    assert [topic["contradictions"] for topic in listing.topics(disputed.workspace)] == [1]
    resolved(disputed, "newer")
    assert [topic["contradictions"] for topic in listing.topics(disputed.workspace)] == [0]


# --- the rules, without a store ---


def test_the_most_probable_successor_counts_and_a_circle_ends() -> None:
    rows = (1, 2, 2, 2, 0.9, 10.0), (1, 2, 3, 2, 0.95, 20.0), (3, 2, 1, 2, 0.9, 30.0)
    known = read([Replacement(*row) for row in rows], [(1, 2), (3, 2)])
    fall = known.fall((1, 2))
    assert (fall.state, fall.confidence, fall.since) == ("replaced", 0.95, 20.0)
    assert known.fall((2, 2)) is None


def test_of_unsure_pairs_those_count_whose_two_statements_have_no_likelier_partner() -> None:
    rows = (1, 2, 3, 2, 0.6, 1.0), (1, 2, 4, 2, 0.55, 2.0), (2, 2, 3, 2, 0.6, 1.0), (5, 2, 4, 2, 0.54, 2.0)
    known = read([Replacement(*row) for row in rows], [(number, 2) for number in (1, 2, 5)])
    by = {number: [fall.by for fall in known.likely_falls((number, 2))] for number in (1, 2, 5)}
    assert by == {1: [(3, 2), (4, 2)], 2: [(3, 2)], 5: []}


@settings_of(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5), st.floats(DISPUTED, 1)), max_size=8), st.floats(0, 6))
def test_nothing_falls_before_its_successor_was_said(pairs: list[tuple[int, int, float]], moment: float) -> None:
    rows = [Replacement(min(a, b), 2, max(a, b), 2, p, float(max(a, b))) for a, b, p in pairs if a != b]
    known = read(rows, sorted({(row.older, 2) for row in rows})).at(moment)
    for number in range(1, 6):
        fall = known.fall((number, 2))
        assert fall is None or (fall.since <= moment and fall.by[0] > number)


def test_without_pairs_there_is_nothing_to_say() -> None:
    assert Standings().at(clock.parse("2026-11-20T12:00:00Z").timestamp()).fall((1, 2)) is None


# --- the judge ---


IN_OTHER_WORDS = [
    ("The plan Crumb costs 25 EUR a month.", "The plan Crumb costs 35 EUR a month, from July on.", "replaced"),
    ("Receipts are deleted after 180 days.", "Receipts are deleted after 60 days.", "replaced"),
    ("Dead letters go to a queue in Redis.", "Dead letters go to a queue in Kafka.", "disputed"),
    ("The Pro plan costs 99 EUR a month.", "The Pro plan stays at 99 EUR.", None),
    ("Receipts are deleted after 60 days.", "Labels are printed by a Zebra printer.", None),
    ("Deploy on node 3", "Deploy on node 4", "disputed"),  # another node, or another choice: the words do not tell
]  # fmt: skip


@pytest.mark.parametrize(("earlier", "later", "state"), IN_OTHER_WORDS)
def test_amounts_replace_choices_dispute_other_words_do_neither(earlier: str, later: str, state: str | None) -> None:
    embedder = OnnxEmbedder(ENGLISH, DEFAULT_FOLDER)
    (probability,) = judge.replaces([(earlier, later)], embedder.embed)
    found = "replaced" if probability >= REPLACED else "disputed" if probability >= DISPUTED else None
    assert found == state, probability


def test_of_the_two_judges_the_surer_one_counts(place: Place) -> None:
    place.patch.setattr(judge, "by_rules", lambda pairs, embed: [0.65, 0.8])
    place.patch.setattr(cross_encoder, "probability", lambda earlier, later: 0.85)
    assert judge.replaces([(OLD, NEW), (OLD, NEW)], place.embedder.embed) == [0.77, 0.8]


SURE_BY = [(0.44, 0.0), (0.45, POSSIBLE), (0.79, 0.65), (0.8, DISPUTED), (0.9, REPLACED), (1.0, 0.95)]


@pytest.mark.parametrize(("said", "counts"), SURE_BY)
def test_what_the_cross_encoder_says_counts_by_how_sure_it_is(place: Place, said: float, counts: float) -> None:
    place.patch.setattr(judge, "by_rules", lambda pairs, embed: [0.0])
    place.patch.setattr(cross_encoder, "probability", lambda earlier, later: said)
    assert judge.replaces([(OLD, NEW)], place.embedder.embed) == [counts]


EVERYDAY = Path(__file__).parents[2] / "tools" / "judge_pairs" / "e.jsonl"
HINTS = [
    ("Sessions are kept in Postgres.", 0.65, 0.59),
    ("Sessions are kept in Postgres now.", 0.59, 0.56),
    ("Sessions are kept in Postgres now.", 0.6, DISPUTED),
    ("Sessions have moved from there to Postgres.", 0.8, REPLACED),
    ("Sessions are kept in Postgres, not in Redis.", 0.45, DISPUTED),
    ("Postgres instead of Redis, because of the last deploy.", 0.8, REPLACED),
    ("Sessions are kept in Postgres, not just in Redis.", 0.6, 0.56),
    ("Sessions are kept in Postgres, not in MySQL.", 0.6, 0.56),
]


@pytest.mark.parametrize(("later", "said", "counts"), HINTS)
def test_a_word_of_change_counts_and_more_what_rejects_the_earlier_ones_words(
    monkeypatch: pytest.MonkeyPatch, later: str, said: float, counts: float
) -> None:
    monkeypatch.setattr(judge, "by_rules", lambda pairs, embed: [0.0])
    monkeypatch.setattr(cross_encoder, "probability", lambda earlier, later: said)
    one_matter = np.ones((2, 1), np.float32)
    assert judge.replaces([("Sessions are kept in Redis.", later)], lambda texts: one_matter) == [counts]


def test_a_very_long_word_is_read_at_once() -> None:
    later = "It is B, not " + "a" * 20_000 + " b c d e f g h" + " " * 20_000 + "i"
    assert without_change(without_rejected("It is A.", later)) == later


def test_of_everyday_changes_a_third_are_disputed_and_of_what_holds_beside_nothing() -> None:
    pairs = [json.loads(line) for line in EVERYDAY.read_text("utf-8").splitlines()][::6]
    said = judge.replaces([(each[3], each[4]) for each in pairs], OnnxEmbedder(ENGLISH, DEFAULT_FOLDER).embed)
    disputed = [label for (label, *_), each in zip(pairs, said, strict=True) if each >= DISPUTED]
    assert set(disputed) == {"replaced"}
    assert len(disputed) >= sum(label == "replaced" for label, *_ in pairs) / 3


@pytest.mark.parametrize(("cosine", "counts"), [(0.39, 0.65), (0.41, 0.9)])
def test_what_the_cross_encoder_says_of_two_matters_counts_in_answers_alone(
    place: Place, cosine: float, counts: float
) -> None:
    place.patch.setattr(cross_encoder, "probability", lambda earlier, later: 0.95)
    vectors = np.array([[1, 0], [cosine, 0]], np.float32)
    assert judge.replaces([("One", "Another")], lambda texts: vectors) == [counts]


def test_the_cross_encoder_finds_a_replacement_in_other_words_and_no_other_scope() -> None:
    asked = {
        "other words": ("Alerts go out over Slack", "Send alerts by PagerDuty instead, nobody reads Slack at night"),
        "another matter": ("Alerts go out over Slack", "The nightly load starts at 02:00 UTC"),
        "a plan": ("The warehouse is Snowflake", "Petra estimates what moving to BigQuery would cost"),
    }
    found = {name: cross_encoder.probability(*pair) for name, pair in asked.items()}
    assert found["other words"] > POSSIBLE
    assert found["another matter"] < 0.3
    assert found["a plan"] < 0.2


def test_a_changed_cross_encoder_is_noticed(tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no memory is lost."""
    folder = tmp_path / "model"
    shutil.copytree(DEFAULT_FOLDER, folder)
    with (folder / cross_encoder.WEIGHTS).open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"\x00\x01")
    monkeypatch.setattr(model_files, "DEFAULT_FOLDER", folder)
    cross_encoder._session.cache_clear()
    place.add(FIRST, KEEPS)
    with pytest.raises(JobError, match=r"judge-int8\.bin") as raised:
        place.compare()
    cross_encoder._session.cache_clear()
    assert raised.value.code == "MODEL_CORRUPT"
    monkeypatch.undo()
    place.compare()
    assert len(place.ask()["results"]) == 2


# --- what may rest on a decision that was replaced ---


CASES = Path(__file__).resolve().parents[1] / "data" / "rests.jsonl"
FELL, HOLDS = "Loans last two weeks", "Loans last four weeks"
RESTING = "Remind readers on day 12, since loans last two weeks"


def cases(part: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    return [row for row in rows if row["part"] == part]


@pytest.mark.parametrize(("part", "found"), [("made with", 17), ("unseen", 5)])
def test_what_rests_on_a_replaced_decision_is_found_and_no_near_miss_is(part: str, found: int) -> None:
    said = {row["text"]: rests(row["text"], row["fell"], row["holds"]) for row in cases(part)}
    assert [row["text"] for row in cases(part) if said[row["text"]] and not row["rests"]] == []
    assert sum(said[row["text"]] for row in cases(part) if row["rests"]) >= found


def from_day(number: int, day: str, *said: str, rationale: Sequence[str] = (), status: str = "Active") -> Memory:
    known = Metadata(topic_id=f"t{number}", status=status, created_at=f"{day}T12:00:00Z")  # type: ignore[arg-type]
    content = Content(f"Topic {number}", "Said.", said, rationale=tuple(rationale))
    return Memory(f"m{number}", number, "summary", known, "2026-11-01T00:00:00Z", content)


def remarks(one: Memory, probability: float = 0.95) -> list[tuple[str, int, int]]:
    fell, holds = from_day(1, "2026-09-01", FELL), from_day(3, "2026-10-01", HOLDS)
    (at,), (by,) = decisions(fell), decisions(holds)
    there = {1: fell, 3: holds, one.number: one}
    found = of_memory(one, [Replacement(1, at, 3, by, probability, 1.0)], there.get)
    return [(each["text"], each["memory_number"], each["replaced_by"]) for each in found]


def test_a_decision_or_a_reason_from_before_the_replacement_is_remarked() -> None:
    assert remarks(from_day(2, "2026-09-10", RESTING)) == [(RESTING, 1, 3)]
    assert remarks(from_day(2, "2026-09-10", "Send a mail", rationale=[RESTING])) == [(RESTING, 1, 3)]


UNREMARKED = [
    (from_day(2, "2026-10-02", RESTING), 0.95),  # said after it
    (from_day(2, "2026-09-10", RESTING), 0.75),  # only disputed
    (from_day(2, "2026-09-10", RESTING, status="Superseded"), 0.95),
    (from_day(1, "2026-09-01", FELL), 0.95),  # the replaced one itself
    (from_day(3, "2026-10-01", HOLDS), 0.95),
]


@pytest.mark.parametrize(("one", "probability"), UNREMARKED)
def test_nothing_is_remarked_of_what_knew_it_or_does_not_count(one: Memory, probability: float) -> None:
    assert remarks(one, probability) == []
