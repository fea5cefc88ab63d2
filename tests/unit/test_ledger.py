"""The live records: each change is one durable step of the lifecycle, seen by nobody before it is written."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from harness import at_once, raising
from inbox_door import job_of

from jobs import clock, files, lifecycle, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.lifecycle import Cancelled, Crashed, CrashLimits, Event, Failed, Interrupted, Started, Succeeded, WorkerDied
from jobs.model import Record
from jobs.states import State
from worker.scheduling.ledger import Ledger

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def place(workspace: Workspace) -> SpoolPaths:
    return workspace.spool


@pytest.fixture
def ledger(place: SpoolPaths) -> Ledger:
    return Ledger(place, [], now=lambda: NOW, jitter=lambda: 1.0)


def accepted(ledger: Ledger, *job_ids: str) -> None:
    ledger.accept([(job, lifecycle.accept(job, NOW)) for job in map(job_of, job_ids)])


def on_disk(place: SpoolPaths, job_id: str) -> Record:
    return spool.read_record(place, job_id)


def test_a_change_is_on_disk_when_it_is_seen(place: SpoolPaths) -> None:
    seen: list[tuple[str, bool]] = []

    def changed() -> None:
        seen.append((on_disk(place, "a").state, on_disk(place, "a") == (ledger.get("a") or on_disk(place, "a"))))

    ledger = Ledger(place, [], changed=changed)
    accepted(ledger, "a")
    ledger.apply({"a": Started()})
    ledger.apply({"a": Succeeded({"n": 1})})
    assert seen == [("queued", True), ("running", True), ("succeeded", True)]


def test_an_ended_job_is_no_longer_live_and_its_copy_is_put_away(place: SpoolPaths, ledger: Ledger) -> None:
    accepted(ledger, "a")
    ledger.apply({"a": Started()})
    (record,) = ledger.apply({"a": Succeeded({"n": 1})})
    assert record.ended
    assert ledger.get("a") is None
    assert ledger.find("a") == record
    assert (place.copy("a").exists(), place.ended_copy("a").exists()) == (False, True)


def test_an_event_that_does_not_fit_changes_nothing_and_holds_up_no_other(place: SpoolPaths, ledger: Ledger) -> None:
    """A stale message of the queue, or the late result of a dead attempt."""
    accepted(ledger, "a", "b")
    before = on_disk(place, "a")
    stepped = ledger.apply({"a": Succeeded({}), "nobody": Started(), "b": Started()})
    assert [(record.job_id, record.state) for record in stepped] == [("b", "running")]
    assert on_disk(place, "a") == before == ledger.get("a")


def test_a_record_that_is_not_written_is_unchanged_in_memory(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk: memory and disk must go on saying the same."""
    accepted(ledger, "a")
    monkeypatch.setattr(spool, "write_records", raising(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        ledger.apply({"a": Started()})
    assert ledger.get("a").state == "queued"


def test_counts_hold_live_jobs_and_those_that_ended_since_the_start(ledger: Ledger) -> None:
    accepted(ledger, "a", "b", "c", "d")
    ledger.apply({"a": Started(), "b": Started(), "c": Started()})
    ledger.apply({"a": Succeeded({}), "b": Failed(JobError("TEST_RETRY"))})
    assert ledger.counts() == {"queued": 1, "running": 1, "retrying": 1, "succeeded": 1}
    assert ledger.count() == 3
    assert {record.job_id for record in ledger.live()} == {"b", "c", "d"}


# --- what becomes due ---


class Table:
    """A ledger over records, whose clock the test sets."""

    def __init__(self, place: SpoolPaths, *records: Record) -> None:
        self.now = NOW
        self.ledger = Ledger(place, records, now=lambda: self.now, jitter=lambda: 1.0)

    def after(self, seconds: float) -> list[tuple[str, int]]:
        """What is announced then."""
        self.now += timedelta(seconds=seconds)
        return [(record.job_id, record.priority) for record in self.ledger.take_announced()]


def delayed(job_id: str, seconds: float, *, attempt: int = 1, priority: int = 0, state: State = "retrying") -> Record:
    return Record(
        job_id=job_id, kind="noop", job_sha256="0", state=state, attempt=attempt, priority=priority,
        next_attempt_at=clock.iso(NOW + timedelta(seconds=seconds)),
    )  # fmt: skip


def test_what_was_accepted_interrupted_replayed_or_adopted_is_announced(place: SpoolPaths) -> None:
    table = Table(place)
    accepted(table.ledger, "a", "b")
    assert table.after(0) == [("a", 0), ("b", 0)]
    table.ledger.apply({"a": Started(), "b": Started()})
    assert table.after(0) == []
    table.ledger.apply({"a": Interrupted(), "b": Failed(JobError("TEST_FAILURE"))})
    assert table.after(0) == [("a", 0)]
    table.ledger.replay("b")
    assert table.after(0) == [("b", 0)]
    table.ledger.adopt(delayed("c", -1))
    assert table.after(0) == [("c", 0)]


def test_the_pause_lasts_until_the_next_job_is_due_which_was_not_announced(place: SpoolPaths) -> None:
    table = Table(place, delayed("a", 5), delayed("b", 3))
    assert [table.ledger.seconds_to_next(at_most=seconds) for seconds in (10, 2)] == [3, 2]
    table.now += timedelta(seconds=4)
    assert table.ledger.seconds_to_next(at_most=10) == 0, "one is overdue"
    assert table.after(0) == [("b", 0)]
    assert table.ledger.seconds_to_next(at_most=10) == 1
    assert table.after(1) == [("a", 0)]
    assert table.ledger.seconds_to_next(at_most=10) == 10, "else the worker would spin while they wait for their turn"


# --- late outcomes ---


@pytest.mark.parametrize(
    "meanwhile",
    [[Interrupted(), Started()], [Cancelled(), None, Started()], [Cancelled()]],
    ids=["a dead attempt", "a former generation", "a job that has ended"],
)
def test_a_late_outcome_is_refused(place: SpoolPaths, ledger: Ledger, meanwhile: list[Event | None]) -> None:
    accepted(ledger, "a")
    (first,) = ledger.apply({"a": Started()})
    for event in meanwhile:
        _ = ledger.replay("a") if event is None else ledger.apply({"a": event})
    before = on_disk(place, "a")
    assert ledger.apply({"a": Succeeded({"late": True})}, {"a": first.ticket}) == []
    assert on_disk(place, "a") == before


def test_a_refused_outcome_holds_up_no_other_of_the_same_step(ledger: Ledger) -> None:
    accepted(ledger, "a", "b")
    tickets = {record.job_id: record.ticket for record in ledger.apply({"a": Started(), "b": Started()})}
    ledger.apply({"a": Interrupted()})
    stepped = ledger.apply({"a": Succeeded({}), "b": Succeeded({})}, tickets)
    assert [(record.job_id, record.state) for record in stepped] == [("b", "succeeded")]


# --- cancelling ---


def test_a_job_is_cancelled_in_waiting_not_under_its_runner_or_after_its_end(place: SpoolPaths, ledger: Ledger) -> None:
    accepted(ledger, "waits", "runs", "ended")
    ledger.apply({"runs": Started(), "ended": Started()})
    (ended,) = ledger.apply({"ended": Succeeded({})})
    found = [ledger.cancel(job_id) for job_id in ("waits", "runs", "ended", "nobody")]
    assert found == ["cancelled", "running", "ended", "ended"]
    assert [(record.job_id, record.state) for record in ledger.live()] == [("runs", "running")]
    assert (on_disk(place, "waits").state, on_disk(place, "ended")) == ("cancelled", ended)


@pytest.mark.parametrize("event", [None, Failed(JobError("TEST_RETRY")), Interrupted()])
def test_once_the_effect_is_committed_it_is_too_late_to_cancel(place: SpoolPaths, event: Event | None) -> None:
    """Whether the job runs, or waits for the attempt that pays the graph what it is owed."""
    ledger = Ledger(place, [], has_committed=lambda record: record.job_id == "a")
    accepted(ledger, "a", "b")
    ledger.apply({"a": Started(), "b": Started()})
    if event is not None:
        ledger.apply({"a": event, "b": event})
    before = on_disk(place, "a")
    assert ledger.cancel("a") == "too late"
    assert on_disk(place, "a") == before == ledger.get("a")
    assert ledger.cancel("b") == ("running" if event is None else "cancelled")


def test_before_the_first_attempt_nobody_has_to_look_whether_the_effect_stands(place: SpoolPaths) -> None:
    asked: list[str] = []
    ledger = Ledger(place, [], has_committed=lambda record: bool(asked.append(record.job_id)))
    accepted(ledger, "a")
    assert ledger.cancel("a") == "cancelled"
    assert asked == []


@pytest.mark.parametrize("number", range(30))
def test_cancelling_while_starting_cancels_nothing_running(place: SpoolPaths, ledger: Ledger, number: int) -> None:
    """Whoever comes first wins, and the other one is told."""
    accepted(ledger, "a")
    barrier = threading.Barrier(2)
    both = (lambda: ledger.apply({"a": Started()}), lambda: ledger.cancel("a"))
    started, cancelled = at_once(lambda act: (barrier.wait(), act())[1], both)
    state = on_disk(place, "a").state
    assert (len(started), cancelled, state) in [(1, "running", "running"), (0, "cancelled", "cancelled")]


@pytest.mark.parametrize("event", [Failed(JobError("TEST_FAILURE")), Cancelled()])
def test_an_ended_job_runs_as_the_next_generation(place: SpoolPaths, ledger: Ledger, event: Failed | Cancelled) -> None:
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


def test_a_job_without_a_record_or_without_its_copy_is_not_replayed(place: SpoolPaths, ledger: Ledger) -> None:
    with pytest.raises(JobError, match="JOB_NOT_FOUND"):
        ledger.replay("nobody")
    accepted(ledger, "a")
    ledger.cancel("a")
    place.ended_copy("a").unlink()
    with pytest.raises(JobError, match="JOB_NOT_FOUND"):
        ledger.replay("a")
    assert on_disk(place, "a").state == "cancelled"


def test_the_caps_are_the_settings(place: SpoolPaths) -> None:
    ledger = Ledger(place, [], crash_limits=CrashLimits(crashes=2, worker_deaths=1))
    accepted(ledger, "a", "b")
    ledger.apply({"a": Started(), "b": Started()})
    ledger.apply({"a": WorkerDied(), "b": Crashed()})
    assert on_disk(place, "a").state == "failed"
    assert on_disk(place, "b").state == "retrying"


def test_an_unmovable_copy_loses_no_record(place: SpoolPaths, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """The records say it already; recovery puts the copy away."""
    accepted(ledger, "a", "b", "c")
    ledger.apply({"a": Started(), "b": Started(), "c": Started()})
    end = spool.retire_copy

    def stuck(place: SpoolPaths, job_id: str, *, keep: bool = True) -> None:
        if job_id == "a":
            raise OSError(28, "No space left on device")
        end(place, job_id, keep=keep)

    monkeypatch.setattr(spool, "retire_copy", stuck)
    events = {"a": Succeeded({}), "b": Succeeded({}), "c": Failed(JobError("TEST_RETRY"))}
    assert [record.state for record in ledger.apply(events)] == ["succeeded", "succeeded", "retrying"]
    assert [record.job_id for record in ledger.live()] == ["c"]
    assert (on_disk(place, "a").state, place.copy("a").exists()) == ("succeeded", True)
    assert (on_disk(place, "b").state, place.copy("b").exists()) == ("succeeded", False)
    assert ledger.counts() == {"queued": 0, "running": 0, "retrying": 1, "succeeded": 2}


def test_a_damaged_record_is_not_taken_for_a_missing_one(place: SpoolPaths, ledger: Ledger) -> None:
    place.record("a").write_bytes(b"{")
    with pytest.raises(ValueError, match=r".+"):
        ledger.find("a")


# --- a disk that refuses half-way ---


def test_failures_leave_all_live_on_disk(place: SpoolPaths, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the dropped file would be taken for a duplicate of a job that nobody has a copy of."""
    monkeypatch.setattr(files, "rename", raising(MemoryError))
    with pytest.raises(MemoryError):
        accepted(ledger, "a")
    assert ledger.get("a") is None


def test_an_end_that_is_seen_is_one(place: SpoolPaths, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that was shown as cancelled never runs, though the disk refused to sync it."""
    accepted(ledger, "a")
    sync_folder = files.sync_folder

    def fails(folder: Path) -> None:
        if folder == place.results:
            raise OSError(5, "Input/output error")
        sync_folder(folder)

    monkeypatch.setattr(files, "sync_folder", fails)
    with pytest.raises(OSError, match="Input/output"):
        ledger.cancel("a")
    assert on_disk(place, "a").state == "cancelled"
    assert ledger.get("a") is None
    assert ledger.apply({"a": Started()}) == []
    assert ledger.cancel("a") == "ended"


def test_a_half_written_start_is_no_new_try(place: SpoolPaths, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    accepted(ledger, "a", "b")
    rename = files.rename

    def fails(source: Path, target: Path) -> None:
        if target == place.record("b"):
            raise OSError(28, "No space left on device")
        rename(source, target)

    with monkeypatch.context() as full:
        full.setattr(files, "rename", fails)
        with pytest.raises(OSError, match="No space"):
            ledger.apply({"a": Started(), "b": Started()})
    assert (on_disk(place, "a").state, on_disk(place, "b").state) == ("running", "queued")
    started = ledger.apply({"a": Started(), "b": Started()})
    assert [(record.job_id, record.ticket) for record in started] == [("a", (1, 1)), ("b", (1, 1))]
    assert len(on_disk(place, "a").attempts) == 1


def test_a_worker_without_its_lock_changes_no_record_and_no_copy(place: SpoolPaths) -> None:
    """Another worker may have recovered the job and started its second attempt: the record belongs to that worker."""
    is_held = True
    ledger = Ledger(place, [], now=lambda: NOW, holds_lock=lambda: is_held)
    accepted(ledger, "a", "b")
    (running,) = ledger.apply({"a": Started()})
    ledger.apply({"b": Cancelled()})
    is_held = False
    before = {path: path.read_bytes() for path in place.root.rglob("*.json")}
    late = {"a": running.ticket}
    refused = (
        lambda: ledger.apply({"a": Succeeded({})}, late),
        lambda: accepted(ledger, "c"),
        lambda: ledger.rewrite(["a"]),
        lambda: ledger.replay("b"),
        lambda: ledger.dismiss(on_disk(place, "b")),
        lambda: ledger.scrub(["b"], []),
    )
    for change in refused:
        with pytest.raises(OSError, match="lock"):
            change()
    assert {path: path.read_bytes() for path in place.root.rglob("*.json")} == before
    assert ledger.get("a") == running
