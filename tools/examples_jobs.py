"""Builds the golden examples of the job folder: jobs, records, requests, the heartbeat, and digests."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from types import SimpleNamespace
from typing import Any, cast

from bridge.graph.open_stores import Stores
from bridge.interface.result_shapes import IngestResult
from bridge.memory import Memory
from bridge.operations import ingest, task_of
from bridge.settings import Settings
from jobs import client, clock, lifecycle, plain_files, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths
from jobs.lifecycle import Failed, Started, Succeeded
from jobs.model import Job, Record, canonical_json, encode, job_digest
from jobs.parse import parse_job
from jobs.schema import Http, Progress, WorkerFacts
from worker.child.supervisor import Child
from worker.heartbeat import Heartbeat, describe
from worker.monitoring.counters import Counters
from worker.scheduling.ledger import Ledger
from worker.scheduling.runner import Runner, Running

from .examples_answers import NOON, job_id, seconds, templates

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


def _ingested(job: Job) -> IngestResult:
    """The result of an ingest job whose memory is the workspace's 42nd."""
    prepared = ingest.prepare(task_of(job, clock.iso(NOON)), WORKSPACE_ID, clock.iso(NOON))
    numbered = SimpleNamespace(get=lambda _: _numbered(prepared.memory, 42))
    stores = cast(Stores, SimpleNamespace(store=numbered, settings=Settings()))
    return ingest._result(prepared, stores, False, {"store": 21, "graph": 384, "jobs_together": 1})


def _numbered(memory: Memory, number: int) -> Memory:
    return memory._replace(number=number)


# --- files of the job folder ---


def in_the_spool(jobs: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The reason of a rejection, a control request and a heartbeat, as the program writes them."""
    with TemporaryDirectory() as folder:
        spool_paths = SpoolPaths(Path(folder) / ".cognee_jobs")
        spool.prepare(spool_paths)
        dropped = spool.drop(spool_paths, job_id(9), b"{}")
        kept = spool.reject(spool_paths, dropped, _refusal(), None, clock.iso(seconds(1)))
        running = records(jobs)["running"]
        spool.write_records(spool_paths, [running])
        client.cancel(spool_paths, running.job_id)
        return {
            "reason": _read(kept.with_suffix(".reason.json")),
            "control-cancel": {**_read(spool_paths.cancel(running.job_id)), "requested_at": clock.iso(seconds(2))},
            "heartbeat": _heartbeat(spool_paths, running),
        }


def _heartbeat(place: SpoolPaths, running: Record) -> dict[str, Any]:
    facts: WorkerFacts = {
        "version": "0.5.0",
        "workspace": "/home/ada/uploader",
        "embedder": "fastembed/sentence-transformers/all-MiniLM-L6-v2/384",
        "llm_configured": False,
    }
    http: Http = {
        "url": "http://127.0.0.1:41877",
        "token_file": "/home/ada/uploader/.cognee_jobs/worker/token",
        "serving": True,
        "server": {"pid": 4731, "memory_bytes": 141_557_760},
        "problem": None,
    }
    progress: Progress = {"done": 0, "total": 1, "message": "stored; writing the knowledge graph"}
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
    return json.loads(plain_files.read_plain(path, spool.RECORD_LIMIT)[0])


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
