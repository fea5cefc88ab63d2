"""The files of a workspace, read within limits, and by their names those in which versions and tasks stand. No link is
followed, and what belongs to somebody else is not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from hashlib import sha1
from pathlib import Path

from jobs import paths
from jobs.errors import JobError

from .budget import Budget

_MANIFESTS = re.compile(
    r"(?:^|/)(?:package\.json|pyproject\.toml|setup\.(?:cfg|py)|(?:requirements|constraints)[\w.-]*\.txt|Pipfile|go\.mod"
    r"|Cargo\.toml|Gemfile|[\w-]+\.gemspec|pom\.xml|build\.gradle(?:\.kts)?|composer\.json|mix\.exs|[\w.]+\.csproj"
    r"|(?:[\w-]+\.)?Dockerfile(?:\.[\w-]+)?|(?:docker-)?compose[\w.-]*\.ya?ml|\.(?:nvmrc|tool-versions|travis\.yml)"
    r"|\.(?:node|python|ruby|go|java)-version|\.?mise\.toml|rust-toolchain(?:\.toml)?|tox\.ini|flake\.nix"
    r"|\.github/.*\.ya?ml|[GM]?NU?[Mm]akefile|[Mm]akefile|[\w-]+\.mk|[Jj]ustfile|Taskfile\.ya?ml|Rakefile|[\w-]+\.rake)$"
)

_MOST_BYTES = 2 * 1024 * 1024  # of one file; a larger one is data
_FIRST_BYTES = 64 * 1024  # most files are shorter, and a buffer for longer ones costs more than reading
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
SKIPPED = frozenset(
    ".git .hg .svn .venv .tox .nox node_modules __pycache__ site-packages .cognee_jobs .cognee_memory .cognee_system"
    " .cognee_data".split()
)
_TEXTS = (".md", ".mdx", ".mdc", ".rst", ".txt", ".adoc", ".log")
_NO_CODE = (
    *_TEXTS, ".lock", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".ico", ".pdf", ".zip", ".gz", ".woff", ".woff2",
    ".ttf", ".map", ".snap", ".jsonl", ".csv", ".onnx", ".so", ".pyc", ".wasm", ".sum",
)  # fmt: skip
_NO_CODE_NAMES = frozenset(["package-lock.json", "pnpm-lock.yaml", "npm-shrinkwrap.json"])


def is_manifest(path: str) -> bool:
    """Whether a file says which versions are used, or which tasks there are."""
    return _MANIFESTS.search(path) is not None


class Tree:
    """The files below ``root``, as long as the budget lasts. Content is kept once read."""

    def __init__(self, root: Path, budget: Budget) -> None:
        self._root = root
        self._prefix = f"{root}{os.sep}"
        self._budget = budget
        self._read: dict[str, bytes | None] = {}

    def content(self, path: str) -> bytes | None:
        """The bytes of a file; None for one that cannot or may not be read. Raises OutOfTime."""
        self._budget.require()
        if path not in self._read:
            try:
                self._read[path] = paths.read_inside(self._root, path, _MOST_BYTES)
            except (OSError, JobError):
                self._read[path] = None
        return self._read[path]

    def is_missing(self, path: str) -> bool:
        """Whether there is certainly nothing at the path. Raises OutOfTime."""
        self._budget.require()
        try:
            os.lstat(self._root / path)
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            pass
        return False

    def is_folder(self, path: str) -> bool:
        """Whether it is a folder. Raises OutOfTime."""
        self._budget.require()
        return (self._root / path).is_dir()

    @cached_property
    def files(self) -> list[str]:
        """The paths of all files but those of git, of ours, of installed packages and of ignored folders. Raises
        OutOfTime."""
        found: list[str] = []
        folders, ignored = [""], self._ignored()
        skipped = SKIPPED | {name.rstrip("/") for name in ignored if name.endswith("/")}
        at_root = skipped | ignored
        for folder in folders:
            self._budget.require()
            files, inner = [], []
            try:
                with os.scandir(self._prefix + folder) as entries:
                    for entry in entries:
                        if entry.is_file(follow_symlinks=False):
                            files.append(folder + entry.name)
                        elif entry.name not in (skipped if folder else at_root) and entry.is_dir(follow_symlinks=False):
                            inner.append(f"{folder}{entry.name}/")
            except OSError:
                continue
            if not folder or not {f"{folder}pyvenv.cfg", f"{folder}CACHEDIR.TAG"}.intersection(files):
                found += files
                folders += inner
        return sorted(found)

    def _ignored(self) -> set[str]:
        """The names without a pattern in .gitignore of the root. One without a slash at its end, often that of a
        program that is built there, counts at the root alone: a folder of this name may well be code."""
        lines = (self.content(".gitignore") or b"").decode("utf-8", "replace").splitlines()
        return {line.strip().removeprefix("/") for line in lines if line.strip() and not set(line) & set("*!#?[")}

    def search(self, wanted: Callable[[bytes], bool], among: Callable[[str], bool] = lambda _: True) -> Iterator[str]:
        """The files of code or settings with such a content. Raises OutOfTime, so what is not found is not there."""
        for path in self.files:
            if is_code(path) and among(path):
                self._budget.require()
                data = self._read[path] if path in self._read else self._quickly(path)
                if data is not None and wanted(data):
                    yield path

    def _quickly(self, path: str) -> bytes | None:
        """The bytes of a file that the walk has just found; they are not kept, nor shown."""
        try:
            descriptor = os.open(f"{self._prefix}{path}", _READ)
        except OSError:
            return None
        try:
            data = os.read(descriptor, _FIRST_BYTES)
            return data if len(data) < _FIRST_BYTES else data + os.read(descriptor, _MOST_BYTES)
        except OSError:
            return None
        finally:
            os.close(descriptor)


def is_code(path: str) -> bool:
    """Whether it may hold code or settings, by its name."""
    name = path.rpartition("/")[2].lower()
    return not name.endswith(_NO_CODE) and name not in _NO_CODE_NAMES


def content_id(data: bytes) -> str:
    """The id that git gives a file with this content, in a repository of SHA-1."""
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
