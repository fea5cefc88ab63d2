"""Requests that schemathesis makes of an OpenAPI document: valid ones, invalid ones, and in the order of its links."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from harness import PROJECT, SOAK


def ask(
    document: Path, url: str, token: str, hooks: str, *options: str, env: Mapping[str, str], folder: Path, phases: str
) -> None:
    """Fails with what it found. ``hooks``: the module that says what no schema can."""
    seconds = 600 if SOAK else 4
    options += ("--header", f"Authorization: Bearer {token}", "--phases", phases, "--max-time", str(seconds))
    options += ("--checks", "all", "--warnings", "off", "--no-color", *([] if SOAK else ["--seed", "1"]))
    done = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", "run", str(document), "--url", url, *options],
        env={**env, "SCHEMATHESIS_HOOKS": hooks, "PYTHONPATH": f"{PROJECT}{os.pathsep}{PROJECT / 'tests'}"},
        cwd=folder, capture_output=True, text=True, timeout=seconds + 150,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    print(next(line for line in done.stdout.splitlines() if "generated" in line))
