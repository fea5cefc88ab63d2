"""Copies a file from outside into the workspace, where the import job can open it."""

from __future__ import annotations

import shutil
import sys
from contextlib import nullcontext
from pathlib import Path

from jobs import files, paths
from jobs.errors import JobError
from jobs.layout import Workspace


def reachable(workspace: Workspace, args: str, job_id: str) -> str:
    """The workspace-relative path of a file that the job can open: the file itself, or a new copy of it.

    ``args`` is a path of this process, or ``-`` for standard input. A file in the workspace is not copied. The
    workspace's folders must exist. Raises JobError: ARGUMENT_INVALID when the file cannot be read or copied.
    """
    if args != "-":
        path = Path(args).absolute()
        try:
            paths.open_inside(workspace.root, str(path)).close()
            return path.relative_to(Path(workspace.root).resolve()).as_posix()
        except (JobError, OSError, ValueError):
            pass  # outside, or not readable for a job; for a missing file, opening it below reports the error
    copy = workspace.imported(job_id)
    try:
        with nullcontext(sys.stdin.buffer) if args == "-" else Path(args).open("rb") as source:
            files.make_folder(workspace.imports)
            with files.replacing(copy) as target:
                shutil.copyfileobj(source, target)
    except OSError as error:
        raise JobError("ARGUMENT_INVALID", f"{args} cannot be copied in: {error.strerror}.") from error
    return copy.relative_to(workspace.root).as_posix()


def discard(workspace: Workspace, job_id: str) -> None:
    """Remove the copy that was made for a job, if there is one."""
    files.remove(workspace.imported(job_id))
