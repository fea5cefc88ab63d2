"""What has ended goes when its time is over: by age and by number, a part at a time, and never what still lives."""

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from inbox_door import LIMITS, job_of
from spooled_jobs import spooled

from bridge.settings import Settings
from jobs import files, lifecycle, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.model import Record, encode
from jobs.states import State
from worker.inbox.intake import Intake
from worker.scheduling import retention
from worker.scheduling.ledger import Ledger
from worker.scheduling.recovery import recover
from worker.scheduling.retention import Timetable, expired_jobs, prune, prune_all

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
SECONDS = NOW.timestamp()
DAY = 86_400.0
KEEP = Settings(keep_succeeded_days=7, keep_failed_days=30, keep_ended_jobs=100, keep_rejected_files=100)


def aged(*days: float) -> list[tuple[float, str]]:
    """Jobs called ``0``, ``1``, … that ended so many days ago."""
    return [(SECONDS - each * DAY, str(number)) for number, each in enumerate(days)]


def goes(found: list[tuple[float, str]], keep: Settings = KEEP, state: State | None = "succeeded") -> list[str]:
    return list(expired_jobs(found, keep, SECONDS, lambda name: state))


# --- the decision ---


KEPT_DAYS = [("succeeded", 7), ("failed", 30), ("cancelled", 30), ("expired", 30), ("rejected", 30)]


@pytest.mark.parametrize(("state", "days"), KEPT_DAYS)
def test_what_has_ended_is_kept_for_its_days_and_no_longer(state: State, days: float) -> None:
    assert goes(aged(days - 0.01, days, days + 0.01), state=state) == ["2"]


def test_what_ended_at_the_same_time_goes_in_the_order_of_its_names() -> None:
    assert goes([(SECONDS, name) for name in "bca"], KEEP.changed(keep_ended_jobs=1)) == ["a", "b"]


def test_only_what_the_age_does_not_decide_is_looked_into() -> None:
    asked: list[str] = []

    def state(name: str) -> State:
        asked.append(name)
        return "failed"

    assert list(expired_jobs(aged(1, 8, 40, 2), KEEP, SECONDS, state)) == ["2"]
    assert asked == ["2", "1"]


def test_no_more_is_looked_into_than_is_asked_for() -> None:
    asked: list[str] = []

    def state(name: str) -> State:
        asked.append(name)
        return "succeeded"

    found: Iterator[str] = expired_jobs(aged(*range(100, 0, -1)), KEEP, SECONDS, state)
    assert [next(found), next(found)] == ["0", "1"]
    assert asked == ["0", "1"]


STATES = st.sampled_from(["succeeded", "failed", "cancelled", None])


@given(
    st.lists(st.tuples(st.floats(-5, 60), STATES), max_size=30),
    st.floats(0, 40), st.floats(0, 40), st.integers(0, 30),
)  # fmt: skip
def test_what_goes_is_exactly_what_is_over(
    jobs: list[tuple[float, State | None]], succeeded_days: float, failed_days: float, most: int
) -> None:
    keep = KEEP.changed(keep_succeeded_days=succeeded_days, keep_failed_days=failed_days, keep_ended_jobs=most)
    found = aged(*(days for days, _ in jobs))
    states = {str(number): state for number, (_, state) in enumerate(jobs)}
    gone = list(expired_jobs(found, keep, SECONDS, lambda name: states[name]))
    oldest = [name for _, name in sorted(found)]
    assert gone == [name for name in oldest if name in gone], "the oldest first, each once"
    too_many = oldest[: max(0, len(oldest) - most)]
    for ended_at, name in found:
        state = states[name]
        longest = succeeded_days if state == "succeeded" else failed_days
        is_over = state is not None and (name in too_many or (SECONDS - ended_at) / DAY > longest)
        assert (name in gone) == is_over, name


# --- when ---


def test_it_is_time_at_the_start_every_hour_when_asked_and_when_the_limits_are_exceeded() -> None:
    table = Timetable()
    assert table.is_due(5.0, 0)
    table.begun(5.0, 0)
    assert not table.is_due(5.0 + 3599, 249)
    assert table.is_due(5.0 + 3600, 0)
    assert table.is_due(5.0, 250)
    table.begun(5.0, 250)
    assert not table.is_due(5.0, 499)
    table.ended(1000)
    assert not table.is_due(5.0, 250 + 1249)
    assert table.is_due(5.0, 250 + 1250)
    table.ask()
    assert table.is_due(5.0, 250)


