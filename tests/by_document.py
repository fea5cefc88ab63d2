"""Requests that schemathesis makes of an OpenAPI document: valid ones, invalid ones, and in the order of its links."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from harness import PROJECT, SOAK

LEAST = 50  # requests


def ask(
    document: Path, url: str, token: str, hooks: str, *options: str, env: Mapping[str, str], folder: Path, phases: str
) -> None:
    """Fails with what it found. ``hooks``: the module that says what no schema can."""
    options += ("--header", f"Authorization: Bearer {token}", "--phases", phases, "--checks", "all")
    options += ("--warnings", "off", "--no-color", *([] if SOAK else ["--seed", "1"]))
    command = (sys.executable, "-m", "schemathesis.cli", "run", str(document), "--url", url)
    for seconds in (600,) if SOAK else (4, 10, 30, 120):  # on a busy machine, little is made in the shortest
        done = subprocess.run(
            [*command, *options, "--max-time", str(seconds)],
            env={**env, "SCHEMATHESIS_HOOKS": hooks, "PYTHONPATH": f"{PROJECT}{os.pathsep}{PROJECT / 'tests'}"},
            cwd=folder, capture_output=True, text=True, timeout=seconds + 150,
        )  # fmt: skip
        assert done.returncode == 0, re.sub(r"(.)\1{40,}", r"\1…", done.stdout)[-8000:] + done.stderr[-2000:]
        said = next(line for line in done.stdout.splitlines() if "generated" in line)
        print(said)
        if int(re.search(r"(\d+) generated|$", said)[1] or 0) >= LEAST:
            return
    raise AssertionError(f"Too few requests were made: {said}")
