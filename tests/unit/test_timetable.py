"""Delayed jobs come into the queue when they are due, once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jobs import clock, lifecycle, spool
from jobs.errors import JobError
from jobs.layout import Spool
from jobs.model import Record, State
from worker.ledger import Ledger
from worker.timetable import Timetable


class Table:
    """A timetable over records whose clock the test sets."""

    def __init__(self, place: Spool, *records: Record) -> None:
        self.now = datetime(2026, 11, 20, 12, tzinfo=UTC)
        self.put: list[tuple[str, int]] = []
        self.ledger = Ledger(place, records, now=lambda: self.now, jitter=lambda: 1.0)
        self.timetable = Timetable(self.ledger, lambda *job: self.put.append(job), now=lambda: self.now)

    def after(self, seconds: float) -> list[tuple[str, int]]:
        self.now += timedelta(seconds=seconds)
        self.put.clear()
        self.timetable.look()
        return list(self.put)


@pytest.fixture
def place(tmp_path: Path) -> Spool:
    place = Spool(tmp_path / "spool")
    spool.prepare(place)
    return place


def delayed(job_id: str, seconds: float, *, attempt: int = 1, priority: int = 0, state: State = "retrying") -> Record:
    due = datetime(2026, 11, 20, 12, tzinfo=UTC) + timedelta(seconds=seconds)
    return Record(
        job_id=job_id, kind="noop", job_sha256="0", state=state, attempt=attempt, priority=priority,
        next_attempt_at=clock.iso(due),
    )  # fmt: skip


def test_a_job_is_put_into_the_queue_when_its_time_has_come(place: Spool) -> None:
    table = Table(place, delayed("a", 5, priority=3))
    assert table.after(0) == []
    assert table.after(4.9) == []
    assert table.after(0.2) == [("a", 3)]


def test_a_due_job_is_put_once_however_often_is_looked(place: Spool) -> None:
    table = Table(place, delayed("a", 5))
    assert table.after(10) == [("a", 0)]
    assert table.after(0) == []
    assert table.after(100) == []


def test_the_next_attempt_of_the_same_job_is_put_again(place: Spool) -> None:
    table = Table(place, delayed("a", 0))
    assert table.after(1) == [("a", 0)]
    table.ledger.apply({"a": lifecycle.Started()})
    table.ledger.apply({"a": lifecycle.Failed(JobError("TEST_RETRY"))})
    assert table.after(0.5) == []
    assert table.after(0.5) == [("a", 0)]


def test_a_job_without_a_delay_is_not_the_timetables_affair(place: Spool) -> None:
    table = Table(place, Record(job_id="a", kind="noop", job_sha256="0", state="queued"))
    assert table.after(10) == []


def test_a_job_that_is_delayed_from_the_start_is_put_when_it_may_begin(place: Spool) -> None:
    table = Table(place, delayed("a", 5, attempt=0, state="queued"))
    assert table.after(6) == [("a", 0)]


def test_the_pause_lasts_until_the_next_job_is_due(place: Spool) -> None:
    table = Table(place, delayed("a", 5), delayed("b", 3))
    assert table.timetable.seconds_to_next(at_most=10) == 3
    assert table.timetable.seconds_to_next(at_most=2) == 2
    table.after(3)
    assert table.timetable.seconds_to_next(at_most=10) == 2


def test_a_job_that_is_overdue_leaves_no_pause(place: Spool) -> None:
    table = Table(place, delayed("a", -5))
    assert table.timetable.seconds_to_next(at_most=10) == 0


def test_a_job_that_was_put_does_not_shorten_the_pause(place: Spool) -> None:
    """Else the worker would spin while the job waits for its turn."""
    table = Table(place, delayed("a", -5))
    table.after(0)
    assert table.timetable.seconds_to_next(at_most=10) == 10