# --- in a spool ---


@pytest.fixture
def place(workspace: Workspace) -> SpoolPaths:
    return workspace.spool


def grown_old(path: Path, days: float) -> None:
    os.utime(path, (SECONDS - days * DAY,) * 2, follow_symlinks=False)


def ended(place: SpoolPaths, job_id: str, days: float, *events: lifecycle.Event) -> Record:
    """A job that ended so many days ago, by default with success."""
    record = spooled(place, job_id, *(events or (lifecycle.Started(), lifecycle.Succeeded({}))), at=NOW)
    grown_old(place.record(job_id), days)
    return record


def ended_record(job_id: str) -> dict[str, Any]:
    record = lifecycle.accept(job_of(job_id), NOW)
    for event in (lifecycle.Started(), lifecycle.Succeeded({})):
        record = lifecycle.step(record, event, NOW)
    return record.as_dict()


def rejected(place: SpoolPaths, name: str, days: float) -> Path:
    dropped = place.inbox / name
    if not os.path.lexists(dropped):
        dropped.write_bytes(b"?")
    kept = spool.reject(place, dropped, JobError("NAME_INVALID"), None, "2026-11-20T12:00:00Z")
    grown_old(kept.with_suffix(".reason.json"), days)
    return kept


def pruned(workspace: Workspace, keep: Settings = KEEP, live: tuple[str, ...] = (), at_most: int = 200) -> int:
    return prune(workspace, keep, lambda job_id: job_id in live, SECONDS, at_most)


def there(place: SpoolPaths) -> set[str]:
    return set(spool.job_ids(place.results))


def test_a_job_that_is_over_goes_with_its_copy_and_frees_its_id(workspace: Workspace, place: SpoolPaths) -> None:
    ended(place, "old", 8)
    ended(place, "young", 6)
    assert pruned(workspace) == 1
    assert there(place) == {"young"}
    assert not place.ended_copy("old").exists()
    assert place.ended_copy("young").exists()
    assert spool.read_record(place, "old") is None
    assert pruned(workspace) == 0


def test_what_failed_is_kept_longer_so_that_it_can_be_run_again(workspace: Workspace, place: SpoolPaths) -> None:
    failed = lifecycle.Failed(JobError("TEST_FAILURE"))
    ended(place, "failed", 29, lifecycle.Started(), failed)
    ended(place, "older", 31, lifecycle.Started(), failed)
    ended(place, "cancelled", 29, lifecycle.Cancelled())
    assert pruned(workspace) == 1
    assert there(place) == {"failed", "cancelled"}
    assert Ledger(place, []).replay("failed").generation == 2


@pytest.mark.parametrize("events", [(), (lifecycle.Started(),)])
def test_live_jobs_are_untouched(workspace: Workspace, place: SpoolPaths, events: tuple[lifecycle.Event, ...]) -> None:
    """Neither one that the ledger knows, nor a live record that it does not know (yet)."""
    record = spooled(place, "live", *events, at=NOW)
    grown_old(place.record("live"), 4000)
    for live in (("live",), ()):
        assert pruned(workspace, KEEP.changed(keep_ended_jobs=0), live) == 0
        assert spool.read_record(place, "live") == record
        assert place.copy("live").exists()


def test_a_job_that_is_being_run_again_is_not_taken_for_an_ended_one(workspace: Workspace, place: SpoolPaths) -> None:
    ended(place, "again", 400, lifecycle.Cancelled())
    ledger = Ledger(place, [])
    ledger.replay("again")
    grown_old(place.record("again"), 400)
    assert prune(workspace, KEEP, lambda job_id: ledger.get(job_id) is not None, SECONDS) == 0
    assert there(place) == {"again"}


def test_an_ended_job_with_a_copy_among_the_active_is_left_to_recovery(workspace: Workspace, place: SpoolPaths) -> None:
    """Its worker died before it had put the copy away. Without its record, the copy would be run as a new job."""
    record = ended(place, "a", 400)
    place.ended_copy("a").rename(place.copy("a"))
    assert pruned(workspace) == 0
    assert recover(place, NOW) == []
    assert spool.read_record(place, "a") == record
    assert pruned(workspace) == 1
    assert recover(place, NOW) == []
    assert list(place.active.iterdir()) == list(place.ended.iterdir()) == []


