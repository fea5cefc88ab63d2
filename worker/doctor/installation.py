"""Checks the installation: Python, packages, name conflicts, SQLite, and the user's configuration folder."""

from __future__ import annotations

import os
import re
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from importlib import metadata
from pathlib import Path

import jobs
from bridge.settings import Settings, user_file
from jobs.finding import Finding, finding
from jobs.layout import Workspace

NAME = "cognee-memory"
_OURS = ("jobs", "bridge", "worker")
_LEAST_SQLITE = (3, 35, 0)  # RETURNING
_PINNED = re.compile(r"([\w.-]+)==([\w.]+)")
_REQUIRED = re.compile(r"[\w.-]+")
_PYTHON = re.compile(r"(>=|<)\s*(\d+)\.(\d+)")
_LIST = re.compile(rf"^({'|'.join(_OURS)})(?:\.py)?[/,]", re.MULTILINE)


class Facts:
    """The state of the installation.

    ``packages`` maps each required package to its version, None when it is missing, and to the pinned version, None
    when any will do. ``taken`` are modules and packages of others that use this program's module names.
    """

    def __init__(self, workspace: Workspace, settings: Settings) -> None:
        """Read the facts. Raises OSError."""
        required: list[str] = []
        self.wanted_python, self.installed = "", False
        with suppress(metadata.PackageNotFoundError):
            self.wanted_python = metadata.metadata(NAME)["Requires-Python"] or ""
            required, self.installed = metadata.requires(NAME) or [], True
        file = user_file(settings)
        self.python = sys.version_info[:2]
        self.packages = dict(_packages(required))
        self.taken = tuple(dict.fromkeys([*_shadows(workspace), *_owners()]))
        self.sqlite = sqlite3.sqlite_version_info
        self.sqlite_lacks = tuple(_sqlite_lacks())
        self.config_folder = settings.config_folder
        self.config_is_writable = _is_writable(self.config_folder)
        self.config_mode = file.stat().st_mode & 0o777 if file.is_file() and sys.platform != "win32" else None
        self.config_has_key = file.name in map(settings.sources.get, ("llm_api_key", "embedding_api_key"))


def _packages(required: list[str]) -> Iterator[tuple[str, tuple[str | None, str | None]]]:
    for line in required:
        pinned = _PINNED.match(line)
        name = _REQUIRED.match(line)
        if name is None:
            continue
        version = version_of(name[0])
        if ";" not in line or version is not None:  # one of an extra may be missing
            yield name[0], (version, pinned[2] if pinned else None)


def version_of(name: str) -> str | None:
    """The version of an installed distribution, None when it is missing."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _shadows(workspace: Workspace) -> Iterator[str]:
    """Paths of other modules with this program's names. A worker's import path also contains the root of the disk."""
    own = Path(jobs.__file__).parent.parent
    for entry in dict.fromkeys((*sys.path, workspace.root.anchor)):
        folder = Path(entry or ".")
        if folder.resolve() == own.resolve():
            continue
        for name in _OURS:
            for path in (folder / name / "__init__.py", folder / f"{name}.py"):
                if path.is_file():
                    yield str(path)


def _owners() -> Iterator[str]:
    """Other distributions that contain a module with one of this program's names, possibly in its own folder."""
    for each in metadata.distributions():
        listed = each.read_text("RECORD") or each.read_text("SOURCES.txt") or ""
        if _LIST.search(listed) and (name := each.metadata["Name"]) != NAME:
            yield f"the package {name}"


def _sqlite_lacks() -> Iterator[str]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for what, statement in (
            ("FTS5", "CREATE VIRTUAL TABLE t USING fts5 (a)"),
            ("JSON", "SELECT value FROM json_each('[1]')"),
        ):
            try:
                connection.execute(statement)
            except sqlite3.OperationalError:
                yield what


def _is_writable(folder: Path) -> bool:
    """Whether the folder is writable, or can be created."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


# --- the checks ---


def python(facts: Facts) -> Iterator[Finding]:
    """Findings about the Python version and about a missing installation of this program."""
    bounds = [(sign, (int(major), int(minor))) for sign, major, minor in _PYTHON.findall(facts.wanted_python)]
    if any(facts.python < bound if sign == ">=" else facts.python >= bound for sign, bound in bounds):
        message = f"It is {facts.python[0]}.{facts.python[1]}; wanted is {facts.wanted_python}."
        yield finding("PYTHON_UNSUPPORTED", "Python", message)
    if not facts.installed:
        yield finding("NOT_INSTALLED", NAME)


def packages(facts: Facts) -> Iterator[Finding]:
    """Findings about missing packages and wrong versions."""
    for name, (version, wanted) in facts.packages.items():
        if version is None:
            yield finding("PACKAGE_MISSING", name)
        elif wanted not in (None, version):
            yield finding("PACKAGE_OTHER_VERSION", name, f"It is {version}; {wanted} is wanted.")


def our_names(facts: Facts) -> Iterator[Finding]:
    """A finding for each module of others with this program's names."""
    for path in facts.taken:
        yield finding("NAME_TAKEN", "jobs, bridge, worker", f"There is {path}.")


def sqlite(facts: Facts) -> Iterator[Finding]:
    """Findings about the SQLite version and missing features."""
    version = ".".join(map(str, facts.sqlite))
    if facts.sqlite < _LEAST_SQLITE:
        yield finding("SQLITE_LACKING", "SQLite", f"It is {version}.")
    for what in facts.sqlite_lacks:
        yield finding("SQLITE_LACKING", "SQLite", f"{version} comes without {what}.")


def config(facts: Facts) -> Iterator[Finding]:
    """Findings about the permissions of the configuration folder and file."""
    if not facts.config_is_writable:
        yield finding("CONFIG_CLOSED", str(facts.config_folder))
    if facts.config_has_key and facts.config_mode is not None and facts.config_mode & 0o077:
        yield finding("CONFIG_OPEN", str(facts.config_folder / "config.toml"), f"Its mode is {facts.config_mode:04o}.")


CHECKS = (python, packages, our_names, sqlite, config)
