"""All jobs at a glance: what is read anew and what is not, pages, causes, what was done over time."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from harness import raising

from jobs import clock, record_cache, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.model import Record
from jobs.record_cache import RecordCache
from jobs.schema import JobRow

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def place(workspace: Workspace) -> SpoolPaths:
    return workspace.spool


def record(job_id: str, state: Any = "succeeded", **fields: Any) -> Record:
    at = clock.iso(NOW)
    return Record(**{"job_id": job_id, "kind": "noop", "job_sha256": "", "state": state, "accepted_at": at, **fields})


def brief(job_id: str, state: str = "succeeded", **fields: Any) -> JobRow:
    return {
        **dict.fromkeys(record_cache.ROW_FIELDS),
        "job_id": job_id,
        "kind": "noop",
        "state": state,
        "attempt": 0,
        "generation": 1,
        **fields,
    }


def failed(job_id: str, code: str, message: str = "", **fields: Any) -> JobRow:
    error = JobError(code, message).as_dict()
    return brief(job_id, **{"state": "failed", "error": error, "accepted_at": clock.iso(NOW), **fields})


def at(minutes: float) -> str:
    return clock.iso(NOW + timedelta(minutes=minutes))


# --- looking ---


def test_a_look_sees_what_came_changed_and_went(place: SpoolPaths) -> None:
    found = RecordCache(place)
    assert found.refresh() == 0
    assert found.rows() == []
    spool.write_records(place, [record("a", "queued"), record("b")])
    first = found.refresh()
    assert sorted((b["job_id"], b["state"]) for b in found.rows()) == [("a", "queued"), ("b", "succeeded")]
    spool.write_records(place, [record("a", "running")])
    second = found.refresh()
    assert {b["job_id"]: b["state"] for b in found.rows()} == {"a": "running", "b": "succeeded"}
    place.record("b").unlink()
    third = found.refresh()
    assert [b["job_id"] for b in found.rows()] == ["a"]
    assert 0 < first < second < third


def test_nothing_new_keeps_the_number_and_opens_no_file(place: SpoolPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    spool.write_records(place, [record("a")])
    found = RecordCache(place)
    number = found.refresh()

    monkeypatch.setattr(record_cache.plain_files, "read_own", raising(AssertionError("a file was opened")))
    assert [found.refresh(), found.refresh()] == [number, number]


def test_a_folder_that_has_stood_still_is_not_even_listed(place: SpoolPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    spool.write_records(place, [record("a")])
    os.utime(place.results, (0, 0))
    found = RecordCache(place)
    number = found.refresh()
    monkeypatch.setattr(record_cache.plain_files, "entries", lambda _: pytest.fail("the folder was listed"))
    assert found.refresh() == number


def test_what_is_no_record_is_left_out(place: SpoolPaths) -> None:
    spool.write_records(place, [record("good")])
    (place.results / "half.json").write_text('{"job_id": "half"')
    (place.results / "other.json").write_bytes(place.record("good").read_bytes())
    (place.results / "list.json").write_text("[]")
    for number, damage in enumerate(
        [
            *({"accepted_at": 5}, {"finished_at": "yesterday"}, {"state": ["failed"]}, {"state": "lost"}, {"kind": {}}),
            *({"error": "x"}, {"error": {"code": "INTERNAL"}}, {"elapsed_ms": "1"}, {"correlation_id": 7}),
        ]
    ):
        (place.results / f"bad-{number}.json").write_text(json.dumps(record(f"bad-{number}").as_dict() | damage))
    (place.results / ".part.json").write_text("{}")
    (place.results / "link.json").symlink_to(place.record("good"))
    found = RecordCache(place)
    found.refresh()
    assert [b["job_id"] for b in found.rows()] == ["good"]


def test_a_spool_that_is_not_there_has_no_jobs(tmp_path: Path) -> None:
    found = RecordCache(Workspace(tmp_path / "nowhere").spool)
    assert (found.refresh(), found.rows()) == (0, [])


# --- what is made of them ---


def test_pages_follow_each_other_and_what_comes_meanwhile_shifts_nothing() -> None:
    found = [brief(f"job-{number}", accepted_at=at(number)) for number in range(5)]
    first = record_cache.page(found, 2)
    assert ([b["job_id"] for b in first.jobs], first.total) == (["job-4", "job-3"], 5)
    second = record_cache.page([*found, brief("new", accepted_at=at(60))], 2, first.next)
    assert [b["job_id"] for b in second.jobs] == ["job-2", "job-1"]
    last = record_cache.page(found, 2, second.next)
    assert ([b["job_id"] for b in last.jobs], last.next) == (["job-0"], None)


def test_jobs_of_the_same_moment_are_on_one_page_or_the_other() -> None:
    found = [brief(name, accepted_at=at(0)) for name in "abcd"]
    first = record_cache.page(found, 3)
    second = record_cache.page(found, 3, first.next)
    assert sorted(b["job_id"] for b in (*first.jobs, *second.jobs)) == list("abcd")


def test_whole_seconds_and_fractions_are_in_order() -> None:
    found = [brief("whole", accepted_at="2026-11-20T12:00:00Z"), brief("later", accepted_at="2026-11-20T12:00:00.5Z")]
    assert [b["job_id"] for b in record_cache.page(found, 2).jobs] == ["later", "whole"]


def test_causes_are_counted_by_state_and_code_the_most_frequent_first() -> None:
    found = record_cache.causes(
        [
            failed("a", "TOPIC_NOT_FOUND", "no x", kind="compact", accepted_at=at(0)),
            failed("b", "TOPIC_NOT_FOUND", "no y", kind="compact", accepted_at=at(1), finished_at=at(2)),
            failed("c", "TOPIC_NOT_FOUND", "no x", kind="restore", accepted_at=at(0)),
            failed("d", "RATE_LIMITED", state="retrying"),
            failed("e", "CANCELLED", state="cancelled"),
            brief("f"),
        ]
    )
    expected = [("failed", "TOPIC_NOT_FOUND", 3), ("retrying", "RATE_LIMITED", 1)]
    assert [(c["state"], c["code"], c["count"]) for c in found] == expected
    assert found[0]["kinds"] == {"compact": 2, "restore": 1}
    assert (found[0]["message"], found[0]["newest_job_id"], found[0]["newest"]) == ("no y", "b", at(2))
    assert list(found[0]["messages"].items()) == [("no x", 2), ("no y", 1)]


def test_waiting_jobs_that_start_later_are_counted_by_hour_and_kind() -> None:
    found = [
        brief("a", "queued", next_attempt_at=at(90)),
        brief("b", "retrying", kind="ingest", next_attempt_at=at(119)),
        brief("c", "queued", next_attempt_at=at(600)),
        brief("due", "queued", next_attempt_at=at(-1)),
        brief("any time", "queued"),
        brief("over", "failed", next_attempt_at=at(90)),
    ]
    expected = [{"at": at(60), "kinds": {"noop": 1, "ingest": 1}}, {"at": at(600), "kinds": {"noop": 1}}]
    assert record_cache.scheduled(found, NOW) == expected


def test_a_cause_advises_to_wait_to_run_again_to_dismiss_or_to_correct() -> None:
    found = [
        failed("a", "TOPIC_NOT_FOUND"),
        failed("b", "INTERNAL"),
        failed("c", "INTERNAL", state="retrying"),
        failed("d", "JOB_INVALID", state="rejected"),
        failed("e", "DISK_FULL", state="rejected"),
    ]
    assert {(cause["code"], cause["state"]): cause["advice"] for cause in record_cache.causes(found)} == {
        ("TOPIC_NOT_FOUND", "failed"): "dismiss",
        ("INTERNAL", "failed"): "retry",
        ("INTERNAL", "retrying"): "wait",
        ("JOB_INVALID", "rejected"): "correct",
        ("DISK_FULL", "rejected"): "retry",
    }


def test_activity_puts_each_end_into_its_span_with_quantiles() -> None:
    found = [
        brief("a", accepted_at=at(-50), started_at=at(-49), finished_at=at(-48), elapsed_ms=60_000),
        brief("b", "failed", accepted_at=at(-50), started_at=at(-50), finished_at=at(-47), elapsed_ms=180_000),
        brief("c", accepted_at=at(-5), finished_at=at(-4)),
        brief("long ago", accepted_at=at(-900), finished_at=at(-800)),
        brief("again", accepted_at=at(-900), started_at=at(-55), finished_at=at(-54), elapsed_ms=60_000, generation=2),
        brief("still", "running", accepted_at=at(-5)),
    ]
    spans = record_cache.activity(found, NOW, hours=1, buckets=6)
    assert [span["ended"] for span in spans] == [
        *({"succeeded": 1}, {"succeeded": 1, "failed": 1}, {}, {}, {}, {"succeeded": 1})
    ]
    assert (spans[0]["at"], spans[5]["at"]) == (at(-60), at(-10))
    assert spans[1]["waited_ms"] == {"p50": 0, "p95": 60_000}
    assert spans[1]["took_ms"] == {"p50": 60_000, "p95": 180_000}
    assert spans[0]["waited_ms"] is None, "what was run again had ended in between"
    assert spans[0]["took_ms"] == {"p50": 60_000, "p95": 60_000}
    assert spans[5]["took_ms"] is None
