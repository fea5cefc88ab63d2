"""Checks the workspace: its owner, and the permissions and types of its files."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from bridge.trust import TrustState
from jobs import plain_files
from jobs.finding import Finding, finding
from jobs.layout import Workspace

_MOST_ENTRIES = 100_000
_PART = re.compile(r"\..*\.tmp")
_OLD_PART = timedelta(days=1)
_SHOWN = 3

UNSEEN = TrustState(None, False, "It cannot be looked at.")


@dataclass(slots=True)
class Kept:
    """The files of the workspace's own folders, as paths; each list has the files with one problem. ``parts`` are
    old temporary files."""

    root: Path
    exists: bool
    standing: TrustState
    folders: list[Path] = field(default_factory=list)
    open: list[Path] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)
    links: list[Path] = field(default_factory=list)
    closed: list[Path] = field(default_factory=list)
    parts: list[Path] = field(default_factory=list)
    not_ignored: list[Path] = field(default_factory=list)


def gather(workspace: Workspace, standing: TrustState, now: datetime) -> Kept:
    """Read the state of the workspace. Folders of another user are not read."""
    kept = Kept(workspace.root, workspace.exists, standing)
    if not kept.exists:
        return kept
    kept.folders = [folder for folder in workspace.own_folders if folder.is_dir() and not folder.is_symlink()]
    if standing.foreign is not None:
        return kept  # another user's files are not examined at all
    if len(kept.folders) < len(workspace.own_folders) and not os.access(kept.root, os.W_OK | os.X_OK):
        kept.closed.append(kept.root)  # the workspace's own folders cannot be created
    left = _MOST_ENTRIES
    written_by_name = {workspace.memory, workspace.spool.worker}
    for folder in kept.folders:
        if not (folder / ".gitignore").is_file():
            kept.not_ignored.append(folder)
        is_closed = not _is_open(folder.lstat())
        for path, status in _walk(folder, kept.closed):
            left -= 1
            if left < 0:
                return kept
            # In a folder closed to others, the mode of a dropped file is harmless.
            matters = not is_closed or stat.S_ISDIR(status.st_mode) or path.parent in written_by_name
            _sort(kept, path, status, (now - _OLD_PART).timestamp(), matters=matters)
    return kept


def _is_open(status: os.stat_result) -> bool:
    """Whether other users have any permission."""
    return sys.platform != "win32" and bool(status.st_mode & 0o077)


def _walk(folder: Path, closed: list[Path]) -> Iterator[tuple[Path, os.stat_result]]:
    """The folder and everything below it; links are not followed. Unreadable folders are added to ``closed``."""
    with contextlib.suppress(OSError):
        yield folder, folder.lstat()
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):  # it was removed meanwhile
                    if entry.is_dir(follow_symlinks=False):
                        yield from _walk(Path(entry.path), closed)
                    else:
                        yield Path(entry.path), entry.stat(follow_symlinks=False)
    except OSError:
        closed.append(folder)


def _sort(kept: Kept, path: Path, status: os.stat_result, parts_before: float, *, matters: bool) -> None:
    if stat.S_ISLNK(status.st_mode):
        kept.links.append(path)
        return
    if not plain_files.belongs_to_user(status):
        kept.others.append(path)
    elif sys.platform != "win32":
        if matters and _is_open(status):
            kept.open.append(path)
        wanted = 0o700 if stat.S_ISDIR(status.st_mode) else 0o400
        if status.st_mode & wanted != wanted:
            kept.closed.append(path)
    is_part = _PART.fullmatch(path.name) and stat.S_ISREG(status.st_mode)
    if is_part and status.st_mtime < parts_before:
        kept.parts.append(path)


# --- the checks ---


def trust_state(it: Kept) -> Iterator[Finding]:
    """A finding when the workspace is missing, belongs to another user, or is unused."""
    if not it.exists:
        yield finding("WORKSPACE_ABSENT", str(it.root))
    elif it.standing.foreign is not None and it.standing is not UNSEEN:  # UNSEEN has its own finding
        yield finding("WORKSPACE_FOREIGN", "workspace", it.standing.foreign)
    elif not it.folders:
        yield finding("WORKSPACE_UNUSED", "workspace")


def access(it: Kept) -> Iterator[Finding]:
    """Findings about owners, permissions, links, .gitignore and temporary files."""
    for code, paths in (
        ("OTHER_OWNER", it.others),
        ("WORKSPACE_CLOSED", it.closed),
        ("OPEN_TO_OTHERS", it.open),
        ("LINKS_INSIDE", it.links),
        ("NOT_IGNORED", it.not_ignored),
        ("PARTS_LEFT", it.parts),
    ):
        if paths:
            yield finding(code, _named(it.root, paths), count=len(paths))


def _named(root: Path, paths: list[Path]) -> str:
    shown = [path.relative_to(root).as_posix() for path in sorted(paths)[:_SHOWN]]
    return ", ".join(shown) + (f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else "")


CHECKS = (trust_state, access)
