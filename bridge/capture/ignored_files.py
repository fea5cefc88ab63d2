"""Which files a capture must not read or name: those of the workspace's ``.gitignore`` files, and of a setting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pathspec import GitIgnoreSpec

_LIMIT = 1024 * 1024  # bytes of one .gitignore


def ignored(root: Path, patterns: Sequence[str]) -> Callable[[str], bool]:
    """A function that says of a path, relative to the workspace with ``/``, whether it is ignored.

    ``patterns`` are further ones, in the syntax of ``.gitignore``. Of a folder's ``.gitignore``, the patterns hold
    below that folder. One that cannot be read counts as empty.
    """
    more = GitIgnoreSpec.from_lines(patterns)
    of_folders: dict[str, GitIgnoreSpec | None] = {}

    def spec_of(folder: str) -> GitIgnoreSpec | None:
        if folder not in of_folders:
            of_folders[folder] = _read(root / folder / ".gitignore")
        return of_folders[folder]

    def is_ignored(path: str) -> bool:
        """Whether the path, or a folder above it, is ignored."""
        if more.match_file(path) or path == ".git" or path.startswith(".git/"):
            return True
        parts = path.split("/")
        for depth in range(len(parts)):
            spec = spec_of("/".join(parts[:depth]))
            if spec is not None and spec.match_file("/".join(parts[depth:])):
                return True
        return False

    return is_ignored


def _read(path: Path) -> GitIgnoreSpec | None:
    try:
        with path.open("rb") as file:
            return GitIgnoreSpec.from_lines(file.read(_LIMIT).decode("utf-8", "replace").splitlines())
    except (OSError, ValueError):
        return None
