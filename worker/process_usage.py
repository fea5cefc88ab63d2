"""Measurements of the worker's processes by their process ids. They never raise: a process may end at any time, and the
worker may have no free file descriptor."""

from __future__ import annotations

import psutil


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
