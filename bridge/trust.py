"""Whether this user made a workspace's folders: a clone may carry jobs and memories of someone else.

A random id is written to the user's own configuration folder first, then into the folders. A folder
with an id that the user's configuration does not know stays closed until ``trust``.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobs import files
from jobs.errors import JobError
from jobs.layout import Workspace

from .settings import Settings, load

# What an adoption that was cut off leaves of its writes (``files.replace``).
_PART = re.compile(r"\.(\.gitignore|\.owner)\.[0-9a-f]+\.tmp")


@dataclass(frozen=True)
class TrustState:
    """What is known about a workspace: ``owner`` is its marker's id where the user's own list has it."""

    owner: str | None
    trusted: bool
    foreign: str | None  # why it stays closed, if it does


def state_of(workspace: Workspace, config_folder: Path) -> TrustState:
    """Look, change nothing. Raises OSError for what cannot be looked at."""
    known: dict[str, bool] = {}
    for folder in _guarded(workspace):
        unsafe = _unsafe(workspace, folder)
        if unsafe is not None:
            return TrustState(None, False, unsafe)
        marker = _read_marker(workspace, folder)
        listed = _listed(config_folder, marker)
        if listed is None:  # only now are all files looked at, which takes its time
            harmless = _is_harmless(workspace, folder)
            marker = _read_marker(workspace, folder)  # again, behind it: another process may just be adopting it
            listed = _listed(config_folder, marker)
            if listed is None and not harmless:
                return TrustState(None, False, f"{folder.name} was not made by this user on this machine.")
        if marker is not None and listed is not None:
            known[marker] = listed
    owner = next(iter(known), None)
    return TrustState(owner, all(known.values()) and bool(known), None)


def require(workspace: Workspace, config_folder: Path) -> TrustState:
    """The standing, or WORKSPACE_NOT_TRUSTED with what was found."""
    found = _seen(workspace, config_folder)
    if found.foreign is not None:
        raise JobError("WORKSPACE_NOT_TRUSTED", f"{workspace.root}: {found.foreign} Nothing in it was read or changed.")
    return found


def _seen(workspace: Workspace, config_folder: Path) -> TrustState:
    try:
        return state_of(workspace, config_folder)
    except OSError as error:
        said = f"{workspace.root} cannot be looked at: {error.strerror}. Nothing in it was read or changed."
        remedy = "Give it to this user, with the right to read and write."
        raise JobError("WORKSPACE_NOT_TRUSTED", said, remediation=remedy) from error


def settings_of(workspace: Workspace, overrides: Mapping[str, Any] | None = None) -> Settings:
    """The settings in force in a workspace, with what its own ``.env`` may say.

    Raises WORKSPACE_NOT_TRUSTED, SETTING_INVALID.
    """
    found = require(workspace, load(overrides).config_folder)
    return load(overrides, workspace_env=workspace.env_file, trusted=found.trusted)


def adopt(workspace: Workspace, config_folder: Path, *, trusted: bool | None = None) -> None:
    """Mark the workspace's folders as this user's, creating them. Idempotent.

    Raises WORKSPACE_NOT_TRUSTED (unless ``trusted`` is given: the user said so) and CONFIG_UNWRITABLE.
    """
    from jobs import spool  # not at the top: whoever asks a question only looks

    found = _seen(workspace, config_folder) if trusted is not None else require(workspace, config_folder)
    owner = found.owner or os.urandom(16).hex()
    if found.owner is None or trusted is not None:
        _enlist(config_folder, owner, workspace, bool(trusted) if trusted is not None else found.trusted)
    spool.prepare(workspace.spool)
    for folder in (workspace.spool.root, workspace.memory, workspace.cognee_system, workspace.cognee_data):
        files.make_folder(folder)
        files.ignore_in_git(folder)
        if _read_marker(workspace, folder) != owner:
            files.replace(workspace.owner_marker(folder), owner.encode())


def disown(workspace: Workspace, config_folder: Path) -> None:
    """Take the workspace off the user's list: for one that is about to be removed."""
    owner = state_of(workspace, config_folder).owner
    if owner is not None:
        files.remove(_list_entry(config_folder, owner))


