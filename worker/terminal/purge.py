"""The command ``purge``: removes the folders of a workspace's memory, and says what it removed and what remains."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bridge import trust
from bridge.interface import envelope
from bridge.settings import Settings
from jobs import files, spool
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lock import Lock

from ..wording import counted, size
from . import output as terminal
from .command_line import YES, Given, command, option
from .output import Envelope, say
from .process_commands import stop_worker

_STOP_SECONDS = 120.0  # for the worker's running jobs
_CHILD_SECONDS = 15.0  # the child of a worker that died may still be closing the stores


def show(answer: Envelope) -> None:
    """Print what was removed, or would be, and what remains."""
    if answer["folders"]:
        say(f"Workspace {answer['workspace']}")
    if answer["worker_stopped"]:
        say("The worker has stopped.")
    for folder in answer["folders"]:
        say(f"{'Would remove' if answer['dry_run'] else 'Removed'} {_named(folder)}")
    if not answer["folders"]:
        say(f"{answer['workspace']} has no memory that you made here.")
    if answer["waiting_jobs"]:
        say(f"Among it, not run: {counted(answer['waiting_jobs'], 'job')}")
    if answer["trust_removed"]:
        say("The workspace is no longer in the list of your workspaces.")
    for path in answer["kept"]:
        say(f"Not touched, since it has no mark of yours: {path}")
    if not answer["folders"]:
        return
    say("Not removed:")
    for each in answer["remains"]:
        say(f"  {each['what']}{'' if each['path'] is None else ': ' + each['path']}")


@command(
    "purge",
    ["purge --dry-run", "purge", "purge --yes --json"],
    more="It stops the worker, removes the four folders and takes the workspace from the list of your workspaces."
    " This cannot be undone.",
    show=show,
)
@option("--dry-run", "show what would be removed, and change nothing")
@YES
def purge(args: Given) -> Envelope:
    """Remove the workspace's own folders after the user has confirmed it; with ``--dry-run``, only list them.

    Raises JobError: WORKSPACE_NOT_TRUSTED, NOT_CONFIRMED, WORKER_RUNNING, STORE_BUSY, PURGE_INCOMPLETE.
    """
    marked = trust.marked_folders(args.place, args.settings.config_folder)
    folders = [_measured(folder) for folder in marked]
    jobs = _waiting_jobs(args.place) if args.place.spool.root in marked else 0
    if folders and not args.dry_run and not args.yes:
        lines = [_named(each) for each in folders]
        question = f"Remove everything that {args.place.root} remembers, {_with_jobs(jobs)}for good?"
        terminal.confirm(args.json, lines, "folder", question, "Removing cannot be undone; not confirmed.")
    was_stopped = bool(folders) and not args.dry_run and stop_worker(args.place, _STOP_SECONDS)
    is_unlisted = False
    if folders and not args.dry_run:
        is_unlisted = _remove(args.place, args.settings, marked)
    return envelope.success(
        workspace=str(args.place.root),
        dry_run=args.dry_run,
        worker_stopped=was_stopped,
        folders=folders,
        waiting_jobs=jobs,
        trust_removed=is_unlisted,
        kept=[str(folder) for folder in args.place.own_folders if folder not in marked and os.path.lexists(folder)],
        remains=_remaining(args.settings),
    )


def _measured(folder: Path) -> dict[str, Any]:
    """The folder's path, with the number and the bytes of the files below it. Follows no links."""
    count = total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):  # a worker may be running
                count, total = count + 1, total + Path(parent, name).lstat().st_size
    return {"path": str(folder), "files": count, "bytes": total}


def _waiting_jobs(workspace: Workspace) -> int:
    """The number of jobs that have not run: dropped files and the copies of accepted jobs."""
    accepted = workspace.spool.active.glob("*.json") if workspace.spool.active.is_dir() else ()
    return len({path.stem for path in (*accepted, *spool.inbox(workspace.spool))})


def _remaining(settings: Settings) -> list[dict[str, str | None]]:
    """What of this program's data is outside the workspace's folders, with its path where that is known."""
    return [
        {"what": "the embedding model, which all workspaces share", "path": str(settings.cache_folder)},
        {"what": "your settings, and the list of your other workspaces", "path": str(settings.config_folder)},
        {"what": "files that you exported, backups, and copies in the history of git", "path": None},
        {"what": "the entries for agents in .vscode/mcp.json and similar files, and services", "path": None},
    ]


# --- removing ---


def _remove(workspace: Workspace, settings: Settings, marked: dict[Path, str]) -> bool:
    """Remove the folders, and then their marks from the user's list. Returns whether all marks were removed.

    Each folder keeps its mark until it is empty, so that a purge that was interrupted can be run again.
    """
    with contextlib.ExitStack() as locks:
        _lock(workspace, marked, locks)
        for folder in marked:
            if sys.platform == "win32":
                locks.close()  # there, an open file cannot be removed
            try:
                _remove_folder(folder, workspace.owner_marker(folder))
            except OSError as error:
                message = f"{folder.name} was not removed completely: {error.strerror}: {error.filename}."
                raise JobError("PURGE_INCOMPLETE", message) from error
    removed = [trust.unlist(workspace, settings.config_folder, owner) for owner in sorted(set(marked.values()))]
    return all(removed)


def _lock(workspace: Workspace, marked: dict[Path, str], locks: contextlib.ExitStack) -> None:
    """Take the worker's lock and the store's, so that no process uses what is removed. Raises JobError:
    WORKER_RUNNING, STORE_BUSY."""
    if workspace.spool.root in marked:
        files.make_folder(workspace.spool.worker, parents=False)
        lock = locks.enter_context(Lock(workspace.spool.lock))
        if not lock.acquire():
            message = "Another worker has started meanwhile. Nothing was removed."
            raise JobError("WORKER_RUNNING", message, remediation="Run again: cognee-memory purge.")
    if workspace.memory in marked:
        lock = locks.enter_context(Lock(workspace.store_lock))
        deadline = time.monotonic() + _CHILD_SECONDS
        while not lock.acquire():
            if time.monotonic() > deadline:
                raise JobError("STORE_BUSY", "Another process is using the memory store. Nothing was removed.")
            time.sleep(0.1)


def _remove_folder(folder: Path, marker: Path) -> None:
    """Remove a folder with its content, its mark last. Links are removed and not followed. Raises OSError."""
    for entry in list(folder.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != marker.name:
            files.remove(entry)
    files.remove(marker)
    folder.rmdir()
    files.sync_folder(folder.parent)


# --- the view ---


def _named(folder: Mapping[str, Any]) -> str:
    return f"{Path(folder['path']).name}: {counted(folder['files'], 'file')}, {size(folder['bytes'])}"


def _with_jobs(count: int) -> str:
    return f"with {counted(count, 'job')} that did not run, " if count else ""
