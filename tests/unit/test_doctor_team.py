"""What doctor says of a team, of given facts: whether it is reached, whether its jobs run, and its copies."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bridge.transfer.lost_memories import SetAside
from jobs import clock
from jobs.errors import JobError
from jobs.finding import Finding
from worker.doctor import team as doctor_team

if TYPE_CHECKING:
    from worker.admin.shapes import TeamCopy, TeamStatus, TeamWorkspace

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def workspace(idle_seconds: float | None = None) -> TeamWorkspace:
    return {
        "workspace_id": "3f0c1f8e-0000-4000-8000-000000000000",
        "name": "backend",
        "changes": 12,
        "lease_owner": None,
        "lease_until": None,
        "jobs": {"waiting": 2, "running": 1, "ended": 5, "failed": 0},
        "idle_seconds": idle_seconds,
    }


def copy(days: float, forgotten: int = 0) -> TeamCopy:
    return {
        "node": "laptop/1",
        "behind": 3,
        "forgets": 3,
        "forgotten": forgotten,
        "version": "1",
        "seen_at": clock.iso(NOW - timedelta(days=days)),
        "is_silent": days > 7,
        "label": None,
        "has_access": True,
    }


def findings(*, is_followed: bool = True, **changed: Any) -> list[Finding]:
    status: TeamStatus = {
        "address": "https://memory.example.org",
        "node": "host/1",
        "error": None,
        "workspace": workspace(),
        "has_copy": True,
        "position": 12,
        "behind": 0,
        "current_at": clock.iso(NOW),
        "clock_ahead_seconds": 0.0,
        "token_ends_at": None,
        "copies": [],
        "failed_jobs": [],
        "set_aside": [],
    }
    whole: TeamStatus = {**status, **changed}  # type: ignore[typeddict-item]
    state = doctor_team.TeamState(whole, None, NOW, is_followed=is_followed)
    return [finding for check in doctor_team.CHECKS for finding in check(state)]


def test_of_a_team_that_is_well_it_says_only_that_there_is_one() -> None:
    assert [each.code for each in findings(copies=[copy(0)])] == ["TEAM_OF"]


def test_a_copy_that_no_worker_makes_follow_is_told_with_what_it_lacks() -> None:
    [found] = findings(is_followed=False, behind=1)
    assert (found.code, found.level, found.fix) == ("TEAM_COPY_NOT_FOLLOWED", "error", "start a worker")
    assert found.message.endswith("It lacks 1 change.")


def test_a_team_that_is_not_reached_is_told_with_the_errors_code() -> None:
    error = JobError("TEAM_REFUSED", "The token is revoked.")
    [found] = findings(error=error.as_dict(), workspace=None, behind=None)
    assert (found.code, found.subject) == ("TEAM_NOT_REACHED", "TEAM_REFUSED")
    assert "The token is revoked." in found.message
    assert found.remedy == error.remediation


def test_what_was_set_aside_and_is_back_may_be_removed() -> None:
    kept = SetAside(Path("/w/.cognee_memory/set-aside/team-7-a b"), Path("memories.jsonl"), None)
    state = doctor_team.TeamState(None, None, NOW, settled=(kept,))
    [found] = [finding for check in doctor_team.CHECKS for finding in check(state)]
    assert (found.code, found.level) == ("TEAM_LOST_IS_BACK", "note")
    assert "rm -r '/w/.cognee_memory/set-aside/team-7-a b'" in found.remedy


DIFFERENCES = [(0.0, None), (29.9, None), (30.0, "30 s behind"), (-7200.0, "2 h ahead of the team's")]


@pytest.mark.parametrize(("ahead", "says"), DIFFERENCES)
def test_a_clock_that_differs_from_the_teams_is_told_from_30_seconds_on(ahead: float, says: str | None) -> None:
    found = [each for each in findings(clock_ahead_seconds=ahead) if each.code == "TEAM_CLOCK_DIFFERS"]
    assert [says in each.message for each in found] == ([] if says is None else [True])


@pytest.mark.parametrize(("days", "is_told"), [(14.1, False), (13.9, True), (0.5, True)])
def test_a_token_that_ends_within_two_weeks_is_told(days: float, is_told: bool) -> None:
    found = findings(token_ends_at=clock.iso(NOW + timedelta(days=days)))
    assert ("TEAM_TOKEN_ENDS" in [each.code for each in found]) is is_told


@pytest.mark.parametrize(("seconds", "is_told"), [(None, False), (0.0, False), (600.0, False), (601.0, True)])
def test_jobs_that_nobody_takes_for_more_than_ten_minutes_are_told(seconds: float | None, is_told: bool) -> None:
    found = [each for each in findings(workspace=workspace(seconds)) if each.code == "TEAM_JOBS_WAIT"]
    assert bool(found) is is_told
    assert all("3 jobs" in each.message for each in found)


@pytest.mark.parametrize(
    ("days", "forgotten", "code"),
    [(6.9, 0, None), (6.9, 2, None), (8, 0, "TEAM_COPY_SILENT"), (8, 1, "TEAM_COPY_HOLDS_FORGOTTEN")],
)
def test_a_copy_unseen_for_a_week_is_told_and_what_it_may_hold(days: float, forgotten: int, code: str | None) -> None:
    found = [each for each in findings(copies=[copy(days, forgotten)]) if each.code.startswith("TEAM_COPY")]
    assert [each.code for each in found] == ([] if code is None else [code])
    assert all(each.subject == "laptop/1" and "8 d" in each.message for each in found)


def test_a_row_that_the_copy_here_leaves_out_is_named() -> None:
    rows = [{"table": "memories", "key": "[ 2 ]", "why": "its key has another form"}]
    [found] = [each for each in findings(set_aside=rows) if each.code == "TEAM_ROW_SET_ASIDE"]
    assert (found.subject, "its key has another form" in found.message) == ("memories [ 2 ]", True)
