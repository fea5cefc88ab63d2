"""Workspaces of the benchmarks: made new, filled through the real operation, and removed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bridge import trust
from bridge.graph.cognee_env import cognee_environment
from bridge.settings import Settings, inherited_environment, load
from jobs.layout import Workspace

from . import corpus


@contextmanager
def new_workspace() -> Iterator[tuple[Workspace, Settings]]:
    """A marked workspace in a temporary folder; the user's own configuration folder is left alone."""
    folder = Path(tempfile.mkdtemp(prefix="cognee-memory-bench-"))
    os.environ["COGNEE_MEMORY_CONFIG_DIR"] = str(folder / "config")
    # As in a user's shell: else each process of ours is timed while it compiles our modules again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        (folder / "workspace").mkdir()
        workspace, settings = Workspace(folder / "workspace"), load()
        trust.adopt(workspace, settings.config_folder)
        yield workspace, settings
    finally:
        del os.environ["COGNEE_MEMORY_CONFIG_DIR"]
        shutil.rmtree(folder, ignore_errors=True)


def run_in_child(module: str, workspace: Workspace, settings: Settings, *arguments: str) -> str:
    """Run a module in a process with cognee's environment, as the worker's child has it; returns its stdout."""
    done = subprocess.run(
        [sys.executable, "-m", module, str(workspace.root), *arguments],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=cognee_environment(settings, workspace, inherited_environment()),
        text=True,
    )
    return done.stdout


def fill(workspace: Workspace, settings: Settings, count: int) -> None:
    """Put ``count`` summaries into the store and the graph."""
    run_in_child("benchmarks.fill", workspace, settings, str(count))


def payloads(count: int) -> list[dict[str, Any]]:
    return corpus.summaries(count)
