"""A compaction's preview, which changes nothing else; applying it and taking it back: one transaction each."""

import gzip
import json
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import job_copies
import jsonschema_rs
import numpy as np
import pytest
from contract import published
from fake_embedder import FakeEmbedder
from fake_graph import WithFakeGraph
from harness import dump, raising, sql
from shelf import add_decisions

from bridge import slices
from bridge.compaction import previews
from bridge.compaction.previews import Preview
from bridge.graph import llm
from bridge.graph.open_stores import Stores
from bridge.memory import Content, Memory, Metadata
from bridge.operations import compact
from bridge.search import listing, review
from bridge.search.snapshot import open_snapshot
from bridge.slices import Progress, ignore_progress
from bridge.standing import comparison
from bridge.store import full_text, history, vector_files, vector_index, word_index
from bridge.store.similar_ids import nearest
from bridge.text.passages import passages
from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lifecycle import Failed, Succeeded

NOW = clock.parse("2026-11-20T12:00:00Z")


def add(stores: Stores, *decisions: str, topic_id: str = "uploads", **other: Any) -> Memory:
    memory_id = f"{topic_id}-{'-'.join(decisions).replace(' ', '-').lower()}"
    return add_decisions(stores.store, memory_id, decisions, topic_id=topic_id, **other)


@pytest.fixture
def filled(stores: WithFakeGraph) -> WithFakeGraph:
    """With two memories of one topic, of which the later one replaces the other."""
    two(stores)
    return stores


def two(stores: Stores) -> list[str]:
    return [add(stores, "Retry five times", day=2).id, add(stores, "Retry three times", day=9).id]


def outcome(
    stores: Stores, kind: str, job_id: str = "job", at: str = "2026-11-20T11:59:00Z",
    progress: Progress = ignore_progress, **payload: Any,
) -> Succeeded | Failed:  # fmt: skip
    if kind == "compact":
        payload = {"topic_id": "uploads", "preview": False, **payload}
    return job_copies.outcome(stores, kind, payload, job_id, at=at, now=NOW, progress=progress)


def done(stores: Stores, kind: str = "compact", **options: Any) -> dict[str, Any]:
    result = job_copies.done(outcome(stores, kind, **options))
    jsonschema_rs.validate(published(f"result.{kind}"), result)
    return result


def refused(stores: Stores, kind: str = "compact", **options: Any) -> JobError:
    return job_copies.refused(outcome(stores, kind, **options))


def preview(stores: Stores, **payload: Any) -> dict[str, Any]:
    return done(stores, job_id="preview", preview=True, **payload)


def statuses(stores: Stores, *ids: str) -> list[str | None]:
    found = [stores.store.get(memory_id) for memory_id in ids]
    return [None if memory is None else memory.metadata.status for memory in found]


def record_of(stores: Stores, result: dict[str, Any]) -> tuple[Memory, Content]:
    """The decision record of a compaction, and its content."""
    record = stores.store.get(result["decision_record_id"])
    return record, record.content


def rows(workspace: Workspace) -> list[str]:
    return dump(workspace.memory_db, "embeddings")  # a cache


# --- applying ---


def test_what_was_seen_is_what_is_stored(stores: WithFakeGraph) -> None:
    ids = two(stores)
    seen = preview(stores)
    result = done(stores, preview_digest=seen["preview_digest"])
    record, content = record_of(stores, result)
    shown = seen["decision_record"]
    assert list(content.decisions) == shown["consolidated_decisions"]
    assert content.context == shown["summary_text"]
    assert list(record.sources) == shown["compaction_source"] == result["superseded"] == ids
    m = record.metadata
    assert (record.kind, m.status, m.topic_id) == ("decision_record", "DecisionRecord", "uploads")
    assert (m.created_at, m.source_created_at) == ("2026-11-20T12:00:00Z", "2026-10-09T12:00:00Z")
    assert statuses(stores, *ids) == ["Superseded", "Superseded"]
    assert result["conflicts"] == seen["conflicts"]
    assert [conflict["judged_by"] for conflict in result["conflicts"]] == ["judge"]
    assert (result["memory_number"], result["narrative_source"]) == (3, "template")
    stores.graph.deliver_all()
    assert stores.fake.told == {record.id: "DecisionRecord", **dict.fromkeys(ids, "Superseded")}
    assert stores.graph.lag() == 0


def test_without_a_digest_the_present_topic_is_compacted_with_a_preview(stores: Stores, workspace: Workspace) -> None:
    ids = two(stores)
    result = done(stores)
    assert result["superseded"] == ids
    assert previews.load(workspace, result["preview_digest"]) is not None


def test_a_job_that_runs_again_has_the_same_result_and_one_effect(filled: WithFakeGraph, workspace: Workspace) -> None:
    filled.fake.raised = JobError("GRAPH_WRITE_FAILED")
    seen = preview(filled)
    options = {"preview_digest": seen["preview_digest"]}
    first = outcome(filled, "compact", **options)
    result = done(filled, **options)
    before = rows(workspace)
    assert isinstance(first, (Failed, Succeeded))
    assert done(filled, **options) == result
    assert rows(workspace) == before
    workspace.preview(seen["preview_digest"]).unlink()
    again = done(filled, **options)
    assert again["conflicts"] == []
    assert "preview is gone" in again["warnings"][0]
    assert again["superseded"] == result["superseded"]


