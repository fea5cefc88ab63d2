"""What a stop at any moment may have left is mended, and mending twice equals mending once."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import reduce
from itertools import product
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, strategies as st
from inbox_door import LIMITS, file_of, job_of

from jobs import clock, lifecycle, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths
from jobs.lifecycle import CrashLimits
from jobs.model import Record
from jobs.states import ENDS, State
from worker.inbox.intake import Intake
from worker.scheduling.ledger import Ledger
from worker.scheduling.recovery import CopyIs, JobFiles, RecordIs, Repair, reconcile, recover, survey
from worker.scheduling.runnable_jobs import LocalJobs

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
ID = "job-1"
FILE = file_of(ID)
JOB = job_of(ID)

RECORDS = ["absent", "damaged", *get_args(State)]
COPIES = ["absent", "active", "ended", "both", "damaged in active"]


STARTED = lifecycle.Started()
WAYS: dict[State, list[lifecycle.Event]] = {
    "queued": [],
    "running": [STARTED],
    "retrying": [STARTED, lifecycle.Failed(JobError("TEST_RETRY"))],
    "succeeded": [STARTED, lifecycle.Succeeded({})],
    "failed": [STARTED, lifecycle.Failed(JobError("TEST_FAILURE"))],
    "cancelled": [lifecycle.Cancelled()],
    "expired": [lifecycle.Expired()],
}


def record_in(state: State) -> Record:
    """A record as the lifecycle would have brought it there."""
    if state == "rejected":
        return lifecycle.reject(ID, JobError("JOB_INVALID"), NOW)
    return reduce(lambda record, event: lifecycle.step(record, event, NOW), WAYS[state], lifecycle.accept(JOB, NOW))


def left_behind(folder: Path, record: str, copy: str, dropped: bool) -> SpoolPaths:
    """The files of one job as a stop may have left them."""
    place = SpoolPaths(folder)
    spool.prepare(place)
    if record == "damaged":
        place.record(ID).write_bytes(b'{"schema_version": 1, "sta')
    elif record != "absent":
        spool.write_records(place, [record_in(record)])  # type: ignore[arg-type]
    if copy in ("active", "both"):
        place.copy(ID).write_bytes(FILE)
    if copy in ("ended", "both"):
        place.ended_copy(ID).write_bytes(FILE)
    if copy == "damaged in active":
        place.copy(ID).write_bytes(b"{")
    if dropped:
        place.dropped(ID).write_bytes(FILE)
    return place


def tree(place: SpoolPaths) -> dict[str, bytes]:
    return {str(p.relative_to(place.root)): p.read_bytes() for p in place.root.rglob("*") if p.is_file()}


def test_every_combination_that_a_survey_can_find_has_a_repair_and_every_repair_has_one() -> None:
    every = set(product(get_args(RecordIs), get_args(CopyIs), (True, False)))
    found = every - {("absent", "absent", False)}  # the one that is left out is no job at all
    assert {JobFiles(ID, None, *each).repair for each in found} == set(get_args(Repair))


def every_rest(folder: Path) -> Iterator[tuple[SpoolPaths, str, str, bool]]:
    """All that a worker may have left behind: a spool with it, and which record, copies and file there are."""
    for number, left in enumerate(product(RECORDS, COPIES, (True, False))):
        yield left_behind(folder / f"spool-{number}", *left), *left


def test_after_mending_nothing_is_lost_and_all_agrees(tmp_path: Path) -> None:
    """What was accepted waits again, or its record says why it cannot; what was dropped is still there. A live record
    waits and has its copy; an ended one has none among the active."""
    for place, record, copy, dropped in every_rest(tmp_path):
        live = {found.job_id: found for found in recover(place, NOW)}
        after = spool.read_record(place, ID)
        if record in ("queued", "running", "retrying"):
            assert after.state in ("queued", "retrying") if copy != "absent" else after.state == "failed"
        if record in ENDS:
            assert after == record_in(record)  # type: ignore[arg-type]
        if dropped:
            assert place.dropped(ID).read_bytes() == FILE
        assert (ID in live) == (after is not None and not after.ended), (record, copy, dropped)
        assert place.copy(ID).exists() == (ID in live)
        if ID in live:
            assert live[ID] == after
            assert live[ID].state in ("queued", "retrying")
        once = tree(place)
        assert recover(place, LATER) == list(live.values())
        assert tree(place) == once


def test_a_damaged_record_without_a_copy_is_kept_aside_with_the_reason(tmp_path: Path) -> None:
    place = left_behind(tmp_path / "spool", "damaged", "absent", dropped=False)
    assert recover(place, NOW) == []
    assert not place.record(ID).exists()
    kept = place.rejected / f"{ID}.1.json"
    assert kept.read_bytes().startswith(b'{"schema_version"')
    assert json.loads((place.rejected / f"{ID}.1.reason.json").read_bytes())["error"]["code"] == "JSON_INVALID"


@pytest.mark.parametrize(("record", "dropped"), [("damaged", False), ("damaged", True), ("absent", False)])
def test_of_a_job_whose_record_was_lost_the_store_is_asked(tmp_path: Path, record: str, dropped: bool) -> None:
    """Its change may be committed: then it must be neither cancelled nor expired."""
    place = left_behind(tmp_path / "spool", record, "active", dropped)
    ledger = Ledger(place, recover(place, NOW), has_committed=lambda record: True)
    assert ledger.cancel(ID) == "too late"


def executing(place: SpoolPaths) -> None:
    """Note that the job's own operation runs, as the runner does."""
    LocalJobs(place, Ledger(place, [])).note_executing([spool.read_record(place, ID)], runs=True)


