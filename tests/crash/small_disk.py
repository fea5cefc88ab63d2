"""A disk of its own that is soon full. Skips the test where none may be mounted."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def small_disk(folder: Path, mebibytes: int) -> Iterator[Path]:
    folder.mkdir(exist_ok=True)
    options = f"size={mebibytes}m,mode=700"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("no file system may be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, but_for: int = 0) -> Path:
    """Use up the disk but for so many bytes; returns the file to remove."""
    ballast = folder / "ballast"
    free = os.statvfs(folder)
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):  # somebody may be quicker
        file.write(b"\0" * max(0, free.f_bavail * free.f_frsize - but_for))
    return ballast
