"""Applies the safe fixes that findings name.

Each fix checks the state again before it acts, changes nothing that is in order, and is idempotent.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

from bridge import trust
from bridge.settings import Settings, user_file
from jobs import clock, files, launch, plain_files
from jobs.diagnostics import Fix
from jobs.errors import JobError
from jobs.finding import Finding
from jobs.layout import Workspace
from jobs.lock import Lock

from ..child.protocol import CRITICAL_SECONDS
from ..processes import processes
from ..wording import counted
from . import workspace as doctor_workspace

_PATIENCE_SECONDS = CRITICAL_SECONDS + 1.0  # an orphaned child exits, but only after its commit


class FixResult(NamedTuple):
    """The result of a fix: whether it was applied, and a message."""

    fix: Fix
    done: bool
    message: str


def apply_fixes(
    workspace: Workspace, findings: Sequence[Finding], settings: Settings, *, start: bool = True
) -> list[FixResult]:
    """Apply the fixes that the findings name, in a fixed order.

    A workspace of another user is not changed; with ``start`` false no worker is started. A fix that fails is reported
    in its ``FixResult``.
    """
    wanted = {finding.fix for finding in findings if finding.fix is not None}
    if not start:
        wanted.discard("start a worker")
    try:
        trust_state = trust.inspect_trust(workspace, settings.config_folder) if workspace.exists else None
    except OSError:
        trust_state = None
    if trust_state is None or trust_state.foreign is not None:
        wanted &= {"close to others"}
    done = []
    for fix, work in _FIXES.items():
        if fix in wanted:
            try:
                done.append(FixResult(fix, True, work(workspace, settings, trust_state)))
            except (OSError, JobError, psutil.Error) as error:
                why = error.message if isinstance(error, JobError) else str(error)
                done.append(FixResult(fix, False, f"That did not work: {why}"))
    return done


def _close(workspace: Workspace, settings: Settings, trust_state: trust.TrustState | None) -> str:
    count = 0
    if trust_state is not None and trust_state.foreign is None:
        kept = doctor_workspace.Facts(workspace, trust_state, clock.now())
        token = workspace.spool.token
        for path in dict.fromkeys([*kept.troubled["OPEN_TO_OTHERS"], *([token] if os.path.lexists(token) else [])]):
            count += _make_private(path)
    config = user_file(settings)
    if config.is_file() and not config.is_symlink():
        count += _make_private(config)
    return f"{counted(count, 'entry')} closed to others."


def _make_private(path: Path) -> bool:
    """Remove the permissions of others from a plain file or folder of this user. Returns whether there were any."""
    if sys.platform == "win32":
        return False
    with contextlib.suppress(FileNotFoundError):  # it was removed meanwhile
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            status = os.fstat(descriptor)
            is_plain = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
            if is_plain and plain_files.belongs_to_user(status) and status.st_mode & 0o077:
                os.fchmod(descriptor, stat.S_IMODE(status.st_mode) & 0o700)
                return True
        finally:
            os.close(descriptor)
    return False


def _ignore(workspace: Workspace, settings: Settings, trust_state: trust.TrustState | None) -> str:
    folders = [folder for folder in workspace.own_folders if folder.is_dir() and not (folder / ".gitignore").exists()]
    for folder in folders:
        files.ignore_in_git(folder)
    return f"{counted(len(folders), 'folder')} got a .gitignore."


def _remove_parts(workspace: Workspace, settings: Settings, trust_state: trust.TrustState | None) -> str:
    assert trust_state is not None
    parts = doctor_workspace.Facts(workspace, trust_state, clock.now()).troubled["PARTS_LEFT"]
    for path in parts:
        files.remove(path)
    return f"{counted(len(parts), 'part')} of files removed."


def _remove_left(workspace: Workspace, settings: Settings, trust_state: trust.TrustState | None) -> str:
    """Holds the lock, so that no worker starts meanwhile and its heartbeat is not removed."""
    lock = Lock(workspace.spool.lock)
    if not lock.acquire():
        return "A worker is running; nothing was changed."
    with lock:
        left = [path for path in (workspace.spool.heartbeat, workspace.spool.token) if os.path.lexists(path)]
        for path in left:
            files.remove(path)
    return f"{counted(len(left), 'file')} of a worker that has stopped removed."


def _end_orphans(workspace: Workspace, settings: Settings, trust_state: trust.TrustState | None) -> str:
    """Wait for the orphans to exit, which takes seconds since their input is closed; then kill those that hang."""
    orphans = [each for each in processes(workspace) if each.is_orphan]
    known = []
    for orphan in orphans:
        with contextlib.suppress(psutil.NoSuchProcess):
            known.append(psutil.Process(orphan.pid))
    _, left = psutil.wait_procs(known, timeout=_PATIENCE_SECONDS)
    still = {each.pid for each in processes(workspace) if each.is_orphan}
    killed = [process for process in left if process.pid in still]
    for process in killed:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()  # psutil compares the start time, so a new process with the same id is safe
    psutil.wait_procs(killed, timeout=_PATIENCE_SECONDS)
    return f"Ended: {len(known)}, {len(killed)} of them killed."


def _start(workspace: Workspace, settings: Settings, trust_state: trust.TrustState | None) -> str:
    """The last fix, so that the worker starts after all repairs."""
    started = launch.start(workspace, leave_when_idle=True)
    return "A worker was started." if started else "A worker is running already."


_FIXES: dict[Fix, Callable[[Workspace, Settings, trust.TrustState | None], str]] = {
    "close to others": _close,
    "add .gitignore": _ignore,
    "remove parts": _remove_parts,
    "end orphans": _end_orphans,
    "remove what a dead worker left": _remove_left,
    "start a worker": _start,
}
