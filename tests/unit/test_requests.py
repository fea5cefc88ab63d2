"""What is asked about the queue: which jobs are meant, what the worker is told, and what became of it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from harness import held, until
from spooled_jobs import spooled

from jobs import clock, files, lifecycle, rejected_files, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.model import Record, encode
from jobs.states import VERBS
from worker.admin import requests, selection

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def place(workspace: Workspace) -> SpoolPaths:
    return workspace.spool


def job(place: SpoolPaths, job_id: str, *events: lifecycle.Event) -> Record:
    return spooled(place, job_id, *events, at=NOW)


STARTED, FAILED = lifecycle.Started(), lifecycle.Failed(JobError("TOPIC_NOT_FOUND"))


def rejected(place: SpoolPaths, name: str, code: str = "BACKLOG_FULL", *, record: bool = True) -> Path:
    """A file that was rejected; its content is a job all the same."""
    path = place.inbox / name
    path.write_bytes(encode({"schema_version": 1, "job_id": name[:-5], "kind": "check", "payload": {}}))
    error = JobError(code)
    refused = lifecycle.reject(name[:-5], error, NOW) if record else None
    return spool.reject(place, path, error, refused, clock.iso(NOW))


@contextmanager
def worker(place: SpoolPaths, obey: Any) -> Iterator[None]:
    """Somebody who holds the worker's lock, and does what ``obey`` does with each request or drop, before it goes."""
    stop = threading.Event()
    files.make_folder(place.control)

    def work() -> None:
        while not stop.is_set():
            for path in (*place.control.glob("[!.]*.json"), *place.inbox.glob("[!.]*.json")):
                obey(path)
                path.unlink()
            stop.wait(0.002)

    with held(place.lock):
        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_bytes())


# --- which jobs are meant ---


def test_an_id_is_meant_by_a_beginning_that_no_other_has(place: SpoolPaths) -> None:
    for job_id in ("0193-aa-1", "0193-ab-2", "0193"):
        job(place, job_id)
    (place.inbox / "waits-here.json").write_text("{}")
    assert selection.resolved(place, "0193-ab") == "0193-ab-2"
    assert selection.resolved(place, "0193") == "0193", "a whole id is itself, whatever begins with it"
    assert selection.resolved(place, "waits") == "waits-here"


def test_a_beginning_of_several_lists_them_and_one_of_none_says_what_is_near(place: SpoolPaths) -> None:
    for number in range(7):
        job(place, f"job-{number}")
    with pytest.raises(JobError, match=r"ARGUMENT_INVALID.*7 jobs: job-0, job-1, .* and 2 more"):
        selection.resolved(place, "job-")
    with pytest.raises(JobError, match=r"JOB_NOT_FOUND.*Did you mean job-3"):
        selection.resolved(place, "jab-3")
    for nothing in ("", "../../etc/passwd", "zzz"):
        with pytest.raises(JobError, match="JOB_NOT_FOUND"):
            selection.resolved(place, nothing)


def test_words_of_filters_are_known_ones_or_the_nearest_is_named() -> None:
    assert selection.states_of("failed, expired") == ("failed", "expired")
    assert selection.states_of(None) == selection.states_of("") == ()
    assert selection.kind_of("compact") == "compact"
    assert selection.error_of("llm_timeout") == "LLM_TIMEOUT"
    for ask, near in (
        (lambda: selection.states_of("faild"), "failed"),
        (lambda: selection.kind_of("compct"), "compact"),
        (lambda: selection.error_of("LLM_NOT_CONFIGURD"), "LLM_NOT_CONFIGURED"),
    ):
        with pytest.raises(JobError, match=rf"ARGUMENT_INVALID.*Did you mean {near}\?"):
            ask()


TIMES_SAID = [
    ("90s", "2026-11-20T11:58:30Z"),
    ("45min", "2026-11-20T11:15:00Z"),
    ("2h", "2026-11-20T10:00:00Z"),
    ("3 d", "2026-11-17T12:00:00Z"),
    ("1w", "2026-11-13T12:00:00Z"),
    ("2026-11-20T08:00:00+02:00", "2026-11-20T06:00:00Z"),
    ("2026-11-20T08:00Z", "2026-11-20T08:00:00Z"),
]


