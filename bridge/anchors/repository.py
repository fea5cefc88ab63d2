"""The commit and the branch that are checked out in a workspace, read from git's files.

A repository may come from anybody: git is not run, since its configuration can name programs; files are read up to a
limit, and none that lies outside of the repository. Only what is certain is said.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from jobs import plain_files
from jobs.errors import JobError
from jobs.worktree import own_folder

from .anchor import Commit
from .objects import Objects

_MOST_BYTES = 4096  # of HEAD or a reference
_MOST_PACKED = 16 * 1024 * 1024  # of packed-refs
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BRANCH = "refs/heads/"


class Repository(NamedTuple):
    """``own``: the folder with HEAD; of a linked worktree another one than ``shared``, where references and objects
    are. ``root``: the folder that is checked out."""

    root: Path
    own: Path
    shared: Path

    def commit(self) -> Commit | None:
        """What is checked out; None before the first commit, or if it cannot be read."""
        head = _text(self.own / "HEAD", self.own)
        if not head.startswith("ref: "):
            return Commit(head, "") if _ID.fullmatch(head) else None
        reference = head.removeprefix("ref: ")
        found = self._reference(reference)
        return None if found is None else Commit(found, reference.removeprefix(_BRANCH))

    def has_branch(self, branch: str) -> bool:
        """Whether the branch exists."""
        return self._reference(_BRANCH + branch) is not None

    def _reference(self, name: str) -> str | None:
        if not name.startswith("refs/") or ".." in name.split("/"):
            return None
        found = _text(self.shared / name, self.shared)
        if not found:
            packed = _text(self.shared / "packed-refs", self.shared, _MOST_PACKED)
            found = next((line[: -len(name) - 1] for line in packed.splitlines() if line.endswith(f" {name}")), "")
        return found if _ID.fullmatch(found) else None

    @property
    def objects(self) -> Objects:
        """The commits."""
        return Objects(self.shared / "objects")


def repository_of(folder: Path) -> Repository | None:
    """The innermost repository around a folder; None if there is none, or one of a form that is not read here, such as
    a submodule's."""
    for root in (folder, *folder.parents):
        git = root / ".git"
        try:
            status = git.lstat()
        except OSError:
            continue
        if plain_files.is_real_folder(status):
            return Repository(root, git, git)
        own = own_folder(root)
        return None if own is None else Repository(root, own, own.parent.parent)
    return None


def _text(path: Path, inside: Path, limit: int = _MOST_BYTES) -> str:
    """The text of a file of git, without white space at its ends; empty if it cannot be read."""
    try:
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(inside)):
            return ""
        return plain_files.read_own(path, limit).decode("utf-8", "replace").strip()
    except (OSError, ValueError, JobError):
        return ""
