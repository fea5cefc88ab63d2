"""The clock of the team's server. The times of shared jobs and memories are its own, so that it does not matter how
wrong the clock of a machine is.
"""

from __future__ import annotations

from datetime import timedelta

from jobs import clock

from .protocol import Team

DIFFERS = timedelta(seconds=30)
"""From which on a machine's clock counts as wrong."""

_TRIES = 5
_EXACT = timedelta(milliseconds=20)


def ahead(team: Team) -> timedelta:
    """How far it is ahead of this machine's clock, and 0 if both agree as far as asking can tell. Raises JobError as
    ``Team``.

    The server read its clock after it was asked and before its answer was here: each answer gives a least and a
    greatest difference. It is asked until what all answers allow is as wide as ``_EXACT``, or a few times.
    """
    least, greatest = timedelta.min, timedelta.max
    for _ in range(_TRIES):
        before = clock.now()
        there = team.time()
        after = clock.now()
        least, greatest = max(least, there - after), min(greatest, there - before)
        if greatest - least <= _EXACT:
            break
    return timedelta() if least <= timedelta() <= greatest else least + (greatest - least) / 2
