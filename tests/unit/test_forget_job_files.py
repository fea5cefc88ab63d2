"""What the worker does about jobs' files before a forgetting ends, and again after it was cut off."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness import raising
from test_runner import Bench, Request

from jobs import spool
from jobs.errors import JobError
from jobs.lifecycle import Failed, Started, Succeeded
from jobs.scrub import JOB_FILES, name_digest

SAID = "Words that nobody may find."
SUMMARY = {"summary": {"topic": "T", "context": SAID}}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "spool")


def forgets(**asked: list[str]) -> Callable[[Request, dict[str, Any]], dict[str, Any]]:
    """The child's answer to a forgetting that leaves this to the worker."""
    files = {"jobs": [], "doomed": [], "rejected": [], "parts": [], **asked}
    return lambda request, options: {"outcomes": {"f": {"result": {"n": 1, JOB_FILES: files}}}, "graph_lag": 0}


def ended(bench: Bench, job_id: str, event: Succeeded | Failed) -> None:
    bench.accept(job_id, "ingest", SUMMARY)
    bench.ledger.apply({job_id: Started()})
    bench.ledger.apply({job_id: event})


def holds(bench: Bench) -> list[str]:
    return [p.name for p in bench.place.root.rglob("*") if p.is_file() and SAID.encode() in p.read_bytes()]


def test_the_files_are_scrubbed_before_the_job_ends(bench: Bench) -> None:
    ended(bench, "good", Succeeded({"memory_id": "0" * 32, "topic": SAID}))
    ended(bench, "bad", Failed(JobError("POISON", SAID)))
    bench.accept("waiting", "ingest", SUMMARY, not_before="2099-01-01T00:00:00Z")
    (bench.place.rejected / "r.1.json").write_text(SAID)
    (bench.place.rejected / "r.1.reason.json").write_text(SAID)
    (bench.place.root / ".half.tmp").write_text(SAID)
    ended(bench, "torn", Succeeded({"topic": SAID}))
    bench.place.record("torn").write_text(f'{{"result": "{SAID}')
    ended(bench, "stuck", Succeeded({"topic": SAID}))
    bench.place.ended_copy("stuck").rename(bench.place.copy("stuck"))  # as a full disk leaves it
    bench.accept("f", "forget", {"topic_id": "t"})
    bench.child.answer = forgets(
        jobs=["good", "bad", "torn", "stuck", "pruned-since"],
        doomed=["waiting"],
        rejected=[name_digest("r.1.json")],
        parts=[name_digest(".half.tmp")],
    )
    bench.runner.run_if_due("f")
    assert bench.record("f").result == {"n": 1}
    assert holds(bench) == []
    assert bench.record("good").result == {"memory_id": "0" * 32, "topic": ""}
    assert (bench.record("bad").error or {})["message"] == JobError("POISON").message
    waiting = bench.record("waiting")
    assert (waiting.state, (waiting.error or {})["code"]) == ("failed", "MEMORY_FORGOTTEN")
    assert [each for folder in (bench.place.active, bench.place.ended) for each in spool.job_ids(folder)] == []
    with pytest.raises(JobError, match="copy of job bad was removed"):
        bench.ledger.replay("bad")


@pytest.mark.parametrize("full_disk", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_refuses_keeps_the_job_open(bench: Bench, monkeypatch: pytest.MonkeyPatch, full_disk: int) -> None:
    ended(bench, "good", Succeeded({"topic": SAID}))
    bench.accept("f", "forget", {"memory_ids": ["m"]})
    bench.child.answer = forgets(jobs=["good"])
    with monkeypatch.context() as full:
        full.setattr(spool, "scrub", raising(OSError(full_disk, os.strerror(full_disk))))
        bench.runner.run_if_due("f")
    assert (bench.record("f").state, (bench.record("f").error or {})["code"]) == ("retrying", "DISK_FULL")
    assert holds(bench)
    bench.now = bench.now.replace(year=bench.now.year + 1)
    bench.runner.run_if_due("f")
    assert bench.record("f").state == "succeeded"
    assert holds(bench) == []


def test_a_forgetting_that_failed_can_be_tried_again(bench: Bench) -> None:
    bench.accept("f", "forget", {"topic_id": "t"})
    bench.child.answer = lambda request, options: {
        "outcomes": {"f": {"error": {"code": "TOPIC_NOT_FOUND", "message": "", "remediation": "", "details": {}}}},
        "graph_lag": 0,
    }
    bench.runner.run_if_due("f")
    assert bench.record("f").state == "failed"
    assert bench.ledger.replay("f").state == "queued"
