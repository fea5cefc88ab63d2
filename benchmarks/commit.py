"""The rankings of another commit of this project: its files are unpacked, and run with this environment's packages."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from bridge.settings import inherited_environment

REPOSITORY = Path(__file__).resolve().parent.parent


def check(commit: str) -> None:
    """Ends the program if git does not know the commit, before anything is measured."""
    done = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"], cwd=REPOSITORY, capture_output=True
    )
    if done.returncode:
        raise SystemExit(f"{commit} is neither a commit that git knows nor a folder of --runs.")


def write_runs(commit: str, arguments: Sequence[str], folder: Path) -> Path:
    """What that commit's ``quality sets`` with these arguments writes with ``--runs``: the folder of it, in ``folder``.

    Ends the program if it does not run. A commit that had no ``quality sets`` yet has to be checked out.
    """
    done = subprocess.run(["git", "archive", "--format=zip", commit], cwd=REPOSITORY, capture_output=True, check=True)
    tree, runs = folder / "tree", folder / "runs"
    with zipfile.ZipFile(io.BytesIO(done.stdout)) as files:
        files.extractall(tree)
    command = [sys.executable, "-P", "-m", "benchmarks", "quality", "sets", *arguments, "--runs", str(runs)]
    environment = inherited_environment() | {"PYTHONPATH": str(tree)}
    ran = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"{commit} did not run:\n{ran.stderr}{ran.stdout}")
    return runs
