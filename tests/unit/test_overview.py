"""A workspace at a glance, however it stands."""

from datetime import UTC, datetime
from pathlib import Path

from harness import Place
from in_process import InProcess

from worker.admin import overview

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_a_damaged_memory_keeps_nobody_from_seeing_the_queue(place: Place) -> None:
    place.submit("noop", {})
    place.cli("trust")
    place.workspace.memory.mkdir(exist_ok=True)
    place.workspace.memory_db.write_bytes(b"no database" * 1000)
    found = place.json("status")
    assert (found["success"], found["waiting_in_inbox"], found["memory"]) == (True, 1, None)
    assert found["memory_error"]["code"] == "STORE_UNREADABLE"
    assert "cognee-memory doctor" in place.cli("status").stdout


def test_a_job_that_runs_again_does_not_wait_since_it_first_came() -> None:
    job = {"state": "queued", "generation": 2, "attempt": 0, "accepted_at": "2026-11-20T12:00:00Z"}
    first = {**job, "generation": 1, "accepted_at": "2026-11-21T11:59:00Z"}
    assert overview.oldest_waiting([job], NOW) is None
    assert overview.oldest_waiting([job, first], NOW) == 60.0


def test_before_the_first_start_status_says_that_waiting_files_will_not_run_and_how_to_run_one(tmp_path: Path) -> None:
    place = InProcess(tmp_path, adopted=False)
    place.submit("noop", {})
    found = place.json("status")
    [line] = found["advice"]
    assert line.startswith("read .cognee_jobs/*.json: 1 file in the inbox came with a repository")
    assert line.endswith("To run one: cognee-memory worker start, then cognee-memory jobs retry JOB_ID")
    place.cli("trust")
    [line] = place.json("status")["advice"]
    assert line.startswith("cognee-memory worker start: 1 job waits")