@pytest.mark.parametrize(("text", "at"), TIMES_SAID)
def test_a_time_is_said_as_a_span_or_as_a_date(text: str, at: str) -> None:
    assert selection.moment(text, NOW) == at


@pytest.mark.parametrize("text", ["yesterday", "2x", "-1h", "9999999d", "999999w", ""])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(JobError, match="ARGUMENT_INVALID"):
        selection.moment(text, NOW)


def test_without_a_state_the_default_ones_are_meant_and_the_oldest_come_first() -> None:
    def row(job_id: str, state: str, hour: int) -> dict[str, Any]:
        at = clock.iso(NOW.replace(hour=hour))
        error = {"code": "X"} if state == "failed" else None
        return {
            "job_id": job_id, "state": state, "kind": "noop", "error": error, "accepted_at": at, "finished_at": None,
            "correlation_id": None,
        }  # fmt: skip

    found = [row("new", "failed", 9), row("old", "failed", 3), row("gone", "cancelled", 4)]
    assert selection.selected_for("retry", found) == ["old", "new"]
    assert selection.selected_for("retry", found, states=("cancelled",)) == ["gone"]
    assert selection.selected_for("retry", found, since=clock.iso(NOW.replace(hour=5))) == ["new"]
    assert selection.selected_for("retry", found, error="Y") == []


# --- cancelling ---


def test_cancelling_several_without_a_worker_leaves_requests_for_the_next(workspace: Workspace) -> None:
    place = workspace.spool
    job(place, "a")
    job(place, "b", STARTED, lifecycle.Succeeded({}))
    outcome = requests.ask(workspace, "cancel", ["a", "b", "a", "nobody"])
    assert outcome.jobs == [
        {"job_id": "b", "requested": False, "obeyed": True, "state": "succeeded"},
        {"job_id": "a", "requested": True, "obeyed": False, "state": "queued"},
    ]
    assert [(job_id, error.code) for job_id, error in outcome.skipped] == [("nobody", "JOB_NOT_FOUND")]
    assert read(place.cancel("a"))["generation"] == 1
    assert not place.cancel("b").exists()


def test_cancelling_waits_for_the_worker_and_says_for_which_it_was_too_late(workspace: Workspace) -> None:
    place = workspace.spool
    job(place, "waits")
    late = job(place, "late", STARTED)

    def obey(path: Path) -> None:
        job_id = read(path)["job_id"]
        if job_id == "waits":
            spool.write_records(place, [lifecycle.step(spool.read_record(place, job_id), lifecycle.Cancelled(), NOW)])  # type: ignore[arg-type]
        else:
            spool.write_records(place, [lifecycle.step(late, lifecycle.Succeeded({}), NOW)])

    with worker(place, obey):
        outcome = requests.ask(workspace, "cancel", ["waits", "late"])
    assert outcome.jobs == [{"job_id": "waits", "requested": True, "obeyed": True, "state": "cancelled"}]
    assert [(job_id, error.code) for job_id, error in outcome.skipped] == [("late", "CANCEL_TOO_LATE")]


# --- running again ---


def test_running_again_asks_for_what_can_and_says_why_not_for_the_rest(workspace: Workspace, place: SpoolPaths) -> None:
    job(place, "failed", STARTED, FAILED)
    job(place, "done", STARTED, lifecycle.Succeeded({}))
    job(place, "waits")
    job(place, "scrubbed", STARTED, FAILED)
    place.ended_copy("scrubbed").unlink()
    place.record("damaged").write_text("{")
    names = ["failed", "done", "waits", "scrubbed", "damaged", "nobody"]
    outcome = requests.ask(workspace, "retry", names, start=False)
    assert outcome.jobs == [{"job_id": "failed", "requested": True, "obeyed": False, "state": "failed"}]
    assert read(place.retry("failed"))["generation"] == 1
    assert {job_id: error.code for job_id, error in outcome.skipped} == {
        "done": "ARGUMENT_INVALID",
        "waits": "ARGUMENT_INVALID",
        "scrubbed": "JOB_NOT_FOUND",
        "damaged": "JOB_NOT_FOUND",
        "nobody": "JOB_NOT_FOUND",
    }
    assert all(refused["remediation"] for refused in outcome.shown_skipped())


