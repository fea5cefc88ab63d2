"""What every answer of a machine says while its team is not reached, and when a refused one answers no more."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bridge.interface.submission import WaitNotices
from bridge.search import listing
from bridge.search.snapshot import open_snapshot
from bridge.settings import load
from bridge.store.opening import reader_of
from bridge.team import last_try
from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.model import Record
from worker.team.team_scheduling import TeamScheduling

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
REFUSED = JobError("TEAM_REFUSED", "The token is revoked.", remediation="Ask for a new one.")
AWAY = JobError("TEAM_UNREACHABLE", "Nothing listens.")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path)
    workspace.memory.mkdir()
    return workspace


def is_let_in(workspace: Workspace, at: datetime) -> bool:
    try:
        last_try.require_let_in(workspace, at)
    except JobError:
        return False
    return True


@pytest.mark.parametrize("code", sorted({*last_try.NOT_LET_IN, "TEAM_NOT_SHARED"}))
def test_every_answer_says_why_the_team_is_not_reached_and_what_helps(workspace: Workspace, code: str) -> None:
    assert last_try.note_of_answers(workspace) is None
    last_try.note(workspace, JobError(code, "That is why.", remediation="That helps."), NOW, 24)
    said = str(last_try.note_of_answers(workspace))
    assert said.startswith("That is why.")
    assert said.endswith("That helps.")
    assert last_try.error_of(workspace)["code"] == code
    last_try.note(workspace, None, NOW, 24)
    assert last_try.note_of_answers(workspace) is None
    assert not workspace.team_problem.exists()


def test_an_error_after_which_the_team_was_reached_is_no_problem(workspace: Workspace) -> None:
    last_try.note(workspace, REFUSED, NOW, 24)
    last_try.note(workspace, JobError("TEAM_LEASE_LOST"), NOW, 24)
    assert last_try.error_of(workspace) is None
    assert is_let_in(workspace, NOW + 99 * HOUR)


def test_a_refused_copy_answers_for_some_hours_whatever_happens_and_again_once_let_in(workspace: Workspace) -> None:
    last_try.note(workspace, REFUSED, NOW, 24)
    last_try.begin(workspace)  # a restart
    assert last_try.error_of(workspace) is None, "the new worker has not tried yet"
    last_try.note(workspace, AWAY, NOW + 3 * HOUR, 24)
    last_try.note(workspace, REFUSED, NOW + 5 * HOUR, 24)
    assert "answers until 2026-11-21T12:00:00Z" in str(last_try.note_of_answers(workspace))
    assert is_let_in(workspace, NOW + 24 * HOUR)
    assert not is_let_in(workspace, NOW + 24 * HOUR + timedelta(seconds=1))
    last_try.note(workspace, REFUSED, NOW + 6 * HOUR, 2)  # its owner has shortened it
    assert not is_let_in(workspace, NOW + 6 * HOUR)
    last_try.note(workspace, None, NOW + 25 * HOUR, 24)
    assert is_let_in(workspace, NOW + 25 * HOUR)


def test_an_outage_alone_ends_no_answers(workspace: Workspace) -> None:
    last_try.note(workspace, AWAY, NOW, 24)
    assert is_let_in(workspace, NOW + 9999 * HOUR)
    last_try.begin(workspace)
    assert not workspace.team_problem.exists()


def test_no_way_of_reading_answers_from_a_copy_that_was_refused_for_too_long(workspace: Workspace) -> None:
    last_try.note(workspace, REFUSED, clock.now() - 25 * HOUR, 24)
    reader = reader_of(workspace)
    for read in (lambda: open_snapshot(workspace), reader.lists, reader.export, lambda: listing.memories(workspace, 1)):
        with pytest.raises(JobError, match="TEAM_REFUSED"):
            read()


@pytest.mark.parametrize("damaged", [b"", b"{", b"[]", b"{}", b'{"error": 7}', b'{"error": null, "refused_at": "x"}'])
def test_a_damaged_note_is_none(workspace: Workspace, damaged: bytes) -> None:
    workspace.team_problem.write_bytes(damaged)
    assert last_try.note_of_answers(workspace) is None
    assert is_let_in(workspace, NOW)


def test_who_waits_for_a_job_is_told_once_what_it_waits_for(workspace: Workspace) -> None:
    said: list[str] = []
    notices = WaitNotices(workspace, said.append)
    waits = Record(job_id="a", kind="noop", job_sha256="0", state="queued")
    notices(None)
    notices(waits)
    last_try.note(workspace, REFUSED, NOW, 24)
    notices(waits)
    notices(waits)
    assert said == ["The job waits: The token is revoked. Ask for a new one."]


def test_a_worker_that_ends_at_once_leaves_why(workspace: Workspace, tmp_path: Path) -> None:
    made = load(
        environment={
            "COGNEE_MEMORY_CONFIG_DIR": str(tmp_path / "config"),
            "COGNEE_MEMORY_TEAM": "https://localhost",
            "COGNEE_MEMORY_TEAM_TOKEN": "t",
            "COGNEE_MEMORY_TEAM_CA_FILE": str(tmp_path / "absent.pem"),
        }
    )
    needed: Any = None
    with pytest.raises(JobError, match="team_ca_file"):
        TeamScheduling(workspace, made, needed, needed, needed, needed, needed)
    assert "absent.pem" in str(last_try.note_of_answers(workspace))


def test_the_hours_after_a_refusal_can_be_fewer_and_not_more() -> None:
    assert load(environment={"COGNEE_MEMORY_TEAM_REFUSED_HOURS": "1"}).team_refused_hours == 1
    with pytest.raises(JobError, match="at most 24"):
        load(environment={"COGNEE_MEMORY_TEAM_REFUSED_HOURS": "24.5"})
