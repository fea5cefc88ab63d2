"""How old this machine's copy of a team's memories is, or that there is none: a file beside memory.db, so that a
question needs no network.

The worker writes it whenever it knows that the copy has all changes.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta

from jobs import clock, files
from jobs.errors import JobError
from jobs.layout import Workspace

_WARNED_SECONDS = 300.0


def note_current(workspace: Workspace, now: datetime, days: float) -> None:
    """Note that the copy has all changes now, and answers questions for so many days. Raises OSError."""
    until = clock.iso(now + timedelta(days=days))
    files.replace_without_sync(
        workspace.team_copy, json.dumps({"current_at": clock.iso(now), "answers_until": until}).encode()
    )


def note_none(workspace: Workspace) -> None:
    """Note that there is no copy here, since the workspace is large: its team's gateway answers. Raises OSError."""
    files.replace_without_sync(workspace.team_copy, json.dumps({"copy": None}).encode())


def is_none(workspace: Workspace) -> bool:
    """Whether there is no copy here, as ``note_none`` says."""
    try:
        return "copy" in json.loads(workspace.team_copy.read_bytes())
    except (OSError, ValueError, TypeError):
        return False


def forget(workspace: Workspace) -> None:
    """The memories are this machine's alone. Raises OSError."""
    files.remove(workspace.team_copy)


def current_at(workspace: Workspace) -> str | None:
    """When the copy was last known to have all changes; None without a team, or if that is unknown."""
    try:
        return str(json.loads(workspace.team_copy.read_bytes())["current_at"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def warning(workspace: Workspace, now: datetime) -> str | None:
    """What an answer says of the copy's age; None for one that is up to date, and without a team.

    Raises JobError: TEAM_COPY_TOO_OLD.
    """
    try:
        entry = json.loads(workspace.team_copy.read_bytes())
        at, until = clock.parse(entry["current_at"]), clock.parse(entry["answers_until"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return "It is unknown how old this copy of the team's memories is: what others added may be missing."
    if now > until:
        raise JobError("TEAM_COPY_TOO_OLD", f"This copy of the team's memories is as of {clock.iso(at)}.")
    if (now - at).total_seconds() <= _WARNED_SECONDS:
        return None
    return (
        f"This copy of the team's memories is as of {clock.iso(at)}: what others added, changed or forgot since then is"
        " missing. It follows once the team's database is reached."
    )
