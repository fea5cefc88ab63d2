"""The hooks of VS Code's agents, in a file of our own among the user's hook files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from . import json_hooks

TOOL = "vscode"
EVENTS = ("SessionStart", "PreCompact", "Stop")
# A hook for prompts cannot add to them; the others are of any tool, since there is no choice.
MOMENTS = {"files": "PreToolUse", "failures": "PostToolUse"}
_SECONDS = 10  # after which VS Code ends the hook


def file(home: Path, environment: Mapping[str, str]) -> Path:
    """Our file of hooks."""
    return home / ".copilot" / "hooks" / "cognee-memory.json"


def added(text: str, command: Sequence[str], moments: Collection[str] = ()) -> str:
    """The file's text with our hooks, also for these ``moments``, instead of earlier ones of ours. Raises ValueError,
    with a sentence."""
    ours = {"type": "command", "command": json_hooks.shell_line(command), "timeout": _SECONDS}
    return json_hooks.added(text, dict.fromkeys([*EVENTS, *(MOMENTS[moment] for moment in moments)], ours))


def removed(text: str) -> str:
    """The file's text without our hooks; empty if nothing else was in it. Raises ValueError, with a sentence."""
    left = json_hooks.removed(text)
    return "" if left.strip() == "{}" else left
