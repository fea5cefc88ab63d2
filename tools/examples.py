"""Builds the golden examples: files as the program writes them, at fixed times and with fixed ids.

The real functions build everything except what differs between runs: process ids, clocks, and the measurements of a
model.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from threading import Event
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from bridge.embedding.tokens import Estimate
from bridge.graph.open_stores import Stores
from bridge.memory import Content, Memory, Metadata, References, TimeScope
from bridge.operations import Task, ingest
from bridge.search import context, explanation, hits, question, ranking, reader, retrieval
from bridge.search.explain_request import parse, problem
from bridge.search.snapshot import Snapshot
from bridge.settings import Settings
from bridge.text.template import render, render_record
from jobs import client, clock, files as disk, lifecycle, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.lifecycle import Failed, Started, Succeeded
from jobs.model import Job, Record, canonical_json, encode, job_digest
from jobs.parse import parse_job
from worker.child.supervisor import Child
from worker.heartbeat import Heartbeat, describe
from worker.monitoring.counters import Counters
from worker.scheduling.ledger import Ledger
from worker.scheduling.runner import Runner, Running

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PROJECT = cast(Path, PurePosixPath("/home/ada/uploader"))  # a POSIX path, so that the text is the same on every system
WORKSPACE_ID = "6f1c2b1e-0d7a-4c55-9a53-3f0f6f1a9b10"

SUMMARY: dict[str, Any] = {
    "topic": "Retry policy of the uploader",
    "context": "The uploader gave up at the first 503. We looked at how often the gateway is busy.",
    "decisions": ["Retry five times with exponential backoff", "Give up at once on 4xx"],
    "rationale": ["The gateway recovers within a minute"],
    "open_questions": ["Should the user see a countdown?"],
    "next_steps": ["Measure how many uploads are saved"],
    "references": ["src/upload/retry.ts", "plan-021", "fix/upload-retry", "#118"],
    "time_scope": {"start": "2026-11-20T09:10:00Z", "end": "2026-11-20T10:05:00Z", "turn_count": 14},
    "session_id": "2026-11-20-morning",
    "plan_id": "plan-021",
    "created_at": "2026-11-20T10:05:00Z",
    "importance": 0.8,
}
CONVERSATION: dict[str, Any] = {
    "user_message": "Why do the tests need a display?",
    "assistant_message": "One of them opens a window. Run it with xvfb-run.",
    "timestamp": "2026-11-19T16:20:00Z",
    "importance": 0.5,
}


def job_id(number: int) -> str:
    """The fixed id with this number."""
    return f"0193c7a2-7f3a-7000-8000-{number:012d}"


def seconds(count: float) -> datetime:
    """The time this many seconds after noon."""
    return NOON + timedelta(seconds=count)


def files() -> dict[str, str]:
    """The text of every example, by file name."""
    jobs = job_files()
    values: dict[str, Any] = {
        **{f"job-{name}": value for name, value in jobs.items()},
        **{f"record-{name}": record.as_dict() for name, record in records(jobs).items()},
        **in_the_spool(jobs),
        "retrieval-mixed": retrieval_mixed(),
        "retrieval-error": reader.failure("retrieve", JobError("QUERY_EMPTY")),
        "explain-mixed": explain_mixed(),
        "explain-error": reader.failure("explain", JobError("QUERY_EMPTY"), {"query": ""}, Workspace(PROJECT)),
        "context-mixed": context_mixed(),
        "context-error": reader.failure("context", JobError("QUERY_EMPTY")),
        "digest": digests(jobs),
    }
    texts = {f"{name}.json": json.dumps(v, indent=2, ensure_ascii=False) + "\n" for name, v in values.items()}
    return texts | templates()


# --- jobs and their records ---


def job_files() -> dict[str, dict[str, Any]]:
    """The job files, by the example's name."""
    payloads: dict[str, tuple[str, dict[str, Any]]] = {
        "ingest-summary": ("ingest", {"summary": SUMMARY}),
        "ingest-conversation": ("ingest", {"conversation": CONVERSATION}),
        "ingest-summary-text": (
            "ingest",
            {"summary_text": templates()["template-v1.0.md"], "session_id": "2026-11-20-evening", "status": "Final"},
        ),
        "compact-preview": ("compact", {"topic_id": "retry-policy-of-the-uploader", "preview": True}),
    }
    return {
        name: {
            "schema_version": 1,
            "job_id": job_id(number),
            "kind": kind,
            "payload": payload,
            "submitted_at": clock.iso(NOON),
            "submitted_by": "vscode",
        }
        for number, (name, (kind, payload)) in enumerate(payloads.items(), 1)
    }


