"""Files from elsewhere on their way into the workspace, where the job that imports one can open it."""

from __future__ import annotations

import shutil
import sys
from contextlib import nullcontext
from pathlib import Path

from jobs import files, paths
from jobs.errors import JobError
from jobs.layout import Workspace


def reachable(workspace: Workspace, given: str, job_id: str) -> str:
    """The path of a file, relative to the workspace, that the job may open: its own, or that of a copy of it.

    ``given`` is a path of this process, or ``-`` for standard input. What lies in the workspace is not copied. The
    folders of the workspace have to be there. Raises ARGUMENT_INVALID.
    """
    if given != "-":
        path = Path(given).absolute()
        try:
            paths.open_inside(workspace.root, str(path)).close()
            return path.relative_to(Path(workspace.root).resolve()).as_posix()
        except (JobError, OSError, ValueError):
            pass  # it lies elsewhere, or where no job may read; or it is not there, which opening it says
    copy = workspace.imported(job_id)
    try:
        with nullcontext(sys.stdin.buffer) if given == "-" else Path(given).open("rb") as source:
            files.make_folder(workspace.imports)
            with files.replacing(copy) as target:
                shutil.copyfileobj(source, target)
    except OSError as error:
        raise JobError("ARGUMENT_INVALID", f"{given} cannot be copied in: {error.strerror}.") from error
    return copy.relative_to(workspace.root).as_posix()


def discard(workspace: Workspace, job_id: str) -> None:
    """Remove the copy that was made for a job, if there is one."""
    files.remove(workspace.imported(job_id))
