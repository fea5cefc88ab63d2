"""Feedback: the last word of each person on a memory is kept, shown, and counts only where a weight is set."""

from typing import Any

import pytest
from fake_embedder import FakeEmbedder
from harness import dump
from job_copies import done, outcome, refused
from questions import answer_to
from shelf import summary

from bridge.graph.open_stores import Stores
from bridge.memory import Memory
from bridge.search import listing
from bridge.settings import Settings
from bridge.store import migrations
from bridge.store.store import Store
from jobs import clock
from jobs.layout import Workspace
from jobs.lifecycle import Failed, Succeeded

AT, LATER = "2026-11-20T12:00:00Z", "2026-11-20T13:00:00Z"
NOW = clock.parse(LATER)
KEY = "ghp_" + "1234567890abcdefghij1234567890ABCDEF"
A, B = "00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b"


@pytest.fixture
def stores(stores: Stores) -> Stores:
    """Two memories that fit a question about the queue about as well."""
    stores.store.add([(memory(A, "The queue is a lock."), None), (memory(B, "The queue is a spool."), None)], AT)
    return stores


def memory(memory_id: str, context: str) -> Memory:
    return summary(memory_id, context, topic="Queue", topic_id="queue", created_at=AT)


def given(stores: Stores, job_id: str = "job", at: str = AT, **given: Any) -> Succeeded | Failed:
    payload = {"memory_id": A, "verdict": "helpful", "by": "person", **given}
    return outcome(stores, "feedback", payload, job_id, at=at, now=NOW)


def give(stores: Stores, job_id: str = "job", at: str = AT, **more: Any) -> dict[str, Any]:
    return done(given(stores, job_id, at, **more))


def shown(stores: Stores) -> list[tuple[str, str, str | None]]:
    return [(each.by, each.verdict, each.note) for each in stores.store.feedback(A)]


def ask(stores: Stores, verb: Any = "retrieve", weight: float = 0.0, **arguments: Any) -> dict[str, Any]:
    settings = Settings(feedback_weight=weight, relevance_floor=0.0)
    return answer_to(stores.workspace, FakeEmbedder(), NOW, settings, verb, **({"query": "the queue"} | arguments))


# --- what is kept ---


def test_a_feedback_is_kept_with_who_gave_it_when_for_which_question_and_why(stores: Stores) -> None:
    result = give(stores, verdict="wrong", query="a lock?", note="It is a spool.", by="agent")
    assert result["feedback"] == {"helpful": 0, "wrong": 1}
    assert listing.memory(stores.workspace, A)["feedback"] == {
        "helpful": 0,
        "wrong": 1,
        "given": [{"by": "agent", "verdict": "wrong", "at": AT, "query": "a lock?", "note": "It is a spool."}],
    }


def set_status(stores: Stores, job_id: str, at: str, **given: Any) -> Succeeded | Failed:
    return outcome(stores, "set_status", {"memory_id": A, **given}, job_id, at=at, now=NOW)


def test_what_replaced_a_memory_is_kept_beside_what_others_said_until_the_memory_holds_again(stores: Stores) -> None:
    give(stores, "1", verdict="helpful", by="agent")
    replaced = ("status", "wrong", "Memory #2 replaced it.")
    done(set_status(stores, "2", AT, status="Superseded", replaced_by=B))
    assert sorted(shown(stores)) == [("agent", "helpful", None), replaced]
    done(set_status(stores, "2", AT, status="Superseded", replaced_by=B))
    assert replaced in shown(stores), "a second run changes nothing"
    done(set_status(stores, "3", LATER, status="Active"))
    assert shown(stores) == [("agent", "helpful", None)]
    set_status(stores, "4", AT, status="Superseded", replaced_by=B)
    assert shown(stores) == [("agent", "helpful", None)], "a request that came first undoes no later one"


def test_a_memory_that_is_not_there_replaces_nothing(stores: Stores) -> None:
    error = refused(set_status(stores, "1", AT, status="Superseded", replaced_by="none"))
    assert error.code == "MEMORY_NOT_FOUND"
    assert (stores.store.known(A).status, shown(stores)) == ("Active", [])


def test_within_a_second_the_later_feedback_counts_too(stores: Stores) -> None:
    give(stores, "1", AT, verdict="helpful")
    give(stores, "2", AT.replace("Z", ".250Z"), verdict="wrong")
    give(stores, "3", AT, verdict="helpful", by="agent")
    assert shown(stores) == [("person", "wrong", None), ("agent", "helpful", None)]


def test_a_withdrawn_feedback_counts_no_more_and_its_note_is_gone(stores: Stores) -> None:
    give(stores, "1", note="quokkazebra")
    assert give(stores, "2", LATER, verdict="withdrawn")["feedback"] == {"helpful": 0, "wrong": 0}
    assert shown(stores) == []
    stores.store.scrub()
    assert b"quokkazebra" not in stores.workspace.memory_db.read_bytes()


def test_a_second_run_of_a_job_changes_nothing(stores: Stores) -> None:
    first = give(stores, note="n")
    before = dump(stores.workspace.memory_db)
    assert give(stores, note="n") == first
    assert dump(stores.workspace.memory_db) == before


def test_likely_secrets_in_a_note_or_a_question_are_not_kept(stores: Stores) -> None:
    give(stores, note=f"use {KEY}", query=f"is {KEY} valid?")
    assert KEY not in str(stores.store.feedback(A))
    assert "[REDACTED:" in str(stores.store.feedback(A)[0].note)