def records(jobs: dict[str, dict[str, Any]]) -> dict[str, Record]:
    """One record for each state that a client meets often."""
    summary = _parsed(jobs["ingest-summary"])
    queued = lifecycle.accept(summary, seconds(0.018))
    running = lifecycle.step(queued, Started(), seconds(0.031))
    busy = JobError("EMBEDDING_FAILED", "The embedding provider answered with status 503.")
    retrying = lifecycle.step(running, Failed(busy), seconds(2.4), jitter=0.5)
    again = lifecycle.step(retrying, Started(), seconds(3.0))
    broken = JobError(
        "METADATA_BROKEN",
        "Line 8 cannot be read, the status is none of Draft, Active, Superseded: - Status: Done",
        details={"line": 8, "text": "- Status: Done"},
    )
    text = lifecycle.accept(_parsed(jobs["ingest-summary-text"]), seconds(0.02))
    text = lifecycle.step(text, Started(), seconds(0.05))
    return {
        "queued": queued,
        "running": running,
        "retrying": retrying,
        "succeeded": lifecycle.step(again, Succeeded(_ingested(summary)), seconds(3.412)),
        "failed": lifecycle.step(text, Failed(broken), seconds(0.064)),
        "rejected": lifecycle.reject(job_id(9), _refusal(), seconds(1)),
    }


def _parsed(job: dict[str, Any]) -> Job:
    return parse_job(job["job_id"], encode(job))


def _refusal() -> JobError:
    """The error of a job with a misspelt field."""
    job = {"schema_version": 1, "job_id": job_id(9), "kind": "compact", "payload": {"topicID": "retry-policy"}}
    try:
        _parsed(job)
    except JobError as error:
        return error
    raise AssertionError("the job is wrong, and was accepted")


def _ingested(job: Job) -> dict[str, Any]:
    """The result of an ingest job whose memory is the workspace's 42nd."""
    task = Task(job.job_id, job.sha256, job.payload, job.submitted_at, clock.iso(NOON))
    prepared = ingest.prepare(task, WORKSPACE_ID, clock.iso(NOON))
    numbered = SimpleNamespace(get=lambda _: _numbered(prepared.memory, 42))
    stores = cast(Stores, SimpleNamespace(store=numbered, settings=Settings()))
    return ingest._result(prepared, stores, False, {"store": 21, "graph": 384, "jobs_together": 1})


def _numbered(memory: Memory, number: int) -> Memory:
    return replace(memory, number=number)


# --- files of the job folder ---


