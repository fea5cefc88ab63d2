"""Whether the copy of a team's memories follows the team: looked at before it is read, and said in the answer.

A worker makes the copy follow. Where none runs, whoever reads starts one, and asks the team what is missing meanwhile.
A copy that is known to have what others have forgotten does not answer.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import NamedTuple

from jobs import clock, heartbeat
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lock import is_held

from ..team import copy_age, last_try
from ..team.copy_age import CopyAge

ASK_SECONDS = 0.15  # that an answer may take longer while no worker follows the team
CATCH_UP_SECONDS = 5.0  # for a worker that was just started to remove what others have forgotten
_LOOK_SECONDS = 0.02
_OLD_SECONDS = 300.0


def note(workspace: Workspace, now: datetime, *, catch_up_seconds: float = CATCH_UP_SECONDS) -> str | None:
    """What an answer says of the copy; None while it has all changes, and without a team.

    ``catch_up_seconds``: for how long it may wait until what others have forgotten is removed here. Raises JobError:
    TEAM_COPY_TOO_OLD, TEAM_COPY_BEHIND, and as ``trust.settings_of``.
    """
    age = copy_age.read(workspace)
    if age is None:
        return None
    worker = _worker(workspace)
    said: str | None
    if worker is not None and worker.problem is not None:
        said = _unreached(workspace, age) or f"The team is not reached ({worker.problem}): {_missing_since(age)}."
    elif worker is not None and _follows(worker, age):
        said = None if _is_new(age, now) else f"The worker here does not follow the team: {_missing_since(age)}."
    else:
        said = _asked(workspace, age, catch_up_seconds, is_there=worker is not None)
    if said is not None and age.answers_until is not None and now > age.answers_until:
        raise JobError("TEAM_COPY_TOO_OLD", f"{said} It is too old to answer.")
    return said


def start(workspace: Workspace) -> None:
    """Start a worker if the workspace belongs to a team and none runs, without waiting for it.

    Raises JobError as ``trust.settings_of``.
    """
    if copy_age.read(workspace) is not None and _worker(workspace) is None:
        from .. import trust
        from ..team import membership

        if membership.membership_of(workspace, trust.settings_of(workspace).config_folder) is not None:
            _started(workspace)


class _Worker(NamedTuple):
    """What the worker that runs here says of itself. ``problem``: the error code of the last failure to reach the
    team."""

    started_at: datetime
    problem: str | None


def _worker(workspace: Workspace) -> _Worker | None:
    """The worker; None if none runs, or if it ends or says nothing yet."""
    try:
        found = heartbeat.read(workspace.spool) if is_held(workspace.spool.lock) else None
        if found is None or found["state"] in ("exiting", "stopped"):
            return None
        return _Worker(clock.parse(found["started_at"]), (found["team"] or {"problem": None})["problem"])
    except (OSError, KeyError, TypeError, ValueError, AttributeError):
        return None


def _follows(worker: _Worker, age: CopyAge) -> bool:
    """Whether the copy has had all changes since this worker runs."""
    return age.current_at is not None and age.current_at >= worker.started_at


def _is_new(age: CopyAge, now: datetime) -> bool:
    """Whether it is known of late that the copy has all changes."""
    seconds = None if age.current_at is None else (now - age.current_at).total_seconds()
    return seconds is not None and seconds <= _OLD_SECONDS


def _missing_since(age: CopyAge) -> str:
    if age.current_at is None:
        return "it is unknown since when changes are missing here, and what others have forgotten may be in the answer"
    since = clock.iso(age.current_at)
    return f"what others added or changed since {since} is missing, and what they forgot may be in the answer"


def _unreached(workspace: Workspace, age: CopyAge) -> str | None:
    """Why the team was not reached at the last try, and what helps; None if that is not known."""
    why, since = last_try.note_of_answers(workspace), _missing_since(age)
    return why and f"{why} {since[0].upper()}{since[1:]}."


def _asked(workspace: Workspace, age: CopyAge, catch_up_seconds: float, *, is_there: bool) -> str | None:
    """What the team says that the copy lacks, if it says so in time. A worker is started, if none ``is_there``."""
    from .. import trust
    from ..team import membership, missing

    settings = trust.settings_of(workspace)
    found = membership.membership_of(workspace, settings.config_folder)
    if found is None:
        return None
    lacks = None
    if age.seq is not None:
        lacks = missing.ask(settings, missing.CopyPlace(found.workspace_id, age.seq, age.change), ASK_SECONDS)
    # Not before: it would take the processor from the answer.
    who = "The worker here has not caught up with the team yet." if is_there else _started(workspace)
    if lacks is None:
        said = _unreached(workspace, age)
        return said or f"{who} The team did not answer within {ASK_SECONDS:g} s: {_missing_since(age)}."
    if not lacks.changes:
        return None
    if lacks.forgets:
        if _catches_up(workspace, catch_up_seconds):
            return None
        raise JobError("TEAM_COPY_BEHIND", f"{who} Others have forgotten memories that this copy still has.")
    return f"{who} Changes are missing here, {lacks.changes} since {_since(age)}: ask again in some seconds."


def _since(age: CopyAge) -> str:
    return "an unknown time" if age.current_at is None else clock.iso(age.current_at)


def _started(workspace: Workspace) -> str:
    from jobs import launch

    try:
        launch.begin(workspace)
    except (JobError, OSError) as error:
        why = error.code if isinstance(error, JobError) else error.strerror
        return f"No worker runs here to follow the team, and none could be started ({why}): cognee-memory worker start."
    return "No worker ran here to follow the team: one was started."


def _catches_up(workspace: Workspace, seconds: float) -> bool:
    """Wait until the worker follows the team. False if it does not in this time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        worker, age = _worker(workspace), copy_age.read(workspace)
        if worker is not None and age is not None and _follows(worker, age):
            return True
        time.sleep(_LOOK_SECONDS)
    return False