def test_the_state_that_is_told_is_the_one_after_the_worker_has_obeyed(workspace: Workspace, place: SpoolPaths) -> None:
    record = job(place, "failed", STARTED, FAILED)

    def obey(_: Path) -> None:
        spool.write_records(place, [lifecycle.step(record, lifecycle.Replayed(), NOW)])

    with worker(place, obey):
        outcome = requests.ask(workspace, "retry", ["failed"], start=False)
    assert outcome.jobs == [{"job_id": "failed", "requested": True, "obeyed": True, "state": "queued"}]


def test_a_rejected_job_is_dropped_anew_and_its_reason_goes(workspace: Workspace, place: SpoolPaths) -> None:
    former, kept = rejected(place, "late.json"), rejected(place, "late.json")
    content = kept.read_bytes()
    outcome = requests.ask(workspace, "retry", ["late"], start=False)
    assert outcome.jobs == [{"job_id": "late", "requested": True, "obeyed": False, "state": "in the inbox"}]
    assert place.dropped("late").read_bytes() == content
    assert not kept.exists()
    assert former.exists(), "the newest one counts"
    assert [item["kept_as"] for item in rejected_files.rejections(place, 9)[0]] == [former.name]


def test_what_is_rejected_once_more_is_refused_with_the_reason(workspace: Workspace, place: SpoolPaths) -> None:
    rejected(place, "bad.json", "JSON_INVALID")

    def obey(path: Path) -> None:
        spool.write_records(place, [lifecycle.reject("bad", JobError("JSON_INVALID", "Still."), NOW, 2)])

    with worker(place, obey):
        outcome = requests.ask(workspace, "retry", ["bad"], start=False)
    assert outcome.jobs == []
    assert [(job_id, str(error)) for job_id, error in outcome.skipped] == [("bad", "JSON_INVALID: Still.")]


def test_a_rejected_file_is_named_as_it_is_kept(workspace: Workspace, place: SpoolPaths) -> None:
    kept = rejected(place, "mine.json", "JOB_ID_CONFLICT", record=False)
    outcome = requests.ask(workspace, "retry", [kept.name, "other.1.json", "../late.1.json"], start=False)
    assert [asked["job_id"] for asked in outcome.jobs] == ["mine"]
    assert {error.code for _, error in outcome.skipped} == {"JOB_NOT_FOUND"}


def test_a_drop_that_waits_is_not_overwritten_by_a_rejected_one(place: SpoolPaths) -> None:
    kept = rejected(place, "mine.json")
    place.dropped("mine").write_text("another")
    with pytest.raises(JobError, match="JOB_ID_CONFLICT"):
        rejected_files.drop_again(place, kept.name)
    assert (place.dropped("mine").read_text(), kept.exists()) == ("another", True)


def test_what_is_no_plain_file_or_no_job_by_its_name_is_not_dropped(place: SpoolPaths, tmp_path: Path) -> None:
    unnamed = rejected(place, "No Name.json", "NAME_INVALID", record=False)
    with pytest.raises(JobError, match="NAME_INVALID"):
        rejected_files.drop_again(place, unnamed.name)
    link = rejected(place, "link.json")
    link.unlink()
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(JobError, match="FILE_UNSAFE"):
        rejected_files.drop_again(place, link.name)
    assert unnamed.exists()


def test_a_file_whose_id_belongs_to_another_job_is_no_success(workspace: Workspace, place: SpoolPaths) -> None:
    """The worker rejects it again, and leaves the record of the first job as it is."""
    job(place, "mine", STARTED, lifecycle.Succeeded({}))
    path = place.inbox / "mine.json"
    other = {"schema_version": 1, "job_id": "mine", "kind": "compact", "payload": {"topic_id": "t"}}
    path.write_bytes(encode(other))
    kept = spool.reject(place, path, JobError("JOB_ID_CONFLICT"), None, clock.iso(NOW))
    with worker(place, lambda _: None):
        outcome = requests.ask(workspace, "retry", [kept.name], start=False)
    assert outcome.jobs == []
    assert [(job_id, error.code) for job_id, error in outcome.skipped] == [("mine", "JOB_ID_CONFLICT")]