def test_a_worker_s_death_while_the_child_was_loading_is_not_counted_against_the_job(tmp_path: Path) -> None:
    """On a slow machine, every kill may come before the child has loaded."""
    place = left_behind(tmp_path / "spool", "queued", "active", dropped=False)
    for _ in range(25):
        (record,) = recover(place, NOW, worker_died=True)
        assert (record.state, record.worker_deaths) == ("queued", 0)
        spool.write_records(place, [lifecycle.step(record, lifecycle.Started(), NOW)])


@pytest.mark.parametrize("left", [b"", b"[]", b'{"tickets": {"a": 1}}', b'{"tickets": [1]}', b"\xff"])
def test_a_note_of_the_executing_jobs_that_cannot_be_read_counts_no_death(tmp_path: Path, left: bytes) -> None:
    place = left_behind(tmp_path / "spool", "running", "active", dropped=False)
    place.executing.write_bytes(left)
    (record,) = recover(place, NOW, worker_died=True)
    assert (record.state, record.worker_deaths) == ("queued", 0)


def test_a_note_about_an_earlier_attempt_counts_no_death(tmp_path: Path) -> None:
    place = left_behind(tmp_path / "spool", "running", "active", dropped=False)
    executing(place)
    (record,) = recover(place, NOW)
    spool.write_records(place, [lifecycle.step(record, lifecycle.Started(), NOW)])
    (record,) = recover(place, NOW, worker_died=True)
    assert (record.state, record.worker_deaths) == ("queued", 0)


def test_an_attempt_during_which_the_worker_died_is_counted_as_that(tmp_path: Path) -> None:
    place = left_behind(tmp_path / "spool", "running", "active", dropped=False)
    executing(place)
    (record,) = recover(place, NOW, worker_died=True)
    assert (record.state, record.worker_deaths, record.errors, record.crashes) == ("queued", 1, 0, 0)
    assert record.attempts[-1].error_code == "WORKER_DIED"
    assert record == spool.read_record(place, ID)
    assert recover(place, LATER, worker_died=True) == [record], "no attempt ran the second time"


