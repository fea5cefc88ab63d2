"""Workspace trust: whether this user created a workspace's folders, since a clone or a pull may bring another person's
jobs and memories.

``adopt`` writes a random id to the user's configuration folder first, then into the workspace's folders. Folders with
an id that the user's configuration does not list are neither read nor changed until the user runs ``trust``. Jobs that
waited before the folder had an id are not run but rejected, as are jobs that git tracks (``worker/inbox``). A workspace
whose other files of ours are tracked is not opened, since a pull replaces ignored files without a question.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from jobs import files, plain_files, state_file
from jobs.errors import JobError
from jobs.layout import Workspace, find_workspace

from . import git_index
from .pattern import pattern

if TYPE_CHECKING:
    from .settings import Settings

# The temporary files that an interrupted adoption leaves (``files.replace``).
_TEMPORARY_FILE = pattern(r"\.(\.gitignore|\.owner|earlier-files\.json)\.[0-9a-f]+\.tmp")


class TrustState(NamedTuple):
    """The trust in a workspace.

    ``owner`` is the id in its markers, if the user's list has it. ``trusted`` is whether the list says that the user
    trusts the workspace's own settings. ``foreign`` is the reason why the workspace must not be opened, or None;
    ``remedy`` is what to do about it, where running ``trust`` is not enough.
    """

    owner: str | None
    trusted: bool
    foreign: str | None
    remedy: str = ""


def inspect_trust(workspace: Workspace, config_folder: Path) -> TrustState:
    """The trust state of a workspace; changes nothing. Raises OSError for a folder that cannot be read."""
    known: dict[str, bool] = {}
    guarded = _guarded(workspace)
    exposed = _exposed(workspace, guarded)
    if exposed is not None:
        return TrustState(None, False, exposed, _CLOSE)
    for folder in guarded:
        unsafe = _unsafe(workspace, folder)
        if unsafe is not None:
            return TrustState(None, False, unsafe)
        marker = _read_marker(workspace, folder)
        listed = _listed(config_folder, marker)
        if listed is None:  # only now, since this reads the folder's entries, which takes time
            harmless = _is_harmless(workspace, folder)
            marker = _read_marker(workspace, folder)  # again: another process may have adopted the folder meanwhile
            listed = _listed(config_folder, marker)
            if listed is None and not harmless:
                return TrustState(None, False, f"{folder.name} was not made by this user on this machine.")
        if marker is not None and listed is not None:
            known[marker] = listed
    tracked = _tracked_store(workspace, git_index.tracked(workspace))
    if tracked is not None:
        reason = f"git tracks {tracked}, so that a pull or a checkout can replace what is remembered."
        return TrustState(None, False, reason, _UNTRACK)
    owner = next(iter(known), None)
    return TrustState(owner, all(known.values()) and bool(known), None)


_CLOSE = "Take the right to write from the others: chmod o-w FOLDER, or set its sticky bit: chmod +t FOLDER."


def _exposed(workspace: Workspace, guarded: list[Path]) -> str | None:
    """Why another user could put other folders in the place of ours; None if none could.

    In a folder that everybody may write to, only the sticky bit keeps others from renaming what is in it. A file system
    that keeps no modes shows our own private folders as open too; there the modes say nothing.
    """
    if os.name == "nt" or not any(_is_private(folder) for folder in guarded):
        return None
    for folder in (workspace.root, *workspace.root.parents):
        mode = folder.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            return f"Everybody may write to {folder}, and so put other files in the place of this user's."
    return None


def _is_private(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return folder.lstat().st_mode & 0o077 == 0
    return False


_UNTRACK = "Run: git rm -r --cached --ignore-unmatch .cognee_jobs .cognee_memory .cognee_system .cognee_data"


def _tracked_store(workspace: Workspace, tracked: git_index.Tracked) -> str | None:
    """A tracked file of ours that is not a drop, a request or a ``.gitignore``: those are rejected one by one."""
    if tracked.unknown:
        return "files in .cognee_jobs or .cognee_memory (git could not be asked which)"
    jobs, control = workspace.spool.root.name.lower(), workspace.spool.control.name.lower()
    for path in sorted(tracked.paths):
        folder, name = path.rsplit("/", 1)
        waits = folder in (jobs, f"{jobs}/{control}") and not name.startswith(".")
        if not waits and name != ".gitignore":
            return path
    return None


def files_from_elsewhere(workspace: Workspace, config_folder: Path) -> frozenset[str]:
    """The names of the files in the inbox that a worker will reject for where they come from. Changes nothing.

    Raises OSError, and ValueError for a damaged list of earlier files.
    """
    from jobs import earlier_files, spool  # not at the top: the query path does not need them

    paths = workspace.spool
    if not paths.root.is_dir():
        return frozenset()
    waiting = spool.inbox(paths)
    if not waiting or _listed(config_folder, _read_marker(workspace, paths.root)) is None:
        return frozenset(path.name for path in waiting)
    earlier, tracked = earlier_files.read(paths), git_index.tracked(workspace)
    return frozenset(
        path.name
        for path in waiting
        if earlier_files.is_listed(path, earlier) or path.relative_to(workspace.root).as_posix() in tracked
    )


def require_trusted(workspace: Workspace, config_folder: Path) -> TrustState:
    """The trust state of a workspace that may be opened.

    Raises JobError: WORKSPACE_NOT_TRUSTED, with the reason, for any other.
    """
    state = _inspect_readable(workspace, config_folder)
    if state.foreign is not None:
        message = f"{workspace.root}: {state.foreign} Nothing in it was read or changed."
        raise JobError("WORKSPACE_NOT_TRUSTED", message, remediation=state.remedy)
    return state


def _inspect_readable(workspace: Workspace, config_folder: Path) -> TrustState:
    try:
        return inspect_trust(workspace, config_folder)
    except OSError as error:
        message = f"{workspace.root} cannot be looked at: {error.strerror}. Nothing in it was read or changed."
        remedy = "Give it to this user, with the right to read and write."
        raise JobError("WORKSPACE_NOT_TRUSTED", message, remediation=remedy) from error


def settings_of(workspace: Workspace) -> Settings:
    """The effective settings in a workspace, including those that its own ``.env`` is allowed to set.

    Raises JobError: WORKSPACE_MISSING, WORKSPACE_NOT_TRUSTED, SETTING_INVALID.
    """
    from .settings import load  # not at the top: hooks of other tools need the check alone

    _require_there(workspace)
    state = require_trusted(workspace, load().config_folder)
    return load(workspace_env=workspace.env_file, trusted=state.trusted)


def open_workspace(path: str | Path | None, start: Path, *, anywhere: bool = False) -> tuple[Workspace, Settings]:
    """The workspace, as ``find_workspace`` finds it, and its effective settings: the way in to its files.

    Raises JobError: WORKSPACE_MISSING, WORKSPACE_NOT_CHOSEN, WORKSPACE_NOT_TRUSTED, SETTING_INVALID.
    """
    workspace = find_workspace(path, start, anywhere=anywhere)
    return workspace, settings_of(workspace)


def _require_there(workspace: Workspace) -> None:
    """Raises JobError: WORKSPACE_MISSING for a folder that is gone, so that a process that uses it for long neither
    takes it for an empty one nor creates it again."""
    if not workspace.exists:
        raise JobError("WORKSPACE_MISSING", f"There is no folder at {workspace.root}.")


def adopt(workspace: Workspace, config_folder: Path, *, trusted: bool | None = None) -> None:
    """Create the workspace's folders and mark them as this user's. Idempotent.

    ``trusted`` is the user's explicit decision; with it, foreign folders are adopted too. Raises JobError:
    WORKSPACE_NOT_TRUSTED without it, WORKSPACE_MISSING, CONFIG_UNWRITABLE and DISK_FULL.
    """
    _require_there(workspace)
    from jobs import earlier_files, spool  # not at the top: the query path does not need them

    inspect = require_trusted if trusted is None else _inspect_readable
    state = inspect(workspace, config_folder)
    if trusted is None and state.owner is not None and _read_marker(workspace, workspace.spool.root) == state.owner:
        _prepare(workspace, state.owner)
        return
    with _one_at_a_time(config_folder):
        state = inspect(workspace, config_folder)  # again: another process may have adopted it meanwhile
        owner = state.owner or os.urandom(16).hex()
        if state.owner is None or trusted is not None:
            _write_list_entry(config_folder, owner, workspace, state.trusted if trusted is None else trusted)
        spool.prepare(workspace.spool)
        if trusted is None and _read_marker(workspace, workspace.spool.root) != owner:
            earlier_files.write(workspace.spool)
        _prepare(workspace, owner)
        inspect(workspace, config_folder)  # only private folders show whether the file system keeps modes


def recreate(workspace: Workspace, config_folder: Path) -> None:
    """Create and mark those of the workspace's folders that were removed while a worker runs. Idempotent.

    A folder that appeared from elsewhere meanwhile is not adopted, and a workspace whose job folder is gone is not
    created again. Raises JobError: WORKSPACE_NOT_TRUSTED, WORKSPACE_MOVED.
    """
    state = require_trusted(workspace, config_folder)
    if state.owner is None or _read_marker(workspace, workspace.spool.root) != state.owner:
        raise JobError("WORKSPACE_MOVED", f"The job folder of {workspace.root} is gone or is another one.")
    _prepare(workspace, state.owner)


def marks(workspace: Workspace) -> tuple[tuple[int, int, int] | None, ...]:
    """The device, inode and time of change (ns) of the owner mark of each of the workspace's folders; None where there
    is none. Equal marks are the same files, unchanged: then a folder that was checked need not be checked again."""
    return tuple(_file_of(workspace.owner_marker(folder)) for folder in workspace.own_folders)


def _file_of(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_ctime_ns


def _prepare(workspace: Workspace, owner: str) -> None:
    """Create and mark what is missing of the workspace's folders, the job folder last, since it admits jobs."""
    from jobs import spool

    for folder in (workspace.memory, workspace.cognee_system, workspace.cognee_data, workspace.spool.root):
        files.make_folder(folder)
        files.ignore_in_git(folder)
        if folder == workspace.spool.root:
            spool.prepare(workspace.spool)
        if _read_marker(workspace, folder) != owner:
            files.replace(workspace.owner_marker(folder), owner.encode())


