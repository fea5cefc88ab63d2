"""The preview of a compaction through a real worker, with the real model: dropped as a file, polled as a record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
from harness import PROJECT, Place

from bridge import previews, trust
from bridge.embedder import create
from bridge.memory import Content, Memory, Metadata
from bridge.settings import load
from bridge.store import Store

DECISIONS = (
    ("Use Redis for the session cache", "Show an error when the disk is full"),
    ("Replace Redis with an in-process LRU", "Name files by date"),
    ("Display an error message if the disk is full",),
)


def remember(place: Place) -> list[str]:
    """Store a topic's summaries as the worker's child does, without the knowledge graph. Returns their ids."""
    trust.adopt(place.workspace, place.config)
    store = Store(place.workspace, create(load(environment=place.environment).embedding))
    for number, decisions in enumerate(DECISIONS, 1):
        at = f"2026-10-{number:02d}T09:00:00Z"
        known = Metadata(topic_id="session-cache", status="Active", created_at=at, updated_at=at)
        content = Content("Session cache", f"The talk of day {number}.", decisions)
        store.add([(Memory(f"id-{number}", 0, "summary", known, at, content), None)], at)
    store.outbox.paid(store.outbox.owed(len(DECISIONS)))  # else an idle worker would open the graph
    store.close()
    return [f"id-{number}" for number in range(1, len(DECISIONS) + 1)]


def test_a_dropped_preview_job_answers_in_its_record_and_changes_no_memory(tmp_path: Path, model_cache: Path) -> None:
    place = Place(tmp_path, COGNEE_MEMORY_CACHE_DIR=str(model_cache))
    ids = remember(place)
    before = place.json("memories", "list")
    payloads: dict[str, dict[str, Any]] = {
        "preview": {"topicId": "session-cache", "preview": True},
        "again": {"topic_id": "session-cache", "preview": True},
        "apply": {"topic_id": "session-cache", "preview_digest": "0" * 64},
        "unknown": {"topic_id": "sesion-cache", "preview": True},
    }
    for job_id, payload in payloads.items():
        place.submit("compact", payload, job_id=job_id)
    with place.worker():
        records = {job_id: place.ended(job_id) for job_id in payloads}
    assert place.json("memories", "list") == before
    assert records["preview"].state == "succeeded", records["preview"].error
    result = records["preview"].result or {}
    assert records["again"].result == result, "the same topic gives the same preview, digest and all"

    schema = json.loads((PROJECT / "docs" / "schemas" / "result.compact.schema.json").read_text("utf-8"))
    jsonschema.validate(result, schema)
    assert [summary["memory_id"] for summary in result["summaries"]] == ids
    assert result["decision_record"]["consolidated_decisions"] == [
        "[Earlier] Use Redis for the session cache",
        "[Later] Replace Redis with an in-process LRU supersedes Use Redis for the session cache",
        "Name files by date",
        "Display an error message if the disk is full",
    ]
    assert [conflict["kind"] for conflict in result["conflicts"]] == ["reversal"]
    assert "similarity 0.95" in result["warnings"][0]
    kept = previews.load(place.workspace, result["preview_digest"])
    assert kept is not None
    assert kept.record == result["decision_record"]

    errors = {job_id: record.error or {} for job_id, record in records.items()}
    assert (records["apply"].state, errors["apply"]["code"]) == ("failed", "KIND_UNAVAILABLE")
    assert "Nothing was changed" in errors["apply"]["message"]
    assert (errors["unknown"]["code"], errors["unknown"]["details"]) == (
        "TOPIC_NOT_FOUND", {"nearest": ["session-cache"]},
    )  # fmt: skip
    assert "Redis" not in place.log(), "the log holds no text"
