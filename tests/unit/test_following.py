"""What is said of a team's copy before it is read, and what is done about it: by the worker's files and the team's
answer."""

import json
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from harness import held, raising

from bridge.search import following
from bridge.settings import Settings
from bridge.team import copy_age, membership, missing
from bridge.team.gap import Missing
from bridge.team.missing import CopyPlace
from jobs import clock, launch
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lock import Lock

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
WANTED = "3f0c1f8e-0000-4000-8000-000000000000"


class Team:
    """A copy, and what the team would say of it. ``started`` and ``asked`` count."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.started = self.asked = 0
        self.lacks: Missing | None = None

    def begin(self, workspace: Workspace) -> None:
        self.started += 1

    def ask(self, settings: Settings, place: CopyPlace, seconds: float) -> Missing | None:
        self.asked += 1
        assert place == (WANTED, 7, "an id")
        return self.lacks

    def note(self, now: datetime = NOW, catch_up_seconds: float = 0.0) -> str | None:
        return following.note(self.workspace, now, catch_up_seconds=catch_up_seconds)

    def beat(self, **changed: Any) -> None:
        found = {"state": "ready", "started_at": clock.iso(NOW), "team": {"problem": None}}
        self.workspace.spool.heartbeat.write_text(json.dumps(found | changed))


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Team:
    workspace = Workspace(tmp_path / "place")
    workspace.root.mkdir()
    membership.join(workspace, tmp_path / "config", WANTED)
    workspace.spool.worker.mkdir(parents=True, exist_ok=True)
    workspace.memory.mkdir(exist_ok=True)
    copy_age.note_current(workspace, NOW, 30, 7, "an id")
    team = Team(workspace)
    monkeypatch.setattr(launch, "begin", team.begin)
    monkeypatch.setattr(missing, "ask", team.ask)
    return team


@pytest.fixture
def worker(team: Team) -> Iterator[None]:
    team.beat()
    with held(team.workspace.spool.lock):
        yield


@pytest.mark.parametrize("has_copy", [False, True])
def test_without_a_team_of_this_user_nothing_is_said_asked_or_begun(team: Team, tmp_path: Path, has_copy: bool) -> None:
    if has_copy:
        membership.leave(team.workspace, tmp_path / "config")
    else:
        copy_age.forget(team.workspace)
    assert team.note() is None
    following.start(team.workspace)
    assert (team.asked, team.started) == (0, 0)


def test_a_workspace_of_another_starts_nothing(team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGNEE_MEMORY_CONFIG_DIR", str(tmp_path / "other"))
    for read in (team.note, lambda: following.start(team.workspace)):
        with pytest.raises(JobError, match="WORKSPACE_NOT_TRUSTED"):
            read()
    assert (team.asked, team.started) == (0, 0)


@pytest.mark.usefixtures("worker")
def test_while_a_worker_follows_nothing_is_said_or_asked(team: Team) -> None:
    assert team.note(NOW + timedelta(minutes=5)) is None
    assert "changed since 2026-11-20T12:00:00Z is missing" in (team.note(NOW + timedelta(minutes=6)) or "")
    assert (team.asked, team.started) == (0, 0)


@pytest.mark.usefixtures("worker")
def test_a_worker_that_does_not_reach_the_team_is_named_at_once(team: Team) -> None:
    team.beat(team={"problem": "TEAM_UNREACHABLE"})
    assert (team.note() or "").startswith("The team is not reached (TEAM_UNREACHABLE)")
    assert (team.asked, team.started) == (0, 0)


@pytest.mark.usefixtures("worker")
def test_a_worker_that_has_just_started_is_no_reason_to_start_another(team: Team) -> None:
    team.beat(started_at=clock.iso(NOW + timedelta(hours=1)))
    team.lacks = Missing(2, forgets=False)
    assert (team.note() or "").startswith(
        "The worker here has not caught up with the team yet. Changes are missing here, 2"
    )
    assert (team.asked, team.started) == (1, 0)


LACKS = [
    (None, "one was started. The team did not answer within 0.15 s: what others added or changed since"),
    (Missing(0, forgets=False), None),
    (Missing(3, forgets=False), "one was started. Changes are missing here, 3 since 2026-11-20T12:00:00Z"),
]


@pytest.mark.parametrize(("lacks", "says"), LACKS)
def test_without_a_worker_one_starts_and_gaps_are_told(team: Team, lacks: Missing | None, says: str | None) -> None:
    team.lacks = lacks
    said = team.note()
    assert said is None if says is None else says in (said or "")
    assert (team.asked, team.started) == (1, 1)


def test_a_copy_that_is_known_to_hold_what_was_forgotten_does_not_answer(team: Team) -> None:
    team.lacks = Missing(1, forgets=True)
    with pytest.raises(JobError, match="TEAM_COPY_BEHIND"):
        team.note()


def test_a_copy_answers_once_a_new_worker_removed_the_forgotten(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    team.lacks = Missing(1, forgets=True)
    with Lock(team.workspace.spool.lock) as lock:

        def begin(workspace: Workspace) -> None:
            assert lock.acquire()
            team.beat(started_at=clock.iso(NOW - timedelta(seconds=1)))

        monkeypatch.setattr(launch, "begin", begin)
        assert team.note(catch_up_seconds=60.0) is None


def test_a_worker_that_cannot_be_started_is_named(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "begin", raising(JobError("FILE_UNSAFE")))
    assert "none could be started (FILE_UNSAFE)" in (team.note() or "")


def test_a_copy_that_is_too_old_does_not_answer_unless_it_has_all_changes(team: Team) -> None:
    late = NOW + timedelta(days=30, seconds=1)
    with pytest.raises(JobError, match="TEAM_COPY_TOO_OLD"):
        team.note(late)
    assert team.started == 1, "for the next question"
    team.lacks = Missing(0, forgets=False)
    assert team.note(late) is None


def test_a_copy_of_unknown_age_says_so(team: Team) -> None:
    team.workspace.team_copy.write_bytes(b"{}")
    assert "unknown" in (team.note() or "")


# --- the question to the team ---

PLACE = CopyPlace(WANTED, 7, "an id")


def test_a_gateway_that_does_not_answer_holds_up_nobody() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = Settings(team=f"http://127.0.0.1:{silent.getsockname()[1]}", team_token="cmt_x")
        assert missing.ask(settings, PLACE, 0.05) is None


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 500 x\r\n\r\n{}", b"HTTP/1.1 200 OK\r\n\r\n<html>", b"\r\n\r\n"])
def test_what_is_no_answer_of_a_gateway_is_none(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings = Settings(team=f"http://127.0.0.1:{server.getsockname()[1]}", team_token="cmt_x")

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

        serving = threading.Thread(target=serve)
        serving.start()
        assert missing.ask(settings, PLACE, 10.0) is None
        serving.join()


def test_a_token_is_sent_to_no_other_machine_readable() -> None:
    assert missing.ask(Settings(team="http://192.0.2.1", team_token="cmt_x"), PLACE, 10.0) is None
