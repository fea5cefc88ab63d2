"""The files of the knowledge graph: made to open, or moved out of the way. Their content is cognee's business.

cognee must not be the first to open them: an error whose text holds "wal", in the path even, makes it delete
the graph's log, and others make it install an old version of the engine.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
from pathlib import Path
from typing import Literal

from jobs import clock, files
from jobs.layout import Workspace

from . import critical

log = logging.getLogger(__name__)

Found = Literal["ready", "repaired", "absent", "set aside"]

_GRAPH_FILE = "cognee_graph_ladybug"
_VECTORS = "cognee.lancedb"
_PROBE_BUFFER_BYTES = 256 * 1024 * 1024
# What a kill inside a checkpoint leaves beside the graph; it opens again once both are gone.
_CHECKPOINT_LEFTOVERS = (".shadow", ".wal.checkpoint")


def make_ready(workspace: Workspace) -> Found:
    """See to it that the graph opens: remove what a cut-off checkpoint left, set a damaged file aside.

    "absent" when its file or its vectors are not there, at the first time or because somebody removed them.
    Raises what the engine raised when neither is the matter: permissions, somebody's lock, the disk.
    """
    databases = workspace.cognee_system / "databases"
    found: Found = "ready" if (databases / _VECTORS).exists() else "absent"
    if not (databases / _GRAPH_FILE).exists():
        if _graph_files(workspace):  # a log without its graph
            set_aside(workspace, f"graph-{clock.iso(clock.now())}", graph_only=True)
        return "absent"
    error = _probe(workspace)
    if error is None:
        return found
    if _remove_leftovers(workspace):
        error = _probe(workspace)
        if error is None:
            return "repaired" if found == "ready" else found
    if not _is_damage(workspace, error):
        raise error
    set_aside(workspace, f"graph-{clock.iso(clock.now())}", graph_only=True)
    return "set aside"


def _graph_files(workspace: Workspace) -> list[Path]:
    return sorted((workspace.cognee_system / "databases").glob(f"{_GRAPH_FILE}*"))


def out_of_reach(workspace: Workspace) -> OSError | None:
    """What keeps us from cognee's folders: their absence apart, which is no fault, permissions or a file in the way."""
    databases = workspace.cognee_system / "databases"
    for folder in (databases, *sorted(databases.glob("*.lancedb"))):
        if folder.exists() and not folder.is_dir():
            return NotADirectoryError(errno.ENOTDIR, "is no folder", folder.name)
        if folder.exists() and not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            return PermissionError(errno.EACCES, "may not be used", folder.name)
    return None


def _probe(workspace: Workspace) -> Exception | None:
    """Open the graph's file with its own engine and close it; returns what went wrong."""
    path = workspace.cognee_system / "databases" / _GRAPH_FILE
    import ladybug  # a tenth of a second that a memory's own transaction need not wait for

    try:
        with critical.section():
            database = ladybug.Database(str(path), buffer_pool_size=_PROBE_BUFFER_BYTES)
            database.init_database()
            database.close()
    except Exception as error:  # the engine raises RuntimeError for everything
        return error
    return None


def _remove_leftovers(workspace: Workspace) -> bool:
    """Delete both leftovers of a cut-off checkpoint. Returns whether there was one."""
    found = [path for path in _graph_files(workspace) if path.name.endswith(_CHECKPOINT_LEFTOVERS)]
    for path in found:
        log.warning("a checkpoint of the graph was cut off: removing %s", path.name)
        files.remove(path)
    return bool(found)


def _is_damage(workspace: Workspace, error: Exception) -> bool:
    """Whether the graph's own files are what is wrong: not permissions, not somebody's lock, not the disk."""
    found = _graph_files(workspace)
    if not found or isinstance(error, PermissionError) or "Could not set lock on file" in str(error):
        return False
    return all(path.is_file() and os.access(path, os.R_OK | os.W_OK) for path in found)


def set_aside(workspace: Workspace, label: str, *, graph_only: bool = False) -> None:
    """Move cognee's graph (and its vectors) out of the way; they can be written anew from memory.db."""
    target = workspace.set_aside / label.replace(":", "")
    number = 1
    while target.exists():
        number += 1
        target = target.with_name(f"{target.name.split('~')[0]}~{number}")
    files.make_folder(target)
    moved = _graph_files(workspace)
    if not graph_only:
        moved += sorted((workspace.cognee_system / "databases").glob("*.lancedb"))
    for path in moved:
        shutil.move(path, target / path.name)
