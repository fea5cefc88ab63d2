"""Checks capture: what is enabled here, the hooks that are installed in other tools, and how they fare."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from bridge.capture import consent
from bridge.graph import tool_model
from bridge.settings import Settings
from jobs import clock, state_file
from jobs.errors import JobError
from jobs.finding import Finding, finding
from jobs.layout import Workspace

from ..hooks import hook
from ..hooks.installation import PROGRAM
from ..wording import counted

# A path of the program, as files have it: in quotes, since a folder's name may have a blank, or bare.
_PROGRAM = re.compile(rf"'([^'\n]*{PROGRAM})'|\"([^\"\n]*{PROGRAM})\\?\"|([^\s\"'\[,]+{PROGRAM})")
_MOST_BYTES = 4 * 1024 * 1024
_RECENT = timedelta(days=1)


class Facts:
    """What the user has enabled, installed hooks by file whose program is gone, and how many calls of hooks failed in
    the last day.
    """

    def __init__(self, workspace: Workspace, settings: Settings, now: datetime) -> None:
        """Read the list, the files of the tools in which hooks are installed, and the hooks' log. Raises OSError."""
        folder = settings.config_folder
        self.consent = consent.read(workspace, folder)
        self.broken_hooks = [path for path in _changed_files(folder) if _is_broken(path)]
        self.failed_calls = _failed_calls(folder / hook.LOG, now)


def enabled(facts: Facts) -> Iterator[Finding]:
    """Findings about the list of enabled tools."""
    tools, own_models = sorted(facts.consent.tools), facts.consent.own_models
    if facts.consent.is_damaged:
        yield finding("CAPTURE_LIST_DAMAGED", "capture")
    if tools:
        named = [f"{tool} (summarised by itself)" if tool in own_models else tool for tool in tools]
        yield finding("CAPTURE_ON", "capture", f"Enabled: {', '.join(named)}.")
    for tool in sorted(own_models):
        try:
            tool_model.require(tool)
        except JobError as error:
            yield finding("OWN_MODEL_MISSING", tool, error.message)


def hooks(facts: Facts) -> Iterator[Finding]:
    """Findings about the hooks in other tools."""
    for path in facts.broken_hooks:
        yield finding("HOOK_PROGRAM_MISSING", str(path))
    if facts.failed_calls:
        message = f"{counted(facts.failed_calls, 'call')} in the last day."
        yield finding("HOOKS_FAIL", hook.LOG, message, count=facts.failed_calls)


def _changed_files(config_folder: Path) -> Iterator[Path]:
    """The files of other tools in which hooks were installed."""
    for kept in sorted((config_folder / "hooks").glob("*.json")):
        limit = 2 * _MOST_BYTES  # it keeps the file as it was
        path = state_file.read(kept, lambda record: Path(record["path"]), absent=None, damaged=None, limit=limit)
        if path is not None:
            yield path


def _is_broken(path: Path) -> bool:
    """Whether the file calls a hook that is not there any more."""
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return False
    programs = (next(filter(None, found)) for found in _PROGRAM.findall(text))
    return any(not Path(program.replace("\\\\", "\\")).exists() for program in programs)


def _failed_calls(log: Path, now: datetime) -> int:
    try:
        lines = log.read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return 0
    since = clock.iso(now - _RECENT)
    return sum(f": {hook.FAILED}" in line and line[:19] >= since[:19] for line in lines)


CHECKS = (enabled, hooks)
