"""Checks the machine: disk, mount, system limits and clock."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import psutil

from bridge.settings import Settings
from bridge.store import mounts
from jobs import clock
from jobs.finding import Finding, finding
from jobs.layout import Workspace

from ..wording import MIB
from .entries import modified_at

_FEW_INODES = 2_000
_FEW_WATCHES = 1_024  # watched folders of one user; an editor needs thousands, a worker two
_FEW_INSTANCES = 32
_FEW_FILES = 512
_LITTLE_RAM = 512 * MIB
_EARLIEST_YEAR = 2024
_AHEAD = timedelta(minutes=1)
_DISK_CLOCK = timedelta(seconds=10)


class Facts:
    """The state of the machine. None means that the system does not report the value. Sizes are in bytes; ``latest``
    is the latest time in the workspace's files."""

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        now: datetime,
        heartbeat: dict[str, object] | None,
        latest: str | None,
    ) -> None:
        """Read the facts. ``latest`` is the latest time in the records. Raises OSError."""
        folder = next(path for path in (workspace.root, *workspace.root.parents) if path.exists())
        self.settings = settings
        self.free = shutil.disk_usage(folder).free
        self.free_inodes, self.read_only = _file_system(folder)
        self.mount = mounts.describe(workspace.memory)
        self.watches = _number("/proc/sys/fs/inotify/max_user_watches")
        self.instances = _number("/proc/sys/fs/inotify/max_user_instances")
        self.open_files = _open_files()
        self.free_ram = int(psutil.virtual_memory().available)
        self.now = now
        self.heartbeat_at = _time(heartbeat and heartbeat.get("heartbeat_at"))
        self.heartbeat_file_at = modified_at(workspace.spool.heartbeat)
        self.latest = max((at for at in (self.heartbeat_at, _time(latest)) if at is not None), default=None)


def _file_system(folder: Path) -> tuple[int | None, bool]:
    """The number of free inodes, None where the file system creates them as needed; and whether it is read-only."""
    if sys.platform == "win32":
        return None, False
    status = os.statvfs(folder)
    return (status.f_favail if status.f_files else None), bool(status.f_flag & os.ST_RDONLY)


def _open_files() -> int | None:
    if sys.platform == "win32":
        return None
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def _number(path: str) -> int | None:
    try:
        return int(Path(path).read_text("ascii"))
    except (OSError, ValueError):
        return None


def _time(text: object) -> datetime | None:
    try:
        return clock.parse(text) if isinstance(text, str) else None
    except ValueError:
        return None


# --- the checks ---


def disk(facts: Facts) -> Iterator[Finding]:
    """Findings about free space, inodes and a read-only disk."""
    needed = facts.settings.min_free_bytes
    room = f"{facts.free / MIB:,.0f} MiB are free; {needed / MIB:,.0f} MiB are needed."
    if facts.read_only:
        yield finding("DISK_READ_ONLY", "disk")
    if facts.free < needed:
        yield finding("DISK_LOW", "disk", room)
    elif facts.free < 3 * needed:
        yield finding("DISK_TIGHT", "disk", room)
    if facts.free_inodes is not None and facts.free_inodes < _FEW_INODES:
        yield finding("INODES_LOW", "disk", f"There is room for {facts.free_inodes:,} more.")


def mount(facts: Facts) -> Iterator[Finding]:
    """Findings about a mount that is unsafe for SQLite or has no file events."""
    where = (
        f"It is of type {facts.mount.fstype}, at {facts.mount.point}{', a disk of Windows' if facts.mount.wsl else ''}."
    )
    if not facts.mount.wal:
        yield finding("MOUNT_UNSAFE_ALLOWED" if facts.settings.allow_unsafe_mount else "MOUNT_UNSAFE", "mount", where)
    if not facts.mount.events:
        yield finding("MOUNT_WITHOUT_EVENTS", "mount", where)


def limits(facts: Facts) -> Iterator[Finding]:
    """Findings about file watches, open files and free RAM."""
    if facts.mount.events and facts.watches is not None and facts.watches < _FEW_WATCHES:
        yield finding("WATCHES_FEW", "fs.inotify.max_user_watches", f"It is {facts.watches:,}.")
    if facts.mount.events and facts.instances is not None and facts.instances < _FEW_INSTANCES:
        yield finding("WATCHES_FEW", "fs.inotify.max_user_instances", f"It is {facts.instances:,}.")
    if facts.open_files is not None and facts.open_files < _FEW_FILES:
        yield finding("OPEN_FILES_FEW", "open files", f"The limit is {facts.open_files:,}.")
    if facts.free_ram < _LITTLE_RAM:
        yield finding("RAM_LOW", "memory", f"{facts.free_ram / MIB:,.0f} MiB are free.")


def times(facts: Facts) -> Iterator[Finding]:
    """Findings about a clock that is wrong, was set back, or differs from the disk's clock."""
    if not _EARLIEST_YEAR <= facts.now.year < _EARLIEST_YEAR + 100:
        yield finding("CLOCK_WRONG", "clock", f"It says {clock.iso(facts.now)}.")
    elif facts.latest is not None and facts.latest > facts.now + _AHEAD:
        yield finding(
            "CLOCK_WAS_AHEAD", "clock", f"It says {clock.iso(facts.now)}; there is {clock.iso(facts.latest)}."
        )
    if (
        facts.heartbeat_at
        and facts.heartbeat_file_at
        and abs(facts.heartbeat_at - facts.heartbeat_file_at) > _DISK_CLOCK
    ):
        message = f"A file written at {clock.iso(facts.heartbeat_at)} is of {clock.iso(facts.heartbeat_file_at)}."
        yield finding("CLOCK_OF_DISK", "clock", message)


CHECKS = (disk, mount, limits, times)
