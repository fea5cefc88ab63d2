"""A topic's way through a real worker, with the real model and the real graph: previewed, compacted, asked about, and
taken back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import jsonschema
import pytest
from harness import PROJECT, Place

from bridge import trust
from bridge.compaction import previews
from bridge.compaction.contradictions import conflict_id
from bridge.embedding.factory import create
from bridge.memory import Content, Memory, Metadata
from bridge.settings import load
from bridge.store.store import Store
from jobs.model import Record

DECISIONS = (
    ("Use Redis for the session cache", "Show an error when the disk is full"),
    ("Replace Redis with an in-process LRU", "Name files by date"),
    ("Display an error message if the disk is full",),
)
UNION = [
    "[Later] Replace Redis with an in-process LRU (2026-10-02, #2) supersedes"
    " Use Redis for the session cache (2026-10-01, #1)",
    "Name files by date (2026-10-02, #2)",
    "Display an error message if the disk is full (2026-10-03, #3)",
    "[Earlier] Use Redis for the session cache (2026-10-01, #1)",
]
QUESTION = "session cache of Redis"
FIXED = ("--relevance-floor", "0", "--as-of", "2026-11-20T12:00:00Z")  # the same scores each time
TOPIC = "session-cache"


def id_of(number: int) -> str:
    return str(UUID(int=number))


def remember(place: Place) -> list[str]:
    """Store a topic's summaries, and one of another topic, as the worker's child does. Returns the topic's ids."""
    trust.adopt(place.workspace, place.config)
    store = Store(place.workspace, create(load(environment=place.environment).embedding))
    for number, decisions in enumerate(DECISIONS, 1):
        at = f"2026-10-{number:02d}T09:00:00Z"
        known = Metadata(topic_id=TOPIC, status="Active", created_at=at, updated_at=at)
        content = Content("Session cache", f"The talk of day {number}.", decisions)
        store.add([(Memory(id_of(number), 0, "summary", known, at, content), None)], at)
    known = Metadata(topic_id="other", status="Active", created_at=at, updated_at=at)
    store.add([(Memory(id_of(9), 0, "summary", known, at, Content("Other", "A cache of tiles.")), None)], at)
    store.close()
    return [id_of(number) for number in range(1, len(DECISIONS) + 1)]


def valid(kind: str, record: Record) -> dict[str, Any]:
    """The result of a job that succeeded, as published."""
    assert record.state == "succeeded", record.error
    schema = json.loads((PROJECT / "docs" / "schemas" / f"result.{kind}.schema.json").read_text("utf-8"))
    result = record.result or {}
    jsonschema.validate(result, schema)
    return result


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Iterator[Place]:
    """A workspace with a topic of three summaries, and a worker that is kept for all tests of this file."""
    made = Place(tmp_path_factory.mktemp("compact"), COGNEE_MEMORY_CACHE_DIR=str(model_cache))
    remember(made)
    with made.worker():
        yield made
    assert "Redis" not in made.log(), "the log holds no text"


