"""Adds an extra, such as the knowledge graph, to the environment that the program is installed in.

It installs what the package's own lock names, with its digests: the versions that were tested together. uv does it
where there is one, else pip.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files as resources
from importlib.util import find_spec
from pathlib import Path

import worker
from jobs.errors import JobError

from .output import warn

LOCK = "requirements.lock"
_MB = 1_000_000
_PACKAGE_LINE = re.compile(r"([A-Za-z0-9][\w.-]*)==")
_PROBE = "import sys; from importlib.util import find_spec; sys.exit(find_spec(sys.argv[1]) is None)"


@dataclass(frozen=True, slots=True)
class Extra:
    """An extra of the project: ``module`` is there where it is installed, ``packages`` are what it adds (None: all that
    the lock names). Sizes are in MB: to download, and on disk."""

    name: str
    module: str
    download: int
    disk: int
    packages: tuple[str, ...] | None = None


GRAPH = Extra("graph", "cognee", 360, 1100)
TEAM = Extra("team", "psycopg_pool", 5, 15, ("psycopg", "psycopg-binary", "psycopg-pool"))


def add(extra: Extra) -> bool:
    """Add an extra, and show on stderr what is done. Returns whether it was added; False where it is there already.

    Raises JobError: EXTRA_NOT_ADDED, DISK_FULL.
    """
    if find_spec(extra.module) is not None:
        return False
    _require_own_environment(extra)
    free = shutil.disk_usage(sys.prefix).free
    if free < extra.disk * _MB:
        raise JobError("DISK_FULL", f"{sys.prefix} has {free // _MB:,} MB free; the {extra.name} takes {extra.disk:,}.")
    uv = shutil.which("uv")
    if uv is None and find_spec("uv") is None and find_spec("pip") is None:
        raise _refusal(extra, "There is neither uv nor pip to install with.", "Install uv, then run it again")
    warn(
        f"Adding the {extra.name} to {sys.prefix}: {extra.download:,} MB to download,"
        f" {extra.disk:,} MB of disk, once. Memories are stored and found meanwhile."
    )
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder, LOCK)
        lock.write_text(locked(_lock().read_text(encoding="utf-8"), extra.packages), encoding="utf-8")
        is_done = any(
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=2).returncode == 0
            for command in _commands(uv, lock, whole=extra.packages is None)
        )
    if not is_done or subprocess.run([sys.executable, "-c", _PROBE, extra.module]).returncode:
        raise JobError(
            "EXTRA_NOT_ADDED",
            f"The {extra.name} was not added: the lines above say why. Memories are stored and found without it.",
        )
    return True


def locked(lock: str, packages: tuple[str, ...] | None) -> str:
    """The part of a lock that is about these packages, with their digests; all of it for None."""
    if packages is None:
        return lock
    kept, keeps = [], False
    for line in lock.splitlines(keepends=True):
        if named := _PACKAGE_LINE.match(line):
            keeps = named[1].lower() in packages
        if keeps:
            kept.append(line)
    return "".join(kept)


def _lock() -> Path:
    """The lock in the package; in a checkout, the one beside it."""
    packaged = Path(str(resources("worker").joinpath("data", LOCK)))
    return packaged if packaged.is_file() else Path(worker.__file__).parents[1] / LOCK


def _commands(uv: str | None, lock: Path, *, whole: bool) -> Iterator[list[str]]:
    """The command lines of the installers: uv's, then pip's, which may reach an index that uv does not know.

    A part of a lock comes without its dependencies, which are installed already.
    """
    options = ["--require-hashes", "-r", str(lock), *([] if whole else ["--no-deps"])]
    if uv is not None or find_spec("uv") is not None:
        program = [uv] if uv is not None else [sys.executable, "-m", "uv"]
        yield [*program, "pip", "install", "--python", sys.executable, *options]
    if find_spec("pip") is not None:
        # As its own constraint, too: pip before 23.3 looks for the newest release of what is asked for with extras.
        yield [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "-c", str(lock), *options]


def _require_own_environment(extra: Extra) -> None:
    """Raises JobError: EXTRA_NOT_ADDED where nothing can or should be installed beside the program."""
    prefix = Path(sys.prefix)
    if {"archive-v0", "environments-v2"} & set(prefix.parts):  # of uv's cache, which uv may remove at any time
        asked = f"uvx --from 'cognee-memory[{extra.name}]' cognee-memory"
        raise _refusal(extra, f"{prefix} is a temporary environment of uvx.", f"Start the program by: {asked}")
    elsewhere = f"Install it in an environment of its own: uv tool install 'cognee-memory[{extra.name}]'"
    if sys.prefix == sys.base_prefix and Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED").exists():
        raise _refusal(extra, f"{prefix} belongs to the system's package manager.", elsewhere)
    library = sysconfig.get_path("purelib")
    if not os.access(library, os.W_OK):
        raise _refusal(extra, f"{library} may not be written by this user.", elsewhere)


def _refusal(extra: Extra, why: str, remedy: str) -> JobError:
    return JobError("EXTRA_NOT_ADDED", f"{why} The {extra.name} was not added.", remediation=f"{remedy}.")
