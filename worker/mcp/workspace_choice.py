"""Whether the server may use the workspace that it found by itself.

Some clients start their servers in the home folder or in ``/``. A memory there would belong to no project, and its
folders would appear in the user's home without being asked for.
"""

from __future__ import annotations

from pathlib import Path

from jobs.errors import JobError
from jobs.layout import Workspace


def chosen(workspace: Workspace, home: Path) -> Workspace | JobError:
    """The workspace, or WORKSPACE_NOT_CHOSEN for the home folder and the folders above it.

    A folder that has a job folder already is in use, and is accepted.
    """
    if workspace.spool.root.is_dir() or not home.resolve().is_relative_to(workspace.root):
        return workspace
    return JobError(
        "WORKSPACE_NOT_CHOSEN",
        f"The server was started in {workspace.root} without --workspace. That is no project's folder.",
    )