def _guarded(workspace: Workspace) -> list[Path]:
    every = (workspace.spool.root, workspace.memory, workspace.cognee_system, workspace.cognee_data)
    return [folder for folder in every if folder.is_symlink() or folder.exists()]


def _unsafe(workspace: Workspace, folder: Path) -> str | None:
    """Why nothing may be written into a folder of ours, whoever marked it: a link could lead our writes, and our
    clearing away, anywhere, and another user could change what lies in his own folder."""
    subfolders = workspace.spool.folders[1:] if folder == workspace.spool.root else ()
    for path in (folder, *subfolders):
        with contextlib.suppress(FileNotFoundError):
            status = path.lstat()
            if not files.is_real_folder(status):
                return f"{_shown(workspace, path)} is a link or no folder; what it leads to may be another workspace's."
            if not files.belongs_to_user(status):
                return f"{_shown(workspace, path)} belongs to another user."
    # What is written to by its name: the log, the lock, the databases. The files of jobs are opened as what they are.
    for path in (workspace.memory, workspace.spool.worker):
        if path.is_relative_to(folder):
            with contextlib.suppress(FileNotFoundError), os.scandir(path) as entries:
                for entry in entries:
                    if entry.is_symlink():
                        return f"{_shown(workspace, Path(entry.path))} is a link."
    return None


def _shown(workspace: Workspace, path: Path) -> str:
    return path.relative_to(workspace.root).as_posix()


def _is_harmless(workspace: Workspace, folder: Path) -> bool:
    """An unmarked spool that holds only waiting jobs, or an empty folder, may be adopted."""
    if folder != workspace.spool.root:
        return all(entry.name == ".gitignore" or _PART.fullmatch(entry.name) for entry in folder.iterdir())
    return all(_is_unused(workspace, sub) for sub in workspace.spool.folders[1:] if sub.exists())


def _is_unused(workspace: Workspace, sub: Path) -> bool:
    """Whether a folder of the spool holds no more than asking and starting leave there: requests, locks and logs.
    A file with a second name is none of these: what we append to it would change a file elsewhere."""
    entries = list(sub.iterdir())
    if sub == workspace.spool.control:
        return all(map(_is_own_file, entries))
    if sub == workspace.spool.worker:
        left = [entry for entry in entries if entry == workspace.spool.lock or entry.suffix in (".lock", ".log")]
        return left == entries and all(map(_is_own_file, entries))
    return not entries


def _is_own_file(path: Path) -> bool:
    try:
        return files.is_own_file(path)
    except FileNotFoundError:
        return True  # a part of a request that was just put in place


def _read_marker(workspace: Workspace, folder: Path) -> str | None:
    with contextlib.suppress(OSError, JobError):
        text = files.read_plain(workspace.owner_marker(folder), 256)[0].decode("ascii", "replace").strip()
        if re.fullmatch(r"[0-9a-f]{32}", text):
            return text
    return None


def _list_entry(config_folder: Path, owner: str) -> Path:
    return config_folder / "workspaces" / f"{owner}.json"


def _listed(config_folder: Path, owner: str | None) -> bool | None:
    """Whether the user's list has the id: None if not, else whether it says trusted."""
    if owner is None:
        return None
    try:
        return bool(json.loads(_list_entry(config_folder, owner).read_bytes())["trusted"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _enlist(config_folder: Path, owner: str, workspace: Workspace, trusted: bool) -> None:
    from jobs import clock

    entry = {"trusted": trusted, "first_path": str(workspace.root), "written_at": clock.iso(clock.now())}
    path = _list_entry(config_folder, owner)
    try:
        files.make_folder(path.parent, links=True)
        files.replace(path, json.dumps(entry).encode())
    except OSError as error:
        raise JobError("CONFIG_UNWRITABLE", f"{path.parent} cannot be written: {error.strerror}.") from error
