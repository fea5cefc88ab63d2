"""How far the clock of a team's server is ahead of this machine's."""

from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from bridge.team import server_clock
from bridge.team.protocol import Team
from jobs import clock

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)


class Asked:
    """A server that is so many seconds ahead, and this machine's clock. Each answer takes some time before the server
    looks at its clock, and some after it."""

    def __init__(self, ahead: float, *answers: tuple[float, float]) -> None:
        self.now = AT
        self.ahead = timedelta(seconds=ahead)
        self.answers = list(answers)

    def time(self) -> datetime:
        before, after = self.answers.pop(0)
        self.now += timedelta(seconds=before)
        there = self.now + self.ahead
        self.now += timedelta(seconds=after)
        return there


CLOCKS = [
    (Asked(3600, (0.004, 0.004), (0, 0)), 3600.0, 1),
    (Asked(-3600, (0.8, 0.004), (0.004, 0.004), (0, 0)), -3600.0, 1),
    (Asked(3600, (0.5, 0.001), (0.001, 0.5), (0, 0)), 3600.0, 1),
    (Asked(3600, *[(0.2, 0.2)] * 5, (0, 0)), 3600.0, 1),
    (Asked(0, (0.8, 0.1), (0, 0), (0, 0)), 0.0, 1),
]


@pytest.mark.parametrize(
    ("asked", "found", "left"),
    CLOCKS,
    ids=["quick", "a connection is made first", "slow there, then slow back", "never quick", "the same time"],
)
def test_all_answers_say_how_far_ahead(asked: Asked, found: float, left: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All together, of the server's clock."""
    monkeypatch.setattr(clock, "now", lambda: asked.now)
    assert server_clock.ahead(cast("Team", asked)).total_seconds() == pytest.approx(found)
    assert len(asked.answers) == left