@pytest.mark.parametrize(
    ("memory_id", "code"), [("unknown", "MEMORY_NOT_FOUND"), (B, "ARGUMENT_INVALID")], ids=["unknown", "hidden"]
)
def test_feedback_on_a_memory_not_found_fails_and_is_not_kept(stores: Stores, memory_id: str, code: str) -> None:
    with stores.store.change(AT) as change:
        change.hidden.append(B)
    assert refused(given(stores, memory_id=memory_id)).code == code
    assert stores.store.feedback(memory_id) == []


def test_a_note_that_quotes_a_forgotten_memory_loses_its_words_and_a_giver_of_such_a_name_all(stores: Stores) -> None:
    """The note keeps its verdict; the feedback whose giver is named by a forgotten phrase goes whole."""
    long = "Seventeen quokkas guard the spool at night."
    stores.store.add([(memory("c", long), None)], AT)
    give(stores, "1", verdict="wrong", note=f"No: {long}", query="the spool?")
    give(stores, "2", memory_id=B, note="Short and true.", by="Ana")
    give(stores, "3", memory_id=B, by=long)
    done(outcome(stores, "forget", {"memory_ids": ["c"]}, "forget", at=LATER))
    assert [(each.verdict, each.note, each.query) for each in stores.store.feedback(A)] == [("wrong", None, None)]
    assert [(each.by, each.note) for each in stores.store.feedback(B)] == [("Ana", "Short and true.")]
    assert b"quokkas" not in stores.workspace.memory_db.read_bytes()


def test_a_memory_that_is_stored_again_after_it_was_hidden_begins_without_feedback(stores: Stores) -> None:
    give(stores)
    with stores.store.change(LATER) as change:
        change.hidden.append(A)
    stores.store.add([(memory(A, "Another text."), None)], LATER)
    assert shown(stores) == []


def test_a_store_of_the_former_format_gets_its_table_and_answers_before_that(workspace: Workspace) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", {each: migrations.MIGRATIONS[each] for each in (5, 6)})
        patch.setattr(migrations, "FORMAT", 6)
        store = Store(workspace, FakeEmbedder())
        store.add([(memory(A, "The queue is a lock."), None)], AT)
        store.close()
    assert listing.memory(workspace, A)["feedback"] == {"helpful": 0, "wrong": 0, "given": []}
    (hit,) = answer_to(workspace, FakeEmbedder(), NOW, Settings(), query="the queue")["results"]
    assert "feedback" not in hit
    with Stores(workspace, Settings()) as stores:
        stores._embedder = FakeEmbedder()
        give(stores)
        assert shown(stores) == [("person", "helpful", None)]


# --- what it does to answers ---


def test_without_a_weight_feedback_is_shown_and_changes_no_score(stores: Stores) -> None:
    before = ask(stores)
    give(stores, verdict="wrong")
    after = ask(stores)
    assert [hit.pop("feedback", None) for hit in after["results"] if hit["memory_id"] == A] == [
        {"helpful": 0, "wrong": 1}
    ]
    assert after == before


@pytest.mark.parametrize("mode", ["product", "blend"])
def test_with_a_weight_what_helped_rises_what_is_wrong_falls_and_neither_hides(stores: Stores, mode: str) -> None:
    plain = {hit["memory_id"]: hit["score"] for hit in ask(stores, ranking_mode=mode)["results"]}
    for voter in range(3):
        give(stores, f"a{voter}", by=f"agent {voter}", verdict="wrong")
        give(stores, f"b{voter}", by=f"agent {voter}", memory_id=B)
    found = ask(stores, weight=0.5, ranking_mode=mode)
    assert [hit["memory_id"] for hit in found["results"]] == [B, A]
    assert found["ranking"]["feedback_weight"] == 0.5
    for hit, multiplier in zip(found["results"], (1 + 1.5 / 7, 1 - 1.5 / 7), strict=True):
        assert hit["feedback_multiplier"] == float(f"{multiplier:.10g}")
        assert hit["score"] == pytest.approx(plain[hit["memory_id"]] * multiplier, rel=1e-9)


def test_explain_gives_the_score_of_the_answer_to_the_last_bit_with_the_factor_of_the_feedback(stores: Stores) -> None:
    give(stores, verdict="wrong")
    give(stores, "2", by="agent")
    give(stores, "3", memory_id=B)
    hits = {hit["memory_number"]: hit for hit in ask(stores, weight=0.3)["results"]}
    explained = ask(stores, "explain", weight=0.3)
    assert len(explained["items"]) == len(hits) == 2
    for item in explained["items"]:
        hit, parts = hits[item["id"]], item["score"]["components"]
        assert item["score"]["total"] == hit["score"]
        assert parts["feedback"] == hit["feedback_multiplier"]
        assert item["feedback"] == hit["feedback"]
    by_number = ask(stores, "explain", weight=0.3, query=None, ids=[2])["items"]
    assert [item["score"]["components"]["feedback"] for item in by_number] == [1.06]


def test_a_feedback_counts_in_the_next_answer_of_a_process_that_stays(stores: Stores) -> None:
    from bridge.search.reader import Reader

    reader = Reader(stores.workspace, Settings().embedding, lambda _: FakeEmbedder())

    def counts() -> list[Any]:
        asked = {"query": "the queue", "relevance_floor": 0, "feedback_weight": 0.2}
        results = reader.answer("retrieve", asked, NOW)["results"]
        return sorted((hit["memory_number"], hit["feedback_multiplier"]) for hit in results)

    assert counts() == [(1, 1.0), (2, 1.0)]
    give(stores)
    assert counts() == [(1, 1.04), (2, 1.0)]
    stores.store.add([(memory("c", "The queue is new."), None)], LATER)
    assert counts() == [(1, 1.04), (2, 1.0), (3, 1.0)]
    give(stores, "2", LATER, verdict="wrong")
    assert counts() == [(1, 0.96), (2, 1.0), (3, 1.0)]
