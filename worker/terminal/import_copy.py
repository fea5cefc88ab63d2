"""Copies a file from outside into the workspace, where the import job can open it."""

from __future__ import annotations

import shutil
import sys
from contextlib import nullcontext
from pathlib import Path

from jobs import files, paths
from jobs.errors import JobError
from jobs.layout import Workspace


def reachable(workspace: Workspace, args: str, job_id: str, number: int = 0) -> str:
    """The workspace-relative path of a file that the job can open: the file itself, or a new copy of it.

    ``args`` is a path of this process, or ``-`` for standard input; ``number`` tells several files of a job apart. A
    file in the workspace is not copied. The workspace's folders must exist. Raises JobError: ARGUMENT_INVALID when the
    file cannot be read or copied.
    """
    if args != "-":
        path = Path(args).absolute()
        try:
            paths.open_inside(workspace.root, str(path)).close()
            return path.relative_to(Path(workspace.root).resolve()).as_posix()
        except (JobError, OSError, ValueError):
            pass  # outside, or not readable for a job; for a missing file, opening it below reports the error
    copy = workspace.imported(f"{job_id}+{number}" if number else job_id)
    try:
        with nullcontext(sys.stdin.buffer) if args == "-" else Path(args).open("rb") as source:
            files.make_folder(workspace.imports)
            with files.replacing(copy) as target:
                shutil.copyfileobj(source, target)
    except OSError as error:
        raise JobError("ARGUMENT_INVALID", f"{args} cannot be copied in: {error.strerror}.") from error
    return copy.relative_to(workspace.root).as_posix()


def discard(workspace: Workspace, job_id: str) -> None:
    """Remove the copies that were made for a job, if there are any."""
    for copy in (workspace.imported(job_id), *workspace.imports.glob(f"{job_id}+*.jsonl")):
        files.remove(copy)
