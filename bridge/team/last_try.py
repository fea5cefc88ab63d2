"""Why the team was not reached at the last try: a file beside memory.db, so that every answer here can say it.

The worker writes it and removes it once the team is reached. What it says of a refusal stays until the team lets this
machine in again, also through restarts and outages: so long the copy answers for some hours only.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from jobs import clock, files, state_file
from jobs.errors import JobError
from jobs.layout import Workspace

if TYPE_CHECKING:
    from jobs import schema

_REFUSED = "TEAM_REFUSED"
# With other errors, the team has answered, and has let this machine in.
NOT_LET_IN = frozenset(
    {_REFUSED, "SETTING_INVALID", "TEAM_UNREACHABLE", "TEAM_MISCONFIGURED", "TEAM_NEWER", "TEAM_UNUSABLE"}
)
_TOLD = NOT_LET_IN | {"TEAM_NOT_SHARED"}


def note(workspace: Workspace, error: JobError | None, now: datetime, refused_hours: float) -> None:
    """Note how the last try ended; None: the team was reached. ``refused_hours``: for how long the copy here answers
    after the team has refused this machine. Raises OSError."""
    before = _read(workspace)
    if error is None or error.code not in _TOLD:
        if before:
            files.remove(workspace.team_problem)
        return
    refused_at = before.get("refused_at") if error.code in NOT_LET_IN else None
    if refused_at is None and error.code == _REFUSED:
        refused_at = clock.iso(now)
    until = None if refused_at is None else clock.iso(clock.parse(refused_at) + timedelta(hours=refused_hours))
    found = {"error": error.as_dict(), "refused_at": refused_at, "answers_until": until}
    if found != before:
        files.replace_without_sync(workspace.team_problem, json.dumps(found).encode())


def begin(workspace: Workspace) -> None:
    """Note that a worker begins, and does not know yet whether the team is reached. Raises OSError."""
    before = _read(workspace)
    if before.get("refused_at") is None:
        forget(workspace)
    elif before["error"] is not None:
        files.replace_without_sync(workspace.team_problem, json.dumps(before | {"error": None}).encode())


def forget(workspace: Workspace) -> None:
    """The memories are this machine's alone. Raises OSError."""
    files.remove(workspace.team_problem)


def error_of(workspace: Workspace) -> schema.JobError | None:
    """Why the last try failed; None if it did not, without a team, and before the first try of a worker."""
    error: schema.JobError | None = _read(workspace).get("error")
    return error


def note_of_answers(workspace: Workspace) -> str | None:
    """What an answer says of it, with what helps; None if the team was reached."""
    found = _read(workspace)
    error, until = found.get("error"), found.get("answers_until")
    if error is None:
        return None
    ends = "" if until is None else f" This copy answers until {until}."
    return f"{error['message']}{ends} {error['remediation']}"


def require_let_in(workspace: Workspace, now: datetime) -> None:
    """Raises JobError: TEAM_REFUSED once the team has refused this machine for so long that the copy answers no
    more."""
    found = _read(workspace)
    until = found.get("answers_until")
    if until is not None and now > clock.parse(until):
        raise JobError(
            _REFUSED,
            f"The team has refused this machine since {found['refused_at']}, so its copy of the team's memories does"
            " not answer any more. It is kept, and answers again once the team lets this machine in.",
        )


def _read(workspace: Workspace) -> dict[str, Any]:
    """What was noted; empty if nothing was. What cannot be read is written again by the worker."""
    return state_file.read(workspace.team_problem, _noted, absent={}, damaged={})


def _noted(found: Any) -> dict[str, Any]:
    if found["error"] is not None:
        found["error"] = {name: found["error"][name] for name in ("code", "message", "remediation", "retryable")}
    for name in ("refused_at", "answers_until"):
        if found[name] is not None:
            clock.parse(found[name])
    return {name: found[name] for name in ("error", "refused_at", "answers_until")}
