"""The clock of the team's server. The times of shared jobs and memories are its own, so that it does not matter how
wrong the clock of a machine is.
"""

from __future__ import annotations

from datetime import timedelta

from jobs import clock

from .protocol import Team


def ahead(team: Team) -> timedelta:
    """How far it is ahead of this machine's clock: exact to half the time of asking, and 0 if both agree as far as
    asking can tell. Raises JobError as ``Team``.
    """
    before = clock.now()
    there = team.time()
    after = clock.now()
    return timedelta() if before <= there <= after else there - (before + (after - before) / 2)
