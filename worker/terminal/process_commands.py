"""The workspace of a command, checks of its limit, its output file, and stopping the workspace's worker."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from jobs import launch
from jobs.errors import JobError
from jobs.layout import Workspace, expand_home, find_workspace

from .command_line import Given
from .progress import waiting_status

_UNKNOWN_HOLDER_SECONDS = 20.0  # a starting worker has written its heartbeat by then


def workspace_of(args: Given) -> Workspace:
    """The workspace of a command. Raises as ``find_workspace``."""
    return find_workspace(args.workspace, Path.cwd())


def require_positive(limit: int) -> None:
    """Raises JobError: ARGUMENT_INVALID for a ``--limit`` below 1."""
    if limit < 1:
        raise JobError("ARGUMENT_INVALID", "--limit must be at least 1.")


def target(workspace: Workspace, args: str) -> Path:
    """The absolute path of an output file.

    Raises JobError: ARGUMENT_INVALID when it is not a plain file or is in a folder of this program.
    """
    out = expand_home(args).absolute()
    with writing(out):
        is_other = out.exists() and not out.is_file()
        resolved = out.resolve()
    if is_other:
        raise JobError("ARGUMENT_INVALID", f"{out} is not a plain file.")
    if {folder.name for folder in workspace.own_folders} & set(resolved.parts):
        raise JobError("ARGUMENT_INVALID", f"{out} is in one of cognee-memory's own folders; name another file.")
    return out


@contextlib.contextmanager
def writing(out: Path) -> Iterator[None]:
    """Raises JobError: ARGUMENT_INVALID when the output file cannot be written."""
    try:
        yield
    except OSError as error:
        raise JobError("ARGUMENT_INVALID", f"{out} cannot be written: {error.strerror}.") from error


def stop_worker(workspace: Workspace, wait_seconds: float | None = None) -> bool:
    """Stop the worker and wait until it has exited. Returns False when none was running.

    Other commands hold the lock for a moment too, and a heartbeat outlives its worker; so only the process of a
    heartbeat that ``running_heartbeat`` confirms gets the signal. Raises JobError: WORKER_NOT_RUNNING when the lock
    stays held and no heartbeat is confirmed, WORKER_RUNNING when the worker still runs after ``wait_seconds``.
    """
    began = time.monotonic()
    from ..processes import running_heartbeat  # psutil takes time to import

    signalled: int | None = None
    deadline = time.monotonic() + _UNKNOWN_HOLDER_SECONDS
    with waiting_status(workspace, "the worker to finish its running jobs"):
        while launch.is_alive(workspace):
            heartbeat = running_heartbeat(workspace)
            if heartbeat is not None and signalled is None:
                signalled = heartbeat["pid"]
                with contextlib.suppress(ProcessLookupError):
                    os.kill(signalled, signal.SIGTERM)
            elif heartbeat is not None and heartbeat["pid"] != signalled:
                break  # another worker was started meanwhile
            elif signalled is None and time.monotonic() > deadline:
                raise JobError(
                    "WORKER_NOT_RUNNING",
                    f"A process holds the lock of {workspace.root}, but its heartbeat names no worker that runs here."
                    " No process was signalled.",
                    remediation="See cognee-memory doctor.",
                )
            elif wait_seconds is not None and time.monotonic() - began > wait_seconds:
                raise JobError(
                    "WORKER_RUNNING",
                    f"The worker of {workspace.root} was asked to stop, and still runs after {wait_seconds:g} s.",
                    remediation="See what it does: cognee-memory status. It ends when its running jobs have ended.",
                )
            time.sleep(0.05)
    return signalled is not None
