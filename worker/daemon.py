"""The worker's process: the lock that allows only one per workspace, its log and its signals.

What the worker does is in ``app``, which is imported only with the lock, and where jobs wait, while the child loads.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from bridge import trust
from bridge.interface.envelope import unexpected
from bridge.privacy.masking import masked
from bridge.settings import Settings
from jobs import files, launch, spool, steps
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lock import Lock, is_held

from . import log
from .child.protocol import CRITICAL_SECONDS
from .child.supervisor import Child
from .processes import boot_id, died_since_boot
from .stop_signals import on_stop

_SUCCESSOR_PAUSE_SECONDS = 0.1
_MOVED_PATIENCE_SECONDS = 120.0
_ORPHAN_SECONDS = CRITICAL_SECONDS + 1.0


def serve(
    workspace: Workspace,
    settings: Settings,
    *,
    foreground: bool,
    successor: bool = False,
    leaves_when_idle: bool = False,
) -> int:
    """Acquire the lock, run the worker until it stops, and release the lock. Returns the exit status 0.

    A ``successor`` waits for a worker that is stopping. Raises JobError: WORKER_RUNNING when another worker holds the
    lock; WORKSPACE_NOT_TRUSTED.
    """
    os.umask(0o077)
    trust.adopt(workspace, settings.config_folder)
    steps.arm(settings.fault if settings.test_jobs else None)
    lock = Lock(workspace.spool.lock)
    if not (_succeed(workspace, lock) if successor else lock.acquire()):
        raise JobError("WORKER_RUNNING", f"Another worker works on {workspace.root}.")
    with lock:
        files.remove(workspace.spool.heartbeat)  # the former worker's: its process id may belong to another process now
        log.set_up(workspace.spool.log, settings.log_level, settings.log_format, foreground=foreground)
        worker_died = died_since_boot(lock.read_note())
        _outlive_orphan(workspace)
        child = Child(workspace, settings)
        if spool.inbox(workspace.spool) and not workspace.spool.paused.exists():
            child.start()
        from .app import Worker

        worker = Worker(
            workspace,
            settings,
            lock.is_in_place,
            child=child,
            worker_died=worker_died,
            leaves_when_idle=leaves_when_idle,
        )
        lock.write_note((boot_id() or "").encode())
        on_stop(worker.stop)
        worker.run()
        lock.write_note(b"")
    return 0


def _outlive_orphan(workspace: Workspace) -> None:
    """Wait until the child of an earlier worker has ended: that worker died, or its lock file was removed.

    The child may be committing a job's change. Until it ends, the job must not be reported as cancelled.
    """
    deadline = time.monotonic() + _ORPHAN_SECONDS
    while is_held(workspace.store_lock) and time.monotonic() < deadline:
        time.sleep(_SUCCESSOR_PAUSE_SECONDS)


def _succeed(workspace: Workspace, lock: Lock) -> bool:
    """Wait for the lock of a worker that is stopping. Returns whether it was acquired.

    Only one successor waits; any other returns False at once. The worker of a moved workspace gets 2 min to end, since
    it may instead run in a container that sees the workspace under another path.
    """
    deadline = time.monotonic() + _MOVED_PATIENCE_SECONDS
    turn = Lock(workspace.spool.successor_lock)
    if not turn.acquire():
        return False
    with turn:
        while not lock.acquire():
            if not launch.is_shutting_down(workspace):  # the worker keeps running, or another one took the lock
                return False
            if launch.was_moved(workspace) and time.monotonic() > deadline:
                return False
            time.sleep(_SUCCESSOR_PAUSE_SECONDS)
    return True


def main(argv: Sequence[str] | None = None) -> int:
    """``python -m worker``: starts a worker, mostly a detached one. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m worker", allow_abbrev=False)
    parser.add_argument("--workspace", required=True)
    parser.add_argument("--detached", action="store_true", help="log to the file alone")
    parser.add_argument("--successor", action="store_true", help="wait for a worker that is leaving")
    parser.add_argument("--leave-when-idle", action="store_true", help="end by itself after a time without work")
    given = parser.parse_args(argv)
    try:
        workspace, settings = trust.open_workspace(given.workspace, Path.cwd())
        return serve(
            workspace,
            settings,
            foreground=not given.detached,
            successor=given.successor,
            leaves_when_idle=given.leave_when_idle,
        )
    except Exception as failure:
        error = failure if isinstance(failure, JobError) else unexpected(failure)
        with suppress(OSError):
            print(masked(f"{error.message} {error.remediation}"), file=sys.stderr)  # noqa: T201 - the client reads it
        return errno.ENOSPC if error.code == "DISK_FULL" else 1
