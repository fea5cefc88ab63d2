"""Checks the workspace: its owner, and the permissions and types of its files."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from bridge import git_index
from bridge.trust import TrustState
from jobs import plain_files
from jobs.finding import Finding, finding
from jobs.layout import Workspace

from ..wording import counted
from .entries import shortened_list, walk

_MOST_ENTRIES = 100_000
_PART = re.compile(r"\..*\.tmp")
_OLD_PART = timedelta(days=1)
# What may be wrong with files of our folders, in the order of the findings.
_TROUBLES = ("OTHER_OWNER", "WORKSPACE_CLOSED", "OPEN_TO_OTHERS", "LINKS_INSIDE", "NOT_IGNORED", "PARTS_LEFT")

UNSEEN = TrustState(None, False, "It cannot be looked at.")


class Facts:
    """The files of the workspace's own folders. ``troubled`` has the paths with a problem, by the code of its finding.
    ``tracked`` are the names in git's index relative to the root. ``shared`` are the workspace's folder and those above
    it that a group may write to."""

    def __init__(self, workspace: Workspace, trust_state: TrustState, now: datetime) -> None:
        """Read the facts. Folders of another user are not read."""
        self.root = workspace.root
        self.exists = workspace.exists
        self.trust_state = trust_state
        self.folders: list[Path] = []
        self.troubled: dict[str, list[Path]] = {code: [] for code in _TROUBLES}
        self.tracked: list[str] = []
        self.shared: list[Path] = []
        if not self.exists:
            return
        self.folders = [folder for folder in workspace.own_folders if folder.is_dir() and not folder.is_symlink()]
        if trust_state.foreign is not None:
            return  # another user's files are not examined at all
        if len(self.folders) < len(workspace.own_folders) and not os.access(self.root, os.W_OK | os.X_OK):
            self.troubled["WORKSPACE_CLOSED"].append(self.root)  # the workspace's own folders cannot be created
        self.tracked = _tracked(workspace)
        self.shared = _shared(workspace, self.folders)
        self._sort_files(workspace, (now - _OLD_PART).timestamp())

    def _sort_files(self, workspace: Workspace, parts_before: float) -> None:
        left = _MOST_ENTRIES
        written_by_name = {workspace.memory, workspace.spool.worker}
        rejected = workspace.spool.rejected  # the worker moves there what it does not take, as it is
        for folder in self.folders:
            if not (folder / ".gitignore").is_file():
                self.troubled["NOT_IGNORED"].append(folder)
            is_closed = not _is_open(folder.lstat())
            for path, status in walk(folder, self.troubled["WORKSPACE_CLOSED"]):
                left -= 1
                if left < 0:
                    return
                # In a folder closed to others, the mode of a dropped file is harmless.
                matters = not is_closed or stat.S_ISDIR(status.st_mode) or path.parent in written_by_name
                if not path.is_relative_to(rejected) or path == rejected:
                    _sort(self.troubled, path, status, parts_before, matters=matters)


def _tracked(workspace: Workspace) -> list[str]:
    tracked = git_index.tracked(workspace)
    return sorted(path for path in tracked.paths if not path.endswith("/.gitignore"))


def _shared(workspace: Workspace, folders: list[Path]) -> list[Path]:
    """The workspace's folder and those above it in which other members of a group could replace files.

    Nothing on a file system without modes: it shows even private folders as open.
    """
    if sys.platform == "win32" or all(_is_open(folder.lstat()) for folder in folders):
        return []
    statuses = [(folder, folder.stat()) for folder in (workspace.root, *workspace.root.parents)]
    return [
        folder
        for folder, status in statuses
        if status.st_mode & stat.S_IWGRP and not status.st_mode & stat.S_ISVTX and not _is_own_group(status.st_gid)
    ]


def _is_own_group(gid: int) -> bool:
    """Whether the group is this user's alone, as many systems give one to each user: of the same name, without other
    members."""
    if sys.platform == "win32":
        return False
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.getuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    return group.gr_name == user.pw_name and gid == user.pw_gid and set(group.gr_mem) <= {user.pw_name}


def _is_open(status: os.stat_result) -> bool:
    """Whether other users have any permission."""
    return sys.platform != "win32" and bool(status.st_mode & 0o077)


def _sort(
    troubled: dict[str, list[Path]], path: Path, status: os.stat_result, parts_before: float, *, matters: bool
) -> None:
    if stat.S_ISLNK(status.st_mode):
        troubled["LINKS_INSIDE"].append(path)
        return
    if not plain_files.belongs_to_user(status):
        troubled["OTHER_OWNER"].append(path)
    elif sys.platform != "win32":
        if matters and _is_open(status):
            troubled["OPEN_TO_OTHERS"].append(path)
        wanted = 0o700 if stat.S_ISDIR(status.st_mode) else 0o400
        if status.st_mode & wanted != wanted:
            troubled["WORKSPACE_CLOSED"].append(path)
    is_part = _PART.fullmatch(path.name) and stat.S_ISREG(status.st_mode)
    if is_part and status.st_mtime < parts_before:
        troubled["PARTS_LEFT"].append(path)


# --- the checks ---


def trust_findings(facts: Facts) -> Iterator[Finding]:
    """A finding when the workspace is missing, belongs to another user, or is unused."""
    if not facts.exists:
        yield finding("WORKSPACE_ABSENT", str(facts.root))
    elif facts.trust_state.foreign is not None and facts.trust_state is not UNSEEN:  # UNSEEN has its own finding
        yield finding("WORKSPACE_FOREIGN", "workspace", facts.trust_state.foreign, remedy=facts.trust_state.remedy)
    elif not facts.folders:
        yield finding("WORKSPACE_UNUSED", "workspace")


def access(facts: Facts) -> Iterator[Finding]:
    """Findings about owners, permissions, links, .gitignore and temporary files."""
    if facts.tracked:
        folders = shortened_list({path.partition("/")[0] for path in facts.tracked})
        yield finding("FILES_TRACKED", folders, f"{counted(len(facts.tracked), 'file')}.", count=len(facts.tracked))
    if facts.shared:
        yield finding("WORKSPACE_SHARED", str(facts.shared[0]), count=len(facts.shared))
    for code, paths in facts.troubled.items():
        if paths:
            yield finding(
                code, shortened_list(path.relative_to(facts.root).as_posix() for path in paths), count=len(paths)
            )


CHECKS = (trust_findings, access)
