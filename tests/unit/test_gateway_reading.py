"""What a gateway answers from a copy that could not follow in time."""

from types import SimpleNamespace
from typing import Any

import pytest

from bridge.team.rows import Position
from jobs.errors import JobError
from worker.gateway.reading import Reading
from worker.pool.copies import CopyPosition


def reading(here: int | None, there: int) -> Any:
    """With a copy at one position, of a workspace at another one."""
    known = {} if here is None else {"w": CopyPosition(Position(here, "a"), has_removed_all=True)}
    made = Reading.__new__(Reading)
    team = SimpleNamespace(registered=lambda _: SimpleNamespace(position=Position(there, "b")))
    reader = SimpleNamespace(answer=lambda *_: {"success": True, "warnings": []})
    made._team = lambda *_: team  # type: ignore[method-assign,assignment,return-value]
    made._want = lambda *_: None  # type: ignore[method-assign]
    made._reader = lambda _: reader  # type: ignore[method-assign,assignment,return-value]
    made._copies = SimpleNamespace(positions=lambda: known)  # type: ignore[assignment]
    return made


def test_an_answer_says_how_many_changes_its_copy_lacks() -> None:
    [warning] = reading(3, 5).answer("ann", "w", "retrieve", {}, "/here")["warnings"]
    assert "lacks the last 2 changes" in warning
    assert reading(5, 5).answer("ann", "w", "retrieve", {}, "/here")["warnings"] == []


@pytest.mark.parametrize("here", [None, 0])
def test_without_a_copy_it_asks_for_patience(here: int | None) -> None:
    with pytest.raises(JobError, match="TEAM_READER_BUSY"):
        reading(here, 5).answer("ann", "w", "retrieve", {}, "/here")
