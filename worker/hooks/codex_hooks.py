"""The hooks of Codex, in its ``hooks.json``. Codex runs them once the user has trusted them there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from . import codex, json_hooks
from .json_hooks import removed as removed

TOOL = codex.TOOL
EVENTS = {"SessionStart": 10, "PreCompact": 10, "SessionEnd": 3}  # and the seconds after which Codex ends the hook


def file(home: Path, environment: Mapping[str, str]) -> Path:
    """The file of hooks."""
    return codex.file(home, environment).with_name("hooks.json")


def added(text: str, command: Sequence[str]) -> str:
    """The file's text with our hooks, which replace earlier ones of ours. Raises ValueError, with a sentence."""
    line = json_hooks.shell_line(command)
    entries = {
        event: {"hooks": [{"type": "command", "command": line, "timeout": seconds}]}
        for event, seconds in EVENTS.items()
    }
    return json_hooks.added(text, entries)
