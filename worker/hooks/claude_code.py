"""The hooks of Claude Code, in the user's own ``settings.json``: at the beginning of a session, before its context is
compacted, and at its end.

The file of a project would be committed with it, so it is the user's. The hook itself asks whether capture is enabled
in the folder of the session.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TOOL = "claude-code"
EVENTS = ("SessionStart", "PreCompact", "SessionEnd")
_SECONDS = 10  # after which Claude Code ends the hook
_MARK = re.compile(r"worker[/\\]+hooks[/\\]+hook\.py")


def file(home: Path, environment: Mapping[str, str]) -> Path:
    """The settings file."""
    moved = environment.get("CLAUDE_CONFIG_DIR")
    return (Path(moved) if moved else home / ".claude") / "settings.json"


def added(text: str, command: Sequence[str]) -> str:
    """The file's text with our hooks, which replace earlier ones of ours. Raises ValueError, with a sentence."""
    settings = _parsed(removed(text)) if text.strip() else {}
    hooks = settings.setdefault("hooks", {})
    for event in EVENTS:
        entries = hooks.setdefault(event, [])
        if not isinstance(entries, list):
            raise ValueError(f"its hooks for {event} are no list.")
        ours = {"type": "command", "command": _line(command), "timeout": _SECONDS}
        entries.append({"hooks": [ours]})
    return _written(settings, text)


def _line(command: Sequence[str]) -> str:
    """The command for the shell. It succeeds even if the program was removed."""
    return shlex.join(command) + ("" if os.name == "nt" else " || true")


def removed(text: str) -> str:
    """The file's text without our hooks. Raises ValueError, with a sentence."""
    settings = _parsed(text) if text.strip() else {}
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return text
    for event in list(hooks):
        if not isinstance(hooks[event], list):
            continue
        kept = [left for entry in hooks[event] if (left := _without_ours(entry)) is not None]
        if len(kept) == len(hooks[event]) and kept == hooks[event]:
            continue
        hooks[event] = kept
        if not kept:
            del hooks[event]
    if not hooks:
        del settings["hooks"]
    return _written(settings, text)


def _without_ours(entry: Any) -> Any:
    """An entry without our commands; None if it held nothing else."""
    if not isinstance(entry, dict) or not isinstance(entry.get("hooks"), list):
        return entry
    kept = [hook for hook in entry["hooks"] if not (isinstance(hook, dict) and _MARK.search(str(hook.get("command"))))]
    if len(kept) == len(entry["hooks"]):
        return entry
    return entry | {"hooks": kept} if kept else None


def _parsed(text: str) -> dict[str, Any]:
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise ValueError(f"it is no JSON ({error}).") from error
    if not isinstance(settings, dict) or not isinstance(settings.get("hooks", {}), dict):
        raise ValueError("it has another form than expected.")
    return settings


def _written(settings: dict[str, Any], text: str) -> str:
    """The settings as text, indented as the file was."""
    found = re.search(r"\{\r?\n([ \t]+)\"", text)
    return json.dumps(settings, indent=found[1] if found else 2, ensure_ascii=False) + "\n"
