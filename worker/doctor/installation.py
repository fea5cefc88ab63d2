"""Checks the installation: Python, packages, name conflicts, SQLite, and the user's configuration folder."""

from __future__ import annotations

import os
import re
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

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


class Installation(NamedTuple):
    """The state of the installation.

    ``packages`` maps each required package to its version, None when it is missing, and to the pinned version, None
    when any will do. ``taken`` are modules and packages of others that use this program's module names.
    """

    python: tuple[int, int]
    wanted_python: str
    installed: bool
    packages: dict[str, tuple[str | None, str | None]]
    taken: tuple[str, ...]
    sqlite: tuple[int, ...]
    sqlite_lacks: tuple[str, ...]
    config_folder: Path
    config_is_writable: bool
    config_mode: int | None
    config_has_key: bool


def gather(workspace: Workspace, settings: Settings) -> Installation:
    """Read the state of the installation. Raises OSError."""
    try:
        ours = metadata.metadata(NAME)
        required, wanted_python, installed = metadata.requires(NAME) or [], ours["Requires-Python"] or "", True
    except metadata.PackageNotFoundError:
        required, wanted_python, installed = [], "", False
    folder, file = settings.config_folder, user_file(settings)
    return Installation(
        python=sys.version_info[:2],
        wanted_python=wanted_python,
        installed=installed,
        packages=dict(_packages(required)),
        taken=tuple(dict.fromkeys([*_shadows(workspace), *_owners()])),
        sqlite=sqlite3.sqlite_version_info,
        sqlite_lacks=tuple(_sqlite_lacks()),
        config_folder=folder,
        config_is_writable=_is_writable(folder),
        config_mode=file.stat().st_mode & 0o777 if file.is_file() and sys.platform != "win32" else None,
        config_has_key=any(settings.sources.get(name) == file.name for name in ("llm_api_key", "embedding_api_key")),
    )


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


def python(state: Installation) -> Iterator[Finding]:
    """Findings about the Python version and about a missing installation of this program."""
    bounds = [(sign, (int(major), int(minor))) for sign, major, minor in _PYTHON.findall(state.wanted_python)]
    if any(state.python < bound if sign == ">=" else state.python >= bound for sign, bound in bounds):
        message = f"It is {state.python[0]}.{state.python[1]}; wanted is {state.wanted_python}."
        yield finding("PYTHON_UNSUPPORTED", "Python", message)
    if not state.installed:
        yield finding("NOT_INSTALLED", NAME)


def packages(state: Installation) -> Iterator[Finding]:
    """Findings about missing packages and wrong versions."""
    for name, (version, wanted) in state.packages.items():
        if version is None:
            yield finding("PACKAGE_MISSING", name)
        elif wanted not in (None, version):
            yield finding("PACKAGE_OTHER_VERSION", name, f"It is {version}; {wanted} is wanted.")


def our_names(state: Installation) -> Iterator[Finding]:
    """A finding for each module of others with this program's names."""
    for path in state.taken:
        yield finding("NAME_TAKEN", "jobs, bridge, worker", f"There is {path}.")


def sqlite(state: Installation) -> Iterator[Finding]:
    """Findings about the SQLite version and missing features."""
    version = ".".join(map(str, state.sqlite))
    if state.sqlite < _LEAST_SQLITE:
        yield finding("SQLITE_LACKING", "SQLite", f"It is {version}.")
    for what in state.sqlite_lacks:
        yield finding("SQLITE_LACKING", "SQLite", f"{version} comes without {what}.")


def config(state: Installation) -> Iterator[Finding]:
    """Findings about the permissions of the configuration folder and file."""
    if not state.config_is_writable:
        yield finding("CONFIG_CLOSED", str(state.config_folder))
    if state.config_has_key and state.config_mode is not None and state.config_mode & 0o077:
        yield finding("CONFIG_OPEN", str(state.config_folder / "config.toml"), f"Its mode is {state.config_mode:04o}.")


CHECKS = (python, packages, our_names, sqlite, config)
