"""Damaged files: moved out of the way before what is derived is made anew, never deleted."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from jobs import files
from jobs.layout import Workspace


def move(workspace: Workspace, label: str, paths: Sequence[Path]) -> Path:
    """Move files and folders below a folder of that name, and return it. Missing ones are left out."""
    wanted = workspace.quarantine / label.replace(":", "")
    target, number = wanted, 1
    while target.exists():
        number += 1
        target = wanted.with_name(f"{wanted.name}~{number}")
    for path in paths:
        if path.exists():
            files.make_folder(target)
            shutil.move(path, target / path.name)
    return target
