"""A compaction's preview: what the operation answers, how it is kept, and that nothing else changes."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from contract import published
from harness import dump, sql
from job_copies import done, outcome, refused as refusal
from shelf import add_decisions

from bridge.compaction import previews
from bridge.compaction.previews import Preview
from bridge.graph.open_stores import Stores
from bridge.memory import Content, Memory, Metadata
from bridge.operations import compact
from bridge.store.similar_ids import nearest
from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace

NOW = clock.parse("2026-11-20T12:00:00Z")


def add(stores: Stores, *decisions: str, topic_id: str = "uploads", **other: Any) -> Memory:
    memory_id = f"{topic_id}-{stores.store.count()}"
    return add_decisions(stores.store, memory_id, decisions, topic_id=topic_id, **other)


def shown(stores: Stores, topic_id: str = "uploads") -> dict[str, Any]:
    return done(outcome(stores, "compact", {"topic_id": topic_id, "preview": True}, at=clock.iso(NOW)))


def refused(stores: Stores, topic_id: str = "uploads") -> JobError:
    return refusal(outcome(stores, "compact", {"topic_id": topic_id, "preview": True}, at=clock.iso(NOW)))


def rows(workspace: Workspace) -> list[str]:
    """But for what is derived: embeddings, what was compared, and the marks of both."""
    return dump(workspace.memory_db, "embeddings", "statements", "replacements", "meta")


# --- what is answered ---


def test_a_preview_names_its_memories_the_record_and_the_conflicts(stores: Stores) -> None:
    new = add(stores, "Retry three times", day=9, session_id="s", plan_id="021")
    old = add(stores, "Retry five times", "Sign last", day=2)
    found = shown(stores)
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


def test_the_answer_is_as_the_schema_says(stores: Stores) -> None:
    add(stores, "Retry three times", day=9, importance=0.5)
    add(stores, "Retry five times")
    found = shown(stores)
    schema = published("result.compact")
    jsonschema_rs.validate(schema, found)
    for name, model in (("summaries", "CompactedMemory"), ("conflicts", "CompactionConflict")):
        assert set(found[name][0]) == set(schema["$defs"][model]["properties"]) - {"reason"}
    assert set(found["decision_record"]) == set(schema["$defs"]["PreviewedRecord"]["properties"])


def test_a_preview_changes_no_memory_and_owes_the_graph_nothing(stores: Stores, workspace: Workspace) -> None:
    add(stores, "Retry three times")
    add(stores, "Retry five times")
    before = rows(workspace)
    shown(stores)
    assert rows(workspace) == before


def test_no_impossible_preview_is_kept(stores: Stores, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    add(stores, "Retry three times")
    add(stores, "Retry five times")
    whole = shown(stores)
    size = len(json.dumps(whole, ensure_ascii=False).encode())
    monkeypatch.setattr(compact, "_MOST_BYTES", size)
    assert shown(stores) == whole
    workspace.preview(whole["preview_digest"]).unlink()
    monkeypatch.setattr(compact, "_MOST_BYTES", size - 1)
    error = refused(stores)
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
    found = shown(stores)
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
        sources=("uploads-0",),
    )
    stores.store.add([(record, None)], "2026-10-03T00:00:00Z")
    add(stores, "Retry three times", day=9)
    found = shown(stores)
    assert [summary["memory_type"] for summary in found["summaries"]] == ["decision_record", "summary"]
    assert found["decision_record"]["consolidated_decisions"] == [
        "[Later] Retry three times (2026-10-09, #3) supersedes Retry five times (2026-10-01, #2)",
        "[Earlier] A (2026-10-01, #2)",
        "[Earlier] Retry five times (2026-10-01, #2)",
    ]  # fmt: skip


# --- what is refused ---


def test_fewer_than_two_memories_are_nothing_to_compact(stores: Stores, workspace: Workspace) -> None:
    memory = add(stores, "Retry three times")
    add(stores, "Retry five times", status="Draft")
    add(stores, "Retry two times", status="Superseded")
    error = refused(stores)
    assert (error.code, error.details) == ("NOTHING_TO_COMPACT", {"sources": [memory.id]})
    assert "one memory" in error.message
    assert "1 superseded, 1 in draft" in error.message
    add(stores, "Old", topic_id="old", status="Superseded")
    assert refused(stores, "old").details == {"sources": []}
    assert not workspace.previews.exists()


def test_an_unknown_topic_is_answered_with_the_nearest_ones(stores: Stores) -> None:
    for topic_id in ("uploads", "upload-limits", "sign-in", "releases"):
        add(stores, "x", topic_id=topic_id)
    error = refused(stores, "uplaods")
    assert error.code == "TOPIC_NOT_FOUND"
    assert error.details["nearest"][0] == "uploads"
    assert "'uploads'" in error.message
    assert refused(stores, "zzzz").details == {"nearest": []}


def test_in_a_workspace_where_nothing_was_stored_every_topic_is_unknown(stores: Stores, workspace: Workspace) -> None:
    assert refused(stores).code == "TOPIC_NOT_FOUND"
    assert not workspace.memory_db.exists()


def test_the_nearest_topics_share_letters_or_words() -> None:
    known = ["retry-policy-of-the-uploader", "uploader", "billing", "plan-014-summaries"]
    assert nearest("retry-policy", known)[0] == "retry-policy-of-the-uploader"
    assert nearest("summaries", known) == ["plan-014-summaries"]
    assert nearest("x", []) == []


# --- the digest ---


def test_the_same_topic_gives_the_same_digest_until_a_memory_of_it_changes(stores: Stores) -> None:
    add(stores, "Retry three times")
    last = add(stores, "Retry five times")
    digest = shown(stores)["preview_digest"]
    add(stores, "Elsewhere", topic_id="other")
    assert shown(stores)["preview_digest"] == digest
    stores.store.set_status(last.id, "Draft", "2026-11-01T00:00:00Z", "2026-11-01T00:00:00Z")
    assert refused(stores).code == "NOTHING_TO_COMPACT"
    stores.store.set_status(last.id, "Active", "2026-11-02T00:00:00Z", "2026-11-02T00:00:00Z")
    assert shown(stores)["preview_digest"] == digest
    add(stores, "Use tabs")
    assert shown(stores)["preview_digest"] != digest


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


# --- the file ---


def test_a_preview_is_kept_as_it_was_shown(stores: Stores, workspace: Workspace) -> None:
    add(stores, "Größe: 5 µm 🙂")
    add(stores, "Retry five times")
    found = shown(stores)
    path = workspace.preview(found["preview_digest"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    kept = previews.load(workspace, found["preview_digest"])
    assert (kept.record, kept.conflicts, kept.warnings) == (
        found["decision_record"], found["conflicts"], found["warnings"],
    )  # fmt: skip
    assert kept.sources == tuple((s["memory_id"], s["content_sha256"]) for s in found["summaries"])
    before = path.read_bytes()
    shown(stores)
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
