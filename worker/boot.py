"""Telling one run of the machine from the next: a job is not to blame for what a reboot ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_MINUTE = 60


def boot_id() -> str | None:
    """The same as long as the machine runs; None where the system does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        pass
    if sys.platform == "darwin":
        asked = subprocess.run(
            ["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"], capture_output=True, text=True, check=False
        )
        return asked.stdout.strip() or None
    try:
        import psutil

        # It moves by a little when the clock is set; a minute more or less is the same run.
        return f"booted-{round(psutil.boot_time() / _MINUTE)}"
    except (OSError, psutil.Error):
        return None


def died_since_boot(note: bytes) -> bool:
    """Whether the former worker died while this run of the machine went on, by the note that it left in its lock.

    A worker that leaves in order takes its note away; a note of another run of the machine is a reboot's.
    """
    here = boot_id()
    return here is not None and note.decode("utf-8", "replace").strip() == here
