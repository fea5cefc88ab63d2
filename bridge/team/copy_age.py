"""How old this machine's copy of a team's memories is, or that there is none: a file beside memory.db, so that a
question needs no network.

The worker writes it whenever it knows that the copy has all changes.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from jobs import clock, files, state_file
from jobs.layout import Workspace


class CopyAge(NamedTuple):
    """When the copy was last known to have all changes, until when it may answer, and which change was the last one
    then; all None if the file cannot be read."""

    current_at: datetime | None
    answers_until: datetime | None
    seq: int | None
    change: str


def note_current(workspace: Workspace, now: datetime, days: float, seq: int, change: str) -> None:
    """Note that the copy has all changes now, and answers questions for so many days. The last one has the number
    ``seq`` and the id ``change``. Raises OSError."""
    entry = {"current_at": clock.iso(now), "answers_until": clock.iso(now + timedelta(days=days))}
    files.replace_without_sync(workspace.team_copy, json.dumps(entry | {"seq": seq, "change": change}).encode())


def record_no_copy(workspace: Workspace) -> None:
    """Note that there is no copy here, since the workspace is large: its team's gateway answers. Raises OSError."""
    files.replace_without_sync(workspace.team_copy, json.dumps({"copy": None}).encode())


def has_no_copy(workspace: Workspace) -> bool:
    """Whether there is no copy here, as ``record_no_copy`` says."""
    return state_file.read(workspace.team_copy, lambda entry: "copy" in entry, absent=False, damaged=False)


def forget(workspace: Workspace) -> None:
    """The memories are this machine's alone. Raises OSError."""
    files.remove(workspace.team_copy)


def read(workspace: Workspace) -> CopyAge | None:
    """What was noted of the copy; None without a team, and where there is no copy."""
    return state_file.read(workspace.team_copy, _copy_age, absent=None, damaged=CopyAge(None, None, None, ""))


def _copy_age(entry: Any) -> CopyAge | None:
    if "copy" in entry:
        return None
    at, until = clock.parse(entry["current_at"]), clock.parse(entry["answers_until"])
    seq, change = entry.get("seq"), entry.get("change")  # an earlier version noted none
    is_known = type(seq) is int and isinstance(change, str)
    return CopyAge(at, until, seq if is_known else None, change if is_known else "")


def current_at(workspace: Workspace) -> str | None:
    """When the copy was last known to have all changes; None without a team, or if that is unknown."""
    age = read(workspace)
    return None if age is None or age.current_at is None else clock.iso(age.current_at)