@contextlib.contextmanager
def _one_at_a_time(config_folder: Path) -> Iterator[None]:
    """Only one process adopts at a time, so that none lists a job as earlier that a client drops after the other.

    Raises JobError: CONFIG_UNWRITABLE.
    """
    import time

    from jobs.lock import Lock

    folder = config_folder / "workspaces"
    try:
        files.make_folder(folder, links=True)
        with Lock(folder / ".lock") as lock:
            while not lock.acquire():
                time.sleep(0.01)
            yield
    except OSError as error:
        raise _unwritable(error, folder) from error


def marked_folders(workspace: Workspace, config_folder: Path) -> dict[Path, str]:
    """The workspace's folders that this user's programs made, each with the id in its mark; the job folder is last."""
    found = {folder: _read_marker(workspace, folder) for folder in reversed(_guarded(workspace))}
    return {
        folder: marker
        for folder, marker in found.items()
        if marker is not None and _listed(config_folder, marker) is not None
    }


def entry_of_all_marks(workspace: Workspace, config_folder: Path, state: TrustState) -> Path | None:
    """The entry in the user's list that alone decided the state; None if a folder has no mark or another one."""
    marks = {_read_marker(workspace, folder) for folder in _guarded(workspace)}
    return _list_entry(config_folder, state.owner) if state.owner is not None and marks == {state.owner} else None


