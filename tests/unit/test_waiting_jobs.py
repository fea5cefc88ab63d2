"""Answers say which jobs wait: what these store is not found yet, and "nothing" would not be true."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from fake_embedder import FakeEmbedder

from bridge.memory import Content, Memory, Metadata
from bridge.search import waiting_jobs
from bridge.search.reader import Reader
from bridge.settings import Settings
from bridge.store.store import Store
from bridge.store.values import AppliedJob
from jobs import client, lifecycle, spool
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.parse import parse_job

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
STORED = "2026-11-19T12:00:00Z"
SUMMARY = {"summary_text": "The queue is called hummingbird."}
ONE = "1 job waits: what it stores is not found yet"
TWO = "2 jobs wait: what they store is not found yet"


def drop(workspace: Workspace, job_id: str, kind: str = "ingest", payload: dict[str, Any] | None = None) -> None:
    client.submit(workspace.spool, kind, SUMMARY if payload is None else payload, job_id=job_id)


def accept(workspace: Workspace, job_id: str) -> None:
    job = parse_job(job_id, workspace.spool.dropped(job_id).read_bytes())
    spool.accept(workspace.spool, [(job, lifecycle.accept(job, NOW))])


def end(workspace: Workspace, job_id: str, *, retired: bool = True) -> None:
    record = spool.read_record(workspace.spool, job_id)
    ended = lifecycle.step(lifecycle.step(record, lifecycle.Started(), NOW), lifecycle.Succeeded({}), NOW)
    spool.write_records(workspace.spool, [ended])
    if retired:
        spool.retire_copy(workspace.spool, job_id)


def store(workspace: Workspace, *jobs: str) -> None:
    """A memory, and that these jobs took effect."""
    memory = Memory("m", 0, "summary", Metadata(status="Active", topic_id="birds"), STORED, Content("Birds", "A crow."))
    digests = {job: spool.read_record(workspace.spool, job) for job in jobs}
    applied = [AppliedJob(job, record.job_sha256 or "") for job, record in digests.items() if record is not None]
    open_store = Store(workspace, FakeEmbedder(dimensions=64))
    open_store.add([(memory, None)], STORED, applied)
    open_store.close()


def ask(workspace: Workspace, verb: Any = "retrieve", **arguments: Any) -> Any:
    reader = Reader(workspace, Settings().embedding, lambda _: FakeEmbedder(dimensions=64))
    return reader.answer(verb, {"query": "crow", **arguments}, NOW)


def test_dropped_and_accepted_jobs_wait_until_they_have_ended(workspace: Workspace) -> None:
    assert waiting_jobs.warnings(workspace) == []
    drop(workspace, "a")
    assert waiting_jobs.warnings(workspace) == [ONE]
    drop(workspace, "b")
    accept(workspace, "a")
    assert waiting_jobs.warnings(workspace) == [TWO]
    end(workspace, "a")
    assert waiting_jobs.warnings(workspace) == [ONE]


def test_a_job_whose_memory_is_stored_does_not_wait_though_the_graph_is_still_written(workspace: Workspace) -> None:
    drop(workspace, "a")
    accept(workspace, "a")
    store(workspace)
    assert waiting_jobs.warnings(workspace) == [ONE]
    workspace.memory_db.unlink()
    store(workspace, "a")
    assert waiting_jobs.warnings(workspace) == []


def test_a_copy_that_was_not_put_away_after_the_end_is_no_waiting_job(workspace: Workspace) -> None:
    drop(workspace, "a")
    accept(workspace, "a")
    end(workspace, "a", retired=False)
    assert waiting_jobs.warnings(workspace) == []


WAITING_KINDS = [
    ("ask", {"question": "?"}, False),
    ("set_status", {"memory_id": "m", "status": "Final"}, False),
    ("capture", {"dry_run": True}, False),
    ("capture", {"dryRun": True}, False),
    ("capture", {"dry_run": False}, True),
    ("migrate", {"undo": "r"}, False),
    ("cognify", {"memory_ids": ["m"]}, False),
    ("cognify", {"texts": ["A text."]}, True),
    ("import", {"path": "export.jsonl"}, True),
    ("unheard-of", {}, False),
]


@pytest.mark.parametrize(("kind", "payload", "waits"), WAITING_KINDS)
def test_only_jobs_that_store_count(workspace: Workspace, kind: str, payload: dict[str, Any], waits: bool) -> None:
    drop(workspace, "a", kind, payload)
    assert waiting_jobs.warnings(workspace) == ([ONE] if waits else [])


def test_a_better_file_under_the_name_of_a_rejected_one_waits(workspace: Workspace) -> None:
    spool.write_records(workspace.spool, [lifecycle.reject("a", JobError("JOB_INVALID"), NOW)])
    drop(workspace, "a")
    assert waiting_jobs.warnings(workspace) == [ONE]


@pytest.mark.parametrize("content", ["{", "[1]", '{"kind": ["ingest"]}', '{"kind": "ingest", "payload": 1}'])
def test_a_file_that_is_no_job_disturbs_no_answer(workspace: Workspace, content: str) -> None:
    workspace.spool.dropped("a").write_text(content)
    (workspace.spool.inbox / ".b.tmp").write_text(json.dumps({"kind": "ingest", "payload": SUMMARY}))
    workspace.spool.dropped("c").mkdir()
    assert waiting_jobs.warnings(workspace) in ([], [ONE])


def test_a_flood_is_counted_up_to_a_limit(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_jobs, "_MOST", 3)
    for job_id in "abc":
        drop(workspace, job_id)
    assert waiting_jobs.warnings(workspace) == ["3 jobs wait: what they store is not found yet"]
    drop(workspace, "d")
    assert waiting_jobs.warnings(workspace) == ["at least 3 jobs wait: what they store is not found yet"]


@pytest.mark.parametrize("is_stored", [False, True], ids=["nothing stored", "with a hit"])
def test_each_kind_of_answer_says_what_waits(workspace: Workspace, is_stored: bool) -> None:
    if is_stored:
        store(workspace)
    silent = ask(workspace)
    drop(workspace, "a")
    answer = ask(workspace)
    assert answer == silent | {"warnings": [*silent["warnings"], ONE]}
    assert len(answer["results"]) == int(is_stored)
    assert ask(workspace, "context")["warnings"] == [ONE]
    assert ask(workspace, "explain")["metadata"]["warnings"] == [ONE]


def test_a_topic_that_no_memory_has_yet_is_refused_with_what_waits(workspace: Workspace) -> None:
    store(workspace)
    assert "wait" not in ask(workspace, topic_id="queues")["remediation"]
    drop(workspace, "a")
    refused = ask(workspace, topic_id="queues")
    assert refused["error_code"] == "TOPIC_NOT_FOUND"
    assert refused["remediation"].endswith(f"Note: {ONE}.")