def hits(place: Place, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = place.json("retrieve", QUESTION, *FIXED, *arguments)["results"]
    return found


def of_topic(found: list[dict[str, Any]]) -> list[str]:
    return [hit["memory_id"] for hit in found if hit["topic_id"] == TOPIC]


def test_a_dropped_preview_job_answers_in_its_record_and_changes_no_memory(place: Place) -> None:
    ids = [id_of(number) for number in range(1, 4)]

    def stored() -> list[tuple[str, str, str]]:
        """What a preview might change, and not what is found out about decisions meanwhile."""
        lines = place.json("memories", "list")["memories"]
        return [(line["memory_id"], line["status"], line["updated_at"]) for line in lines]

    before = stored()
    rejected_id = conflict_id("Use Redis for the session cache", "Replace Redis with an in-process LRU")
    payloads: dict[str, dict[str, Any]] = {
        "preview": {"topicId": TOPIC, "preview": True},
        "again": {"topic_id": TOPIC, "preview": True},
        "rejected": {
            "topicId": TOPIC,
            "preview": True,
            "keepBoth": [rejected_id],
        },
        "unseen": {"topic_id": TOPIC, "preview_digest": "0" * 64},
        "unknown": {"topic_id": "sesion-cache", "preview": True},
        "few": {"topic_id": "other"},
    }
    for job_id, payload in payloads.items():
        place.submit("compact", payload, job_id=job_id)
    records = {job_id: place.ended(job_id) for job_id in payloads}
    assert stored() == before
    result = valid("compact", records["preview"])
    assert records["again"].result == result, "the same topic gives the same preview, digest and all"
    assert [summary["memory_id"] for summary in result["summaries"]] == ids
    assert result["decision_record"]["consolidated_decisions"] == UNION
    assert [conflict["kind"] for conflict in result["conflicts"]] == ["reversal"]
    assert "similarity 0.95" in result["warnings"][0]
    rejected = valid("compact", records["rejected"])
    assert (rejected["conflicts"], rejected["kept_both"]) == ([], result["conflicts"])
    assert not any(line.startswith("[") for line in rejected["decision_record"]["consolidated_decisions"])
    assert rejected["preview_digest"] != result["preview_digest"]
    kept = previews.load(place.workspace, result["preview_digest"])
    assert kept is not None
    assert kept.record == result["decision_record"]
    errors = {job_id: record.error or {} for job_id, record in records.items()}
    assert errors["unseen"]["code"] == "PREVIEW_NOT_FOUND"
    assert "Nothing was changed" in errors["unseen"]["message"]
    assert errors["few"]["code"] == "NOTHING_TO_COMPACT"
    assert (errors["unknown"]["code"], errors["unknown"]["details"]) == (
        "TOPIC_NOT_FOUND", {"nearest": [TOPIC]},
    )  # fmt: skip


def test_a_compacted_topic_answers_with_its_record_until_it_is_restored(place: Place) -> None:
    before, ids = hits(place), [id_of(number) for number in range(1, 4)]
    assert sorted(of_topic(before)) == ids
    script = [str(PROJECT / "bridge" / "compact.py"), "--workspace-path", str(place.workspace.root)]
    seen = json.loads(place.python(*script, "--topic-id", TOPIC, "--preview").stdout)["result"]
    place.submit("compact", {"topic_id": TOPIC, "previewDigest": seen["preview_digest"]}, job_id="apply")
    result = valid("compact", place.ended("apply", seconds=200))  # the graph is opened
    assert (result["superseded"], result["conflicts"]) == (ids, seen["conflicts"])
    record_id = result["decision_record_id"]

    # What it stands for is hidden, and it is a decision record as the contract has it.
    found = hits(place)
    assert of_topic(found) == [record_id]
    assert found[0]["memory_id"] == record_id, "the record comes first"
    hit = found[0]
    assert (hit["memory_type"], hit["status"], hit["status_multiplier"]) == ("decision_record", "DecisionRecord", 1.1)
    assert (hit["decisions"], hit["compaction_source"]) == (UNION, ids)
    assert hit["source_created_at"] == "2026-10-03T09:00:00Z"
    both = hits(place, "--topic-id", TOPIC, "--include-superseded")
    assert sorted(of_topic(both)) == sorted([record_id, *ids])
    assert {hit["status"] for hit in both if hit["memory_id"] in ids} == {"Superseded"}
    explained = place.json("explain", QUESTION, "--topic-id", TOPIC)["items"]
    assert [(item["id"], item["kind"]) for item in explained] == [(result["memory_number"], "decision")]
    assert "Replace Redis with an in-process LRU" in place.json("context", QUESTION)["context"]

    # Once is once.
    again = place.python(*script, "--topic-id", TOPIC, "--preview-digest", seen["preview_digest"])
    assert again.returncode == 1
    assert json.loads(again.stdout)["error_code"] == "PREVIEW_STALE"
    assert json.loads(again.stdout)["error_details"]["decision_record_id"] == record_id

    undone = place.cli("restore", str(result["memory_number"]))
    assert undone.returncode == 0, undone.stderr
    assert "3 memories are back" in undone.stdout
    told = ("memory_id", "status", "score", "decisions")  # when it was changed last is another time
    assert [[hit[name] for name in told] for hit in hits(place)] == [[hit[name] for name in told] for hit in before]
    assert sorted(of_topic(hits(place, "--topic-id", TOPIC, "--include-superseded"))) == ids, "not even in the history"
    (made,) = place.json("history")["compactions"]
    assert (made["decision_record_id"], made["restored"]) == (record_id, ids)
    assert record_id in place.cli("history", TOPIC).stdout
    shown = place.cli("compact", TOPIC, "--preview").stdout
    assert "[Earlier] Use Redis" in shown
    assert f"cognee-memory compact {TOPIC} --preview-digest {seen['preview_digest']}" in shown
    (topic,) = (topic for topic in place.json("topics")["topics"] if topic["topic_id"] == TOPIC)
    assert (topic["active"], topic["decision_records"]) == (3, 0)
    refused = place.cli("restore", ids[0], "--json")
    assert json.loads(refused.stdout)["error_code"] == "MEMORY_NOT_FOUND"