def test_the_same_job_dropped_again_is_a_success(workspace: Workspace, place: SpoolPaths) -> None:
    job(place, "mine", STARTED, lifecycle.Succeeded({}))
    kept = rejected(place, "mine.json", record=False)
    with worker(place, lambda _: None):
        outcome = requests.ask(workspace, "retry", [kept.name], start=False)
    assert [(each["job_id"], each["state"]) for each in outcome.jobs] == [("mine", "succeeded")]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("how", ["removed", "damaged"])
def test_one_vanished_job_harms_none(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, verb: str, how: str
) -> None:
    """It does not spoil the answer about the others."""
    place = workspace.spool
    monkeypatch.setattr("jobs.launch.start", lambda workspace, **more: False)
    for job_id in ("a", "b"):
        job(place, job_id, *(() if verb == "cancel" else (STARTED, FAILED)))

    def obey(path: Path) -> None:
        if read(path)["job_id"] == "a":
            if how == "removed":
                place.record("a").unlink()
            else:
                place.record("a").write_text("{")

    with worker(place, obey):
        outcome = requests.ask(workspace, verb, ["a", "b"])
    told = {each["job_id"] for each in outcome.jobs} | {job_id for job_id, _ in outcome.skipped}
    assert told == {"a", "b"}
    if how == "damaged":
        [message] = [error.message for job_id, error in outcome.skipped if job_id == "a"]
        assert "damaged" in message


# --- what was rejected, what waits ---


def test_rejections_are_those_whose_file_is_kept_the_newest_first(place: SpoolPaths) -> None:
    first, second, gone = (rejected(place, f"{name}.json", "DISK_FULL") for name in ("a", "b", "c"))
    gone.unlink()
    found, total = rejected_files.rejections(place, 1)
    assert (total, [item["kept_as"] for item in found]) == (2, [second.name])
    assert found[0]["file"] == "b.json"
    assert (found[0]["error"]["code"], found[0]["size"]) == ("DISK_FULL", second.stat().st_size)
    (place.rejected / first.name.replace(".json", ".reason.json")).write_text("half")
    assert [item["kept_as"] for item in rejected_files.rejections(place, 9)[0]] == [second.name]


def test_where_there_is_no_spool_there_is_nothing(tmp_path: Path) -> None:
    place = Workspace(tmp_path / "nowhere").spool
    assert rejected_files.rejections(place, 9) == ([], 0)
    assert selection.waiting(place) == []
    assert selection.known_ids(place) == set() or not place.root.exists()


def test_asking_the_worker_says_whether_it_has_obeyed(workspace: Workspace) -> None:
    assert requests.ask_worker(workspace, "pause")["obeyed"] is False
    assert workspace.spool.request("pause").exists()
    with worker(workspace.spool, lambda _: None):
        until(lambda: not workspace.spool.request("pause").exists(), "the former one is read")
        assert requests.ask_worker(workspace, "resume")["obeyed"] is True


def test_ended_jobs_are_taken_off_the_list_once_a_worker_has_read_it(workspace: Workspace, place: SpoolPaths) -> None:
    job(place, "failed", STARTED, FAILED)
    job(place, "waits")
    outcome = requests.ask(workspace, "dismiss", ["failed", "waits", "nobody"], 0.0)
    assert outcome.jobs == [{"job_id": "failed", "requested": True, "obeyed": False, "state": "failed"}]
    expected = [("waits", "ARGUMENT_INVALID"), ("nobody", "JOB_NOT_FOUND")]
    assert [(job_id, error.code) for job_id, error in outcome.skipped] == expected
    request = json.loads(place.dismiss("failed").read_bytes())
    assert (request["job_id"], request["generation"]) == ("failed", 1)
