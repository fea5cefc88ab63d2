"""The job folder: what is written in which order, and what an asker does with no process but its own."""

import json
import os
import stat
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest
from harness import held, masked, raising
from inbox_door import job_of

from jobs import client, clock, files, lifecycle, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace, find_workspace
from jobs.lifecycle import Event, Started, Succeeded
from jobs.model import Job, Record, encode
from jobs.parse import parse_job
from jobs.payloads import Migrate

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
ERROR = JobError("JOB_INVALID", "It is wrong.")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="names, links and pipes of POSIX")


@pytest.fixture
def place(tmp_path: Path) -> SpoolPaths:
    found = Workspace(tmp_path).spool
    spool.prepare(found)
    return found


def accepted(job_id: str, payload: dict[str, Any] | None = None) -> tuple[Job, Record]:
    job = job_of(job_id, "migrate", payload)
    return job, lifecycle.accept(job, NOON)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def reject(place: SpoolPaths, name: str) -> tuple[Path, dict[str, Any]]:
    """Reject an entry of the inbox; returns where it lies now, and the reason."""
    kept = spool.reject(place, place.inbox / name, ERROR, None, "2026-11-20T12:00:00Z")
    return kept, json.loads(kept.with_name(f"{kept.stem}.reason.json").read_bytes())


# --- layout ---


def test_the_spool_is_private_and_not_for_git(place: SpoolPaths) -> None:
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in place.folders} == {0o700}
    assert (place.root / ".gitignore").read_bytes() == b"*\n"


def test_preparing_twice_keeps_what_is_there(place: SpoolPaths) -> None:
    spool.drop(place, "a", b"{}")
    spool.prepare(place)
    assert place.dropped("a").read_bytes() == b"{}"


def test_every_path_of_a_workspace_is_inside_it(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    place = workspace.spool
    paths = [
        workspace.memory_db, workspace.vectors, workspace.store_lock, workspace.cognee_system, workspace.cognee_data,
        workspace.quarantine, workspace.env_file, workspace.owner_marker(place.root), place.heartbeat, place.lock,
        place.queue_db, place.log, place.copy("a"), place.ended_copy("a"), place.record("a"),
        place.cancel("a"), place.retry("a"), *place.folders,
    ]  # fmt: skip
    assert all(path.is_relative_to(tmp_path) for path in paths)
    assert len(set(paths)) == len(paths)


def test_the_workspace_is_the_nearest_folder_with_jobs_or_a_repository(tmp_path: Path) -> None:
    inner = tmp_path / "repository" / "src" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    assert find_workspace(None, inner) == Workspace((tmp_path / "repository").resolve())
    (tmp_path / "repository" / "src" / ".cognee_jobs").mkdir()
    assert find_workspace(None, inner) == Workspace((tmp_path / "repository" / "src").resolve())
    assert find_workspace(inner, tmp_path) == Workspace(inner.resolve())


def test_a_workspace_that_is_no_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="WORKSPACE_MISSING"):
        find_workspace(tmp_path / "none", tmp_path)


