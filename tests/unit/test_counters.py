"""What the worker counts of its jobs: each step once, times never below 0, and a file that is written when it helps."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from harness import at_once

from jobs import lifecycle, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths
from jobs.lifecycle import Cancelled, Crashed, Event, Failed, Interrupted, Started, Succeeded
from jobs.model import Job, Record
from worker.monitoring import counters
from worker.monitoring.counters import Counters, CountersFile
from worker.scheduling.ledger import Ledger

NOON = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)


def job(job_id: str = "a", **fields: Any) -> Job:
    return Job(job_id, "ingest", {}, {}, "0" * 64, **fields)


def walked(found: Counters, *events: tuple[float, Event], **fields: Any) -> Record:
    """The record after events, each so many seconds past noon, when the job was accepted."""
    record = lifecycle.accept(job(**fields), NOON)
    found.stepped(None, record)
    for seconds, event in events:
        after = lifecycle.step(record, event, NOON + timedelta(seconds=seconds))
        found.stepped(record, after)
        record = after
    return record


def counted(found: Counters, name: str) -> dict[tuple[str, ...], int]:
    return {tuple(labels): count for *labels, count in found.as_dict()["counters"].get(name, [])}


def sum_of(found: Counters, name: str, *labels: str) -> tuple[int, float]:
    rows = {tuple(row[:-1]): row[-1] for row in found.as_dict()["histograms"][name]}
    return sum(rows[labels]["counts"]), rows[labels]["sum"]


def test_each_attempt_counts_and_the_wait_is_that_for_the_first() -> None:
    found = Counters()
    walked(
        found, (1, Started()), (2, Failed(JobError("STORE_BUSY"))), (60, Started()), (61, Crashed()),
        (90, Started()), (95, Interrupted()), (100, Started()), (107, Interrupted()),
        (110, Started()), (111, Cancelled()),
    )  # fmt: skip
    assert counted(found, "job_attempts") == {
        ("ingest", "waiting"): 1, ("ingest", "crashed"): 1, ("ingest", "interrupted"): 2, ("ingest", "cancelled"): 1,
    }  # fmt: skip
    assert sum_of(found, "job_attempt_seconds", "ingest") == (5, 1 + 1 + 5 + 7 + 1), "also where entries were joined"
    assert sum_of(found, "job_wait_seconds", "ingest") == (1, 1.0)
    assert counted(found, "jobs_ended") == {("ingest", "cancelled"): 1}


def test_what_waits_for_another_attempt_is_known_by_its_error_for_as_long_as_it_does() -> None:
    found = Counters()
    walked(found, (1, Started()), (2, Failed(JobError("STORE_BUSY"))))
    assert counted(found, "jobs_retrying") == {("STORE_BUSY",): 1}
    walked(found, (1, Started()), (2, Failed(JobError("STORE_BUSY"))), (60, Started()), (61, Succeeded({})))
    assert counted(found, "jobs_retrying") == {("STORE_BUSY",): 1}


def test_a_job_that_was_to_wait_has_waited_since_its_time_had_come() -> None:
    found = Counters()
    walked(found, (3604, Started()), not_before="2026-11-20T13:00:00Z")
    assert sum_of(found, "job_wait_seconds", "ingest") == (1, 4.0)


def test_a_clock_that_was_set_back_makes_no_time_negative() -> None:
    found = Counters()
    walked(found, (-50, Started()), (-90, Succeeded({})))
    assert sum_of(found, "job_wait_seconds", "ingest") == (1, 0.0)
    assert sum_of(found, "job_attempt_seconds", "ingest") == (1, 0.0)


@pytest.mark.parametrize(("value", "place"), [(0.0, 0), (0.005, 0), (0.0051, 1), (7200.0, 15), (7201.0, 16)])
def test_a_bucket_holds_its_upper_bound(value: float, place: int) -> None:
    histogram = counters.Histogram(counters.SECONDS)
    histogram.add(value)
    assert histogram.counts.index(1) == place


def test_the_ledger_tells_of_each_step_that_was_written_once(tmp_path: Path) -> None:
    place = SpoolPaths(tmp_path)
    spool.prepare(place)
    told: list[tuple[str | None, str]] = []
    live = lifecycle.accept(job("there"), NOON)
    spool.accept(place, [(job("there"), live)])
    ledger = Ledger(place, [live], stepped=lambda before, after: told.append((before and before.state, after.state)))
    ledger.accept([(job("new"), lifecycle.accept(job("new"), NOON))])
    ledger.apply({"new": Started()})
    ledger.apply({"new": Succeeded({})})
    ledger.apply({"new": Succeeded({})})  # late: nothing happens
    ledger.cancel("there")
    ledger.replay("there")
    assert told == [
        (None, "queued"), (None, "queued"), ("queued", "running"), ("running", "succeeded"),
        ("queued", "cancelled"), (None, "queued"),
    ]  # fmt: skip


def test_many_threads_lose_no_count() -> None:
    found = Counters()

    def count(_: int) -> None:
        for _ in range(2000):
            found.count("child_starts")
            found.observe("job_wait_seconds", 1.0, "noop")

    at_once(count, range(4))
    assert counted(found, "child_starts") == {(): 8000}
    assert sum_of(found, "job_wait_seconds", "noop") == (8000, 8000.0)


def test_the_file_is_written_when_something_changed_and_not_at_every_change(tmp_path: Path) -> None:
    place = SpoolPaths(tmp_path)
    spool.prepare(place)
    now = 100.0
    found = Counters()
    file = CountersFile(place, found, lambda: now)
    file.write(at_once=True)
    assert counters.read(place)["counters"] == {}
    found.count("child_starts")
    file.write()
    assert counters.read(place)["counters"] == {}, "too soon after the last"
    now += 1.0
    file.write()
    assert counters.read(place)["counters"] == {"child_starts": [[1]]}
    written = place.counters.stat().st_ino
    now += 100
    file.write()
    assert place.counters.stat().st_ino == written, "nothing has changed"
    assert place.counters.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [None, b"", b"[1]", b'{"counters"', b"\xff"])
def test_a_file_that_is_no_figures_is_none(tmp_path: Path, content: bytes | None) -> None:
    place = SpoolPaths(tmp_path)
    spool.prepare(place)
    if content is not None:
        place.counters.write_bytes(content)
    assert counters.read(place) == ({} if content is None else None)


def test_a_disk_that_refuses_is_no_trouble_and_the_figures_come_later(tmp_path: Path) -> None:
    found = Counters()
    found.count("child_starts")
    file = CountersFile(SpoolPaths(tmp_path / "gone"), found)
    file.write(at_once=True)
    spool.prepare(SpoolPaths(tmp_path / "gone"))
    file.write()
    assert json.loads(SpoolPaths(tmp_path / "gone").counters.read_bytes())["counters"] == {"child_starts": [[1]]}
