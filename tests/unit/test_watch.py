"""Looking on: what counts as a change, when there is nothing more to see, and a log that is rotated."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from harness import held, raising

from jobs import clock, spool
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.model import Record, encode
from jobs.record_cache import RecordCache
from worker.terminal import output as terminal, watch
from worker.terminal.watch import QueueSnapshot, Tail

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
NO_FILTERS: dict[str, Any] = {"states": (), "kind": None, "error": None, "contains": None, "since": None}


def record(workspace: Workspace, job_id: str, state: Any, **fields: Any) -> None:
    at = clock.iso(NOW)
    ended = at if state in ("succeeded", "failed") else None
    values = {"kind": "noop", "job_sha256": "", "accepted_at": at, "finished_at": ended, **fields}
    spool.write_records(workspace.spool, [Record(job_id=job_id, state=state, **values)])


def changes(snapshot: QueueSnapshot) -> list[tuple[str, str]]:
    return [(row["job_id"], row["state"]) for row in snapshot.refresh()]


def test_a_change_is_another_state_attempt_or_generation_and_the_first_look_has_none(workspace: Workspace) -> None:
    snapshot = QueueSnapshot(workspace, NO_FILTERS)
    record(workspace, "a", "queued")
    assert changes(snapshot) == []
    record(workspace, "a", "running", attempt=1)
    record(workspace, "b", "queued")
    assert changes(snapshot) == [("a", "running"), ("b", "queued")]
    assert changes(snapshot) == []
    record(workspace, "a", "running", attempt=2)
    assert changes(snapshot) == [("a", "running")]
    record(workspace, "a", "running", attempt=2, generation=2)
    assert changes(snapshot) == [("a", "running")]


def test_filters_say_which_changes_are_shown_and_states_do_not_hide_that_work_goes_on(workspace: Workspace) -> None:
    snapshot = QueueSnapshot(workspace, {**NO_FILTERS, "states": ("failed",), "kind": "noop"})
    snapshot.refresh()
    record(workspace, "a", "running")
    record(workspace, "b", "failed")
    record(workspace, "c", "failed", kind="ask")
    assert changes(snapshot) == [("b", "failed")]
    assert not snapshot.is_idle
    record(workspace, "a", "succeeded")
    snapshot.refresh()
    assert snapshot.is_idle


def test_what_is_on_its_way_in_or_asked_for_is_not_idle(workspace: Workspace) -> None:
    snapshot = QueueSnapshot(workspace, NO_FILTERS)

    def is_idle() -> bool:
        snapshot.refresh()
        return snapshot.is_idle

    assert is_idle()
    for path in (workspace.spool.dropped("x"), workspace.spool.retry("x")):
        path.write_text("{}")
        assert not is_idle()
        path.unlink()
    (workspace.spool.control / ".part.json").write_text("{}")
    assert is_idle()


@pytest.mark.parametrize("way", ["dropped", "retry"])
def test_no_job_taken_in_meanwhile_is_missed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """The worker writes the record first and removes the file then; so a scan sees one of them at least."""
    path = getattr(workspace.spool, way)("x")
    path.write_text("{}")
    snapshot = QueueSnapshot(workspace, NO_FILTERS)
    refresh = RecordCache.refresh

    def taken_in_after_the_records_were_read(cache: RecordCache) -> int:
        version = refresh(cache)
        path.unlink(missing_ok=True)
        return version

    monkeypatch.setattr(RecordCache, "refresh", taken_in_after_the_records_were_read)
    snapshot.refresh()
    assert not snapshot.is_idle


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    found: list[bytes] = []
    monkeypatch.setattr("bridge.interface.envelope.write", found.append)
    return found


def test_in_a_pipe_each_change_is_an_object_a_line_and_the_answer_sums_up(
    workspace: Workspace, printed: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    record(workspace, "a", "running")

    def time_passes(_: float) -> None:
        record(workspace, "a", "succeeded", attempt=1)

    monkeypatch.setattr("worker.terminal.watch.time.sleep", time_passes)
    found = watch.watch(workspace, NO_FILTERS, 1.0, until_idle=True, as_json=True)
    events = [json.loads(line) for line in printed]
    assert [event["event"] for event in events] == ["start", "job"]
    assert (events[0]["counts"], events[1]["job"]["state"]) == ({"running": 1}, "succeeded")
    assert (found["success"], found["ended"]) == (True, {"succeeded": 1})


def test_a_failure_meanwhile_is_the_answers_failure(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    record(workspace, "old", "failed")
    record(workspace, "a", "running")
    error = JobError("TOPIC_NOT_FOUND").as_dict()
    monkeypatch.setattr("worker.terminal.watch.time.sleep", lambda _: record(workspace, "a", "failed", error=error))
    found = watch.watch(workspace, NO_FILTERS, 1.0, until_idle=True, as_json=False)
    assert (found["success"], found["error_code"], found["ended"]) == (False, "JOBS_FAILED", {"failed": 1})
    expected = ["worker not running; 1 running, 1 failed", "failed     noop  a  TOPIC_NOT_FOUND"]
    assert capsys.readouterr().out.splitlines() == expected


def test_it_does_not_wait_for_work_that_nobody_does(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    record(workspace, "a", "queued")
    now = iter(range(0, 1000, 3))
    monkeypatch.setattr("worker.terminal.watch.time.monotonic", lambda: next(now))
    monkeypatch.setattr("worker.terminal.watch.time.sleep", lambda _: None)
    with pytest.raises(JobError, match="WORKER_NOT_RUNNING"):
        watch.watch(workspace, NO_FILTERS, 1.0, until_idle=True, as_json=False)


def test_ctrl_c_ends_it_well_whatever_failed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.terminal.watch.time.sleep", raising(KeyboardInterrupt))
    assert watch.watch(workspace, NO_FILTERS, 1.0, until_idle=False, as_json=False)["success"] is True


def test_the_screen_shows_worker_counts_running_causes_and_ends(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    record(workspace, "done", "succeeded")
    record(workspace, "wrong", "failed", error=JobError("LLM_NOT_CONFIGURED").as_dict())
    record(workspace, "now", "running")
    workspace.spool.dropped("new").write_text("{}")
    running = {"job_id": "now", "kind": "rebuild", "jobs": 3, "seconds": 65.0,
               "progress": {"done": 30, "total": 120, "message": "embedding"}}  # fmt: skip
    beat = {"state": "ready", "heartbeat_at": clock.iso(NOW), "in_flight": [running]}
    workspace.spool.heartbeat.write_bytes(encode(beat))
    with held(workspace.spool.lock):
        snapshot = QueueSnapshot(workspace, NO_FILTERS)
        snapshot.refresh()
        screen = terminal.console()
        screen.print(watch.picture(snapshot, screen))
    shown = capsys.readouterr().out
    assert "worker  ready" in shown
    assert "queue   1 running, 1 succeeded, 1 failed, 1 file in the inbox" in shown
    assert re.search(r"running rebuild now and 2 more .*embedding,", shown)
    assert "30 of 120, for 1 min" in " ".join(shown.split())
    assert "1 job failed: LLM_NOT_CONFIGURED" in shown
    assert [line.split()[0] for line in shown.splitlines()[-2:]] == ["wrong", "done"]
    assert max(map(len, shown.splitlines())) <= 70


# --- a log ---


def followed(folder: Path) -> tuple[Path, Tail]:
    path = folder / "log"
    path.write_text("old\n")
    return path, Tail(path)


def test_new_lines_are_whole_lines_of_what_came_since(tmp_path: Path) -> None:
    path, tail = followed(tmp_path)
    assert list(tail.new_lines()) == []
    with path.open("a") as log:
        log.write("one\nhal")
        log.flush()
        assert list(tail.new_lines()) == ["one"]
        log.write("f\n")
    assert list(tail.new_lines()) == ["half"]


def test_a_log_that_is_rotated_or_cut_is_followed_from_its_beginning(tmp_path: Path) -> None:
    path, tail = followed(tmp_path)
    path.rename(tmp_path / "log.1")
    assert list(tail.new_lines()) == []
    path.write_text("new\n")
    assert list(tail.new_lines()) == ["new"]
    path.write_text("")
    path.write_text("a\n")
    assert list(tail.new_lines()) == ["a"]


def test_lines_written_before_a_rotation_are_not_lost(tmp_path: Path) -> None:
    path, tail = followed(tmp_path)
    with path.open("a") as log:
        log.write("last of the first\n")
    path.rename(tmp_path / "log.1")
    path.write_text("a whole file between\n")
    (tmp_path / "log.1").rename(tmp_path / "log.2")
    path.rename(tmp_path / "log.1")
    path.write_text("new\n")
    assert list(tail.new_lines()) == ["last of the first", "a whole file between", "new"]
    assert list(tail.new_lines()) == []


def test_a_log_that_was_not_there_is_followed_from_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    (tmp_path / "log.1").write_text("of an earlier time\n")
    tail = Tail(path)
    assert list(tail.new_lines()) == []
    path.write_text("new\n")
    assert list(tail.new_lines()) == ["new"]