@pytest.mark.parametrize("folder", ["home/ana", "home", ".", "/"])
def test_home_and_above_are_workspaces_once_used(tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home" / "ana"
    home.mkdir(parents=True)
    (home / ".git").mkdir()  # such as a repository of dot files
    monkeypatch.setenv("HOME", str(home))
    start = (tmp_path / folder).resolve()
    with pytest.raises(JobError, match="WORKSPACE_NOT_CHOSEN"):
        find_workspace(None, start)
    assert find_workspace(None, start, anywhere=True) == find_workspace(start, home) == Workspace(start)


def test_a_home_with_a_memory_and_projects_are_workspaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = (tmp_path / "home" / "ana").resolve()
    monkeypatch.setenv("HOME", str(home))
    for folder in (home / "project", home.parent / "anastasia"):
        folder.mkdir(parents=True)
        assert find_workspace(None, folder) == Workspace(folder)
    (home / ".cognee_jobs").mkdir()
    assert find_workspace(None, home) == Workspace(home)


# --- dropping ---


def test_a_drop_makes_the_inbox_when_no_worker_was_ever_there(tmp_path: Path) -> None:
    place = Workspace(tmp_path).spool
    assert spool.drop(place, "a", b"{}") == place.inbox / "a.json"
    assert spool.inbox(place) == [place.dropped("a")]


def test_a_cut_off_drop_is_unseen_and_in_nobodys_way(place: SpoolPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(files, "rename", raising(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            spool.drop(place, "a", b'{"half"')
    assert spool.inbox(place) == []
    spool.drop(place, "a", b"{}")
    assert place.dropped("a").read_bytes() == b"{}"


def test_two_that_drop_the_same_job_at_once_both_have(place: SpoolPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:

        def meanwhile(source: Path, target: Path) -> None:
            patch.undo()
            spool.drop(place, "a", b"{}")
            files.rename(source, target)

        patch.setattr(files, "rename", meanwhile)
        spool.drop(place, "a", b"{}")
    assert [path.name for path in place.inbox.glob("*a.*")] == ["a.json"]


def test_the_inbox_shows_what_was_dropped_by_name_and_nothing_of_the_protocol_s_own(place: SpoolPaths) -> None:
    for name in ("b.json", "a.json", ".hidden.json", ".gitignore", "readme.txt", "A B.json"):
        (place.inbox / name).write_bytes(b"{}")
    (place.inbox / "folder.json").mkdir()
    expected = [("A B.json", None), ("a.json", "a"), ("b.json", "b"), ("folder.json", "folder"), ("readme.txt", None)]
    assert [(path.name, spool.job_id_of(path)) for path in spool.inbox(place)] == expected


# --- accepting ---


def test_an_accepted_job_has_a_copy_and_a_record_and_has_left_the_inbox(place: SpoolPaths) -> None:
    pairs = [accepted("a"), accepted("b")]
    for job, _ in pairs:
        spool.drop(place, job.job_id, b"{}")
    spool.accept(place, pairs)
    assert names(place.active) == names(place.results) == {"a.json", "b.json"}
    assert spool.inbox(place) == []
    assert spool.read_record(place, "a") == pairs[0][1]


def test_the_copy_is_the_job_as_it_was_sent_with_the_same_digest(place: SpoolPaths) -> None:
    job, record = accepted("a", {"dryRun": True})
    spool.accept(place, [(job, record)])
    again = parse_job("a", spool.read_copy(place, "a"))
    assert again == job
    assert again.payload == Migrate(dry_run=True)
    assert again.sha256 == record.job_sha256


def test_copies_then_records_are_durable_before_drops_go(place: SpoolPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []

    def noting(name: str, where: Callable[[Path], str]) -> None:
        action = getattr(files, name)

        def noted(path: Path, *rest: Any, **options: Any) -> None:
            steps.append(f"{name} {where(path)}")
            action(path, *rest, **options)

        monkeypatch.setattr(files, name, noted)

    for name in ("write_new", "sync_file", "rename"):
        noting(name, lambda path: path.parent.name)
    noting("sync_folder", lambda folder: folder.name)
    noting("remove", lambda path: "")
    spool.accept(place, [accepted("a"), accepted("b")])
    durably = ["write_new"] * 2 + ["sync_file", "rename"] * 2 + ["sync_folder"]
    written = [f"{step} {folder}" for folder in ("active", "results") for step in durably]
    assert [noted.strip() for noted in steps] == [*written, "remove", "remove"]


@pytest.mark.parametrize("stop", ["write_new", "rename", "remove"])
def test_a_stop_in_acceptance_leaves_the_drop(place: SpoolPaths, stop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spool.drop(place, "a", b"{}")
    pair = accepted("a")
    with monkeypatch.context() as patch:
        patch.setattr(files, stop, raising(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            spool.accept(place, [pair])
    assert place.dropped("a").exists()
    spool.accept(place, [pair])  # the next look does it all over
    assert (names(place.active), names(place.results)) == ({"a.json"}, {"a.json"})
    assert not place.dropped("a").exists()


def test_the_copy_of_an_ended_job_is_moved_aside_and_back(place: SpoolPaths) -> None:
    spool.accept(place, [accepted("a")])
    spool.retire_copy(place, "a")
    assert (names(place.active), names(place.ended)) == (set(), {"a.json"})
    spool.retire_copy(place, "a")  # recovery may come second
    spool.reopen(place, "a")
    assert (names(place.active), names(place.ended)) == ({"a.json"}, set())
    spool.reopen(place, "a")
    assert names(place.active) == {"a.json"}


def test_a_job_whose_copy_was_pruned_cannot_be_reopened(place: SpoolPaths) -> None:
    with pytest.raises(FileNotFoundError):
        spool.reopen(place, "a")


# --- rejecting ---


def test_a_rejected_file_is_kept_with_the_reason_beside_it(place: SpoolPaths) -> None:
    spool.drop(place, "a", b"content")
    kept, reason = reject(place, "a.json")
    assert kept.read_bytes() == b"content"
    assert reason == {
        "schema_version": 1,
        "file": "a.json",
        "kept_as": "a.1.json",
        "rejected_at": "2026-11-20T12:00:00Z",
        "error": ERROR.as_dict(),
        "redactions": None,
        "cut_from": None,
    }
    assert spool.inbox(place) == []


def test_a_rejected_file_is_closed_to_others_unless_it_has_a_name_elsewhere(place: SpoolPaths, tmp_path: Path) -> None:
    with masked(0):
        (place.inbox / "open").write_bytes(b"?")
        elsewhere = tmp_path / "elsewhere"
        elsewhere.write_bytes(b"?")
        (place.inbox / "linked").hardlink_to(elsewhere)
        (place.inbox / "link").symlink_to(elsewhere)
        modes = {}
        for name in ("open", "linked", "link"):
            entry = place.inbox / name
            kept = spool.reject(place, entry, JobError("NAME_INVALID"), None, "2026-11-20T12:00:00Z")
            modes[name] = kept.stat().st_mode & 0o777
    assert modes == {"open": 0o600, "linked": 0o666, "link": 0o666}
    assert elsewhere.stat().st_mode & 0o777 == 0o666


def test_files_of_one_name_that_are_rejected_again_and_again_are_all_kept(place: SpoolPaths) -> None:
    for number in range(1, 4):
        spool.drop(place, "a", str(number).encode())
        kept, _ = reject(place, "a.json")
        assert (kept.name, kept.read_bytes()) == (f"a.{number}.json", str(number).encode())


def test_a_file_that_its_writer_took_back_leaves_the_reason_alone(place: SpoolPaths) -> None:
    _, reason = reject(place, "gone.json")
    assert reason["file"] == "gone.json"
    assert names(place.rejected) == {"gone.1.reason.json"}


def test_a_name_that_leaves_no_room_for_more_is_shortened(place: SpoolPaths) -> None:
    long = "x" * 240 + ".json"
    (place.inbox / long).write_bytes(b"content")
    kept, reason = reject(place, long)
    assert reason["file"] == long
    assert len(kept.name) < 100
    assert kept.read_bytes() == b"content"


def test_a_name_that_is_no_text_does_not_stop_the_rejection(place: SpoolPaths) -> None:
    (place.inbox / os.fsdecode(b"\xff\xfe.json")).write_bytes(b"content")
    (entry,) = spool.inbox(place)
    kept, reason = reject(place, entry.name)
    assert kept.read_bytes() == b"content"
    assert reason["file"] == "\ufffd\ufffd.json"
    assert reason["kept_as"] == kept.name


def test_links_pipes_and_folders_are_moved_as_they_are(place: SpoolPaths, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (place.inbox / "link.json").symlink_to(tmp_path / "secret")
    os.mkfifo(place.inbox / "pipe.json")
    (place.inbox / "folder.json").mkdir()
    kept = {path.name: reject(place, path.name)[0] for path in spool.inbox(place)}
    assert kept["link.json"].is_symlink()
    assert kept["pipe.json"].is_fifo()
    assert kept["folder.json"].is_dir()
    assert (tmp_path / "secret").read_bytes() == b"secret"
    assert spool.inbox(place) == []


# --- reading ---


_RECORD = accepted("a")[1].as_dict()


DAMAGED = [
    b"", b"{", b"[]", b"null", b"{}", b"\xff", b"[" * 100_000,
    encode({**_RECORD, "schema_version": 2}),
    encode({**_RECORD, "state": "unheard-of"}),
    encode({**_RECORD, "job_id": "b"}),
    encode({**_RECORD, "attempts": [{}]}),
    encode({**_RECORD, "attempts": 3}),
    encode({name: value for name, value in _RECORD.items() if name != "kind"}),
]  # fmt: skip


@pytest.mark.parametrize("data", DAMAGED, ids=range(13))
def test_a_damaged_record_is_a_value_error_and_left_out_of_the_list(place: SpoolPaths, data: bytes) -> None:
    spool.write_records(place, [accepted("good")[1]])
    files.replace(place.record("a"), data)
    with pytest.raises(ValueError):
        spool.read_record(place, "a")
    assert [record.job_id for record in spool.records(place)] == ["good"]


def test_a_record_that_is_a_link_is_refused(place: SpoolPaths, tmp_path: Path) -> None:
    place.record("a").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(JobError, match="FILE_UNSAFE"):
        spool.read_record(place, "a")
    assert list(spool.records(place)) == []


def test_a_field_that_a_later_version_added_to_the_record_is_no_damage(place: SpoolPaths) -> None:
    files.replace(place.record("a"), encode({**_RECORD, "added_later": 1}))
    assert spool.read_record(place, "a") == accepted("a")[1]


def test_job_ids_are_those_of_the_json_files(place: SpoolPaths) -> None:
    for name in ("a.json", ".b.json.tmp", ".c.json", "d.txt"):
        (place.active / name).write_bytes(b"")
    assert list(spool.job_ids(place.active)) == ["a"]
    assert list(spool.job_ids(place.root / "none")) == []


# --- client ---


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses that take no time; the list says how long they would have been."""
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    return pauses


def accept(place: SpoolPaths, job_id: str) -> Record:
    """What the worker does with a dropped file."""
    job = parse_job(job_id, place.dropped(job_id).read_bytes())
    record = lifecycle.accept(job, NOON)
    spool.accept(place, [(job, record)])
    return record


def move_on(place: SpoolPaths, job_id: str, *events: Event) -> Record:
    record = spool.read_record(place, job_id)
    for event in events:
        record = lifecycle.step(record, event, NOON)
    spool.write_records(place, [record])
    return record


def code(action: Any, *arguments: Any, **named: Any) -> str:
    with pytest.raises(JobError) as caught:
        action(*arguments, **named)
    return caught.value.code


# --- submit ---


def test_a_submitted_job_is_one_that_the_worker_accepts_with_the_digest_that_was_told(place: SpoolPaths) -> None:
    told = client.submit(place, "migrate", {"dryRun": True, "limit": 3}, priority=5, correlation_id="mine")
    job = parse_job(told.job_id, place.dropped(told.job_id).read_bytes())
    assert (job.sha256, job.priority, job.correlation_id) == (told.sha256, 5, "mine")
    assert job.submitted_at is not None


@pytest.mark.parametrize("job_id", ["", "A", "../a", "con"])
def test_an_id_that_is_none_is_not_dropped(place: SpoolPaths, job_id: str) -> None:
    if job_id:
        assert code(client.submit, place, "check", {}, job_id=job_id) == "JOB_INVALID"
        assert spool.inbox(place) == []
    else:
        assert client.submit(place, "check", {}, job_id=job_id).job_id  # empty means: choose one


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {1, 2}, b"x"], ids=repr)
def test_what_json_cannot_hold_is_not_dropped(place: SpoolPaths, value: object) -> None:
    assert code(client.submit, place, "import", {"path": value}) == "JOB_INVALID"
    assert spool.inbox(place) == []


# --- status ---


def test_a_job_in_the_inbox_has_no_record_yet(place: SpoolPaths) -> None:
    told = client.submit(place, "check", {})
    assert client.status(place, told.job_id) is None
    record = accept(place, told.job_id)
    assert client.status(place, told.job_id) == record
    assert record.job_sha256 == told.sha256


@pytest.mark.parametrize("job_id", ["none", "../none", "", "x" * 300, "a\0b"])
def test_a_job_that_nobody_dropped_is_not_found(place: SpoolPaths, job_id: str) -> None:
    assert code(client.status, place, job_id) == "JOB_NOT_FOUND"


def test_a_job_accepted_between_the_two_looks_is_found(place: SpoolPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    told = client.submit(place, "check", {})
    look = spool.read_record

    def look_then_accept(place: SpoolPaths, job_id: str) -> Record | None:
        found = look(place, job_id)
        if found is None:
            accept(place, job_id)
        return found

    monkeypatch.setattr(spool, "read_record", look_then_accept)
    assert client.status(place, told.job_id).state == "queued"


def test_a_job_that_waits_is_not_replaced_by_another_of_its_id(place: SpoolPaths) -> None:
    """No worker has seen it yet; whoever dropped it was told that it is safe."""
    first = client.submit(place, "noop", {"sleep_ms": 1}, job_id="a")
    with pytest.raises(JobError, match="waits") as conflict:
        client.submit(place, "noop", {"sleep_ms": 2}, job_id="a")
    assert conflict.value.code == "JOB_ID_CONFLICT"
    assert json.loads(place.dropped("a").read_bytes())["payload"] == {"sleep_ms": 1}
    assert client.submit(place, "noop", {"sleep_ms": 1}, job_id="a") == first
    assert client.dropped_digest(place, "a") == first.sha256


def test_of_two_jobs_with_one_id_that_are_dropped_at_once_one_is_refused(place: SpoolPaths) -> None:
    def submitted(sleep_ms: int) -> bool:
        both.wait()
        with suppress(JobError):
            return bool(client.submit(place, "noop", {"sleep_ms": sleep_ms}, job_id=f"j{at}"))
        return False

    both = threading.Barrier(2)
    with ThreadPoolExecutor(2) as askers:
        for at in range(20):  # noqa: B007 - it names the job
            assert sorted(askers.map(submitted, (1, 2))) == [False, True]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"kind": "noop"}', b"\xff"])
def test_a_file_that_is_no_job_does_not_stand_in_the_way_of_one(place: SpoolPaths, content: bytes) -> None:
    place.dropped("a").write_bytes(content)
    assert client.dropped_digest(place, "a") is None
    submitted = client.submit(place, "noop", {}, job_id="a")
    assert client.dropped_digest(place, "a") == submitted.sha256


def test_a_former_rejection_does_not_answer_for_a_new_drop(place: SpoolPaths) -> None:
    refusal = lifecycle.reject("a", JobError("JSON_INVALID"), NOON)
    spool.write_records(place, [refusal])
    assert client.status(place, "a") == refusal
    client.submit(place, "check", {}, job_id="a")
    assert client.status(place, "a") is None


# --- wait ---


def test_waiting_sees_every_state_until_the_end(place: SpoolPaths, no_pauses: list[float]) -> None:
    job_id = client.submit(place, "check", {}).job_id
    steps = iter(
        [
            lambda: accept(place, job_id),
            lambda: move_on(place, job_id, Started()),
            lambda: move_on(place, job_id, Succeeded({"findings": []})),
        ]
    )
    seen: list[str | None] = []

    def look(record: Record | None) -> None:
        seen.append(record.state if record else None)
        next(steps, lambda: None)()

    record = client.wait(place, job_id, seen=look)
    assert (record.state, record.result) == ("succeeded", {"findings": []})
    assert seen == [None, "queued", "running", "succeeded"]
    assert no_pauses == sorted(no_pauses)


def test_waiting_no_longer_than_asked(place: SpoolPaths, no_pauses: list[float]) -> None:
    job_id = client.submit(place, "check", {}).job_id
    with pytest.raises(JobError, match="waiting in the inbox") as caught:
        client.wait(place, job_id, seconds=0)
    assert caught.value.code == "WAIT_TIMEOUT"
    accept(place, job_id)
    with pytest.raises(JobError, match="queued"):
        client.wait(place, job_id, seconds=0)
    assert no_pauses == []


def test_waiting_gives_up_after_some_seconds_without_a_worker(place: SpoolPaths, no_pauses: list[float]) -> None:
    job_id = client.submit(place, "check", {}).job_id
    assert code(client.wait, place, job_id) == "WORKER_NOT_RUNNING"
    assert 5 < sum(no_pauses) < 15


def test_waiting_goes_on_while_a_worker_lives(place: SpoolPaths, no_pauses: list[float]) -> None:
    job_id = client.submit(place, "check", {}).job_id
    accept(place, job_id)
    looks = 0

    def look(record: Record | None) -> None:
        nonlocal looks
        looks += 1
        if looks == 200:
            move_on(place, job_id, Started(), Succeeded({}))

    with held(place.lock):
        assert client.wait(place, job_id, seen=look).state == "succeeded"
    assert max(no_pauses) <= 0.25


# --- cancel ---


def request(place: SpoolPaths, job_id: str) -> Any:
    found = json.loads(place.cancel(job_id).read_bytes())
    assert clock.parse(found.pop("requested_at")) <= clock.now()
    return found


def test_cancelling_asks_for_the_generation_that_was_seen(place: SpoolPaths) -> None:
    job_id = client.submit(place, "check", {}).job_id
    assert client.cancel(place, job_id) is None
    assert request(place, job_id) == {"job_id": job_id, "generation": None}
    record = accept(place, job_id)
    assert client.cancel(place, job_id) == record
    assert request(place, job_id) == {"job_id": job_id, "generation": record.generation}


# --- requests about no single job ---


@pytest.mark.parametrize("verb", get_args(client.ControlVerb))
def test_a_request_is_a_file_under_its_verb(place: SpoolPaths, verb: client.ControlVerb) -> None:
    client.request(place, verb)
    (path,) = place.control.iterdir()
    assert path == place.request(verb)
    assert path.name == f"{verb}.json"
    assert list(json.loads(path.read_bytes())) == ["requested_at"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_request_is_obeyed_when_its_file_has_gone(place: SpoolPaths) -> None:
    path = place.request("prune")
    assert not client.unhandled(place, [path], 30)
    client.request(place, "prune")
    with held(place.lock):
        worker = threading.Thread(target=path.unlink)
        worker.start()
        assert not client.unhandled(place, [path], 30)
        worker.join()


def test_nobody_waits_for_a_request_where_no_worker_is_or_longer_than_asked(place: SpoolPaths) -> None:
    client.request(place, "prune")
    assert client.unhandled(place, [place.request("prune")], 3600)
    with held(place.lock):
        assert client.unhandled(place, [place.request("prune")], 0.02)


@pytest.mark.parametrize("first", ["request", "drop", "request of a job"])
def test_the_first_file_in_a_workspace_is_private_and_ignored_by_git(tmp_path: Path, first: str) -> None:
    place = SpoolPaths(tmp_path / "spool")
    with masked(0o022):
        if first == "request":
            client.request(place, "pause")
        elif first == "drop":
            client.submit(place, "noop", {})
        else:
            client.request_jobs(place, {"a": (place.cancel("a"), None)})
    assert stat.S_IMODE(place.root.stat().st_mode) == 0o700
    assert (place.root / ".gitignore").read_text() == "*\n"
