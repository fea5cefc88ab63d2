"""As a user would: a job file dropped beside a running worker becomes a memory that a question finds.

Nothing of ours is imported here: only processes, files, and what the protocol says about them.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

PROJECT = Path(__file__).resolve().parents[2]
COMMAND = str(Path(sys.executable).with_name("cognee-memory"))
PATIENCE = 240.0

T = TypeVar("T")


def until(look: Callable[[], T | None], what: str) -> T:
    deadline = time.monotonic() + PATIENCE
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < deadline, f"not within {PATIENCE:g} s: {what}"
        time.sleep(0.01)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    workspace = tmp_path / "my project"
    workspace.mkdir()
    return workspace


@pytest.fixture
def environment(tmp_path: Path, model_cache: Path) -> dict[str, str]:
    found = {
        name: value for name, value in os.environ.items() if not name.startswith(("COGNEE_", "LLM_", "EMBEDDING_"))
    }
    return found | {"COGNEE_MEMORY_CONFIG_DIR": str(tmp_path / "config"), "COGNEE_MEMORY_CACHE_DIR": str(model_cache)}


def script(name: str, environment: dict[str, str], *arguments: str) -> dict[str, Any]:
    """A script of the source documents, run as they run it: by path, from anywhere. stdout is one JSON object."""
    done = subprocess.run(
        [sys.executable, str(PROJECT / "bridge" / name), *arguments],
        env=environment, cwd="/", capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.stdout.endswith("}\n"), done
    assert done.stdout.count("\n") == 1
    return json.loads(done.stdout)


def read(path: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    return found


def state_of(workspace: Path, job_id: str) -> str | None:
    record = read(workspace / ".cognee_jobs" / "results" / f"{job_id}.json")
    return record["state"] if record else None


def ended_record(workspace: Path, job_id: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        record = read(workspace / ".cognee_jobs" / "results" / f"{job_id}.json")
        return record if record and record["finished_at"] else None

    return until(look, "the job has ended")


def test_a_dropped_file_becomes_a_memory_that_a_question_finds(workspace: Path, environment: dict[str, str]) -> None:
    worker = subprocess.Popen([COMMAND, "worker", "--workspace", str(workspace)], env=environment)
    try:
        inbox = workspace / ".cognee_jobs"
        until(lambda: (read(inbox / "worker" / "heartbeat.json") or {}).get("state") == "ready", "the worker is ready")

        # What the extension does: write under a hidden name, sync, rename.
        job = {
            "schemaVersion": 1,
            "jobId": "by-hand-1",
            "kind": "ingest",
            "payload": {
                "summary": {
                    "topic": "Where the lock lies",
                    "context": "Two windows started a worker each. The kernel's file lock decides which one works.",
                    "decisions": ["The lock is flock on worker/lock, freed by the kernel when its process dies"],
                    "planId": "plan-002",
                }
            },
        }
        part = inbox / ".by-hand-1.tmp"
        with part.open("w") as file:
            json.dump(job, file)
            file.flush()
            os.fsync(file.fileno())
        part.rename(inbox / "by-hand-1.json")

        until(lambda: state_of(workspace, "by-hand-1") in ("succeeded", "failed", "rejected"), "the job has ended")
        record = read(inbox / "results" / "by-hand-1.json")
        assert (record["state"], record["success"], record["error"]) == ("succeeded", True, None)
        assert record["result"]["duplicate"] is False
        assert not (inbox / "by-hand-1.json").exists()

        found = script("retrieve.py", environment, str(workspace), "how is a second worker kept out?")
        assert found["success"] is True
        (hit,) = found["results"]
        assert hit["memory_id"] == record["result"]["memory_id"]
        assert (hit["topic"], hit["plan_id"], hit["status"]) == ("Where the lock lies", "plan-002", "Active")
    finally:
        worker.send_signal(signal.SIGTERM)
        status = worker.wait(PATIENCE)
    assert status == 0
    assert script("retrieve.py", environment, str(workspace), "second worker")["result_count"] == 1, "without a worker"
    assert {path.name for path in workspace.iterdir()} == {
        ".cognee_jobs", ".cognee_memory", ".cognee_system", ".cognee_data",
    }  # fmt: skip


def test_a_turn_fired_and_forgotten_starts_a_worker_and_is_found(workspace: Path, environment: dict[str, str]) -> None:
    fired = script(
        "ingest.py", environment, str(workspace), "Why do backups fail on Sundays?",
        "The certificate of the mirror is renewed on Sunday night.", "0.9",
    )  # fmt: skip
    try:
        assert (fired["success"], fired["kind"], fired["worker_started"]) == (True, "ingest", True)
        assert "result" not in fired, "it does not wait for the job"

        def look() -> dict[str, Any] | None:
            found = script("retrieve.py", environment, str(workspace), "backups on Sundays")
            assert found["results"] or found["warnings"] == ["1 job waits: what it stores is not found yet"]
            return found["results"][0] if found["results"] else None

        hit = until(look, "the turn is found")
        assert (hit["memory_type"], hit["importance"]) == ("legacy", 0.9)
        assert "certificate of the mirror" in hit["text"]
        again = script("ingest.py", environment, str(workspace), "And on Mondays?", "Never.")
        assert again["worker_started"] is False
        first, second = (ended_record(workspace, each["job_id"]) for each in (fired, again))
        assert first["state"] == second["state"] == "succeeded"
    finally:
        subprocess.run([COMMAND, "worker", "stop", "--workspace", str(workspace)], env=environment, check=True)
    status = subprocess.run(
        [COMMAND, "status", "--json", "--workspace", str(workspace)], env=environment, capture_output=True, check=True
    )
    found = json.loads(status.stdout)
    memory = found["memory"]
    assert (found["worker"]["alive"], memory["memories"], memory["has_graph"]) == (False, 2, False)
