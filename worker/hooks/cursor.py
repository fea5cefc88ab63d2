"""The hooks of Cursor, in the user's ``hooks.json``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from . import json_hooks
from .json_hooks import removed as removed

TOOL = "cursor"
EVENTS = ("sessionStart", "preCompact", "stop", "sessionEnd")
MOMENTS: dict[str, str] = {}  # its hooks for prompts and files can stop them, and add nothing
_SECONDS = 10  # after which Cursor ends the hook


def file(home: Path, environment: Mapping[str, str]) -> Path:
    """The file of hooks."""
    return home / ".cursor" / "hooks.json"


def added(text: str, command: Sequence[str], moments: Collection[str] = ()) -> str:
    """The file's text with our hooks, which replace earlier ones of ours. Raises ValueError, with a sentence."""
    ours = {"command": json_hooks.shell_line(command), "timeout": _SECONDS}
    return json_hooks.added(text, dict.fromkeys(EVENTS, ours), {"version": 1})
