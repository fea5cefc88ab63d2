"""The hooks of Codex, in its ``hooks.json``. Codex runs them once the user has trusted them there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from . import codex, json_hooks
from .json_hooks import removed as removed

TOOL = codex.TOOL
EVENTS = {"SessionStart": 10, "PreCompact": 10, "SessionEnd": 3}  # and the seconds after which Codex ends the hook
MOMENTS = {
    "prompts": ("UserPromptSubmit", ""),
    "files": ("PreToolUse", "apply_patch"),
    "failures": ("PostToolUse", "Bash"),
}
_SECONDS = 10


def file(home: Path, environment: Mapping[str, str]) -> Path:
    """The file of hooks."""
    return codex.file(home, environment).with_name("hooks.json")


def added(text: str, command: Sequence[str], moments: Collection[str] = ()) -> str:
    """The file's text with our hooks, also for these ``moments``, instead of earlier ones of ours. Raises ValueError,
    with a sentence."""
    line = json_hooks.shell_line(command)
    ours = {"type": "command", "command": line, "timeout": _SECONDS}
    found = json_hooks.entries(ours, (), MOMENTS, moments)
    for event, seconds in EVENTS.items():
        found[event] = {"hooks": [{**ours, "timeout": seconds}]}
    return json_hooks.added(text, found)
