"""The files that waited in the job folder before it was this user's: a list, so that the worker does not run them.

The command that marks the folder as this user's writes the list first; the worker rejects what is on it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from . import files, plain_files
from .errors import JobError
from .layout import SpoolPaths

_LIMIT = 64 * 1024 * 1024

Stamp = tuple[int, int, int]  # inode, size in bytes, modification time in ns


def write(spool: SpoolPaths) -> None:
    """List what waits in the inbox and in ``control/`` now, durably; nothing waiting makes no list. Raises OSError."""
    waiting = {
        f"{folder.name}/{entry.name}": _stamp(entry.stat(follow_symlinks=False))
        for folder in (spool.inbox, spool.control)
        for entry in plain_files.entries(folder)
        if entry.name not in (".gitignore", ".owner") and not entry.is_dir(follow_symlinks=False)
    }
    if not waiting:
        files.remove(spool.earlier_files)
        return
    files.replace(spool.earlier_files, json.dumps({"schema_version": 1, "files": waiting}).encode())


def read(spool: SpoolPaths) -> dict[str, Stamp]:
    """The list: ``folder/name`` to the stamp of the file at that time. Empty without a list.

    Raises OSError, and ValueError for a damaged list.
    """
    try:
        content = json.loads(plain_files.read_own(spool.earlier_files, _LIMIT))
        return {str(name): (int(stamp[0]), int(stamp[1]), int(stamp[2])) for name, stamp in content["files"].items()}
    except FileNotFoundError:
        return {}
    except (JobError, LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"{spool.earlier_files.name} is damaged: {error}") from error


def is_listed(path: Path, listed: dict[str, Stamp]) -> bool:
    """Whether this very file is on the list; another one that was written under its name later is not."""
    stamp = listed.get(f"{path.parent.name}/{path.name}")
    try:
        return stamp is not None and stamp == _stamp(path.lstat())
    except FileNotFoundError:
        return False


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_ino, status.st_size, status.st_mtime_ns
