"""Checks the machine: disk, mount, system limits and clock."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

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


class Machine(NamedTuple):
    """The state of the machine. None means that the system does not report the value. Sizes are in bytes; ``latest``
    is the latest time in the workspace's files."""

    settings: Settings
    free: int
    free_inodes: int | None
    read_only: bool
    mount: mounts.Mount
    watches: int | None
    instances: int | None
    open_files: int | None
    free_ram: int
    now: datetime
    latest: datetime | None
    heartbeat_at: datetime | None
    heartbeat_file_at: datetime | None


def gather(
    workspace: Workspace, settings: Settings, now: datetime, heartbeat: dict[str, object] | None, latest: str | None
) -> Machine:
    """Read the state of the machine. ``latest`` is the latest time in the records. Raises OSError."""
    folder = next(path for path in (workspace.root, *workspace.root.parents) if path.exists())
    inodes, read_only = _file_system(folder)
    heartbeat_at = _time(heartbeat and heartbeat.get("heartbeat_at"))
    times = [at for at in (heartbeat_at, _time(latest)) if at is not None]
    return Machine(
        settings=settings,
        free=shutil.disk_usage(folder).free,
        free_inodes=inodes,
        read_only=read_only,
        mount=mounts.describe(workspace.memory),
        watches=_number("/proc/sys/fs/inotify/max_user_watches"),
        instances=_number("/proc/sys/fs/inotify/max_user_instances"),
        open_files=_open_files(),
        free_ram=int(psutil.virtual_memory().available),
        now=now,
        latest=max(times, default=None),
        heartbeat_at=heartbeat_at,
        heartbeat_file_at=modified_at(workspace.spool.heartbeat),
    )


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


def disk(state: Machine) -> Iterator[Finding]:
    """Findings about free space, inodes and a read-only disk."""
    needed = state.settings.min_free_bytes
    room = f"{state.free / MIB:,.0f} MiB are free; {needed / MIB:,.0f} MiB are needed."
    if state.read_only:
        yield finding("DISK_READ_ONLY", "disk")
    if state.free < needed:
        yield finding("DISK_LOW", "disk", room)
    elif state.free < 3 * needed:
        yield finding("DISK_TIGHT", "disk", room)
    if state.free_inodes is not None and state.free_inodes < _FEW_INODES:
        yield finding("INODES_LOW", "disk", f"There is room for {state.free_inodes:,} more.")


def mount(state: Machine) -> Iterator[Finding]:
    """Findings about a mount that is unsafe for SQLite or has no file events."""
    where = (
        f"It is of type {state.mount.fstype}, at {state.mount.point}{', a disk of Windows' if state.mount.wsl else ''}."
    )
    if not state.mount.wal:
        yield finding("MOUNT_UNSAFE_ALLOWED" if state.settings.allow_unsafe_mount else "MOUNT_UNSAFE", "mount", where)
    if not state.mount.events:
        yield finding("MOUNT_WITHOUT_EVENTS", "mount", where)


def limits(state: Machine) -> Iterator[Finding]:
    """Findings about file watches, open files and free RAM."""
    if state.mount.events and state.watches is not None and state.watches < _FEW_WATCHES:
        yield finding("WATCHES_FEW", "fs.inotify.max_user_watches", f"It is {state.watches:,}.")
    if state.mount.events and state.instances is not None and state.instances < _FEW_INSTANCES:
        yield finding("WATCHES_FEW", "fs.inotify.max_user_instances", f"It is {state.instances:,}.")
    if state.open_files is not None and state.open_files < _FEW_FILES:
        yield finding("OPEN_FILES_FEW", "open files", f"The limit is {state.open_files:,}.")
    if state.free_ram < _LITTLE_RAM:
        yield finding("RAM_LOW", "memory", f"{state.free_ram / MIB:,.0f} MiB are free.")


def times(state: Machine) -> Iterator[Finding]:
    """Findings about a clock that is wrong, was set back, or differs from the disk's clock."""
    if not _EARLIEST_YEAR <= state.now.year < _EARLIEST_YEAR + 100:
        yield finding("CLOCK_WRONG", "clock", f"It says {clock.iso(state.now)}.")
    elif state.latest is not None and state.latest > state.now + _AHEAD:
        yield finding(
            "CLOCK_WAS_AHEAD", "clock", f"It says {clock.iso(state.now)}; there is {clock.iso(state.latest)}."
        )
    if (
        state.heartbeat_at
        and state.heartbeat_file_at
        and abs(state.heartbeat_at - state.heartbeat_file_at) > _DISK_CLOCK
    ):
        message = f"A file written at {clock.iso(state.heartbeat_at)} is of {clock.iso(state.heartbeat_file_at)}."
        yield finding("CLOCK_OF_DISK", "clock", message)


CHECKS = (disk, mount, limits, times)