def in_the_spool(jobs: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The reason of a rejection, a control request and a heartbeat, as the program writes them."""
    with TemporaryDirectory() as folder:
        spool_paths = SpoolPaths(Path(folder) / ".cognee_jobs")
        spool.prepare(spool_paths)
        dropped = spool.drop(spool_paths, job_id(9), b"{}")
        kept = spool.reject(spool_paths, spool.Entry(dropped, job_id(9)), _refusal(), None, clock.iso(seconds(1)))
        running = records(jobs)["running"]
        spool.write_records(spool_paths, [running])
        client.cancel(spool_paths, running.job_id)
        return {
            "reason": _read(kept.with_suffix(".reason.json")),
            "control-cancel": {**_read(spool_paths.cancel(running.job_id)), "requested_at": clock.iso(seconds(2))},
            "heartbeat": _heartbeat(spool_paths, running),
        }


def _heartbeat(place: SpoolPaths, running: Record) -> dict[str, Any]:
    facts = {
        "version": "0.4.0",
        "workspace": "/home/ada/uploader",
        "embedder": "fastembed/sentence-transformers/all-MiniLM-L6-v2/384",
        "llm_configured": False,
    }
    http = {
        "url": "http://127.0.0.1:41877",
        "token_file": "/home/ada/uploader/.cognee_jobs/worker/token",
        "serving": True,
        "server": {"pid": 4731, "memory_bytes": 141_557_760},
        "problem": None,
    }
    progress = {"done": 0, "total": 1, "message": "stored; writing the knowledge graph"}
    busy = Running((running.job_id,), str(running.kind), NOON, progress)
    runner = cast(Runner, SimpleNamespace(running=(busy,), graph_lag=0))
    child = cast(Child, SimpleNamespace(pid=4720, memory_bytes=384_811_008))
    ledger = Ledger(place, [running])
    heartbeat = Heartbeat(
        place, facts, 2.0, partial(describe, ledger, runner, child, "events", http), Counters(), Event()
    )
    heartbeat.state("ready")
    beat: dict[str, Any] = _read(place.heartbeat)
    fixed = {
        "worker_id": "9c1f0a7be2d34856",
        "pid": 4711,
        "boot_id": "0b9a1f8e-6c0f-4b3e-8f5e-2f6f0d6c7a11",
        "started_at": clock.iso(NOON - timedelta(minutes=10)),
        "heartbeat_at": clock.iso(seconds(0.4)),
        "uptime_seconds": 600.4,
    }
    assert fixed.keys() <= beat.keys()
    beat["in_flight"][0]["seconds"] = 0.4
    return beat | fixed


def _read(path: Path) -> Any:
    return json.loads(disk.read_plain(path, spool.RECORD_LIMIT)[0])


# --- memories and answers ---


def _content() -> Content:
    return Content(
        topic="Retry policy of the uploader",
        context="The uploader gave up at the first 503.\nWe looked at how often the gateway is busy.",
        decisions=("Retry five times with exponential backoff", "Give up at once on 4xx"),
        rationale=("The gateway recovers within a minute",),
        open_questions=("Should the user see a countdown?",),
        next_steps=("Measure how many uploads are saved",),
        references=References(("src/upload/retry.ts",), ("plan-021",), ("fix/upload-retry",), ("#118",)),
        time_scope=TimeScope(start="2026-11-20T09:10:00Z", end="2026-11-20T10:05:00Z", turn_count=14),
    )


def _metadata(**other: Any) -> Metadata:
    known: dict[str, Any] = {
        "topic_id": "retry-policy-of-the-uploader",
        "session_id": "2026-11-20-morning",
        "plan_id": "plan-021",
        "status": "Active",
        "created_at": "2026-11-20T10:05:00Z",
        "updated_at": "2026-11-20T10:05:00Z",
    }
    return Metadata(**{**known, **other})


def memories() -> list[Memory]:
    """One memory of each kind."""
    stored = "2026-11-20T10:06:00Z"
    record = Content(
        topic="Storage of thumbnails",
        context="Thumbnails moved from the database to files beside the pictures.",
        decisions=("Keep thumbnails as files",),
        rationale=("The database had grown to 40 GB",),
        references=References(files=("src/thumbs/store.ts",)),
    )
    sources = (job_id(101), job_id(102))
    known = Metadata(
        topic_id="storage-of-thumbnails",
        status="DecisionRecord",
        created_at="2026-11-13T09:00:00Z",
        updated_at="2026-11-13T09:00:00Z",
        source_created_at="2026-11-12T17:30:00Z",
    )
    text = "User asked: Why do the tests need a display?\n\nAssistant answered: One of them opens a window."
    return [
        Memory("b5f3c8a0-53a5-5a52-8d7e-3f8a0a1f6c01", 42, "summary", _metadata(importance=0.8), stored, _content()),
        Memory("b5f3c8a0-53a5-5a52-8d7e-3f8a0a1f6c02", 17, "decision_record", known, stored, record, sources=sources),
        Memory("b5f3c8a0-53a5-5a52-8d7e-3f8a0a1f6c03", 3, "legacy", Metadata(), "2026-11-18T12:00:00Z", text=text),
    ]


QUESTION = {"query": "upload retry", "max_results": 10}


def scored(asked: question.Question) -> list[tuple[Memory, ranking.Factors]]:
    """The memories as hits, best first, with fixed values instead of the embedding model's scores."""
    measured = [(0.81, 0.74, 0.62), (0.52, 0.47, 0.2), (0.41, 0.36, 0.11)]
    hits_with_factors = [
        (memory, ranking.factors(memory, ranking.relevance(*values), asked.ranking))
        for memory, values in zip(memories(), measured, strict=True)
    ]
    return sorted(hits_with_factors, key=lambda pair: ranking.order_key(*pair))


def retrieval_mixed() -> dict[str, Any]:
    """An answer with one hit of each kind."""
    asked = question.parse_question(QUESTION, NOON)
    packed = hits.pack(scored(asked), hits.summary_text, Estimate().count, asked.max_tokens)
    return retrieval._answer(asked, found(asked), packed, Estimate.name)


def found(asked: question.Question) -> retrieval.Ranked:
    """The ranked memories of the examples; none of them lost its place for its age."""
    ranked = scored(asked)
    return retrieval.Ranked(ranked, len(ranked), None, asked.relevance_floor)


def block_of(asked: question.Question) -> context.Block:
    """The context block with all memories, packed with vectors that are all unlike."""
    unlike = SimpleNamespace(whole_text_vectors=lambda numbers: np.eye(len(numbers), dtype=np.float32))
    return context.pack(cast(Snapshot, unlike), asked, scored(asked), Estimate().count)


def context_mixed() -> dict[str, Any]:
    """A context block with all memories, the last one shortened."""
    asked = question.parse_question(QUESTION | {"max_tokens": 210}, NOON)
    return context._answer(asked, block_of(asked), found(asked), Estimate.name, [])


def explain_mixed() -> dict[str, Any]:
    """Two hits, the second also requested by id; a memory requested only by id; and an unknown id."""
    asked = parse(
        Workspace(PROJECT),
        QUESTION | {"ids": [17, 3, 99], "limit": 2, "include_pack_context": True, "max_tokens": 210},
        NOON,
    )
    subjects = [
        explanation._Subject(memory, rank if rank <= asked.limit else None, factors)
        for rank, (memory, factors) in enumerate(scored(asked.question), 1)
    ]
    terms = {42: ["upload", "retry"]}
    items = [explanation._item(asked, subject, terms, block_of(asked.question)) for subject in subjects]
    missing = problem("ids", "there is no memory 99", "NOT_FOUND")
    return explanation._answer(asked, items, [99], [missing], [], asked.question.relevance_floor)


def templates() -> dict[str, str]:
    """The enriched texts, by the name of the template version."""
    _, record, _ = memories()
    assert record.content is not None
    return {
        "template-v1.0.md": render(_content(), _metadata()),
        "template-decision-record-v1.0.md": render_record(record.content, record.metadata, record.sources),
    }


# --- digests ---


def digests(jobs: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Payloads with the text that is hashed and its SHA-256 digest."""
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("no fields", "check", {}),
        ("names are sorted, at every depth", "migrate", {"limit": 10, "dry_run": True}),
        ("camelCase is another payload: what was sent counts", "migrate", {"limit": 10, "dryRun": True}),
        ("so is null, though it means the same as an absent field", "migrate", {"limit": 10, "dry_run": None}),
        ("numbers are as JavaScript writes them", "ingest", {"conversation": {**CONVERSATION, "importance": 1.0}}),
        ("small numbers as well", "ingest", {"conversation": {**CONVERSATION, "importance": 0.000001}}),
        (
            "text is UTF-8; quotes, backslashes and control characters alone are escaped",
            "ingest",
            {"conversation": {"user_message": 'Größe? "5\u2009µm" 🙂', "assistant_message": "a\\b\n\tc\u0001/\u2028"}},
        ),
        *((name, job["kind"], job["payload"]) for name, job in jobs.items()),
    ]
    return [
        {
            "about": about,
            "kind": kind,
            "payload": payload,
            "canonical": canonical_json({"kind": kind, "payload": payload}),
            "job_sha256": job_digest(kind, payload),
        }
        for about, kind, payload in asked
    ]
