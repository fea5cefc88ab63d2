"""Starts a worker for a workspace unless one runs.

A client drops its job first and calls ``start`` afterwards. In the other order, the worker that it saw could stop
before the drop. The worker's lock keeps a second worker out.
"""

from __future__ import annotations

import errno
import subprocess
import sys
import time
from pathlib import Path

from . import files, heartbeat, spool
from .errors import JobError
from .layout import Workspace
from .lock import is_held

# Flags of processes on Windows, zero elsewhere: no console window, and no share in the parent's Ctrl-C.
NO_CONSOLE: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)
_OWN_GROUP: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
_STARTING_SECONDS = 10.0


def is_alive(workspace: Workspace) -> bool:
    """Whether a worker runs, judged by its lock, which the kernel releases when the process ends. Raises OSError."""
    return is_held(workspace.spool.lock)


def is_shutting_down(workspace: Workspace) -> bool:
    """Whether the worker starts no more jobs: it says so in its heartbeat, or the workspace was moved while it ran. It
    runs until its last job has ended."""
    return _state(workspace) in ("draining", "exiting", "stopped") or was_moved(workspace)


def was_moved(workspace: Workspace) -> bool:
    """Whether the heartbeat names another folder: the workspace was moved, and its worker is about to end.

    True as well if the worker runs in a container that sees the workspace under another path.
    """
    content = heartbeat.read(workspace.spool)
    former = content.get("workspace") if content is not None else None
    if not isinstance(former, str):
        return False
    try:
        return not workspace.root.samefile(former)
    except (OSError, ValueError):
        return True


def _state(workspace: Workspace) -> str | None:
    content = heartbeat.read(workspace.spool)
    return None if content is None or "state" not in content else str(content["state"])


def start(workspace: Workspace, wait_seconds: float = 20.0, *, leave_when_idle: bool = False) -> bool:
    """Start a detached worker unless one runs. Returns whether this call started one.

    If the present worker is shutting down, this starts one successor, which waits for it to end. With
    ``leave_when_idle`` the new worker stops after a time without work. Raises JobError: WORKER_START_FAILED with the
    last lines of its output, or when it is not ready after ``wait_seconds``; FILE_UNSAFE. Raises OSError.
    """
    shutting_down = is_alive(workspace) and is_shutting_down(workspace)
    process = _begin(workspace, shutting_down=shutting_down, leave_when_idle=leave_when_idle)
    if process is None or shutting_down:
        return process is not None
    deadline = time.monotonic() + wait_seconds
    while time.monotonic() < deadline:
        if is_alive(workspace) and _state(workspace) not in (None, "stopped"):
            return True
        if (status := process.poll()) is not None:
            if is_alive(workspace):  # a worker that another client started got the lock first
                return False
            if status == errno.ENOSPC:
                raise JobError("DISK_FULL")
            last_lines = _output(workspace).read_text("utf-8", "replace").strip().splitlines()[-3:]
            message = "The worker ended at once: " + (" ".join(last_lines) or "it said nothing.")
            raise JobError("WORKER_START_FAILED", message)
        time.sleep(0.02)
    raise JobError("WORKER_START_FAILED", f"The worker was not there after {wait_seconds:g} s.")


def begin(workspace: Workspace) -> None:
    """As ``start``, for who does not wait for the worker, and may ask for it again and again: not if it was started a
    moment ago. Raises JobError: FILE_UNSAFE. Raises OSError."""
    try:
        if 0 <= time.time() - _output(workspace).lstat().st_mtime < _STARTING_SECONDS:
            return
    except FileNotFoundError:
        pass
    _begin(workspace, shutting_down=is_alive(workspace) and is_shutting_down(workspace), leave_when_idle=True)


def _output(workspace: Workspace) -> Path:
    return workspace.spool.worker / "start.log"


def _begin(workspace: Workspace, *, shutting_down: bool, leave_when_idle: bool) -> subprocess.Popen[bytes] | None:
    """The process of a new worker, or of a successor; None if there is one already."""
    if is_alive(workspace) and (not shutting_down or is_held(workspace.spool.successor_lock)):
        return None
    spool.make_root(workspace.spool)
    files.make_folder(workspace.spool.worker)
    output = _output(workspace)
    files.replace_without_sync(output, b"")  # a new plain file: an existing link would redirect the output
    with output.open("ab") as stream:
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "worker", "--workspace", str(workspace.root), "--detached"),
                *(["--successor"] if shutting_down else []),
                *(["--leave-when-idle"] if leave_when_idle else []),
            ],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            cwd=workspace.root.anchor,
            start_new_session=sys.platform != "win32",
            creationflags=NO_CONSOLE | _OWN_GROUP,
        )