@pytest.mark.parametrize("worker_died", [True, False])
def test_a_job_whose_time_passed_while_its_worker_was_dead_waits_as_expired(tmp_path: Path, worker_died: bool) -> None:
    """Recovery ends the attempt only; the runner ends the job, unless its change is committed."""
    place = left_behind(tmp_path / "spool", "running", "active", dropped=False)
    spool.write_records(place, [replace(record_in("running"), expires_at=clock.iso(LATER))])
    if worker_died:
        executing(place)
    (record,) = recover(place, LATER, worker_died=worker_died)
    assert (record.state, record.expires_at) == ("queued", clock.iso(LATER))
    assert lifecycle.is_expired(record, LATER)


def test_a_job_during_which_the_worker_always_dies_ends_as_poison(tmp_path: Path) -> None:
    place = left_behind(tmp_path / "spool", "queued", "active", dropped=False)
    crash_limits = CrashLimits(worker_deaths=3)
    for number in range(1, 4):
        (record,) = recover(place, NOW, worker_died=True, crash_limits=crash_limits)
        assert record.worker_deaths == number - 1
        spool.write_records(place, [lifecycle.step(record, lifecycle.Started(), NOW)])
        executing(place)
    assert recover(place, NOW, worker_died=True, crash_limits=crash_limits) == []
    ended = spool.read_record(place, ID)
    assert (ended.state, ended.error["code"], ended.worker_deaths) == ("failed", "POISON", 3)
    assert (place.copy(ID).exists(), place.ended_copy(ID).exists()) == (False, True)


def test_a_damaged_record_of_an_ended_job_is_kept_aside_with_the_job(tmp_path: Path) -> None:
    """Nobody knows how it ended; what was asked is all that is left of it."""
    place = left_behind(tmp_path / "spool", "damaged", "ended", dropped=False)
    assert recover(place, NOW) == []
    assert list(place.results.iterdir()) == list(place.ended.iterdir()) == []
    kept = {p.read_bytes() for p in place.rejected.glob("*.json") if not p.name.endswith(".reason.json")}
    assert kept == {FILE, b'{"schema_version": 1, "sta'}


# --- while the worker runs ---


def tended(place: SpoolPaths, ledger: Ledger) -> dict[str, bytes]:
    reconcile(place, ledger, LATER)
    return tree(place)


def live(tmp_path: Path, state: State = "queued") -> tuple[SpoolPaths, Ledger]:
    place = left_behind(tmp_path / "spool", state, "active", dropped=False)
    return place, Ledger(place, [record_in(state)], now=lambda: LATER)


@pytest.mark.parametrize("is_removed", [False, True])
@pytest.mark.parametrize("state", ["queued", "running", "retrying"])
def test_a_live_record_is_left_alone_and_rewritten_if_removed(tmp_path: Path, state: State, is_removed: bool) -> None:
    """What runs above all: it is no attempt of a dead worker."""
    place, ledger = live(tmp_path, state)
    before = tree(place)
    if is_removed:
        place.record(ID).unlink()
    assert tended(place, ledger) == before
    assert ledger.live() == [record_in(state)]


@pytest.mark.parametrize("state", ["queued", "retrying"])
def test_a_waiting_job_that_nobody_here_knew_is_taken_up(tmp_path: Path, state: State) -> None:
    place = left_behind(tmp_path / "spool", state, "active", dropped=False)
    ledger = Ledger(place, [], now=lambda: LATER)
    tended(place, ledger)
    assert ledger.live() == [record_in(state)]
    assert [record.job_id for record in ledger.take_announced()] == [ID]


def test_a_running_job_that_nobody_here_runs_waits_again_and_counts_nothing(tmp_path: Path) -> None:
    place = left_behind(tmp_path / "spool", "running", "active", dropped=False)
    ledger = Ledger(place, [], now=lambda: LATER)
    tended(place, ledger)
    (record,) = ledger.live()
    assert (record.state, record.attempts[-1].outcome, record.worker_deaths) == ("queued", "interrupted", 0)
    assert record == spool.read_record(place, ID)


