"""The live records: each change is one durable step of the lifecycle, seen by nobody before it is written."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jobs import clock, lifecycle, spool
from jobs.errors import JobError
from jobs.layout import Spool
from jobs.lifecycle import Cancelled, Crashed, Failed, Interrupted, Started, Succeeded
from jobs.model import Job, Record, encode
from jobs.parse import parse_job
from worker.ledger import Ledger

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def place(tmp_path: Path) -> Spool:
    place = Spool(tmp_path / "spool")
    spool.prepare(place)
    return place


@pytest.fixture
def ledger(place: Spool) -> Ledger:
    return Ledger(place, [], now=lambda: NOW, jitter=lambda: 1.0)


def job(job_id: str, **fields: object) -> Job:
    file = {"schema_version": 1, "job_id": job_id, "kind": "noop", "payload": {}, **fields}
    return parse_job(job_id, encode(file), test_jobs=True)


def accepted(ledger: Ledger, *job_ids: str, **fields: object) -> None:
    jobs = [job(job_id, **fields) for job_id in job_ids]
    ledger.accept([(each, lifecycle.accept(each, NOW)) for each in jobs])


def on_disk(place: Spool, job_id: str) -> Record:
    record = spool.read_record(place, job_id)
    assert record is not None
    return record


def test_an_accepted_job_is_live_and_its_record_and_copy_are_on_disk(place: Spool, ledger: Ledger) -> None:
    place.dropped("a").write_bytes(b"{}")
    accepted(ledger, "a")
    assert ledger.get("a") == on_disk(place, "a")
    assert place.copy("a").exists()
    assert not place.dropped("a").exists()


def test_a_change_is_on_disk_when_it_is_seen(place: Spool) -> None:
    seen: list[tuple[str, bool]] = []

    def changed() -> None:
        seen.append((on_disk(place, "a").state, on_disk(place, "a") == (ledger.get("a") or on_disk(place, "a"))))

    ledger = Ledger(place, [], changed=changed)
    accepted(ledger, "a")
    ledger.apply({"a": Started()})
    ledger.apply({"a": Succeeded({"n": 1})})
    assert seen == [("queued", True), ("running", True), ("succeeded", True)]


def test_an_ended_job_is_no_longer_live_and_its_copy_is_put_away(place: Spool, ledger: Ledger) -> None:
    accepted(ledger, "a")
    ledger.apply({"a": Started()})
    (record,) = ledger.apply({"a": Succeeded({"n": 1})})
    assert record.ended
    assert ledger.get("a") is None
    assert ledger.find("a") == record
    assert (place.copy("a").exists(), place.ended_copy("a").exists()) == (False, True)


def test_an_event_that_does_not_fit_changes_nothing(place: Spool, ledger: Ledger) -> None:
    """A stale message of the queue, or the late result of a dead attempt."""
    accepted(ledger, "a")
    before = on_disk(place, "a")
    assert ledger.apply({"a": Succeeded({}), "nobody": Started()}) == []
    assert on_disk(place, "a") == before == ledger.get("a")


def test_one_event_that_does_not_fit_does_not_hold_up_the_others(ledger: Ledger) -> None:
    accepted(ledger, "a", "b")
    ledger.apply({"b": Started()})
    stepped = ledger.apply({"a": Started(), "b": Started()})
    assert [(record.job_id, record.state) for record in stepped] == [("a", "running")]


def test_a_record_that_cannot_be_written_is_not_changed_in_memory(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk: memory and disk must go on saying the same."""
    accepted(ledger, "a")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spool, "write_records", full)
    with pytest.raises(OSError, match="No space"):
        ledger.apply({"a": Started()})
    found = ledger.get("a")
    assert found is not None
    assert found.state == "queued"


def test_counts_hold_live_jobs_and_those_that_ended_since_the_start(ledger: Ledger) -> None:
    accepted(ledger, "a", "b", "c", "d")
    ledger.apply({"a": Started(), "b": Started(), "c": Started()})
    ledger.apply({"a": Succeeded({}), "b": Failed(JobError("TEST_RETRY"))})
    assert ledger.counts() == {"queued": 1, "running": 1, "retrying": 1, "succeeded": 1}
    assert ledger.count() == 3
    assert {record.job_id for record in ledger.live()} == {"b", "c", "d"}


