"""The hooks of Claude Code, in its ``settings.json``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from . import json_hooks
from .json_hooks import removed as removed

TOOL = "claude-code"
EVENTS = ("SessionStart", "PreCompact", "SessionEnd")
MOMENTS = {
    "prompts": ("UserPromptSubmit", ""),
    "files": ("PreToolUse", "Read|Edit|MultiEdit|Write|NotebookEdit"),
    "failures": ("PostToolUseFailure", "Bash"),
}
_SECONDS = 10  # after which Claude Code ends the hook


def file(home: Path, environment: Mapping[str, str]) -> Path:
    """The settings file."""
    moved = environment.get("CLAUDE_CONFIG_DIR")
    return (Path(moved) if moved else home / ".claude") / "settings.json"


def added(text: str, command: Sequence[str], moments: Collection[str] = ()) -> str:
    """The file's text with our hooks, also for these ``moments``, instead of earlier ones of ours. Raises ValueError,
    with a sentence."""
    ours = {"type": "command", "command": json_hooks.shell_line(command), "timeout": _SECONDS}
    return json_hooks.added(text, json_hooks.entries(ours, EVENTS, MOMENTS, moments))
