"""The processes of this program for a workspace, recognised by their command lines, and the running worker's heartbeat.

A heartbeat outlives its worker, and the system reuses process ids, so a process id from a heartbeat proves nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal

import psutil

from jobs import heartbeat
from jobs.layout import Workspace

from . import boot

if TYPE_CHECKING:
    from jobs.schema import Heartbeat

Role = Literal["worker", "child", "server"]

_MODULES: dict[str, Role] = {
    "worker.child.main": "child",
    "worker.server.main": "server",
    "worker.child_main": "child",  # the name in version 0.4.0
    "worker.server": "server",
    "worker": "worker",
}
_COMMANDS = ("cognee-memory", "cognee-memory-script")  # the second one on Windows


@dataclass(frozen=True, slots=True)
class Process:
    """A process of this program for this workspace. ``is_orphan``: it is a worker's, and has lost that worker."""

    pid: int
    role: Role
    is_orphan: bool
    is_successor: bool = False


def processes(workspace: Workspace) -> Iterator[Process]:
    """This user's processes of this program for the workspace. Workers in the foreground are not among them."""
    for process in psutil.process_iter(["pid", "ppid", "cmdline", "uids"]):
        known = process.info
        words = known["cmdline"] or []
        if len(words) < 4 or words[1] != "-m" or words[2] not in _MODULES or _is_anothers(known["uids"]):
            continue
        role = _MODULES[words[2]]
        if role == "worker":
            if _workspace_of(words) == str(workspace.root):
                yield Process(known["pid"], role, False, "--successor" in words)
        elif words[3] == str(workspace.root) and len(words) > 4 and words[4].isdecimal():
            yield Process(known["pid"], role, known["ppid"] != int(words[4]))


def running_heartbeat(workspace: Workspace) -> Heartbeat | None:
    """The heartbeat, if its process is a worker that runs.

    None when the file is absent or damaged, says ``stopped``, is of an earlier boot, or names a process that is no
    worker of this workspace.
    """
    latest = heartbeat.read(workspace.spool)
    if latest is None or not isinstance(latest.get("pid"), int) or latest.get("state") in (None, "stopped"):
        return None
    if latest.get("boot_id") not in (None, boot.boot_id()):
        return None
    return latest if _is_worker(latest["pid"], workspace) else None


def _is_worker(pid: int, workspace: Workspace) -> bool:
    try:
        process = psutil.Process(pid)
        words = process.cmdline()
        uids = process.uids() if sys.platform != "win32" else None
    except (psutil.Error, ValueError, OverflowError):
        return False
    return not _is_anothers(uids) and is_worker_command(words, workspace)


def is_worker_command(words: Sequence[str], workspace: Workspace) -> bool:
    """Whether a command line runs a worker: in the background for this workspace, or in the foreground.

    A worker in the foreground may have found its workspace from its folder, so its workspace is not compared.
    """
    if list(words[1:3]) == ["-m", "worker"]:
        return _workspace_of(words) == str(workspace.root)
    is_command_line = list(words[1:3]) == ["-m", "worker.cli"] or any(
        PurePath(word).name.removesuffix(".exe").removesuffix(".py") in _COMMANDS for word in words[:4]
    )
    if not is_command_line or "worker" not in words:
        return False
    verb = [*words[list(words).index("worker") + 1 :], "run"][0]
    return verb == "run" or verb.startswith("-")


def _workspace_of(words: Sequence[str]) -> str | None:
    """The workspace in the command line of a worker, None when it has none."""
    index = list(words).index("--workspace") + 1 if "--workspace" in words else len(words)
    return words[index] if index < len(words) else None


def _is_anothers(uids: Any) -> bool:
    return sys.platform != "win32" and (uids is None or uids.real != os.getuid())
