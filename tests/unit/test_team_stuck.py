"""A copy that does not come on: it is tried less and less often, and at once again when it does."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bridge.settings import load
from bridge.store.team.position import CopyState
from bridge.team.rows import Position, Registered
from jobs.layout import Workspace
from worker.scheduling.ledger import Ledger
from worker.team import team_scheduling
from worker.team.team_scheduling import TeamScheduling


class Told:
    """A team, a child and all else that is asked for nothing here."""

    def __init__(self) -> None:
        self.asked = 0
        self.workspace_id, self.node = "w", "n"
        self.shares = False

    def scrub_here(self, job_files: dict[str, Any]) -> None:
        raise AssertionError("nothing was forgotten")

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self.asked += 1
        return {"job_files": None}


def test_a_stuck_copy_is_tried_after_pauses_of_up_to_a_minute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The first is a second, each further one twice as long."""
    now, told, state = [1000.0], Told(), [CopyState(Position(3, "before"), 0)]
    monkeypatch.setattr(team_scheduling, "copy_state", lambda workspace: state[0])
    monkeypatch.setattr(team_scheduling.time, "monotonic", lambda: now[0])
    anything: Any = told
    nothing = lambda: None  # noqa: E731
    ledger = Ledger(Workspace(tmp_path).spool, [])
    monkeypatch.setattr(team_scheduling, "_team_of", lambda *_: told)
    work = TeamScheduling(Workspace(tmp_path), load(environment={}), anything, ledger, anything, nothing, nothing)
    found = Registered(Position(7, "change"), "a model", 3, 8)
    tried = []
    for _ in range(600):
        before = told.asked
        rests = work._follow(found)
        if told.asked > before:
            tried.append(now[0] - 1000.0)
        assert 0 < rests <= 60, "nothing looks before"
        now[0] += 0.5
    assert tried[:7] == [0, 1, 3, 7, 15, 31, 63]
    assert {later - earlier for earlier, later in pairwise(tried[7:])} == {60.0}
    now[0] += 60
    monkeypatch.setattr(
        told, "ask", lambda request: state.insert(0, CopyState(Position(7, "change"), 0)) or {"job_files": None}
    )
    assert work._follow(found) == 0, "it has come on, and looks again at once"
