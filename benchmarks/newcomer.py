"""The newcomer's clock: from an empty environment and an empty cache of packages to the first answer.

python -m benchmarks.newcomer [--whole]

It downloads 70 MB, with ``--whole`` 430 MB. The embedding model must be on this machine.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from subprocess import DEVNULL, run

from tools import dist

ROOT = dist.ROOT
_MB = 1_000_000
_INGEST = (
    "ingest",
    "--wait",
    "--topic",
    "Sign-in",
    "--context",
    "Logged out.",
    "--decision",
    "Only the tray does it.",
)


def size(folder: Path) -> float:
    """The bytes of the files below a folder in MB, each counted once."""
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            status = Path(parent, name).lstat()
            found[status.st_ino] = status.st_size
    return sum(found.values()) / _MB


class Clock:
    """Prints what each step takes: on the clock, and of all its processes' processor time."""

    def __init__(self) -> None:
        self._whole = 0.0

    def step(self, what: str, *command: str, environment: dict[str, str], cwd: Path) -> None:
        before, began = os.times(), time.monotonic()
        run(command, check=True, env=environment, cwd=cwd, stdin=DEVNULL, stdout=DEVNULL)
        seconds, after = time.monotonic() - began, os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        self._whole += seconds
        print(f"{what:32} {seconds:6.1f} s, processor {used:5.1f} s, since the beginning {self._whole:6.1f} s")


def measure(*, whole: bool) -> None:
    """Install the core or the whole with uv into an empty environment, store a memory and find it."""
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary)
        _, wheel = dist.build(ROOT, base / "dist")
        place = base / "place"
        place.mkdir()
        environment = {k: v for k, v in os.environ.items() if not k.startswith("COGNEE_MEMORY_")} | {
            "UV_CACHE_DIR": str(base / "cache"), "COGNEE_MEMORY_CONFIG_DIR": str(base / "config"),
        }  # fmt: skip
        uv, python = [sys.executable, "-m", "uv", "--quiet"], base / "environment" / "bin" / "python"
        program = str(python.with_name("cognee-memory"))
        lock = ROOT / ("requirements.lock" if whole else "requirements-core.lock")
        clock = Clock()

        def step(what: str, *command: str) -> None:
            clock.step(what, *command, environment=environment, cwd=place)

        step("python -c pass", sys.executable, "-c", "pass")
        step("an empty environment", *uv, "venv", "--python", sys.executable, str(base / "environment"))
        into = (*uv, "pip", "install", "--python", str(python))
        step("the packages", *into, "--require-hashes", "-r", str(lock))
        step("the program", *into, "--no-deps", str(wheel))
        try:
            step("the first memory, to its end", program, *_INGEST)
            step("the first answer", program, "retrieve", "who may renew a token")
            if whole:
                step("the graph's first answer", program, "ask", "What is about the sign-in?")
        finally:
            run([program, "worker", "stop"], env=environment, cwd=place, stdout=DEVNULL, check=False)
        print(f"{size(base / 'environment'):,.0f} MB on disk, with the bytecode of what was used")


if __name__ == "__main__":
    measure(whole="--whole" in sys.argv[1:])
