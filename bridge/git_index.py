"""What git tracks in the workspace's own folders. A clone or a pull can bring such files, so they are not this user's.

Most workspaces track none of them, and reading the index shows that in about a millisecond. Only where the index
mentions them, or has a form that names can hide in, ``git`` itself is asked.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from jobs.layout import Workspace

# An index that git is still writing after so long is what a git that died has left behind.
STALE_LOCK_SECONDS = 600.0

_NAME_START = b".cognee_"  # of all four folders
_GIT_SECONDS = 30.0
_NOTHING_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class Tracked:
    """The tracked files below the workspace's own folders, as paths relative to the workspace, in lower case.

    ``unknown``: git could not be asked although its index mentions such files, so each file counts as tracked.
    """

    def __init__(self, paths: frozenset[str] = frozenset(), *, unknown: bool = False) -> None:
        self.paths, self.unknown = paths, unknown

    def __contains__(self, path: str) -> bool:
        return self.unknown or path.lower() in self.paths

    def __bool__(self) -> bool:
        return self.unknown or bool(self.paths)


NOTHING = Tracked()


class GitIndex:
    """The index of the repository around a workspace. It is read again only when its file has changed."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        # As texts, since every question looks at them, and a Path takes several times as long.
        self._repositories = [os.path.join(folder, ".git") for folder in (workspace.root, *workspace.root.parents)]  # noqa: PTH118
        self._stamp: tuple[int, ...] | None = None
        self._tracked = NOTHING

    def tracked(self) -> Tracked:
        """What git tracks now. Raises OSError for an index that cannot be read."""
        index = self._index()
        if index is None:
            return NOTHING
        try:
            status = index.stat()
            stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
            if stamp != self._stamp:
                self._tracked = _read(self._workspace, index)
                self._stamp = None if self._tracked.unknown else stamp  # git is asked again the next time
        except FileNotFoundError:  # a repository without a commit
            return NOTHING
        except PermissionError:  # another user's repository; what that user checks out is not this user's file
            return NOTHING
        return self._tracked

    def is_being_written(self, now: float) -> bool:
        """Whether git is changing files, which its index names only afterwards. ``now`` in seconds since the epoch."""
        index = self._index()
        if index is None:
            return False
        try:
            return now - index.with_name("index.lock").stat().st_mtime < STALE_LOCK_SECONDS
        except OSError:
            return False

    def _index(self) -> Path | None:
        """The index of the innermost repository that contains the workspace; None outside of any."""
        for git in self._repositories:
            try:
                mode = os.stat(git).st_mode  # noqa: PTH116
            except OSError as error:
                if error.errno not in _NOTHING_THERE:
                    raise
                continue
            if stat.S_ISDIR(mode):
                return Path(git, "index")
            if stat.S_ISREG(mode):  # a worktree or a submodule
                text = Path(git).read_bytes()[:4096].decode(errors="surrogateescape").strip()
                if text.startswith("gitdir:"):
                    return Path(git).parent / text.removeprefix("gitdir:").strip() / "index"
        return None


def tracked(workspace: Workspace) -> Tracked:
    """What git tracks below the workspace's own folders. Raises OSError for an index that cannot be read.

    A process that asks again reads the index only if it has changed: with 50,000 files that takes 18 ms.
    """
    return _git_index(workspace).tracked()


_git_index = lru_cache(maxsize=16)(GitIndex)


def _read(workspace: Workspace, index: Path) -> Tracked:
    if not _may_mention_us(index.read_bytes()) and next(index.parent.glob("sharedindex.*"), None) is None:
        return NOTHING
    return _ask(workspace)


def _ask(workspace: Workspace) -> Tracked:
    import subprocess  # not at the top: the query path rarely needs it

    from .settings import inherited_environment

    folders = [f":(icase){folder.name}" for folder in workspace.own_folders]
    # Of the repository's own configuration nothing is run: its hooks and its file monitor are switched off.
    command = [
        *("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.directory=*"),
        *("ls-files", "-z", "--cached", "--", *folders),
    ]
    try:
        done = subprocess.run(
            command, cwd=workspace.root, env=_environment(inherited_environment()), stdin=subprocess.DEVNULL,
            capture_output=True, timeout=_GIT_SECONDS, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return Tracked(unknown=True)
    return Tracked(frozenset(os.fsdecode(name).lower() for name in done.stdout.split(b"\0") if name))


def _may_mention_us(data: bytes) -> bool:
    """Whether an index may hold one of our names. The format: git's Documentation/gitformat-index.

    Versions 2 and 3 hold each path whole. Version 4 holds of each only what differs from the one before. A split
    index keeps most paths in another file, ``sharedindex.…``.
    """
    if len(data) < 12 or data[:4] != b"DIRC" or struct.unpack(">L", data[4:8])[0] not in (2, 3):
        return True
    return _NAME_START in data.lower()


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Without the variables that would make git look at another repository."""
    kept = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
    return kept | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
