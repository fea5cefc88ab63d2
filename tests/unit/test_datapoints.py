"""What of a memory becomes nodes of the graph."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from bridge import datapoints
from bridge.datapoints import (
    ConversationSummary,
    DecisionRecord,
    as_payload,
    decisions_from,
    legacy_from,
    plan_from,
    record_from,
    session_from,
    summary_from,
    topic_from,
)
from bridge.memory import Content, Memory, Metadata, References, TimeScope
from bridge.text.passages import render_plain
from bridge.text.template import Enriched, parse

CONTENT = Content(
    topic="Ranking",
    context="How hits are ordered.",
    decisions=("Use a product", "Round to ten digits"),
    rationale=("It can be explained",),
    open_questions=("Which half-life?",),
    next_steps=("Measure",),
    references=References(("bridge/ranking.py",), ("plan-015",), ("fix/order",), ("#7",)),
    time_scope=TimeScope(start="2025-11-17T14:00:00Z", end="2025-11-17T16:30:00Z", turn_count=12),
)
METADATA = Metadata(
    topic_id="ranking",
    session_id="2025-11-17-session-1",
    plan_id="plan-015",
    status="Active",
    created_at="2025-11-17T16:30:00Z",
    updated_at="2025-11-17T16:31:00.250Z",
    source_created_at="2025-11-16T00:00:00Z",
    importance=0.5,
)
SUMMARY = Memory("id-1", 1, "summary", METADATA, "2025-11-18T00:00:00Z", CONTENT)
RECORD = SUMMARY._replace(
    id="id-2", number=2, kind="decision_record", metadata=METADATA._replace(status="DecisionRecord"),
    sources=("id-1", "id-0"),
)  # fmt: skip
LEGACY = Memory("id-3", 3, "legacy", Metadata(importance=0.25), "2025-11-18T00:00:00Z", text="User asked: Why?")
REFERENCES = {"files": "bridge/ranking.py", "plans": "plan-015", "branches": "fix/order", "issues": "#7"}
BOUNDS = {"start": "2025-11-17T14:00:00Z", "end": "2025-11-17T16:30:00Z", "turn_count": 12}
# What a summary's node and its payload say alike.
ALIKE = {
    "memory_id": "id-1", "memory_number": 1, "topic": "Ranking", "topic_id": "ranking", "plan_id": "plan-015",
    "session_id": "2025-11-17-session-1", "status": "Active", "source_created_at": "2025-11-16T00:00:00Z",
    "importance": 0.5, "context": "How hits are ordered.", "decisions": ["Use a product", "Round to ten digits"],
    "rationale": ["It can be explained"], "open_questions": ["Which half-life?"], "next_steps": ["Measure"],
    **{f"references_{kind}": [name] for kind, name in REFERENCES.items()},
    "time_scope": "2025-11-17T14:00:00Z – 2025-11-17T16:30:00Z, 12 turns",
}  # fmt: skip
MODELS = [
    ConversationSummary,
    DecisionRecord,
    datapoints.LegacyMemory,
    datapoints.Decision,
    datapoints.Topic,
    datapoints.Plan,
    datapoints.Session,
]


def test_a_summary_becomes_a_node_with_every_field() -> None:
    assert summary_from(SUMMARY).model_dump() == {
        **ALIKE, "name": "Ranking", "description": "How hits are ordered.", "created_at": 1763397000000,
        "updated_at": 1763397060250, "summary_text": render_plain(CONTENT),
        "extras": json.dumps({"time_scope_bounds": BOUNDS}, sort_keys=True),
    }  # fmt: skip
    assert summary_from(SUMMARY).references == list(CONTENT.references.flat)


def test_a_record_becomes_a_node_with_consolidated_fields_and_its_sources() -> None:
    node = record_from(RECORD)
    assert (node.status, node.summary_text) == ("DecisionRecord", render_plain(CONTENT))
    assert node.compaction_source == ["id-1", "id-0"]
    names = {"decisions": "consolidated_decisions", "rationale": "consolidated_rationale",
             "open_questions": "key_open_questions", "context": "context", "next_steps": "next_steps",
             **{f"references_{kind}": f"key_references_{kind}" for kind in REFERENCES}}  # fmt: skip
    assert {name: getattr(node, own) for name, own in names.items()} == {name: ALIKE[name] for name in names}


def test_a_legacy_memory_becomes_a_node_of_its_text_dated_when_it_was_stored() -> None:
    node = legacy_from(LEGACY)
    assert (node.text, node.importance, node.created_at) == ("User asked: Why?", 0.25, 1763424000000)
    dated = LEGACY._replace(metadata=Metadata(created_at="2025-11-17T16:30:00Z"))
    assert legacy_from(dated).created_at == 1763397000000


@pytest.mark.parametrize("model", MODELS)
def test_every_index_field_holds_one_string_and_every_identity_field_exists(model: type[Any]) -> None:
    assert all(model.model_fields[name].annotation is str for name in model.INDEX_FIELDS)
    assert len(model.IDENTITY_FIELDS) == 1
    assert model.model_fields[model.IDENTITY_FIELDS[0]].annotation is str


@pytest.mark.parametrize("model", MODELS)
def test_no_field_takes_a_name_of_cognees_own_with_another_type(model: type[Any]) -> None:
    own = {
        "id", "ontology_valid", "ontology_uri", "version", "topological_rank", "metadata", "type",
        "belongs_to_set", "source_pipeline", "source_task", "source_node_set", "source_user",
        "source_content_hash", "feedback_weight", "importance_weight",
    }  # fmt: skip
    assert own.isdisjoint(model.model_fields)
    assert model.model_fields["created_at"].annotation is int
    assert model.model_fields["updated_at"].annotation is int


def test_each_decision_is_a_node_that_knows_where_it_belongs() -> None:
    first, second = decisions_from(SUMMARY)
    assert (first.text, first.position, first.decision_id) == ("Use a product", 0, "id-1:0")
    assert (second.text, second.position, second.decision_id) == ("Round to ten digits", 1, "id-1:1")
    assert {(d.memory_id, d.topic_id, d.plan_id, d.session_id) for d in (first, second)} == {
        ("id-1", "ranking", "plan-015", "2025-11-17-session-1")
    }
    assert [d.decision_id for d in decisions_from(RECORD)] == ["id-2:0", "id-2:1"]
    assert decisions_from(LEGACY) == []


def test_the_same_plan_under_other_names_is_one_node() -> None:
    nodes = [
        plan_from(SUMMARY._replace(metadata=METADATA._replace(plan_id=name)))
        for name in ("015", "plan-015", "015-some-title")
    ]
    assert {(node.plan_key, node.name) for node in nodes if node} == {("015", "Plan 015")}
    assert plan_from(LEGACY) is None


def test_topic_and_session_are_nodes_where_they_are_known() -> None:
    topic, session = topic_from(SUMMARY), session_from(SUMMARY)
    assert (topic.topic_id, topic.name) == ("ranking", "Ranking")
    assert session.session_id == "2025-11-17-session-1"
    assert topic_from(LEGACY) is None
    assert session_from(LEGACY) is None


def test_without_metadata_a_summary_is_active_dated_when_stored_and_under_its_topics_slug() -> None:
    bare = Memory("id", 9, "summary", Metadata(), "2025-11-18T00:00:00Z", Content("A Topic", "c"))
    node = summary_from(bare)
    assert (node.status, node.topic_id, node.extras) == ("Active", "a-topic", "{}")
    assert node.created_at == node.updated_at == 1763424000000


def test_the_indexed_text_stays_the_same_when_the_status_changes() -> None:
    after = SUMMARY._replace(metadata=METADATA._replace(status="Superseded"))
    assert summary_from(after).status == "Superseded"
    assert summary_from(after).summary_text == summary_from(SUMMARY).summary_text


def test_final_is_another_word_for_what_is_valid_now() -> None:
    fields = {"memory_id": "m", "memory_number": 1, "topic": "T", "topic_id": "t", "summary_text": "s"}
    fields |= {"name": "T", "description": "d"}
    times = {"created_at": 0, "updated_at": 0}
    assert ConversationSummary.model_validate(fields | times | {"status": "Final"}).status == "Active"
    assert DecisionRecord.model_validate(fields | times | {"status": "Final"}).status == "DecisionRecord"
    with pytest.raises(ValidationError):
        ConversationSummary.model_validate(fields | times | {"status": "DecisionRecord"})


def test_a_memory_without_content_is_no_summary() -> None:
    with pytest.raises(ValueError, match="no structured content"):
        summary_from(LEGACY)
    with pytest.raises(ValueError, match="no structured content"):
        record_from(LEGACY)


def test_the_payload_of_a_summary_has_the_form_of_the_schema() -> None:
    payload = as_payload(SUMMARY)
    assert set(payload) == {"text", "metadata", "index_fields"}
    assert payload["index_fields"] == ["topic", "topic_id", "plan_id", "status", "created_at"]
    assert payload["metadata"] == {
        **ALIKE, "type": "conversation_summary", "created_at": "2025-11-17T16:30:00Z", "tags": [], "anchors": [],
        "updated_at": "2025-11-17T16:31:00.250Z", "references": list(REFERENCES.values()), "time_scope_bounds": BOUNDS,
    }  # fmt: skip
    text = parse(payload["text"])
    assert isinstance(text, Enriched)
    assert text.content == CONTENT
    assert json.loads(json.dumps(payload)) == payload


def test_the_payload_of_a_record_names_its_sources() -> None:
    payload = as_payload(RECORD)
    assert payload["metadata"]["type"] == "decision_record"
    assert payload["metadata"]["compaction_source"] == ["id-1", "id-0"]
    text = parse(payload["text"])
    assert isinstance(text, Enriched)
    assert text.sources == ("id-1", "id-0")


def test_the_payload_of_a_legacy_memory_is_its_text_without_structured_metadata() -> None:
    payload = as_payload(LEGACY)
    assert payload["text"] == "User asked: Why?"
    assert payload["metadata"]["type"] == "legacy"
    assert payload["index_fields"] == ["text"]
    assert {"topic", "topic_id", "status", "decisions"}.isdisjoint(payload["metadata"])


def test_an_unbounded_time_scope_has_no_bounds_in_the_payload() -> None:
    memory = SUMMARY._replace(content=CONTENT._replace(time_scope=TimeScope("Nov 17")))
    metadata = as_payload(memory)["metadata"]
    assert (metadata["time_scope"], metadata["time_scope_bounds"]) == ("Nov 17", None)