@pytest.mark.parametrize("state", sorted(ENDS - {"rejected"}))
def test_a_copy_that_could_not_be_moved_away_at_the_end_is_put_away(tmp_path: Path, state: State) -> None:
    place = left_behind(tmp_path / "spool", state, "active", dropped=False)
    tended(place, Ledger(place, [], now=lambda: LATER))
    assert (place.copy(ID).exists(), place.ended_copy(ID).exists()) == (False, True)
    assert spool.read_record(place, ID) == record_in(state)


def test_the_record_of_an_ended_job_that_was_removed_is_forgotten_with_its_copy(tmp_path: Path) -> None:
    place = left_behind(tmp_path / "spool", "absent", "ended", dropped=False)
    tended(place, Ledger(place, []))
    assert not place.ended_copy(ID).exists()


def test_tending_twice_equals_tending_once(tmp_path: Path) -> None:
    """Whatever lies there beside what the ledger knows."""
    for place, *left in every_rest(tmp_path):
        ledger = Ledger(place, [], now=lambda: LATER)
        once = tended(place, ledger)
        live = ledger.live()
        assert tended(place, ledger) == once, left
        assert ledger.live() == live
        ledger.take_announced()
        tended(place, ledger)
        assert ledger.take_announced() == [], "nothing is taken up twice"


def test_a_live_record_whose_copy_is_gone_ends_with_what_to_do(tmp_path: Path) -> None:
    place = left_behind(tmp_path / "spool", "retrying", "absent", dropped=False)
    assert recover(place, NOW) == []
    record = spool.read_record(place, ID)
    assert (record.state, record.error["code"], record.error["remediation"]) == (
        "failed", "JOB_NOT_FOUND", "Submit the job again.",
    )  # fmt: skip


def test_unfinished_writes_are_removed_and_those_of_others_in_the_inbox_are_not(tmp_path: Path) -> None:
    place = left_behind(tmp_path / "spool", "queued", "active", dropped=False)
    ours = [folder / ".x.json.abc.tmp" for folder in (place.active, place.ended, place.results, place.worker)]
    theirs = place.inbox / ".job-2.tmp"
    for path in (*ours, theirs):
        path.write_bytes(b"part")
    recover(place, NOW)
    assert [path for path in (*ours, theirs) if path.exists()] == [theirs]


def test_looking_changes_nothing(tmp_path: Path) -> None:
    place = left_behind(tmp_path / "spool", "running", "ended", dropped=True)
    before = tree(place)
    (found,) = survey(place)
    assert (found.repair, found.dropped) == ("bring back", True)
    assert tree(place) == before


def test_files_that_are_named_after_no_job_are_left_alone(tmp_path: Path) -> None:
    place = left_behind(tmp_path / "spool", "absent", "absent", dropped=False)
    for folder in (place.results, place.active):
        (folder / "Not A Job.json").write_bytes(b"?")
    before = tree(place)
    assert recover(place, NOW) == []
    assert tree(place) == before


@given(st.dictionaries(st.integers(1, 6), st.tuples(st.sampled_from(RECORDS), st.sampled_from(COPIES), st.booleans())))
def test_many_jobs_are_mended_as_each_would_be_alone(
    tmp_path_factory: pytest.TempPathFactory, jobs: dict[int, tuple[str, str, bool]]
) -> None:
    together = SpoolPaths(tmp_path_factory.mktemp("together"))
    spool.prepare(together)
    expected = {}
    for number, combination in jobs.items():
        alone = left_behind(tmp_path_factory.mktemp("alone"), *combination)
        for name, content in tree(alone).items():
            path = together.root / name.replace(ID, f"job-{number}")
            path.write_bytes(content.replace(ID.encode(), f"job-{number}".encode()))
        for record in recover(alone, NOW):
            expected[f"job-{number}"] = record.state
    assert {record.job_id: record.state for record in recover(together, NOW)} == expected


class Cut(BaseException):
    """The power goes."""


EveryCut = Callable[..., None]


