"""Checks the team of a workspace: whether it is reached, and how far its copies are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bridge.settings import Settings
from bridge.team.membership import membership_of
from bridge.transfer import lost_memories
from bridge.transfer.lost_memories import SetAside
from jobs import clock
from jobs.errors import JobError
from jobs.finding import Finding, finding
from jobs.layout import Workspace

from ..admin import team
from ..wording import counted, span

_SILENT = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class TeamState:
    """The team as it is now; ``problem`` is why it cannot be reached. Both are None for a workspace without a team.
    ``set_aside``: what the team's database lost and is kept here."""

    status: team.TeamStatus | None
    problem: JobError | None
    now: datetime
    set_aside: Sequence[SetAside] = ()


def gather(workspace: Workspace, settings: Settings, now: datetime) -> TeamState:
    """Ask the team, which takes seconds where it is not reached."""
    kept = lost_memories.all_set_aside(workspace)
    try:
        if membership_of(workspace, settings.config_folder) is None:
            return TeamState(None, None, now, kept)
        return TeamState(team.status(workspace, settings), None, now, kept)
    except JobError as error:
        return TeamState(None, error, now, kept)


def reached(state: TeamState) -> Iterator[Finding]:
    """Findings about the way to the team."""
    if state.problem is not None:
        yield finding("TEAM_NOT_REACHED", state.problem.code, state.problem.message)
    elif state.status is not None and state.status["workspace"] is None:
        yield finding("TEAM_NOT_REACHED", state.status["address"], "It does not know this workspace.")
    elif state.status is not None:
        yield finding(
            "TEAM_OF", state.status["address"], f"This copy lacks {counted(state.status['behind'] or 0, 'change')}."
        )


def copies(state: TeamState) -> Iterator[Finding]:
    """Findings about the copies on other machines."""
    for copy in state.status["copies"] if state.status is not None else ():
        silent = state.now - clock.parse(copy["seen_at"])
        if silent > _SILENT:
            seen = f"Last seen {span(silent.total_seconds())} ago."
            left = f" It may hold what the last {counted(copy['forgets'], 'change')} forgot." if copy["forgets"] else ""
            yield finding("TEAM_COPY_SILENT", copy["node"], seen + left)


def lost(state: TeamState) -> Iterator[Finding]:
    """Findings about what the team's database lost, as after a restore from a backup."""
    for kept in state.set_aside:
        if kept.memories is not None:
            yield finding("TEAM_LOST", "set-aside", f"It is {kept.memories}.")
        if kept.forgotten is not None:
            yield finding("TEAM_UNFORGOTTEN", "set-aside", f"Their ids are in {kept.forgotten}.")


CHECKS = (reached, copies, lost)
