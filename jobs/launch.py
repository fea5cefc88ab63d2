"""Seeing to it that a worker works on a workspace: never two, never none.

The order for an asker is: drop first, then look, so that no job is dropped beside a worker that was seen
and has left since.
"""

from __future__ import annotations

import subprocess
import sys
import time

from . import files, heartbeat
from .errors import JobError
from .layout import Workspace
from .lock import is_held

# On Windows: no console window, and no share in the parent's Ctrl-C. Zero elsewhere.
_NO_CONSOLE: int = getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)


def is_alive(workspace: Workspace) -> bool:
    """Whether a worker lives: decided by the lock that the kernel frees with the process."""
    return is_held(workspace.spool.lock)


def is_leaving(workspace: Workspace) -> bool:
    """Whether the worker takes up nothing more: by its own word, since it lives until it has finished."""
    return _state(workspace) in ("draining", "exiting", "stopped")


def _state(workspace: Workspace) -> str | None:
    said = heartbeat.read(workspace.spool)
    return None if said is None or "state" not in said else str(said["state"])


def start(workspace: Workspace, wait_seconds: float = 20.0, *, leave_when_idle: bool = False) -> bool:
    """Start a detached worker unless one lives. Returns whether this call started one.

    Beside a worker that is leaving, one successor is left to wait for it. ``leave_when_idle`` lets it end by itself
    after a time without work. Raises WORKER_START_FAILED with the last lines that it wrote.
    """
    leaving = is_alive(workspace) and is_leaving(workspace)
    if is_alive(workspace) and (not leaving or is_held(workspace.spool.successor_lock)):
        return False
    files.make_folder(workspace.spool.root)
    files.make_folder(workspace.spool.worker)
    output = workspace.spool.worker / "start.log"
    files.replace_loosely(output, b"")  # whatever lay there: a link would lead our writes elsewhere
    with output.open("ab") as stream:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "worker", "--workspace", str(workspace.root), "--detached"),
                *(["--successor"] if leaving else []),
                *(["--leave-when-idle"] if leave_when_idle else []),
            ],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            cwd=workspace.root.anchor,
            start_new_session=sys.platform != "win32",
            creationflags=_NO_CONSOLE,
        )
    if leaving:
        return True
    deadline = time.monotonic() + wait_seconds
    while time.monotonic() < deadline:
        if is_alive(workspace) and _state(workspace) not in (None, "stopped"):
            return True
        if process.poll() is not None:
            if is_alive(workspace):  # another asker's worker was faster
                return False
            said = output.read_text("utf-8", "replace").strip().splitlines()[-3:]
            raise JobError("WORKER_START_FAILED", "The worker ended at once: " + (" ".join(said) or "it said nothing."))
        time.sleep(0.02)
    raise JobError("WORKER_START_FAILED", f"The worker was not there after {wait_seconds:g} s.")