def unlist(workspace: Workspace, config_folder: Path, owner: str) -> bool:
    """Remove an id of a workspace that is deleted from the user's list. Returns whether it was removed.

    It stays if the folder of its first use is another one that still has the mark: the workspace was a copy of it.
    Raises OSError.
    """
    entry = _list_entry(config_folder, owner)
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        first = Workspace(Path(json.loads(entry.read_bytes())["first_path"]))
        if first.root != workspace.root and owner in marked_folders(first, config_folder).values():
            return False
    files.remove(entry)
    return True


def _guarded(workspace: Workspace) -> list[Path]:
    folders = (workspace.spool.root, workspace.memory, workspace.cognee_system, workspace.cognee_data)
    return [folder for folder in folders if folder.is_symlink() or folder.exists()]


def _unsafe(workspace: Workspace, folder: Path) -> str | None:
    """Why a folder must not be written to, whatever its marker says; None if it is safe.

    A link could redirect our writes and deletions, and another user could change the contents of a folder of theirs.
    """
    subfolders = workspace.spool.folders[1:] if folder == workspace.spool.root else ()
    for path in (folder, *subfolders):
        with contextlib.suppress(FileNotFoundError):
            status = path.lstat()
            if not plain_files.is_real_folder(status):
                return f"{_shown(workspace, path)} is a link or no folder; what it leads to may be another workspace's."
            if not plain_files.belongs_to_user(status):
                return f"{_shown(workspace, path)} belongs to another user."
    # The log, the lock and the databases are opened by name, which follows links. Job files are opened without links.
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
    """Whether an unmarked folder may be adopted: a spool that holds only waiting jobs, or an empty folder."""
    if folder != workspace.spool.root:
        return all(entry.name == ".gitignore" or _TEMPORARY_FILE.fullmatch(entry.name) for entry in folder.iterdir())
    return all(_is_unused(workspace, sub) for sub in workspace.spool.folders[1:] if sub.exists())


