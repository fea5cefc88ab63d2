"""The memories that the team's database lost, as after a restore from a backup: set aside before a copy follows it.

A folder of the quarantine for each state of a copy that was given up: an export of the memories that the database does
not have, and the ids of those that were forgotten and are there again. An export never has what was forgotten.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import NamedTuple

from jobs import files
from jobs.layout import Workspace

from ..store.opening import copy_state, open_memories
from ..store.values import Arrivals
from . import export

log = logging.getLogger(__name__)

_PREFIX = "team-"
_EXPORT, _FORGOTTEN = "memories.jsonl", "forgotten.txt"


class SetAside(NamedTuple):
    """What was set aside at one time. Both are None if there is none of it."""

    folder: Path
    memories: Path | None
    forgotten: Path | None


def set_aside(workspace: Workspace, arrivals: Arrivals, now: str) -> None:
    """Keep what a copy has and the team's database has not. Twice is once. Raises OSError, and as ``export.write``."""
    given_up = copy_state(workspace).position
    assert given_up is not None
    folder = workspace.quarantine / f"{_PREFIX}{given_up.seq}-{given_up.change}"
    files.make_folder(folder)
    if arrivals.lost:
        parts: list[bytes] = []
        export.write(workspace, None, now, parts.append, only=frozenset(arrivals.lost))
        files.replace(folder / _EXPORT, b"".join(parts))
        log.warning(
            "the team's database lost %d memories of this copy: they are kept in %s", len(arrivals.lost), folder
        )
    if arrivals.unforgotten:
        files.replace(folder / _FORGOTTEN, "".join(f"{each}\n" for each in arrivals.unforgotten).encode())
        log.warning(
            "the team's database has %d memories again that were forgotten: %s", len(arrivals.unforgotten), folder
        )


def is_settled(workspace: Workspace, kept: SetAside) -> bool:
    """Whether nothing is left to do: all lost memories are here again, or were forgotten since, and all that were
    forgotten are forgotten again. Raises OSError, ValueError, and JobError as reading memory.db."""
    lines = kept.memories.read_text("utf-8").splitlines() if kept.memories is not None else []
    lost = {str(line["metadata"]["memory_id"]) for line in map(json.loads, lines) if line.get("type") == "memory"}
    again = set(kept.forgotten.read_text("utf-8").split()) if kept.forgotten is not None else set()
    with open_memories(workspace) as here:
        missing = [each for each in lost if here.known(each) is None and here.forgotten_at(each) is None]
        return not missing and all(here.known(each) is None for each in again)


def all_set_aside(workspace: Workspace) -> list[SetAside]:
    """What was set aside and not removed since."""
    found = []
    for folder in sorted(workspace.quarantine.glob(f"{_PREFIX}*")):
        there = [path if path.is_file() else None for path in (folder / _EXPORT, folder / _FORGOTTEN)]
        if any(there):
            found.append(SetAside(folder, *there))
    return found
