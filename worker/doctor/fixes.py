"""Mending what can be mended without a risk. Each is looked at once more right before, changes nothing that is well,
and does the same twice as once.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from bridge import trust
from bridge.settings import Settings, user_file
from jobs import clock, files, launch
from jobs.diagnostics import Fix
from jobs.errors import JobError
from jobs.finding import Finding
from jobs.layout import Workspace
from jobs.lock import Lock

from ..child.protocol import CRITICAL_SECONDS
from ..wording import counted
from . import worker as doctor_worker, workspace as doctor_workspace

_PATIENCE_SECONDS = CRITICAL_SECONDS + 1.0  # a child of ours ends by itself, but not in the middle of a commit


@dataclass(frozen=True, slots=True)
class Done:
    """What was done of a fix, or why not."""

    fix: Fix
    done: bool
    message: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def apply_fixes(
    workspace: Workspace, findings: Sequence[Finding], settings: Settings, *, start: bool = True
) -> list[Done]:
    """Do the fixes that the findings name. In a workspace of somebody else's nothing is touched; with ``start`` false
    no worker is started."""
    wanted = {finding.fix for finding in findings if finding.fix is not None}
    if not start:
        wanted.discard("start a worker")
    try:
        standing = trust.inspect_trust(workspace, settings.config_folder) if workspace.exists else None
    except OSError:
        standing = None
    if standing is None or standing.foreign is not None:
        wanted &= {"close to others"}
    done = []
    for fix, work in _FIXES.items():
        if fix in wanted:
            try:
                done.append(Done(fix, True, work(workspace, settings, standing)))
            except (OSError, JobError, psutil.Error) as error:
                why = error.message if isinstance(error, JobError) else str(error)
                done.append(Done(fix, False, f"That did not work: {why}"))
    return done


def _close(workspace: Workspace, settings: Settings, standing: trust.TrustState | None) -> str:
    count = 0
    if standing is not None and standing.foreign is None:
        kept = doctor_workspace.gather(workspace, standing, clock.now())
        token = workspace.spool.token
        for path in dict.fromkeys([*kept.open, *([token] if os.path.lexists(token) else [])]):
            count += _make_private(path)
    config = user_file(settings)
    if config.is_file() and not config.is_symlink():
        count += _make_private(config)
    return f"{counted(count, 'entry')} closed to others."


def _make_private(path: Path) -> bool:
    """Take the rights of others away, from a plain file or folder of our own alone. Whether there were any."""
    if sys.platform == "win32":
        return False
    with contextlib.suppress(FileNotFoundError):  # it has just gone
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            status = os.fstat(descriptor)
            is_plain = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
            if is_plain and files.belongs_to_user(status) and status.st_mode & 0o077:
                os.fchmod(descriptor, stat.S_IMODE(status.st_mode) & 0o700)
                return True
        finally:
            os.close(descriptor)
    return False


def _ignore(workspace: Workspace, settings: Settings, standing: trust.TrustState | None) -> str:
    folders = [folder for folder in workspace.own_folders if folder.is_dir() and not (folder / ".gitignore").exists()]
    for folder in folders:
        files.ignore_in_git(folder)
    return f"{counted(len(folders), 'folder')} got a .gitignore."


def _remove_parts(workspace: Workspace, settings: Settings, standing: trust.TrustState | None) -> str:
    assert standing is not None
    parts = doctor_workspace.gather(workspace, standing, clock.now()).parts
    for path in parts:
        files.remove(path)
    return f"{counted(len(parts), 'part')} of files removed."


def _remove_left(workspace: Workspace, settings: Settings, standing: trust.TrustState | None) -> str:
    """With the lock held: no worker starts meanwhile, whose heartbeat it would be."""
    lock = Lock(workspace.spool.lock)
    if not lock.acquire():
        return "A worker lives: it was left alone."
    with lock:
        left = [path for path in (workspace.spool.heartbeat, workspace.spool.token) if os.path.lexists(path)]
        for path in left:
            files.remove(path)
    return f"{counted(len(left), 'file')} of a worker that is gone removed."


def _end_orphans(workspace: Workspace, settings: Settings, standing: trust.TrustState | None) -> str:
    """They end by themselves within some seconds, since their input is closed; who does not, hangs."""
    orphans = [each for each in doctor_worker.processes(workspace) if doctor_worker.is_orphan(each)]
    known = []
    for orphan in orphans:
        with contextlib.suppress(psutil.NoSuchProcess):
            known.append(psutil.Process(orphan.pid))
    _, left = psutil.wait_procs(known, timeout=_PATIENCE_SECONDS)
    still = {each.pid for each in doctor_worker.processes(workspace) if doctor_worker.is_orphan(each)}
    killed = [process for process in left if process.pid in still]
    for process in killed:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()  # psutil compares the time of its start: never another process of the same id
    psutil.wait_procs(killed, timeout=_PATIENCE_SECONDS)
    return f"Ended: {len(known)}, {len(killed)} of them killed."


def _start(workspace: Workspace, settings: Settings, standing: trust.TrustState | None) -> str:
    """Last, when all else is mended."""
    started = launch.start(workspace, leave_when_idle=True)
    return "A worker was started." if started else "A worker is there already."


_FIXES: dict[Fix, Callable[[Workspace, Settings, trust.TrustState | None], str]] = {
    "close to others": _close,
    "add .gitignore": _ignore,
    "remove parts": _remove_parts,
    "end orphans": _end_orphans,
    "remove what a dead worker left": _remove_left,
    "start a worker": _start,
}