def test_a_later_job_of_the_same_id_is_another_job(filled: Stores) -> None:
    digest = preview(filled)["preview_digest"]
    result = done(filled, preview_digest=digest)
    done(filled, "restore", job_id="undo", decision_record_id=result["decision_record_id"])
    again = done(filled, at="2026-11-20T12:00:01Z", preview_digest=digest)
    assert again["decision_record_id"] == result["decision_record_id"]
    assert statuses(filled, *again["superseded"]) == ["Superseded", "Superseded"]


def test_a_compaction_is_all_or_nothing(filled: Stores, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    preview(filled)
    before = rows(workspace)

    monkeypatch.setattr(history, "record", raising(sqlite3.OperationalError("disk I/O error")))
    with pytest.raises(sqlite3.OperationalError):
        outcome(filled, "compact")
    assert rows(workspace) == before


def test_a_former_record_is_merged_with_what_came_since(filled: Stores) -> None:
    former = done(filled)["decision_record_id"]
    new = add(filled, "Retry two times", day=20).id
    assert refused(filled, job_id="no", topic_id="uploads-2").code == "TOPIC_NOT_FOUND"
    result = done(filled, job_id="second")
    assert result["superseded"] == [former, new]
    assert statuses(filled, former, new) == ["Superseded", "Superseded"]
    _, content = record_of(filled, result)
    assert content.context.startswith("Merged from 3 memories, 2026-10-02 to 2026-10-20.")
    assert content.decisions == (
        "[Later] Retry two times (2026-10-20, #4) supersedes Retry three times (2026-10-09, #2)",
        "[Earlier] Retry five times (2026-10-02, #1)",
        "[Earlier] Retry three times (2026-10-09, #2)",
    )


def test_a_preview_with_a_rejected_conflict_has_another_digest_and_is_applied_as_it_was_shown(filled: Stores) -> None:
    whole = preview(filled)
    (conflict,) = whole["conflicts"]
    seen = done(filled, job_id="again", preview=True, keep_both=[conflict["conflict_id"]])
    assert (seen["conflicts"], seen["kept_both"]) == ([], [conflict])
    assert seen["preview_digest"] != whole["preview_digest"]
    assert done(filled, job_id="third", preview=True, keep_both=[conflict["conflict_id"]]) == seen
    result = done(filled, preview_digest=seen["preview_digest"])
    _, content = record_of(filled, result)
    assert list(content.decisions) == seen["decision_record"]["consolidated_decisions"]
    assert not any("[" in line for line in content.decisions)
    assert (result["conflicts"], result["kept_both"]) == ([], [conflict])
    (past,) = listing.history(filled.workspace, 10)
    assert past["conflicts"] == []
    assert "Retry" not in json.dumps(past)


def settled(stores: Stores, holds: str, reason: str | None = None) -> None:
    (pair,) = review.pairs(stores.workspace, all_of_them=True)
    sides = {side: {name: pair[side][name] for name in ("memory_id", "statement")} for side in ("older", "newer")}  # type: ignore[literal-required]
    done(stores, "resolve", job_id=f"resolve-{holds}", **sides, verdict=holds, by="person",
         **({} if reason is None else {"reason": reason}))  # fmt: skip


def test_a_rejected_conflict_is_a_verdict_and_is_not_asked_again_not_even_after_an_undo(filled: Stores) -> None:
    seen = done(filled, job_id="p", preview=True, keep_both=[preview(filled)["conflicts"][0]["conflict_id"]])
    assert [pair["state"] for pair in review.pairs(filled.workspace, all_of_them=True)] == ["replaced"]
    record = done(filled, preview_digest=seen["preview_digest"])["decision_record_id"]
    done(filled, "restore", job_id="undo", decision_record_id=record)
    (pair,) = review.pairs(filled.workspace, all_of_them=True)
    assert (pair["state"], pair["by"]) == ("both", "person")
    again = preview(filled)
    assert (again["conflicts"], again["kept_both"]) == ([], [])
    assert again["decision_record"]["consolidated_decisions"] == seen["decision_record"]["consolidated_decisions"]
    settled(filled, "newer")
    assert [conflict["judged_by"] for conflict in preview(filled)["conflicts"]] == ["said"]


SETTLED = [
    ("newer", ["[Later] Retry three times (2026-10-09, #2) supersedes Retry five times (2026-10-02, #1)",
               "[Earlier] Retry five times (2026-10-02, #1)"],
     "“Retry three times” (2026-10-09, #2) replaced “Retry five times” (2026-10-02, #1): The council said so."),
    ("older", ["[Later] Retry five times (2026-10-02, #1) supersedes Retry three times (2026-10-09, #2)",
               "[Earlier] Retry three times (2026-10-09, #2)"],
     "“Retry five times” (2026-10-02, #1) holds, not “Retry three times” (2026-10-09, #2): The council said so."),
    ("both", ["Retry five times (2026-10-02, #1)", "Retry three times (2026-10-09, #2)"],
     "“Retry three times” (2026-10-09, #2) and “Retry five times” (2026-10-02, #1) both hold:"
     " The council said so."),
]  # fmt: skip


@pytest.mark.parametrize(("holds", "decisions", "told"), SETTLED)
def test_a_settled_pair_is_so_in_its_record_too(filled: Stores, holds: str, decisions: list[str], told: str) -> None:
    """With its reason."""
    preview(filled)  # compares them
    settled(filled, holds, "The council said so.")
    seen = preview(filled)
    assert seen["decision_record"]["consolidated_decisions"] == decisions
    assert seen["decision_record"]["summary_text"].endswith(told)
    said = [(each["judged_by"], each["confidence"], each["reason"]) for each in seen["conflicts"]]
    assert said == ([] if holds == "both" else [("said", 1.0, "The council said so.")])
    record = done(filled, preview_digest=seen["preview_digest"])["decision_record_id"]
    add(filled, "Sign last", day=20)
    again = preview(filled)["decision_record"]
    assert again["summary_text"].count(told) == 1
    assert [line for line in again["consolidated_decisions"] if "Sign" not in line] == decisions
    assert record in again["compaction_source"]


def test_a_preview_is_the_same_before_and_after_the_idle_moment_in_which_memories_are_compared(filled: Stores) -> None:
    before = preview(filled)
    while comparison.compare_some(filled.store):
        pass
    assert preview(filled) == before


def test_an_id_of_no_conflict_is_refused_with_those_that_the_topic_has(filled: Stores, workspace: Workspace) -> None:
    (known,) = [conflict["conflict_id"] for conflict in preview(filled)["conflicts"]]
    before = rows(workspace)
    error = refused(filled, keep_both=["00000000", known])
    assert (error.code, error.details) == ("CONFLICT_NOT_FOUND", {"unknown": ["00000000"], "conflicts": [known]})
    assert known in error.message
    assert rows(workspace) == before


# --- what is refused ---


def test_a_preview_that_nobody_made_is_not_found(filled: Stores, workspace: Workspace) -> None:
    add(filled, "Sign", topic_id="sign-in")
    add(filled, "Sign last", topic_id="sign-in")
    other = preview(filled, topic_id="sign-in")["preview_digest"]
    before = rows(workspace)
    assert refused(filled, preview_digest="0" * 64).code == "PREVIEW_NOT_FOUND"
    error = refused(filled, preview_digest=other)
    assert error.code == "PREVIEW_NOT_FOUND"
    assert "'sign-in'" in error.message
    seen = preview(filled)["summaries"]
    sources = tuple((each["memory_id"], each["content_sha256"]) for each in seen)
    forged = previews.Preview("uploads", sources, {"topic": "T", "narrative_source": "template"})
    assert refused(filled, preview_digest=previews.store(workspace, forged, NOW)).code == "PREVIEW_NOT_FOUND"
    assert rows(workspace) == before


def test_in_a_team_a_preview_that_another_machine_made_is_applied_if_the_memories_are_equal(
    filled: Stores, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = preview(filled)["preview_digest"]
    for file in workspace.previews.iterdir():
        file.unlink()
    assert refused(filled, preview_digest=digest).code == "PREVIEW_NOT_FOUND", "without a team"
    monkeypatch.setattr(Stores, "host", SimpleNamespace(attachment=lambda *_: [gzip.compress(b"")]))
    assert len(done(filled, preview_digest=digest)["superseded"]) == 2
    add(filled, "Retry never", day=12)
    assert refused(filled, preview_digest=digest, job_id="again").code == "PREVIEW_STALE"
    for file in workspace.previews.iterdir():
        file.unlink()
    assert refused(filled, preview_digest=digest, job_id="third").code == "PREVIEW_NOT_FOUND"


def test_in_a_team_a_preview_that_its_machine_attached_is_applied_as_it_was_shown(
    filled: Stores, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = preview(filled)["preview_digest"]
    shown = workspace.preview(digest).read_bytes()
    workspace.preview(digest).unlink()
    strange = json.loads(shown)
    strange["decision_record"]["importance"] = "much"
    attached: list[bytes] = []
    monkeypatch.setattr(Stores, "host", SimpleNamespace(attachment=lambda *_: attached))
    monkeypatch.setattr(llm, "is_configured", lambda settings: True)
    missing, invalid = "PREVIEW_NOT_FOUND", "ARGUMENT_INVALID"
    wrong = {
        b"": missing,
        json.dumps(strange).encode(): invalid,
        b"x": invalid,
        shown.replace(b"2026", b"2025"): missing,
    }
    for other, code in wrong.items():
        attached[:] = [gzip.compress(other)]
        assert refused(filled, preview_digest=digest, job_id="other").code == code
    attached[:] = [gzip.compress(shown)]
    assert len(done(filled, preview_digest=digest)["superseded"]) == 2


def test_a_preview_of_a_changed_topic_is_stale_and_names_what_changed(stores: Stores, workspace: Workspace) -> None:
    first, second = two(stores)
    digest = preview(stores)["preview_digest"]
    new = add(stores, "Use tabs")
    at = "2026-11-01T00:00:00Z"
    stores.store.set_status(second, "Draft", at, at)
    before = rows(workspace)
    error = refused(stores, preview_digest=digest)
    assert error.code == "PREVIEW_STALE"
    assert error.details == {"added": [new.id], "removed": [second], "changed": []}
    assert "added #3; removed #2" in error.message
    assert rows(workspace) == before
    with closing(sqlite3.connect(workspace.memory_db)) as connection:
        body = connection.execute("SELECT body FROM memories WHERE id = ?", (first,)).fetchone()[0]
        connection.execute("UPDATE memories SET body = ? WHERE id = ?", (body.replace("five", "four"), first))
        connection.commit()
    assert refused(stores, preview_digest=digest).details["changed"] == [first]


def test_of_two_compactions_of_one_topic_one_wins(filled: Stores) -> None:
    digest = preview(filled)["preview_digest"]
    won = done(filled, job_id="won", preview_digest=digest)
    lost = refused(filled, job_id="lost", preview_digest=digest)
    assert lost.code == "PREVIEW_STALE"
    assert lost.details["decision_record_id"] == won["decision_record_id"]
    assert "was applied already" in lost.message
    error = refused(filled, job_id="late")
    assert (error.code, error.details) == ("NOTHING_TO_COMPACT", {"sources": [won["decision_record_id"]]})


def test_a_memory_that_comes_during_the_comparison_is_active(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "SLICE_SECONDS", 0.0)
    ids = two(stores)
    came: list[str] = []

    def another_job(progress: dict[str, Any]) -> None:
        if not came:
            came.append(add(stores, "Use tabs", day=20).id)

    assert done(stores, progress=another_job)["superseded"] == ids
    assert statuses(stores, *came) == ["Active"]


def test_a_source_gone_during_comparison_makes_the_draft_stale(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "SLICE_SECONDS", 0.0)
    ids = two(stores)
    at = "2026-11-01T00:00:00Z"
    error = refused(stores, progress=lambda _: stores.store.set_status(ids[0], "Draft", at, at))
    assert (error.code, error.details["removed"]) == ("PREVIEW_STALE", [ids[0]])
    assert statuses(stores, *ids) == ["Draft", "Active"]


def test_a_record_that_was_forgotten_comes_back_by_a_later_job_alone(filled: Stores) -> None:
    digest = preview(filled)["preview_digest"]
    record_id = done(filled, preview_digest=digest)["decision_record_id"]
    done(filled, "restore", decision_record_id=record_id)
    with filled.store.change("2026-11-20T12:00:00Z") as change:
        change.dropped.append(record_id)
        change.tombstones.append(record_id)
    assert refused(filled, job_id="before", preview_digest=digest).code == "MEMORY_FORGOTTEN"
    later = done(filled, job_id="after", at="2026-11-20T12:00:01Z", preview_digest=digest)
    assert later["decision_record_id"] == record_id


# --- taking back ---


def test_a_restored_topic_is_as_before_and_its_record_is_not_found(stores: WithFakeGraph, workspace: Workspace) -> None:
    ids = two(stores)
    record_id = done(stores)["decision_record_id"]
    result = done(stores, "restore", decision_record_id=record_id)
    assert (result["restored"], result["skipped"], result["topic_id"]) == (ids, [], "uploads")
    assert {memory["memory_id"] for memory in listing.memories(workspace, 100)} == set(ids)
    assert statuses(stores, *ids) == ["Active", "Active"]
    stores.graph.deliver_all()
    assert stores.fake.told == dict.fromkeys(ids, "Active")
    assert stores.graph.lag() == 0
    assert stores.store.is_hidden(record_id)


def test_a_withdrawn_record_counts_for_no_score(filled: Stores, workspace: Workspace) -> None:
    add(filled, "Use tabs", topic_id="other")
    before = lexical_scores(workspace)
    record_id = done(filled)["decision_record_id"]
    assert lexical_scores(workspace) != before
    done(filled, "restore", decision_record_id=record_id)
    assert lexical_scores(workspace) == before


def lexical_scores(workspace: Workspace) -> list[float]:
    snapshot = open_snapshot(workspace)
    with closing(snapshot):
        return list(map(float, snapshot.lexical("tabs five").scores))


def test_a_restoring_that_is_repeated_gives_the_same_and_changes_nothing(filled: Stores, workspace: Workspace) -> None:
    record_id = done(filled)["decision_record_id"]
    result = done(filled, "restore", decision_record_id=record_id)
    before = rows(workspace)
    assert done(filled, "restore", decision_record_id=record_id) == result
    assert done(filled, "restore", job_id="another", decision_record_id=record_id) == result
    assert rows(workspace) == before


def test_a_restoring_that_runs_again_leaves_a_compaction_that_came_in_between(stores: Stores) -> None:
    ids = two(stores)
    record_id = done(stores)["decision_record_id"]
    result = done(stores, "restore", job_id="undo", decision_record_id=record_id)
    done(stores, job_id="once-more")
    assert done(stores, "restore", job_id="undo", decision_record_id=record_id) == result
    assert statuses(stores, *ids) == ["Superseded", "Superseded"]


def test_after_a_restoring_the_same_compaction_has_its_id_and_number_again(filled: Stores) -> None:
    first = done(filled)
    done(filled, "restore", decision_record_id=first["decision_record_id"])
    add(filled, "Elsewhere", topic_id="other")
    again = done(filled, job_id="again")
    same = ("decision_record_id", "memory_number", "preview_digest")
    assert [again[name] for name in same] == [first[name] for name in same]
    assert not filled.store.is_hidden(first["decision_record_id"])


@pytest.mark.parametrize("kind", ["compact", "restore"])
@pytest.mark.parametrize("what", ["rebuild_vectors", "rebuild_words"])
def test_a_record_that_comes_or_goes_while_an_index_is_made_anew_is_in_it_or_not(
    filled: Stores, monkeypatch: pytest.MonkeyPatch, kind: str, what: str
) -> None:
    record_id = done(filled)["decision_record_id"]
    if kind == "compact":  # it comes back under its number, which the rebuilding has passed by then
        done(filled, "restore", decision_record_id=record_id)
    for number in range(4, 9):
        add(filled, f"Other {number}", topic_id="other")
    monkeypatch.setattr(slices, "SLICE_SECONDS", 0)
    for index in (vector_index, word_index):
        monkeypatch.setattr(index, "_TOGETHER", 1)

    def meanwhile(progress: dict[str, Any]) -> None:
        if progress["done"] == 5:
            payload = {} if kind == "compact" else {"decision_record_id": record_id}
            done(filled, kind, job_id="meanwhile", **payload)

    store = filled.store
    getattr(store, what)(meanwhile)
    visible = [memory for memory in map(store.get, store.newest(100)) if memory is not None]
    assert (record_id in {memory.id for memory in visible}) == (kind == "compact")
    indexed = store._connection.execute(f"SELECT rowid FROM {full_text.table_in_force(store._connection)}").fetchall()
    assert sorted(number for (number,) in indexed) == sorted(memory.number for memory in visible)
    rows = vector_files.open_rows(
        store._vectors.paths[0], store._vectors.extents["passages"].rows, FakeEmbedder().dimensions
    )
    for memory in visible:
        query = "SELECT passage_row, passage_count FROM memories WHERE id = ?"
        row, count = store._connection.execute(query, (memory.id,)).fetchone()
        assert np.allclose(rows[row : row + count], store.embed([passage.text for passage in passages(memory)]))


def test_what_was_changed_by_hand_or_forgotten_since_stays_so(stores: Stores) -> None:
    ids = [*two(stores), add(stores, "Use tabs", day=10).id, add(stores, "Sign last", day=11).id]
    record_id = done(stores)["decision_record_id"]
    at = "2026-11-20T12:00:01Z"
    stores.store.set_status(ids[0], "Draft", at, at)
    stores.store.set_status(ids[1], "Superseded", at, at)
    with stores.store.change(at) as change:
        change.dropped.append(ids[2])
    result = done(stores, "restore", decision_record_id=record_id)
    assert result["restored"] == [ids[3]]
    assert result["skipped"] == [
        {"memory_id": ids[0], "reason": "status_changed"},
        {"memory_id": ids[1], "reason": "status_changed"},
        {"memory_id": ids[2], "reason": "forgotten"},
    ]
    assert statuses(stores, *ids) == ["Draft", "Superseded", None, "Active"]


def test_a_status_that_was_asked_for_before_a_compaction_does_not_undo_it(stores: Stores) -> None:
    ids = two(stores)
    done(stores, at="2026-11-20T11:59:00Z")
    at = "2026-11-20T11:58:59Z"
    stores.store.set_status(ids[0], "Active", at, at)
    assert statuses(stores, *ids) == ["Superseded", "Superseded"]


def test_a_record_that_was_merged_waits_for_the_later_one(stores: Stores) -> None:
    ids = two(stores)
    former = done(stores)["decision_record_id"]
    new = add(stores, "Retry two times", day=20).id
    later = done(stores, job_id="second")["decision_record_id"]
    error = refused(stores, "restore", decision_record_id=former)
    assert (error.code, error.details) == ("RESTORE_BLOCKED", {"decision_record_id": later})
    assert later in error.message
    assert done(stores, "restore", decision_record_id=later)["restored"] == [former, new]
    assert statuses(stores, former, new) == ["DecisionRecord", "Active"]
    done(stores, "restore", job_id="first", decision_record_id=former)
    assert statuses(stores, *ids, new) == ["Active", "Active", "Active"]


def test_what_is_no_record_is_not_found_and_the_nearest_are_named(stores: Stores) -> None:
    ids = two(stores)
    assert refused(stores, "restore", decision_record_id="nobody").details == {"nearest": []}
    record_id = done(stores)["decision_record_id"]
    for wanted in (ids[0], record_id[:-1] + "x"):
        error = refused(stores, "restore", decision_record_id=wanted)
        assert (error.code, error.details) == ("MEMORY_NOT_FOUND", {"nearest": [record_id]})


def test_a_record_from_elsewhere_is_taken_back_by_what_it_says_of_itself(stores: Stores) -> None:
    ids = [add(stores, "Sign last", status="Superseded").id, add(stores, "Use tabs", status="Superseded").id]
    known = Metadata(topic_id="uploads", status="DecisionRecord", created_at="2026-11-01T00:00:00Z")
    record = Memory(
        "record", 0, "decision_record", known, "2026-11-01T00:00:00Z", Content("Uploads", "All."),
        sources=(*ids, "gone"),
    )  # fmt: skip
    stores.store.add([(record, None)], "2026-11-01T00:00:00Z")
    result = done(stores, "restore", decision_record_id="record")
    assert (result["restored"], result["skipped"], result["numbers"]) == (ids, [], dict(zip(ids, (1, 2), strict=True)))
    assert done(stores, "restore", job_id="again", decision_record_id="record") == result


# --- the history ---


def test_the_history_names_ids_and_digests_and_no_text(stores: Stores, workspace: Workspace) -> None:
    assert listing.history(workspace, 10) == []
    ids = two(stores)
    first = done(stores)
    done(stores, "restore", decision_record_id=first["decision_record_id"])
    add(stores, "Sign last", topic_id="sign-in")
    add(stores, "Use tabs", topic_id="sign-in")
    done(stores, job_id="other", topic_id="sign-in")
    newest, oldest = listing.history(workspace, 10)
    assert (newest["topic_id"], newest["restored_at"]) == ("sign-in", None)
    assert listing.history(workspace, 1) == [newest]
    assert listing.history(workspace, 10, "uploads") == [oldest]
    assert (oldest["superseded"], oldest["restored"], oldest["job_id"]) == (ids, ids, "job")
    assert oldest["restored_at"] == "2026-11-20T12:00:00Z"
    (conflict,) = oldest["conflicts"]
    assert (conflict["kind"], conflict["earlier"]["memory_id"], conflict["later"]["memory_id"]) == ("value", *ids)
    told = [line for line in rows(workspace) if line.startswith('INSERT INTO "compactions"')]
    assert len(told) == 2
    assert "Retry" not in "".join(told)


def test_topics_tell_what_a_compaction_would_merge(stores: Stores, workspace: Workspace) -> None:
    for number in range(4):
        add(stores, f"Choose {number}", day=number + 1)
    add(stores, "Later perhaps", day=20, status="Draft")
    comparison.compare_some(stores.store)
    (before,) = listing.topics(workspace)
    assert (before["active"], before["worth_compacting"], before["drafts"]) == (4, False, 1)
    assert (before["oldest"][:10], before["newest"][:10]) == ("2026-10-01", "2026-10-04")
    result = done(stores)
    (after,) = listing.topics(workspace)
    assert (after["memories"], after["active"], after["decision_records"], after["superseded"]) == (6, 0, 1, 4)
    assert after["newest"][:10] == "2026-10-04", "a record is as old as what it says"
    done(stores, "restore", decision_record_id=result["decision_record_id"])
    assert listing.topics(workspace) == [before], "a withdrawn record is not counted"


# --- what a preview answers ---


def test_a_preview_names_its_memories_the_record_and_the_conflicts(stores: Stores) -> None:
    new = add(stores, "Retry three times", day=9, session_id="s", plan_id="021")
    old = add(stores, "Retry five times", "Sign last", day=2)
    found = preview(stores)
    assert set(found) == {"summaries", "decision_record", "conflicts", "kept_both", "warnings", "preview_digest"}
    assert [summary["memory_id"] for summary in found["summaries"]] == [old.id, new.id]
    assert found["summaries"][1]["session_id"] == "s"
    record = found["decision_record"]
    assert record["consolidated_decisions"] == [
        "Sign last (2026-10-02, #2)",
        "[Later] Retry three times (2026-10-09, #1) supersedes Retry five times (2026-10-02, #2)",
        "[Earlier] Retry five times (2026-10-02, #2)",
    ]  # fmt: skip
    assert record["compaction_source"] == [old.id, new.id]
    assert (record["status"], record["narrative_source"], record["topic_id"]) == (
        "DecisionRecord", "template", "uploads",
    )  # fmt: skip
    assert record["source_created_at"] == "2026-10-09T12:00:00Z"
    (conflict,) = found["conflicts"]
    assert conflict["kind"] == "value"
    assert conflict["earlier"] == {
        "memory_id": old.id, "memory_number": 2, "text": "Retry five times", "date": "2026-10-02T12:00:00Z",
    }  # fmt: skip
    assert conflict["later"]["memory_id"] == new.id


def test_a_preview_has_all_fields_of_the_schema(stores: Stores) -> None:
    two(stores)
    found = preview(stores)
    schema = published("result.compact")
    for name, model in (("summaries", "CompactedMemory"), ("conflicts", "CompactionConflict")):
        assert set(found[name][0]) == set(schema["$defs"][model]["properties"]) - {"reason"}
    assert set(found["decision_record"]) == set(schema["$defs"]["PreviewedRecord"]["properties"])


def test_a_preview_changes_no_memory_and_owes_the_graph_nothing(stores: Stores, workspace: Workspace) -> None:
    two(stores)
    derived = ("embeddings", "statements", "replacements", "meta")  # what was compared, and the marks of it
    before = dump(workspace.memory_db, *derived)
    preview(stores)
    assert dump(workspace.memory_db, *derived) == before


def test_no_impossible_preview_is_kept(stores: Stores, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    two(stores)
    whole = preview(stores)
    size = len(json.dumps(whole, ensure_ascii=False).encode())
    monkeypatch.setattr(compact, "_MOST_BYTES", size)
    assert preview(stores) == whole
    workspace.preview(whole["preview_digest"]).unlink()
    monkeypatch.setattr(compact, "_MOST_BYTES", size - 1)
    error = refused(stores, preview=True)
    assert error.code == "TOPIC_TOO_LARGE"
    assert f"{size:,} bytes" in error.message
    assert list(workspace.previews.iterdir()) == []


def test_drafts_superseded_and_hidden_memories_are_left_out(stores: Stores, workspace: Workspace) -> None:
    kept = [add(stores, "Sign last"), add(stores, "Use tabs")]
    add(stores, "Use spaces", status="Draft")
    add(stores, "Use nothing", status="Superseded")
    hidden = add(stores, "Hide")
    add(stores, "Elsewhere", topic_id="uploads-2")
    sql(workspace.memory_db, "UPDATE memories SET hidden = 1 WHERE id = ?", hidden.id)
    found = preview(stores)
    assert [summary["memory_id"] for summary in found["summaries"]] == [memory.id for memory in kept]
    assert found["warnings"] == ["Left out: 1 in draft."]


def test_a_former_record_counts_as_a_source(stores: Stores) -> None:
    add(stores, "Retry five times", status="Superseded")
    record = Memory(
        id="record",
        number=0,
        kind="decision_record",
        metadata=Metadata(topic_id="uploads", status="DecisionRecord", source_created_at="2026-10-01T00:00:00Z"),
        stored_at="2026-10-03T00:00:00Z",
        content=Content("Uploads", "All of it.", ("[Earlier] A", "[Later] Retry five times supersedes A")),
        sources=("uploads-retry-five-times",),
    )
    stores.store.add([(record, None)], "2026-10-03T00:00:00Z")
    add(stores, "Retry three times", day=9)
    found = preview(stores)
    kinds = [(summary["memory_type"], summary["status"]) for summary in found["summaries"]]
    assert kinds == [("decision_record", "DecisionRecord"), ("summary", "Active")]
    assert found["decision_record"]["consolidated_decisions"] == [
        "[Later] Retry three times (2026-10-09, #3) supersedes Retry five times (2026-10-01, #2)",
        "[Earlier] A (2026-10-01, #2)",
        "[Earlier] Retry five times (2026-10-01, #2)",
    ]  # fmt: skip


# --- what is refused a preview ---


def test_fewer_than_two_memories_are_nothing_to_compact(stores: Stores, workspace: Workspace) -> None:
    memory = add(stores, "Retry three times")
    add(stores, "Retry five times", status="Draft")
    add(stores, "Retry two times", status="Superseded")
    error = refused(stores, preview=True)
    assert (error.code, error.details) == ("NOTHING_TO_COMPACT", {"sources": [memory.id]})
    assert "one memory" in error.message
    assert "1 superseded, 1 in draft" in error.message
    add(stores, "Old", topic_id="old", status="Superseded")
    assert refused(stores, preview=True, topic_id="old").details == {"sources": []}
    assert not workspace.previews.exists()


def test_an_unknown_topic_is_answered_with_the_nearest_ones(stores: Stores) -> None:
    for topic_id in ("uploads", "upload-limits", "sign-in", "releases"):
        add(stores, "x", topic_id=topic_id)
    error = refused(stores, preview=True, topic_id="uplaods")
    assert error.code == "TOPIC_NOT_FOUND"
    assert error.details["nearest"][0] == "uploads"
    assert "'uploads'" in error.message
    assert refused(stores, preview=True, topic_id="zzzz").details == {"nearest": []}


def test_in_a_workspace_where_nothing_was_stored_every_topic_is_unknown(stores: Stores, workspace: Workspace) -> None:
    assert refused(stores, preview=True).code == "TOPIC_NOT_FOUND"
    assert not workspace.memory_db.exists()


def test_the_nearest_topics_share_letters_or_words() -> None:
    known = ["retry-policy-of-the-uploader", "uploader", "billing", "plan-014-summaries"]
    assert nearest("retry-policy", known)[0] == "retry-policy-of-the-uploader"
    assert nearest("summaries", known) == ["plan-014-summaries"]
    assert nearest("x", []) == []


# --- the digest of a preview ---


def test_the_same_topic_gives_the_same_digest_until_a_memory_of_it_changes(stores: Stores) -> None:
    _, last = two(stores)
    digest = preview(stores)["preview_digest"]
    add(stores, "Elsewhere", topic_id="other")
    assert preview(stores)["preview_digest"] == digest
    stores.store.set_status(last, "Draft", "2026-11-01T00:00:00Z", "2026-11-01T00:00:00Z")
    assert refused(stores, preview=True).code == "NOTHING_TO_COMPACT"
    stores.store.set_status(last, "Active", "2026-11-02T00:00:00Z", "2026-11-02T00:00:00Z")
    assert preview(stores)["preview_digest"] == digest
    add(stores, "Use tabs")
    assert preview(stores)["preview_digest"] != digest


def test_the_digest_covers_all_that_would_be_applied_and_no_more() -> None:
    preview = Preview("t", (("a", "1"), ("b", "2")), {"topic": "T", "importance": 0.5}, [{"kind": "value"}], ["w"])
    for other in (
        preview._replace(topic_id="u"),
        preview._replace(sources=(("a", "1"), ("b", "3"))),
        preview._replace(sources=(("b", "2"), ("a", "1"))),
        preview._replace(record={"topic": "T", "importance": 0.6}),
        preview._replace(record={"topic": "T", "importance": 0.5, "more": None}),
        preview._replace(both_hold=[("a", "1", "b", "2")]),
    ):
        assert other.digest != preview.digest
    assert preview._replace(conflicts=[], warnings=[]).digest == preview.digest


def test_a_memorys_digest_is_of_its_words_alone(stores: Stores) -> None:
    memory = add(stores, "Sign last")
    digest = previews.content_digest(memory)
    assert previews.content_digest(memory._replace(metadata=Metadata(), number=7)) == digest
    assert previews.content_digest(memory._replace(content=memory.content._replace(context="Other."))) != digest
    assert previews.content_digest(memory._replace(content=None, text="raw")) != digest


# --- the file of a preview ---


def test_a_preview_is_kept_as_it_was_shown(stores: Stores, workspace: Workspace) -> None:
    add(stores, "Größe: 5 µm 🙂")
    add(stores, "Retry five times")
    found = preview(stores)
    path = workspace.preview(found["preview_digest"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    kept = previews.load(workspace, found["preview_digest"])
    assert (kept.record, kept.conflicts, kept.warnings) == (
        found["decision_record"], found["conflicts"], found["warnings"],
    )  # fmt: skip
    assert kept.sources == tuple((s["memory_id"], s["content_sha256"]) for s in found["summaries"])
    before = path.read_bytes()
    preview(stores)
    assert path.read_bytes() == before
    assert [entry.name for entry in workspace.previews.iterdir()] == [path.name]


def test_a_preview_that_somebody_changed_is_none(workspace: Workspace) -> None:
    preview = Preview("t", (("a", "1"), ("b", "2")), {"topic": "T"})
    digest = previews.store(workspace, preview, NOW)
    assert previews.load(workspace, digest) == preview._replace(conflicts=[], warnings=[], kept_both=[], both_hold=[])
    path = workspace.preview(digest)
    for data in (
        json.dumps({**preview.as_dict(), "decision_record": {"topic": "U"}}),
        json.dumps({**preview.as_dict(), "format": 1}),
        json.dumps([]), "{}", "", '{"topic_id": 1',
    ):  # fmt: skip
        path.write_text(data, "utf-8")
        assert previews.load(workspace, digest) is None
    assert previews.load(workspace, "0" * 64) is None


def test_a_link_in_place_of_the_folder_is_not_followed(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    workspace.previews.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(JobError, match="FILE_UNSAFE"):
        previews.store(workspace, Preview("t", (), {}), NOW)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_old_previews_go_and_the_oldest_of_too_many(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previews, "MAX_KEPT", 3)
    day = 86_400.0

    def kept(topic_id: str, age_days: float) -> Path:
        path = workspace.preview(previews.store(workspace, Preview(topic_id, (), {}), NOW))
        os.utime(path, (0, NOW.timestamp() - age_days * day))
        return path

    old, _ = kept("old", previews.DAYS_KEPT + 1), kept("a", 5)
    b, c = kept("b", 4), kept("c", 3)
    assert not old.exists()
    newest = kept("newest", 0)
    assert set(workspace.previews.iterdir()) == {b, c, newest}
    assert kept("b", 0) == b, "what is shown again counts as new"
