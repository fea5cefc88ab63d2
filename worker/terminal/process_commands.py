"""The commands that start, stop and show the worker's process; and how a command finds its workspace, and where it may
write."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import time
from pathlib import Path

from bridge import trust
from bridge.interface import envelope
from bridge.settings import Settings
from jobs import launch
from jobs.errors import JobError
from jobs.layout import Workspace, expand_home, find_workspace

from ..admin.requests import worker_of
from .output import Envelope
from .progress import saying_what_is_waited_for


def workspace_of(given: argparse.Namespace) -> Workspace:
    return find_workspace(given.workspace, Path.cwd())


def opened(given: argparse.Namespace) -> tuple[Workspace, Settings]:
    workspace = workspace_of(given)
    return workspace, trust.settings_of(workspace)


def target(workspace: Workspace, given: str) -> Path:
    """The path of a file to be written or replaced, which is none of ours. Raises ARGUMENT_INVALID."""
    out = expand_home(given).absolute()
    try:
        is_other = out.exists() and not out.is_file()
        place = out.resolve()
    except OSError as error:
        raise JobError("ARGUMENT_INVALID", f"{out} cannot be written: {error.strerror}.") from error
    if is_other:
        raise JobError("ARGUMENT_INVALID", f"{out} is no plain file.")
    if {folder.name for folder in workspace.own_folders} & set(place.parts):
        raise JobError("ARGUMENT_INVALID", f"{out} lies in a folder that is cognee-memory's own; name another one.")
    return out


def run(given: argparse.Namespace) -> Envelope:
    """Work in the foreground. What ``cognee-memory worker`` does without a verb, too."""
    from ..daemon import serve

    workspace, found = opened(given)
    serve(workspace, found, foreground=True)
    return envelope.success(stopped=True)


def start(given: argparse.Namespace) -> Envelope:
    workspace, _ = opened(given)
    started = launch.start(workspace)
    return envelope.success(started=started, worker=worker_of(workspace))


def stop(given: argparse.Namespace) -> Envelope:
    """SIGTERM to the process that holds the lock; it finishes what runs. Returns when it has gone."""
    workspace, _ = opened(given)
    told: int | None = None
    with saying_what_is_waited_for(workspace, "the worker to finish what runs"):
        while launch.is_alive(workspace):
            heartbeat = worker_of(workspace)["heartbeat"]  # absent while a worker starts
            if heartbeat is not None and told is None:
                told = int(heartbeat["pid"])
                with contextlib.suppress(ProcessLookupError):
                    os.kill(told, signal.SIGTERM)
            elif heartbeat is not None and heartbeat["pid"] != told:
                break  # somebody has started another one since
            time.sleep(0.05)
    if told is None:
        raise JobError("WORKER_NOT_RUNNING", f"No worker works on {workspace.root}.")
    return envelope.success(stopped=True)


def restart(given: argparse.Namespace) -> Envelope:
    if launch.is_alive(workspace_of(given)):
        stop(given)
    return start(given)


def status(given: argparse.Namespace) -> Envelope:
    workspace, _ = opened(given)
    found = worker_of(workspace)
    if not found["alive"]:
        raise JobError("WORKER_NOT_RUNNING", f"No worker works on {workspace.root}.")
    return envelope.success(worker=found)


def logs(given: argparse.Namespace) -> Envelope:
    workspace, _ = opened(given)
    path = workspace.spool.log
    if given.lines < 0:
        raise JobError("ARGUMENT_INVALID", "--lines must be at least 0.")
    if given.follow:
        return _follow(path, given)
    return envelope.success(log=str(path), lines=last_lines(path, given.lines))


def last_lines(path: Path, count: int) -> list[str]:
    if not path.exists() or not count:
        return []
    text = path.read_text("utf-8", "replace")
    return text.removesuffix("\n").split("\n")[-count:] if text else []


def _follow(path: Path, given: argparse.Namespace) -> Envelope:
    """Print what is written, a line each, until Ctrl-C; with ``--json`` an object a line."""
    from .watch import Tail, emit

    tail = Tail(path)
    try:
        for line in last_lines(path, given.lines):
            emit({"line": line}, line, as_json=given.json)
        while True:
            for line in tail.new_lines():
                emit({"line": line}, line, as_json=given.json)
            time.sleep(0.2)
    except KeyboardInterrupt:
        return envelope.success(log=str(path), lines=[])
