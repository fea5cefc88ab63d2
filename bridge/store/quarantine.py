"""The quarantine: damaged files are moved here before derived data is rebuilt, never deleted."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from jobs import files
from jobs.layout import Workspace


def move(workspace: Workspace, label: str, paths: Sequence[Path]) -> Path:
    """Move files and folders into a new folder named after ``label``. Returns the folder. Missing files are skipped."""
    first_choice = workspace.quarantine / label.replace(":", "")
    target, number = first_choice, 1
    while target.exists():
        number += 1
        target = first_choice.with_name(f"{first_choice.name}~{number}")
    for path in paths:
        if path.exists():
            files.make_folder(target)
            shutil.move(path, target / path.name)
    return target