def test_due_jobs_come_by_priority_then_by_age_and_only_those_of_the_kind(place: Spool) -> None:
    at = clock.iso(NOW)
    later = clock.iso(NOW + timedelta(seconds=1))

    def waiting(job_id: str, **fields: object) -> Record:
        known = {"kind": "noop", "job_sha256": "0", "state": "queued", "accepted_at": at, **fields}
        return Record(job_id=job_id, **known)  # type: ignore[arg-type]

    ledger = Ledger(
        place,
        [
            waiting("young", accepted_at=later),
            waiting("old"),
            waiting("urgent", priority=5, accepted_at=later),
            waiting("delayed", next_attempt_at=later),
            waiting("running", state="running"),
            waiting("other", kind="rebuild"),
            waiting("again", state="retrying", next_attempt_at=at),
        ],
        now=lambda: NOW,
    )
    assert [record.job_id for record in ledger.due("noop", 10)] == ["urgent", "again", "old", "young"]
    assert [record.job_id for record in ledger.due("noop", 2)] == ["urgent", "again"]
    assert ledger.next_due() == NOW


def test_without_delayed_jobs_nothing_is_due_later(ledger: Ledger) -> None:
    accepted(ledger, "a")
    assert ledger.next_due() is None


def test_a_waiting_job_is_cancelled(place: Spool, ledger: Ledger) -> None:
    accepted(ledger, "a")
    assert ledger.cancel("a") is True
    assert on_disk(place, "a").state == "cancelled"
    assert ledger.get("a") is None


def test_a_running_or_unknown_job_is_not_cancelled(ledger: Ledger) -> None:
    accepted(ledger, "a")
    ledger.apply({"a": Started()})
    assert ledger.cancel("a") is False
    assert ledger.cancel("nobody") is False
    assert [record.state for record in ledger.live()] == ["running"]


@pytest.mark.parametrize("number", range(30))
def test_cancelling_and_starting_at_once_never_cancels_what_runs(place: Spool, ledger: Ledger, number: int) -> None:
    """Whoever comes first wins, and the other one is told."""
    accepted(ledger, "a")
    barrier = threading.Barrier(2)
    started: list[Record] = []

    def start() -> None:
        barrier.wait()
        started.extend(ledger.apply({"a": Started()}))

    thread = threading.Thread(target=start)
    thread.start()
    barrier.wait()
    cancelled = ledger.cancel("a")
    thread.join()
    state = on_disk(place, "a").state
    assert (len(started), cancelled, state) in [(1, False, "running"), (0, True, "cancelled")]


@pytest.mark.parametrize("event", [Failed(JobError("TEST_FAILURE")), Cancelled()])
def test_an_ended_job_runs_again_as_the_next_generation(
    place: Spool, ledger: Ledger, event: Failed | Cancelled
) -> None:
    accepted(ledger, "a")
    ledger.apply({"a": Started()})
    ledger.apply({"a": event})
    again = ledger.replay("a")
    assert (again.state, again.generation, again.attempt, again.attempts) == ("queued", 2, 0, ())
    assert ledger.get("a") == again == on_disk(place, "a")
    assert place.copy("a").exists()


def test_what_succeeded_or_still_lives_is_not_replayed(ledger: Ledger) -> None:
    accepted(ledger, "a", "b")
    ledger.apply({"a": Started()})
    ledger.apply({"a": Succeeded({})})
    for job_id in ("a", "b"):
        with pytest.raises(JobError, match="ARGUMENT_INVALID"):
            ledger.replay(job_id)


def test_a_job_without_a_record_or_without_its_copy_is_not_replayed(place: Spool, ledger: Ledger) -> None:
    with pytest.raises(JobError, match="JOB_NOT_FOUND"):
        ledger.replay("nobody")
    accepted(ledger, "a")
    ledger.cancel("a")
    place.ended_copy("a").unlink()
    with pytest.raises(JobError, match="JOB_NOT_FOUND"):
        ledger.replay("a")
    assert on_disk(place, "a").state == "cancelled"


def test_three_crashes_alone_end_a_job_as_poison_and_interruptions_count_for_nothing(
    place: Spool, ledger: Ledger
) -> None:
    accepted(ledger, "a")
    for _ in range(5):
        ledger.apply({"a": Started()})
        ledger.apply({"a": Interrupted()})
    for _ in range(3):
        ledger.apply({"a": Started()})
        ledger.apply({"a": Crashed()})
    record = on_disk(place, "a")
    assert record.error is not None
    assert (record.state, record.error["code"], record.crashes) == ("failed", "POISON", 3)


def test_a_damaged_record_is_not_taken_for_a_missing_one(place: Spool, ledger: Ledger) -> None:
    place.record("a").write_bytes(b"{")
    with pytest.raises(ValueError, match=r".+"):
        ledger.find("a")
