"""The clock of the team's server. The times of shared jobs and memories are its own, so that it does not matter how
wrong the clock of a machine is.
"""

from __future__ import annotations

from datetime import timedelta

from jobs import clock

from .protocol import Team

DIFFERS = timedelta(seconds=30)
"""From which on a machine's clock counts as wrong."""

_TRIES = 3
_QUICK = timedelta(milliseconds=20)


def ahead(team: Team) -> timedelta:
    """How far it is ahead of this machine's clock, and 0 if both agree as far as asking can tell. Raises JobError as
    ``Team``.

    It is exact to half the time of asking. The first answer may take long, since a connection is made before it: then
    it is asked again, and the quickest answer counts.
    """
    found: list[tuple[timedelta, timedelta]] = []
    while len(found) < _TRIES and not any(took <= _QUICK for took, _ in found):
        before = clock.now()
        there = team.time()
        after = clock.now()
        if before <= there <= after:
            return timedelta()
        found.append((after - before, there - (before + (after - before) / 2)))
    return min(found)[1]