def _is_unused(workspace: Workspace, sub: Path) -> bool:
    """Whether a folder of the spool holds only what clients, an adoption and a starting worker leave: requests, the
    list of earlier files, locks and logs.

    A file with a second hard link is refused, since appending to it would change a file elsewhere.
    """
    entries = list(sub.iterdir())
    if sub == workspace.spool.control:
        return all(map(_is_own_file, entries))
    if sub == workspace.spool.worker:
        own = (workspace.spool.lock, workspace.spool.earlier_files)
        allowed = [
            entry
            for entry in entries
            if entry in own or entry.suffix in (".lock", ".log") or _TEMPORARY_FILE.fullmatch(entry.name)
        ]
        return allowed == entries and all(map(_is_own_file, entries))
    return not entries


def _is_own_file(path: Path) -> bool:
    try:
        return plain_files.is_own_file(path)
    except FileNotFoundError:
        return True  # a temporary file of a request that was renamed just now


def _read_marker(workspace: Workspace, folder: Path) -> str | None:
    with contextlib.suppress(OSError, JobError):
        text = plain_files.read_plain(workspace.owner_marker(folder), 256)[0].decode("ascii", "replace").strip()
        if re.fullmatch(r"[0-9a-f]{32}", text):
            return text
    return None


def _list_entry(config_folder: Path, owner: str) -> Path:
    return config_folder / "workspaces" / f"{owner}.json"


def _listed(config_folder: Path, owner: str | None) -> bool | None:
    """The ``trusted`` value of the id's entry in the user's list: None without an entry, False for a damaged one."""
    if owner is None:
        return None
    return state_file.read(
        _list_entry(config_folder, owner), lambda entry: bool(entry["trusted"]), absent=None, damaged=False
    )


def _write_list_entry(config_folder: Path, owner: str, workspace: Workspace, trusted: bool) -> None:
    from jobs import clock

    entry = {"trusted": trusted, "first_path": str(workspace.root), "written_at": clock.iso(clock.now())}
    write_entry(_list_entry(config_folder, owner), entry)


def entry_path(workspace: Workspace, config_folder: Path, folder: str) -> Path | None:
    """The file in a folder of the user's configuration that says something of a workspace. None for a workspace that is
    not this user's, or not a workspace yet."""
    try:
        owner = inspect_trust(workspace, config_folder).owner
    except OSError:
        return None
    return None if owner is None else config_folder / folder / f"{owner}.json"


def write_entry(path: Path, entry: Mapping[str, Any]) -> None:
    """Write what the user's configuration folder says of a workspace. Raises JobError: CONFIG_UNWRITABLE, DISK_FULL."""
    try:
        files.make_folder(path.parent, links=True)
        files.replace(path, json.dumps(entry).encode())
    except OSError as error:
        raise _unwritable(error, path.parent) from error


def _unwritable(error: OSError, folder: Path) -> JobError:
    """The error of an adoption that could not be written, in the configuration folder or in the workspace."""
    if files.is_no_space(error):
        return JobError("DISK_FULL")
    path = Path(error.filename or folder)
    code = "CONFIG_UNWRITABLE" if path.is_relative_to(folder) else "FOLDER_UNWRITABLE"
    return JobError(code, f"{path} cannot be written: {error.strerror}.")