@pytest.fixture
def every_cut(tmp_path: Path, refuse_after: Callable[..., None]) -> EveryCut:
    """Stops a change at each of its steps, begins again as a new worker does, and checks what there is."""

    def cut_everywhere(
        prepare: Callable[[SpoolPaths], object],
        change: Callable[[SpoolPaths], object],
        check: Callable[[SpoolPaths, list[Record]], None],
    ) -> None:
        for number in range(100):
            place = SpoolPaths(tmp_path / f"spool-{number}")
            spool.prepare(place)
            prepare(place)
            refuse_after(number, Cut())
            try:
                change(place)
                whole = True
            except Cut:
                whole = False
            refuse_after(None)
            check(place, recover(place, LATER))
            if whole:
                assert number > 1, "it was cut at least once"
                return
        raise AssertionError("the change never came to its end")

    return cut_everywhere


def take_in(place: SpoolPaths, live: list[Record]) -> Ledger:
    ledger = Ledger(place, live, now=lambda: LATER)
    Intake(place, ledger, LIMITS.changed(partial_write_grace=2.0)).scan()
    return ledger


def test_an_acceptance_cut_anywhere_is_an_acceptance_in_the_end(every_cut: EveryCut) -> None:
    def check(place: SpoolPaths, live: list[Record]) -> None:
        ledger = take_in(place, live)
        record = ledger.get(ID)
        assert (record.state, record.generation, record.job_sha256) == ("queued", 1, JOB.sha256)
        assert place.copy(ID).exists()
        assert not place.dropped(ID).exists()

    def change(place: SpoolPaths) -> None:
        spool.accept(place, [(JOB, lifecycle.accept(JOB, NOW))])

    every_cut(lambda place: place.dropped(ID).write_bytes(FILE), change, check)


def test_an_end_cut_anywhere_runs_again_or_has_ended(every_cut: EveryCut) -> None:
    def check(place: SpoolPaths, live: list[Record]) -> None:
        record = spool.read_record(place, ID)
        if record.ended:
            assert live == []
            assert (place.copy(ID).exists(), place.ended_copy(ID).exists()) == (False, True)
        else:
            assert live == [record]
            assert (record.state, place.copy(ID).exists()) == ("queued", True)

    def prepare(place: SpoolPaths) -> None:
        spool.accept(place, [(JOB, record_in("running"))])

    def change(place: SpoolPaths) -> None:
        Ledger(place, [record_in("running")]).apply({ID: lifecycle.Succeeded({})})

    every_cut(prepare, change, check)


def test_a_replay_cut_anywhere_has_begun_or_can_be_asked_for_again(every_cut: EveryCut) -> None:
    def check(place: SpoolPaths, live: list[Record]) -> None:
        record = spool.read_record(place, ID)
        if record.ended:
            assert record == record_in("failed")
            again = Ledger(place, live).replay(ID)
            assert (again.state, again.generation) == ("queued", 2)
        else:
            assert live == [replace(record)]
            assert (record.state, record.generation) == ("queued", 2)
        assert place.copy(ID).exists()

    def prepare(place: SpoolPaths) -> None:
        spool.write_records(place, [record_in("failed")])
        place.ended_copy(ID).write_bytes(FILE)

    every_cut(prepare, lambda place: Ledger(place, []).replay(ID), check)


@pytest.mark.parametrize("secret", [b"", b"AKIAQ3EGXYZ7ABCDWXYZ"])
def test_a_rejection_cut_anywhere_is_a_rejection_in_the_end(every_cut: EveryCut, secret: bytes) -> None:
    def check(place: SpoolPaths, live: list[Record]) -> None:
        assert live == []
        take_in(place, live)
        record = spool.read_record(place, ID)
        assert (record.state, record.error["code"]) == ("rejected", "KIND_UNKNOWN")
        assert not place.dropped(ID).exists()
        assert [p for p in place.rejected.iterdir() if b'"magic"' in p.read_bytes() and "reason" not in p.name]
        assert not secret or not [p for p in place.root.rglob("*.json") if secret in p.read_bytes()]

    file = FILE.replace(b"noop", b"magic").replace(b"{}", b'{"a":"%s"}' % secret)
    every_cut(lambda place: place.dropped(ID).write_bytes(file), lambda place: take_in(place, []), check)
