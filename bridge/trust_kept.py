"""The trust in a workspace, kept by a process that asks often. It is checked whole when a file that decided it changed.

Each question still looks at every folder and file that ``trust`` looks at: their kind, owner, mode and time of change,
the links among the entries, and git's index. It does not read the marks and the user's list again.
"""

from __future__ import annotations

import os
from pathlib import Path

from jobs.layout import Workspace

from . import git_index, trust
from .trust import TrustState

_Seen = tuple[object, ...]


class KeptTrust:
    """The trust in one workspace. A refusal is not kept, nor is a workspace with a folder that has no mark yet."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        root = workspace.root
        self._above = [str(folder) for folder in (root, *root.parents)]
        self._folders = [str(folder) for folder in (*workspace.own_folders, *workspace.spool.folders[1:])]
        self._marks = [str(workspace.owner_marker(folder)) for folder in workspace.own_folders]
        # The log, the lock and the databases in these are opened by name, which follows links.
        self._without_links = [str(workspace.memory), str(workspace.spool.worker)]
        self._entry: Path | None = None
        self._kept: tuple[Path, _Seen, TrustState] | None = None

    def require_trusted(self, config_folder: Path) -> TrustState:
        """As ``trust.require_trusted`` at this moment. Raises JobError: WORKSPACE_NOT_TRUSTED."""
        seen = self._look()
        if seen is not None and self._kept is not None and self._kept[:2] == (config_folder, seen):
            return self._kept[2]
        # What was seen before the check is kept with its result, so that a change during the check is seen later.
        state = trust.require_trusted(self._workspace, config_folder)
        entry = trust.entry_of_all_marks(self._workspace, config_folder, state)
        known = seen is not None and entry is not None and entry == self._entry
        self._kept = (config_folder, seen, state) if known and seen is not None else None
        self._entry = entry
        return state

    def _look(self) -> _Seen | None:
        """What decides the trust, without the contents of files; None if it cannot be seen, or before the first
        check."""
        if self._entry is None:
            return None
        try:
            return (
                *(_folder(path, follow=True) for path in self._above),
                *(_folder(path) for path in self._folders),
                *(_file(path) for path in (*self._marks, str(self._entry))),
                *(_links(path) for path in self._without_links),
                git_index.tracked(self._workspace),
            )
        except OSError:
            return None


def _folder(path: str, *, follow: bool = False) -> _Seen | None:
    try:
        status = os.stat(path, follow_symlinks=follow)  # noqa: PTH116 - a Path takes several times as long
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino, status.st_mode, status.st_uid


def _file(path: str) -> _Seen | None:
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _links(path: str) -> tuple[str, ...]:
    try:
        with os.scandir(path) as entries:
            return tuple(entry.name for entry in entries if entry.is_symlink())
    except FileNotFoundError:
        return ()
