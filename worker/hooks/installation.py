"""A change of another tool's configuration file: shown first, written, and taken back byte for byte.

What the file held before us is kept in the user's configuration folder until the change is taken back. If the file is
still exactly what we wrote, it gets these bytes back; else only our entries are removed from it. That also holds at
each later installation: what it keeps is what taking back would leave at this moment.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jobs import clock, files, plain_files
from jobs.errors import JobError

_MOST_BYTES = 4 * 1024 * 1024

# The end of the program's path, by which our entries are known in any tool's file, on every platform.
PROGRAM = r"worker[/\\]+hooks[/\\]+hook\.py"

# From the file's text ("" for none) to the text with our entries, or without them. Raises ValueError, with a sentence,
# for a text that cannot be changed safely.
Change = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a file. ``before`` is None where there is no file; ``after`` None where none is left."""

    path: Path
    before: bytes | None
    after: bytes | None

    @property
    def is_needed(self) -> bool:
        """Whether the file is not yet as it should be."""
        return self.before != self.after

    def diff(self) -> str:
        """The change as a unified diff; empty without one."""
        old, new = (
            (data or b"").decode("utf-8", "replace").splitlines(keepends=True) for data in (self.before, self.after)
        )
        lines = difflib.unified_diff(old, new, str(self.path), str(self.path))
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def planned(path: Path, add: Change) -> Edit:
    """The change that adds our entries. Changes nothing.

    Raises JobError: TOOL_CONFIG_UNUSABLE for a file that cannot be read or changed safely.
    """
    before = _read(path)
    return Edit(path, before, _changed(path, before, add))


def write(edit: Edit, kept: Path, remove: Change) -> None:
    """Carry out a change, and keep at ``kept`` what is needed to take it back, as ``taken_back``. Idempotent.

    Raises JobError: TOOL_CONFIG_UNUSABLE, also for a file that was changed since it was read.
    """
    if not edit.is_needed or edit.after is None:
        return
    before = taken_back(edit.path, kept, remove).after
    _require_unchanged(edit)
    record = {
        "path": str(edit.path),
        "before": None if before is None else b64encode(before).decode(),
        "after_sha256": hashlib.sha256(edit.after).hexdigest(),
        "at": clock.iso(clock.now()),
    }
    try:
        files.make_folder(kept.parent, links=True)
        files.replace(kept, json.dumps(record).encode())
        _put(edit.path, edit.after)
    except OSError as error:
        raise JobError("TOOL_CONFIG_UNUSABLE", f"{edit.path} was not changed: {error}.") from error


def taken_back(path: Path, kept: Path, remove: Change) -> Edit:
    """The change that removes our entries: back to the earlier bytes if nobody changed the file since, else without our
    entries. Changes nothing. Raises JobError: TOOL_CONFIG_UNUSABLE.
    """
    now = _read(path)
    was_there = True
    try:
        record = json.loads(plain_files.read_own(kept, 2 * _MOST_BYTES))
        is_of_file = record["path"] == str(path)  # else of the tool's former folder
        was_there = not is_of_file or record["before"] is not None
        if is_of_file and now is not None and hashlib.sha256(now).hexdigest() == record["after_sha256"]:
            return Edit(path, now, b64decode(record["before"]) if was_there else None)
    except (OSError, ValueError, KeyError, TypeError, JobError):
        pass
    left = None if now is None else _changed(path, now, remove)
    return Edit(path, now, left if left or was_there or not now else None)


def restore(edit: Edit, kept: Path) -> None:
    """Carry out what ``taken_back`` planned. Raises as ``write``."""
    _require_unchanged(edit)
    try:
        if edit.is_needed and edit.after is None:
            edit.path.unlink(missing_ok=True)
        elif edit.is_needed and edit.after is not None:
            _put(edit.path, edit.after)
        kept.unlink(missing_ok=True)
    except OSError as error:
        raise JobError("TOOL_CONFIG_UNUSABLE", f"{edit.path} was not changed: {error}.") from error


def _require_unchanged(edit: Edit) -> None:
    """What the tool or the person wrote while the change was shown would be lost. Raises JobError."""
    if edit.is_needed and _read(edit.path) != edit.before:
        message = f"{edit.path} was changed meanwhile, so it was left as it is. Run the command again."
        raise JobError("TOOL_CONFIG_UNUSABLE", message)


def _read(path: Path) -> bytes | None:
    try:
        return plain_files.read_plain(path, _MOST_BYTES)[0]
    except FileNotFoundError:
        return None
    except (OSError, JobError) as error:
        message = error.message if isinstance(error, JobError) else f"{path} cannot be read: {error}."
        raise JobError("TOOL_CONFIG_UNUSABLE", message) from error


def _changed(path: Path, before: bytes | None, change: Change) -> bytes:
    try:
        return change((before or b"").decode("utf-8")).encode()
    except ValueError as error:
        raise JobError("TOOL_CONFIG_UNUSABLE", f"{path} was not changed: {error}") from error


def _put(path: Path, data: bytes) -> None:
    """Replace the file by the data, with its former mode."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    files.replace(path, data)
    if os.name != "nt":
        path.chmod(mode)
