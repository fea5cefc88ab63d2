"""Checks the team of a workspace: whether it is reached and runs its jobs, and how far its copies are."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from bridge.settings import Settings
from bridge.team import copy_age, server_clock
from bridge.team.membership import membership_of
from bridge.transfer import lost_memories
from bridge.transfer.lost_memories import SetAside
from jobs import clock
from jobs.errors import JobError
from jobs.finding import Finding, finding
from jobs.layout import Workspace
from jobs.lock import is_held

from ..admin import team
from ..wording import counted, span

if TYPE_CHECKING:
    from ..admin.shapes import TeamStatus

_IDLE_SECONDS = 600.0
_ANNOUNCED_DAYS = 14  # before the end of a token


class Facts:
    """The team as it is now; ``problem`` is why nothing is known of it. Both are None for a workspace without a team.
    ``set_aside``: what the team's database lost and is kept here; ``settled``: what of it is back. ``is_followed``: a
    worker runs here, or it would have no copy to make follow."""

    def __init__(self, workspace: Workspace, settings: Settings, now: datetime) -> None:
        """Ask the team, which takes seconds where it is not reached."""
        self.now = now
        self.status: TeamStatus | None = None
        self.problem: JobError | None = None
        self.set_aside: list[SetAside] = []
        self.settled: list[SetAside] = []
        for each in lost_memories.all_set_aside(workspace):
            (self.settled if _is_settled(workspace, each) else self.set_aside).append(each)
        self.is_followed = copy_age.read(workspace) is None or is_held(workspace.spool.lock)
        try:
            if membership_of(workspace, settings.config_folder) is None:
                self.is_followed = True
            else:
                self.status = team.status(workspace, settings)
        except JobError as error:
            self.problem = error


def _is_settled(workspace: Workspace, kept: SetAside) -> bool:
    try:
        return lost_memories.is_settled(workspace, kept)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, JobError):
        return False  # it is told as what it was


def reached(facts: Facts) -> Iterator[Finding]:
    """Findings about the way to the team."""
    if facts.problem is not None:
        problem = facts.problem
        yield finding("TEAM_NOT_REACHED", problem.code, problem.message, remedy=problem.remediation)
    elif facts.status is not None and (error := facts.status["error"]) is not None:
        yield finding("TEAM_NOT_REACHED", error["code"], error["message"], remedy=error["remediation"])
    elif facts.status is not None and facts.is_followed:
        yield finding(
            "TEAM_OF", facts.status["address"], f"This copy lacks {counted(facts.status['behind'] or 0, 'change')}."
        )


def followed(facts: Facts) -> Iterator[Finding]:
    """Findings about the copy here."""
    if not facts.is_followed:
        behind = None if facts.status is None else facts.status["behind"]
        lacks = "" if behind is None else f"It lacks {counted(behind, 'change')}."
        yield finding("TEAM_COPY_NOT_FOLLOWED", "copy", lacks)


def clocks(facts: Facts) -> Iterator[Finding]:
    """Findings about this machine's clock."""
    ahead = None if facts.status is None else facts.status["clock_ahead_seconds"]
    if ahead is not None and abs(ahead) >= server_clock.DIFFERS.total_seconds():
        way = "behind" if ahead > 0 else "ahead of"
        yield finding("TEAM_CLOCK_DIFFERS", "clock", f"It is {span(abs(ahead))} {way} the team's.")


def token(facts: Facts) -> Iterator[Finding]:
    """Findings about this machine's token."""
    ends = None if facts.status is None else facts.status["token_ends_at"]
    if ends is not None and (left := (clock.parse(ends) - facts.now).total_seconds()) <= _ANNOUNCED_DAYS * 86400:
        yield finding("TEAM_TOKEN_ENDS", "team_token", f"It ends in {span(max(0.0, left))}, at {ends}.")


def jobs(facts: Facts) -> Iterator[Finding]:
    """Findings about the jobs of all machines."""
    seen = facts.status["workspace"] if facts.status is not None else None
    if seen is not None and (seen["idle_seconds"] or 0) > _IDLE_SECONDS:
        waiting = counted(seen["jobs"]["waiting"] + seen["jobs"]["running"], "job")
        yield finding("TEAM_JOBS_WAIT", seen["name"], f"{waiting}, for {span(seen['idle_seconds'] or 0)}.")


def copies(facts: Facts) -> Iterator[Finding]:
    """Findings about the copies on other machines."""
    for copy in facts.status["copies"] if facts.status is not None else ():
        if copy["is_silent"]:
            seen = f"Last seen {span((facts.now - clock.parse(copy['seen_at'])).total_seconds())} ago."
            if copy["forgotten"]:
                left = f"{seen} {counted(copy['forgotten'], 'memory')} may be left there."
                yield finding("TEAM_COPY_HOLDS_FORGOTTEN", copy["node"], left, count=copy["forgotten"])
            else:
                yield finding("TEAM_COPY_SILENT", copy["node"], seen)


def left_out(facts: Facts) -> Iterator[Finding]:
    """Findings about the rows that the copy here could not apply."""
    for row in facts.status["set_aside"] if facts.status is not None else ():
        yield finding("TEAM_ROW_SET_ASIDE", f"{row['table']} {row['key']}", f"It cannot be applied: {row['why']}.")


def lost(facts: Facts) -> Iterator[Finding]:
    """Findings about what the team's database lost, as after a restore from a backup."""
    for kept in facts.set_aside:
        if kept.memories is not None:
            yield finding("TEAM_LOST", "set-aside", f"It is {kept.memories}.")
        if kept.forgotten is not None:
            yield finding("TEAM_UNFORGOTTEN", "set-aside", f"Their ids are in {kept.forgotten}.")


def back(facts: Facts) -> Iterator[Finding]:
    """Findings about what was lost and is back."""
    for kept in facts.settled:
        yield finding(
            "TEAM_LOST_IS_BACK", str(kept.folder), remedy=f"Remove the folder: rm -r {shlex.quote(str(kept.folder))}"
        )


CHECKS = (reached, followed, clocks, token, jobs, copies, left_out, lost, back)
