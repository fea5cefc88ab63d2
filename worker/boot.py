"""Identifies the current boot of the machine, so that a reboot is not counted as a death of the worker."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_MINUTE = 60


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
        import psutil

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
