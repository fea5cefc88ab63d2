"""The hooks of Gemini CLI, in its ``settings.json``."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from . import json_hooks

TOOL = "gemini-cli"
EVENTS = ("SessionStart", "PreCompress", "SessionEnd")
MOMENTS = {
    "prompts": ("BeforeAgent", ""),
    "files": ("AfterTool", "read_file|write_file|replace"),
    "failures": ("AfterTool", "run_shell_command"),
}
_MILLISECONDS = 10_000  # after which Gemini CLI ends the hook


def file(home: Path, environment: Mapping[str, str]) -> Path:
    """The settings file."""
    moved = environment.get("GEMINI_CLI_HOME")
    return (Path(moved) if moved else home) / ".gemini" / "settings.json"


def added(text: str, command: Sequence[str], moments: Collection[str] = ()) -> str:
    """The file's text with our hooks, also for these ``moments``, instead of earlier ones of ours. Raises ValueError,
    with a sentence."""
    # On Windows the shell is PowerShell, which runs a quoted path only after &.
    line = ("& " if os.name == "nt" else "") + json_hooks.shell_line(command)
    ours = {"name": "cognee-memory", "type": "command", "command": line, "timeout": _MILLISECONDS}
    return json_hooks.added(text, json_hooks.entries(ours, EVENTS, MOMENTS, moments), comments=True)


def removed(text: str) -> str:
    """The file's text without our hooks. Raises ValueError, with a sentence."""
    return json_hooks.removed(text, comments=True)
