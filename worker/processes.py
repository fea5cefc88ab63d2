"""The processes of this program for a workspace, recognised by their command lines, their memory and processor time,
and the running worker's heartbeat; and the current boot, so that a reboot is not counted as a death of the worker.

A heartbeat outlives its worker, and the system reuses process ids, so a process id from a heartbeat proves nothing.
Measurements never raise: a process may end at any time, and the worker may have no free file descriptor.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal

import psutil

from jobs import heartbeat
from jobs.layout import Workspace

if TYPE_CHECKING:
    from jobs.schema import Heartbeat


_MINUTE = 60

Role = Literal["worker", "child", "server"]
_MODULES: dict[str, Role] = {
    "worker.child.main": "child",
    "worker.server.main": "server",
    "worker.child_main": "child",  # the name in version 0.4.0
    "worker.server": "server",
    "worker": "worker",
}
_COMMANDS = ("cognee-memory", "cognee-memory-script")  # the second one on Windows


def boot_id() -> str | None:
    """An id of the current boot, constant until the next one; None if the system gives none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        pass
    if sys.platform == "darwin":
        sysctl = subprocess.run(
            ["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"], capture_output=True, text=True, check=False
        )
        return sysctl.stdout.strip() or None
    try:
        # The boot time changes slightly when the clock is set, so it is rounded to minutes.
        return f"booted-{round(psutil.boot_time() / _MINUTE)}"
    except (OSError, psutil.Error):
        return None


def died_since_boot(note: bytes) -> bool:
    """Whether the former worker died since the current boot, from the note that it wrote into its lock file.

    A worker that stops in order clears its note; a note with another boot's id means a reboot.
    """
    current = boot_id()
    return current is not None and note.decode("utf-8", "replace").strip() == current


def resident_bytes(pid: int) -> int | None:
    """The resident memory; None if it cannot be read."""
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except (psutil.Error, OSError):
        return None


def private_bytes(pid: int) -> int | None:
    """The resident memory without mapped files, which the system can reclaim; None if it cannot be read."""
    try:
        memory = psutil.Process(pid).memory_info()
    except (psutil.Error, OSError):
        return None
    return int(memory.rss) - int(getattr(memory, "shared", 0))


def memory_and_cpu(pid: int) -> tuple[int, float] | None:
    """The resident memory, and the processor time in seconds; None if they cannot be read."""
    try:
        with (process := psutil.Process(pid)).oneshot():
            times = process.cpu_times()
            return int(process.memory_info().rss), times.user + times.system
    except (psutil.Error, OSError):
        return None


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
    if latest.get("boot_id") not in (None, boot_id()):
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