def test_it_goes_a_part_at_a_time_the_oldest_first(workspace: Workspace, place: SpoolPaths) -> None:
    for number in range(7):
        ended(place, f"job-{number}", 10 + number)
    assert [pruned(workspace, at_most=3) for _ in range(4)] == [3, 3, 1, 0]
    for number in range(4):
        ended(place, f"job-{number}", 10 + number)
    assert pruned(workspace, at_most=3) == 3
    assert there(place) == {"job-0"}


def test_damaged_records_and_files_of_others_are_left_alone(workspace: Workspace, place: SpoolPaths) -> None:
    left = [place.results / name for name in ("damaged.json", "Not An Id.json", ".part.json", "x")]
    for path in left:
        path.write_bytes(b"{")
        grown_old(path, 400)
    (place.results / "folder.json").mkdir()
    grown_old(place.results / "folder.json", 400)
    nothing = KEEP.changed(keep_succeeded_days=0, keep_failed_days=0, keep_ended_jobs=0, keep_rejected_files=0)
    assert pruned(workspace, nothing) == 0
    assert all(path.exists() for path in left)


def test_a_record_that_is_a_link_is_not_followed(workspace: Workspace, place: SpoolPaths, tmp_path: Path) -> None:
    target = tmp_path / "target.json"
    ended(place, "link", 400)
    place.record("link").rename(target)
    place.record("link").symlink_to(target)
    grown_old(place.record("link"), 400)
    pruned(workspace)
    assert target.exists()


class Cut(BaseException):
    """The process is killed."""


@pytest.mark.parametrize("recovered", [True, False])
@pytest.mark.parametrize("removals", [0, 1, 2])
def test_a_pruning_that_was_cut_off_is_finished_by_the_next(
    workspace: Workspace, place: SpoolPaths, monkeypatch: pytest.MonkeyPatch, removals: int, recovered: bool
) -> None:
    ended(place, "a", 400)
    left = [removals]
    remove = files.remove

    def cut(path: Path) -> None:
        if left[0] == 0:
            raise Cut
        left[0] -= 1
        remove(path)

    with monkeypatch.context() as patch:
        patch.setattr(files, "remove", cut)
        try:
            pruned(workspace)
        except Cut:
            assert removals < 2
    assert there(place) == ({"a"} if removals < 2 else set()), "the copy goes first"
    if recovered:
        assert recover(place, NOW) == []
    pruned(workspace)
    assert recover(place, NOW) == []
    assert there(place) == set()
    assert list(place.ended.iterdir()) == list(place.active.iterdir()) == []


