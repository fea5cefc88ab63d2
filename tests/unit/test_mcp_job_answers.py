"""What an agent reads of a job: one sentence that is true, and no field that it cannot use."""

from typing import Any

import pytest

from jobs.errors import JobError
from jobs.model import Record
from worker.mcp.job_answers import job_status
from worker.mcp.short import short
from worker.mcp.tools import TOOLS

(KEPT,) = [tool.kept for tool in TOOLS if tool.name == "memory_job_status"]

STORED = {
    "memory_id": "m", "memory_number": 6, "memory_type": "summary", "topic": "Retry", "topic_id": "retry",
    "session_id": None, "plan_id": None, "status": "Active", "created_at": None, "updated_at": None,
    "source_created_at": None, "importance": None, "duplicate": False, "redactions": None, "ingested_chars": 9,
    "timings_ms": {"store": 1, "graph": 1, "jobs_together": 1},
}  # fmt: skip


def record(state: str, kind: str = "ingest", **fields: Any) -> Record:
    return Record("job-1", kind, "0" * 64, state, **fields)  # type: ignore[arg-type]


OUTCOMES = [
    (None, "The job waits in the inbox."),
    (record("queued"), "The job waits for its turn."),
    (record("running"), "The job runs."),
    (record("cancelled"), "The job was cancelled."),
    (record("expired"), "The job expired before it could run."),
    (record("succeeded", result=STORED), "Stored as memory #6 of topic retry."),
    (record("succeeded", result=STORED | {"duplicate": True}), "It was stored before, as memory #6 of topic retry."),
    (record("succeeded", result=STORED | {"topic_id": None}), "Stored as memory #6."),
    (
        record("succeeded", result=STORED | {"redactions": {"total": 2, "kinds": {"aws": 2}}}),
        "Stored as memory #6 of topic retry. 2 likely secrets had been replaced.",
    ),
    (record("succeeded", "set_status", result=STORED | {"status": "Superseded"}), "Memory #6 is Superseded."),
    (record("succeeded", "noop", result={}), "The job succeeded."),
    (
        record("failed", error=JobError("TOPIC_NOT_FOUND", "There is no topic 'x'.").as_dict()),
        "The job failed: There is no topic 'x'.",
    ),
]


@pytest.mark.parametrize(("found", "outcome"), OUTCOMES)
def test_a_job_is_told_in_one_sentence(found: Record | None, outcome: str) -> None:
    assert job_status("job-1", found, worker_alive=True)["outcome"] == outcome


def test_a_job_that_waits_without_a_worker_says_so() -> None:
    assert job_status("job-1", None, worker_alive=False)["outcome"] == "The job waits in the inbox; no worker runs now."
    assert job_status("job-1", record("expired"), worker_alive=False)["outcome"].endswith("could run.")


def test_the_answer_about_a_stored_memory_is_small() -> None:
    found = job_status("job-1", record("succeeded", result=STORED, elapsed_ms=5), worker_alive=True)
    assert len(str(short(found, KEPT))) < 500
    assert short(found, KEPT)["job"]["result"] == {
        "memory_number": 6, "memory_id": "m", "memory_type": "summary", "topic_id": "retry", "status": "Active",
        "duplicate": False,
    }  # fmt: skip


def test_the_remedy_of_a_failed_job_is_one_for_an_agent() -> None:
    error = JobError("INTERNAL").as_dict()
    found = job_status("job-1", record("failed", error=error), worker_alive=True)
    error = short(found, KEPT)["job"]["error"]
    assert error["remediation"].startswith("For the user: Run: cognee-memory jobs retry job-1.")