def test_what_a_power_cut_could_bring_back_is_on_the_medium_before_a_record_goes(
    workspace: Workspace, place: SpoolPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the removal of a dropped file nor the move of a copy to ``ended/`` is synced at its time."""
    done: list[str] = []

    def noting(name: str) -> Callable[[Path], None]:
        action = getattr(files, name)

        def noted(path: Path) -> None:
            done.append(f"{name} {path.relative_to(place.root.parent)}")
            action(path)

        return noted

    for name in ("sync_folder", "remove"):
        monkeypatch.setattr(files, name, noting(name))
    for job_id in "ab":
        ended(place, job_id, 400)
    done.clear()
    assert pruned(workspace) == 2
    root = place.root.name
    for job_id in "ab":
        before = done[: done.index(f"remove {root}/results/{job_id}.json")]
        assert {f"sync_folder {root}", f"sync_folder {root}/active"} <= set(before)
        copy = before.index(f"remove {root}/ended/{job_id}.json")
        assert f"sync_folder {root}/ended" in before[copy:], "else the copy would come back without its record"


# --- rejected files ---


def test_a_rejected_file_goes_with_its_reason(workspace: Workspace, place: SpoolPaths) -> None:
    old, young = rejected(place, "old", 31), rejected(place, "young", 29)
    assert pruned(workspace) == 2
    assert sorted(place.rejected.iterdir()) == sorted([young, young.with_suffix(".reason.json")])
    assert not old.exists()


def test_of_too_many_rejected_files_the_oldest_go(workspace: Workspace, place: SpoolPaths) -> None:
    for number in range(5):
        rejected(place, f"file-{number}", number)
    assert pruned(workspace, KEEP.changed(keep_rejected_files=2)) == 6
    assert {path.name[:6] for path in place.rejected.iterdir()} == {"file-0", "file-1"}


def test_rejected_links_and_pipes_go_unfollowed(workspace: Workspace, place: SpoolPaths, tmp_path: Path) -> None:
    """And folders."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_bytes(b"kept")
    (place.inbox / "link").symlink_to(outside)
    (place.inbox / "folder").mkdir()
    (place.inbox / "folder" / "link").symlink_to(outside)
    (place.inbox / "folder" / "file").write_bytes(b"?")
    (place.inbox / "dangling").symlink_to(tmp_path / "nowhere")
    os.mkfifo(place.inbox / "pipe")
    for name in ("link", "folder", "dangling", "pipe"):
        rejected(place, name, 31)
    assert pruned(workspace) == 8
    assert list(place.rejected.iterdir()) == []
    assert (outside / "kept").read_bytes() == b"kept"


def test_rejected_files_go_a_part_at_a_time_however_many_jobs_go(workspace: Workspace, place: SpoolPaths) -> None:
    for number in range(8):
        ended(place, f"job-{number}", 40)
    for number in range(3):
        rejected(place, f"file-{number}", 40)
    assert [pruned(workspace, at_most=4) for _ in range(3)] == [8, 6, 0]
    assert list(place.rejected.iterdir()) == []


def test_what_cannot_be_removed_is_not_said_to_have_gone_and_holds_up_nothing(
    workspace: Workspace, place: SpoolPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever prunes until nothing is left would never end."""
    rejected(place, "stuck", 50)
    rejected(place, "loose", 40)
    remove = files.remove

    def refusing(path: Path) -> None:
        if path.name.startswith("stuck"):
            raise PermissionError(1, "Operation not permitted", str(path))
        remove(path)

    monkeypatch.setattr(retention.files, "remove", refusing)
    assert pruned(workspace) == 2
    assert {path.name[:5] for path in place.rejected.iterdir()} == {"stuck"}
    assert pruned(workspace) == 0


def test_all_goes_in_one_call_unless_its_time_is_over(workspace: Workspace, place: SpoolPaths) -> None:
    """What has begun is finished: so many at once that each call makes progress."""
    for number in range(1100):
        place.record(f"job-{number}").write_bytes(encode(ended_record(f"job-{number}")))
    left = KEEP.changed(keep_ended_jobs=20)
    assert prune_all(workspace, left, lambda job_id: False, SECONDS, 0.0) is None
    assert len(there(place)) == 100
    assert prune_all(workspace, left, lambda job_id: False, SECONDS, 3600.0) == 0
    assert len(there(place)) == 20
    assert prune_all(workspace, KEEP, lambda job_id: False, SECONDS, 3600.0) == 80


def test_a_flood_of_rejections_stays_within_the_limit_and_a_constant(tmp_path: Path) -> None:
    """The steps of the worker's scan, as often as a flood makes them."""
    workspace = Workspace(tmp_path / "workspace")
    workspace.root.mkdir()
    spool.prepare(workspace.spool)
    keep, table, codes = KEEP.changed(keep_rejected_files=50, keep_ended_jobs=50), Timetable(), []
    intake = Intake(workspace.spool, Ledger(workspace.spool, []), LIMITS, rejected=codes.append)
    for number in range(1000):
        (workspace.spool.inbox / f"job-{number}.json").write_bytes(b'{"kind": 1}')
    most = 0
    while len(codes) < 1000:
        intake.scan()
        most = max(most, len(there(workspace.spool)), len(list(workspace.spool.rejected.iterdir())) // 2)
        if table.is_due(0.0, len(codes)):
            table.begun(0.0, len(codes))
            table.ended(prune_all(workspace, keep, lambda job_id: False, SECONDS, 3600.0))
    assert most <= 50 + 500
    assert prune_all(workspace, keep, lambda job_id: False, SECONDS, 3600.0) == 0
    assert len(there(workspace.spool)) == len(list(workspace.spool.rejected.iterdir())) // 2 == 50


# --- stores that were set aside ---


def test_a_store_that_was_set_aside_goes_when_its_days_are_over(workspace: Workspace) -> None:
    for name, days in (("old", 31), ("young", 29)):
        folder = workspace.quarantine / name
        files.make_folder(folder)
        (folder / "graph").write_bytes(b"?")
        grown_old(folder, days)
    assert pruned(workspace) == 1
    assert [path.name for path in workspace.quarantine.iterdir()] == ["young"]


def test_a_workspace_without_anything_has_nothing_to_prune(tmp_path: Path) -> None:
    assert pruned(Workspace(tmp_path)) == 0
